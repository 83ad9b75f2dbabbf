// Shows a step in a plot. This file alone uses what plotly.js does not document: the SVG nodes that
// it drew. Texts and shapes are written straight into them, since a redraw of all traces takes ten
// times as long. Where a node is missing, Plotly.animate draws what these do not write.
import { decoded, textsAt } from "./frames.js";

const CLEAR = "rgba(0,0,0,0)"; // a fill that Plotly draws as none
const nodesOfTraces = new WeakMap(); // of a trace's drawn points: its text nodes, by point

// The text nodes of a trace, by point; null where this plotly.js has none.
function textNodes(gd, trace) {
  const points = gd.calcdata?.[trace];
  const drawn = points?.[0]?.node3;
  if (!drawn?.selectAll) return null;
  const before = nodesOfTraces.get(points);
  if (before?.every((node) => node.isConnected)) return before;
  const found = [];
  drawn.selectAll("g.textpoint").each(function (point) {
    found[point.i] = this.querySelector("text");
  });
  nodesOfTraces.set(points, found);
  return found;
}

// Write a text into an SVG node: plain, or with parts in <b>, the only markup that changes.
function write(node, text) {
  const parts = text.split(/<\/?b>/);
  if (parts.length === 1) {
    node.textContent = decoded(text);
    return;
  }
  node.replaceChildren(
    ...parts.map((part, i) => {
      const span = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
      span.textContent = decoded(part);
      if (i % 2) span.style.fontWeight = "bold";
      return span;
    }),
  );
}

// Write the texts of a trace that differ from those before; false where a node is missing.
function writeTexts(gd, trace, before, texts) {
  const nodes = textNodes(gd, trace);
  if (!nodes) return false;
  const changed = texts.map((text, i) => i).filter((i) => texts[i] !== before[i]);
  if (changed.some((i) => !nodes[i])) return false;
  for (const i of changed) write(nodes[i], texts[i]);
  return true;
}

function writeTitle(gd, text) {
  const node = gd.querySelector(".gtitle");
  if (node) write(node, text);
  return Boolean(node);
}

// Once a font has come that was on its way when a plot was drawn, Plotly draws the plot again as it
// was then, another step's texts and all. Not a plot whose texts are written here: they are in the new
// font by themselves. The token says which of several such draws is the last; none is.
export function keepAsWritten(gd) {
  gd._fontLoadToken = null;
}

const AT_ONCE = {
  mode: "immediate", transition: { duration: 0 }, frame: { duration: 0, redraw: true },
};
const shownShapes = new WeakMap(); // of plots: the shapes of the last frame
const shapeNodesOfPlots = new WeakMap(); // of plots: the nodes of the shapes, by number

// The SVG paths of the shapes, by number; null where this plotly.js has none.
function shapeNodes(gd) {
  const before = shapeNodesOfPlots.get(gd);
  if (before?.every((node) => node.isConnected)) return before;
  const nodes = gd.layout.shapes.map((_, i) => gd.querySelector(`.shapelayer path[data-index="${i}"]`));
  if (nodes.some((node) => !node)) return null;
  shapeNodesOfPlots.set(gd, nodes);
  return nodes;
}

// Give shapes the attributes that a frame has for them; false where a node is missing. Coordinates
// are those of the figure in pixels, so that a path is drawn as it is written.
function writeShapes(gd, whole, shapes) {
  const nodes = shapeNodes(gd);
  if (!nodes) return false;
  const before = shownShapes.get(gd);
  const all = [...gd.layout.shapes];
  shapes.forEach((shape, i) => {
    if (before?.[i] === shape) return;
    all[i] = { ...all[i], ...whole[i], ...shape };
    const { path, line, fillcolor } = all[i];
    nodes[i].setAttribute("d", path);
    const fill = fillcolor === CLEAR ? { fillOpacity: 0 } : { fill: fillcolor, fillOpacity: 1 };
    Object.assign(nodes[i].style, fill, {
      stroke: line.color, strokeOpacity: 1, strokeWidth: `${line.width}px`,
    });
  });
  gd.layout.shapes = all;
  shownShapes.set(gd, shapes);
  return true;
}

// Show frame n of some frames, the first of which has everything that changes. Plotly's own data
// follows, so that a picture saved from it is the same.
export function showFrame(gd, frames, n) {
  const missing = []; // traces whose nodes are not there
  for (const [trace, texts] of textsAt(frames, n)) {
    const before = gd.data[trace].text;
    if (before === texts) continue;
    if (writeTexts(gd, trace, before, texts)) gd.data[trace].text = texts;
    else missing.push([trace, texts]);
  }
  const { title, shapes } = frames[n].layout;
  const whole = frames[0].layout.shapes;
  const layout = {};
  if (!writeShapes(gd, whole, shapes)) {
    layout.shapes = gd.layout.shapes.map((one, i) => ({ ...one, ...whole[i], ...shapes[i] }));
  }
  if (writeTitle(gd, title.text)) gd.layout.title.text = title.text;
  else layout.title = { ...gd.layout.title, text: title.text };
  if (!missing.length && !Object.keys(layout).length) return;
  const rest = {
    data: missing.map(([, text]) => ({ text })), traces: missing.map(([trace]) => trace), layout,
  };
  window.Plotly.animate(gd, rest, AT_ONCE);
}

// Let one text of each of some traces stand out from the others, or with null none. Texts that are
// clear are one upon the other, instead of the texts of the traces `covered`: only the one is
// seen.
export function markTexts(gd, traces, at, covered) {
  for (const trace of traces) markText(gd, trace, at);
  if (!traces.some((trace) => isClear(gd, trace))) return;
  for (const node of covered.flatMap((trace) => textNodes(gd, trace) ?? [])) {
    if (node) node.style.visibility = at === null ? "" : "hidden";
  }
}

const isClear = (gd, trace) => gd.data[trace].textfont.color === CLEAR;

function markText(gd, trace, at) {
  (textNodes(gd, trace) ?? []).forEach((node, i) => {
    if (!node) return;
    node.style.opacity = at === null || i === at || isClear(gd, trace) ? "" : 0.5;
    node.style.fontWeight = i === at ? "bold" : "";
    if (isClear(gd, trace)) Object.assign(node.style, partStyle(gd, i === at));
  });
}

const partStyle = (gd, isShown) => (
  isShown ? { fill: gd.layout.font.color, fillOpacity: 1 } : { fill: "", fillOpacity: 0 }
);
