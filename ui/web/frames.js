// A scene's frames as they are shown and stepped through, in the app and in a file of its own.

const histories = new WeakMap(); // of frames: for each trace, which of them tell of it

// What each changing text says at frame n: the last frame up to n that tells of its trace.
function textsAt(frames, n) {
  let changes = histories.get(frames);
  if (!changes) {
    histories.set(frames, (changes = new Map()));
    frames.forEach((frame, at) => {
      (frame.traces ?? []).forEach((trace, i) => {
        if (!changes.has(trace)) changes.set(trace, []);
        changes.get(trace).push([at, frame.data[i].text]);
      });
    });
  }
  const texts = [];
  for (const [trace, history] of changes) {
    let low = 0;
    let high = history.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (history[middle][0] <= n) low = middle;
      else high = middle - 1;
    }
    texts.push([trace, history[low][1]]);
  }
  return texts;
}

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

// Write a text into an SVG node: plain, or with parts in <b>, the only markup that changes.
function write(node, text) {
  const parts = text.split(/<\/?b>/);
  const plain = parts.map((part) => part.replace(/&(lt|gt|amp);/g, (one) => ENTITIES[one]));
  if (parts.length === 1) {
    node.textContent = plain[0];
    return;
  }
  node.replaceChildren(
    ...plain.map((part, i) => {
      const span = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
      span.textContent = part;
      if (i % 2) span.style.fontWeight = "bold";
      return span;
    }),
  );
}

// The text nodes of a trace, by point.
function nodesOf(gd, trace) {
  const drawn = gd.calcdata[trace]?.[0]?.node3;
  const found = [];
  drawn?.selectAll("g.textpoint").each(function (point) {
    found[point.i] = this.querySelector("text");
  });
  return found;
}

// Show one of some frames, the first of which tells of everything: texts go straight into the nodes
// that Plotly drew and shapes through its relayout, for a redraw of all traces would take ten times
// as long. Plotly's own data is kept in step.
function draw(gd, frames, n) {
  for (const [trace, texts] of textsAt(frames, n)) {
    const before = gd.data[trace].text;
    if (before === texts) continue;
    const nodes = nodesOf(gd, trace);
    texts.forEach((text, i) => {
      if (text !== before[i] && nodes[i]) write(nodes[i], text);
    });
    gd.data[trace].text = texts;
  }
  const { title, shapes } = frames[n].layout;
  const whole = frames[0].layout.shapes;
  gd.layout.title.text = title.text;
  const heading = gd.querySelector(".gtitle");
  if (heading) write(heading, title.text);
  const moved = { shapes: gd.layout.shapes.map((one, i) => ({ ...one, ...whole[i], ...shapes[i] })) };
  const slider = gd.layout.sliders?.[0];
  if (slider) {
    const step = Number(frames[n].name) + 1;
    const active = Math.max(0, slider.steps.findLastIndex(({ label }) => Number(label) <= step));
    if (active !== slider.active) moved["sliders[0].active"] = active;
  }
  window.Plotly.relayout(gd, moved);
}

// Where a way of going on begins anew, before or beyond a step.
function beyond(begins, step, forward, last) {
  if (forward) return begins.find((n) => n > step) ?? last;
  return begins.findLast((n) => n < step) ?? 0;
}

const STEP_KEYS = {
  ArrowLeft: "back", ArrowRight: "forward", PageUp: "outer-back", PageDown: "outer-forward",
  Home: "first", End: "last", " ": "play", b: "barrier", B: "barrier",
};

const TYPING_MS = 800; // after which a number is taken to be whole
const LONGEST = 6; // digits of a number

// Takes keys one by one, and jumps to the number that digits make: with Enter, or after a pause.
// Tells whether a key was taken.
function numbers(jump) {
  let digits = "";
  let timer = null;
  const end = () => {
    clearTimeout(timer);
    if (digits) jump(Number(digits));
    digits = "";
  };
  return (key) => {
    if (key === "Enter" && digits) {
      end();
      return true;
    }
    clearTimeout(timer);
    digits = /^[0-9]$/.test(key) ? (digits + key).slice(0, LONGEST) : "";
    if (digits) timer = setTimeout(end, TYPING_MS);
    return digits !== "";
  };
}

// What a key does: its name in keys, and with Shift the inner loop's.
function actionOf(event, keys) {
  const name = keys[event.key];
  return event.shiftKey && (name === "back" || name === "forward") ? `inner-${name}` : name;
}
