// Draws figures one after another in one page and reads the texts that are visible in them.

const stage = document.getElementById("stage");
let shown = null; // the figure's element
let frames = [];

// Draw a figure at a scale; its frames are shown by showFrame, of ui/web/plotly_nodes.js.
async function place(figure, scale) {
  if (shown) Plotly.purge(shown);
  shown = document.createElement("div");
  stage.replaceChildren(shown);
  stage.style.transform = `scale(${scale})`;
  document.body.style.background = figure.layout.paper_bgcolor ?? "white";
  frames = figure.frames;
  await Plotly.newPlot(shown, figure.data, figure.layout, { displayModeBar: false });
}

async function show(n) {
  showFrame(shown, frames, n);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}

function hideTexts(hidden) {
  document.documentElement.classList.toggle("no-texts", hidden);
}

const VISIBLE = /[^\s\u200b]/;

// What is visible of a text node: its letters without spaces around them, and how they look.
function runOf(node, scale) {
  const text = node.data;
  const first = text.search(VISIBLE);
  if (first < 0) return null;
  const range = document.createRange();
  range.setStart(node, first);
  range.setEnd(node, text.trimEnd().length);
  const { left, top, right, bottom } = range.getBoundingClientRect();
  const style = getComputedStyle(node.parentElement);
  if (style.visibility !== "visible" || style.display === "none") return null;
  return {
    text: text.trim(), size: parseFloat(style.fontSize) * scale, fill: style.fill,
    alpha: parseFloat(style.fillOpacity), family: style.fontFamily, box: [left, top, right, bottom],
  };
}

function opacityOf(element) {
  let opacity = 1;
  for (let one = element; one && one !== shown; one = one.parentElement) {
    opacity *= parseFloat(getComputedStyle(one).opacity);
  }
  return opacity;
}

// Each line of text in the figure: its trace's meta and name, where it starts, and its runs.
function read() {
  const traces = new Map();
  shown.calcdata.forEach((points, i) => {
    const group = points[0]?.node3?.node?.();
    if (group) traces.set(group, shown._fullData[i]);
  });
  const lines = [];
  for (const text of shown.querySelectorAll("svg text")) {
    if (!VISIBLE.test(text.textContent)) continue;
    const group = text.closest("g.trace");
    const trace = traces.get(group);
    const matrix = text.getScreenCTM();
    const scale = Math.hypot(matrix.a, matrix.b);
    const opacity = opacityOf(text);
    if (!opacity) continue;
    // A lecture's parts are clear until one of them is asked for.
    if (trace?.meta === "parts" && getComputedStyle(text).fillOpacity === "0") continue;
    const several = text.querySelectorAll("tspan.line");
    for (const line of several.length ? several : [text]) {
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      const runs = [];
      while (walker.nextNode()) {
        const run = runOf(walker.currentNode, scale);
        if (run) runs.push({ ...run, alpha: run.alpha * opacity });
      }
      if (!runs.length) continue;
      const start = line.getStartPositionOfChar(0).matrixTransform(matrix);
      const meta = trace?.meta;
      lines.push({
        trace: trace?.index ?? null, runs, start: [start.x, start.y],
        role: typeof meta === "string" ? meta : (meta?.role ?? trace?.name ?? null),
      });
    }
  }
  return lines;
}
