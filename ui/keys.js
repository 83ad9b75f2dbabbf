// The scene's keyboard and buttons: they run Plotly's own frames in the page, without the server.
const SCENE = ".st-key-scene";
const PAUSE_MS = 450; // after the last step, before Python hears of it

function plot() {
  const found = document.querySelector(`${SCENE} .js-plotly-plot`);
  return found && found._transitionData && found._transitionData._frames.length ? found : null;
}

// Frame n as a whole: of each trace that changes, what the last frame up to n says of it.
function whole(gd, n) {
  const frames = gd._transitionData._frames;
  if (gd.__tilewiseFrames !== frames[0]) {
    const changes = new Map();
    frames.forEach((frame, at) => {
      frame.traces.forEach((trace, i) => {
        if (!changes.has(trace)) changes.set(trace, []);
        changes.get(trace).push([at, frame.data[i]]);
      });
    });
    gd.__tilewiseFrames = frames[0];
    gd.__tilewiseChanges = changes;
    gd.__tilewiseShown = new Map();
  }
  const data = [];
  const traces = [];
  for (const [trace, history] of gd.__tilewiseChanges) {
    let low = 0;
    let high = history.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (history[middle][0] <= n) low = middle;
      else high = middle - 1;
    }
    if (gd.__tilewiseShown.get(trace) === history[low][0]) continue;
    gd.__tilewiseShown.set(trace, history[low][0]);
    data.push(history[low][1]);
    traces.push(trace);
  }
  return { data, traces, layout: frames[n].layout };
}

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const state = (parentElement.__tilewise ??= { step: data.start, timer: null, report: null });
  if (state.scene !== data.scene) {
    state.scene = data.scene;
    state.step = data.start;
  }
  const last = data.steps - 1;
  let closed = false;

  function report() {
    clearTimeout(state.report);
    state.report = setTimeout(() => setStateValue("step", state.step), PAUSE_MS);
  }

  function show(n) {
    const gd = plot();
    if (!gd || !window.Plotly) return;
    state.step = Math.max(0, Math.min(last, n));
    if (state.step >= gd._transitionData._frames.length) return;
    const number = parentElement.querySelector("input");
    if (number && document.activeElement !== number) number.value = state.step + 1;
    window.Plotly.animate(gd, whole(gd, state.step), {
      mode: "immediate",
      transition: { duration: 0 },
      frame: { duration: 0, redraw: true },
    });
    const live = parentElement.querySelector("[aria-live]");
    const title = gd._transitionData._frames[state.step].layout.title.text;
    if (live) live.textContent = title.replace(/<[^>]*>/g, "");
    report();
  }

  function along(stops, forward) {
    if (forward) return show(stops.find((n) => n > state.step) ?? last);
    return show([...stops].reverse().find((n) => n < state.step) ?? 0);
  }

  function pause() {
    clearInterval(state.timer);
    state.timer = null;
    const button = parentElement.querySelector("[data-do=play]");
    if (button) button.textContent = "Play";
  }

  function play() {
    if (state.timer) return pause();
    if (state.step >= last) state.step = -1;
    const pace = Number(parentElement.querySelector("select")?.value ?? 2);
    state.timer = setInterval(() => {
      if (state.step >= last) return pause();
      show(state.step + 1);
    }, 1000 / pace);
    parentElement.querySelector("[data-do=play]").textContent = "Pause";
  }

  const actions = {
    first: () => show(0),
    "outer-back": () => along(data.outer, false),
    "inner-back": () => along(data.inner, false),
    back: () => show(state.step - 1),
    play,
    forward: () => show(state.step + 1),
    "inner-forward": () => along(data.inner, true),
    "outer-forward": () => along(data.outer, true),
    barrier: () => along(data.barrier, true),
    last: () => show(last),
  };
  const keys = {
    ArrowLeft: "back", ArrowRight: "forward", PageUp: "outer-back", PageDown: "outer-forward",
    Home: "first", End: "last", " ": "play", b: "barrier", B: "barrier",
  };

  function pressed(event) {
    const at = event.composedPath()[0];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (at.closest?.("input, textarea, select, [contenteditable=true], [role=slider], [role=combobox], [role=listbox]")) return;
    if (event.key === " " && at.closest?.("button, a, summary, [role=button]")) return;
    let name = keys[event.key];
    if (event.shiftKey && name === "back") name = "inner-back";
    if (event.shiftKey && name === "forward") name = "inner-forward";
    if (!name) return;
    event.preventDefault();
    if (name !== "play") pause();
    actions[name]();
  }

  // The sheet is drawn for one width and scaled as a whole to the page's.
  function fit() {
    const gd = document.querySelector(`${SCENE} .js-plotly-plot`);
    const box = document.querySelector(SCENE);
    if (!gd || !box || !gd._fullLayout) return;
    const scale = box.parentElement.clientWidth / gd._fullLayout.width;
    gd.style.transformOrigin = "top left";
    gd.style.transform = `scale(${scale})`;
    box.style.height = `${gd._fullLayout.height * scale}px`;
    box.style.overflow = "hidden";
  }

  function clicked(event) {
    const point = event.points?.[0];
    if (!point) return;
    if (point.data.name === "timeline") {
      pause();
      show(point.pointIndex[1]);
    } else if (point.data.name === "threads") {
      setStateValue("thread", point.pointIndex[0] * data.columns + point.pointIndex[1]);
    }
  }

  // Plotly draws when it is ready; wait for this scene's figure, then take up the step.
  function attach() {
    if (closed) return;
    const gd = plot();
    const ready = gd && gd._transitionData._frames.length === data.steps;
    if (!ready) return void setTimeout(attach, 40);
    fit();
    if (gd.__tilewiseScene !== data.scene) {
      gd.__tilewiseScene = data.scene;
      gd.__tilewiseShown = new Map();
      gd.__tilewiseFrames = null;
      gd.removeAllListeners?.("plotly_click");
      gd.removeAllListeners?.("plotly_animatingframe");
      gd.on("plotly_click", clicked);
      gd.on("plotly_animatingframe", (event) => {
        if (event.name === null || event.name === undefined || event.name === "null") return;
        gd.__tilewiseShown = new Map(); // Plotly's own slider or play moved the picture
        state.step = Number(event.name);
        report();
      });
      if (state.step) show(state.step);
      else gd.__tilewiseShown = new Map();
    }
    gd.dataset.ready = data.scene;
  }

  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = () => {
      if (button.dataset.do !== "play") pause();
      actions[button.dataset.do]();
    };
  }
  const jump = parentElement.querySelector("input");
  if (jump) {
    jump.max = data.steps;
    jump.value = state.step + 1;
    jump.onchange = () => {
      pause();
      const n = Number.parseInt(jump.value, 10);
      if (Number.isFinite(n)) show(n - 1);
      jump.blur();
    };
    parentElement.querySelector("[data-total]").textContent = `of ${data.steps}`;
  }
  document.addEventListener("keydown", pressed);
  const watcher = new ResizeObserver(fit);
  const box = document.querySelector(SCENE);
  if (box) watcher.observe(box.parentElement);
  attach();
  return () => {
    closed = true;
    pause();
    watcher.disconnect();
    document.removeEventListener("keydown", pressed);
  };
}
