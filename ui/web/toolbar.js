// The scene's keyboard and buttons: they show its frames in the page, without the server. This
// stands behind frames.js in one module.
const SCENE = ".st-key-scene";
const STAGE = ".st-key-stage"; // what holds the scene, as wide as the page leaves it
const QUIET_MS = 100; // after which Streamlit, which draws a figure twice, is done with it
const PAUSE_MS = 450; // after the last step, before Python hears of it
const IDLE_MS = 700; // after a step, before the pages beside its own are asked for
const MARGIN = 8; // pixels under the scene
const WAITING = 0.5; // opacity of the scene while a step's page is on its way, of parts passed over
const LOWEST = 360; // pixels; a window that is lower scrolls
const PRESENTING = "presenting"; // the body's class while only the scene is shown
const STAYS = ["play", "svg", "png", "present", "leave"]; // what does not end the playing

// Where all keys are the control's: what is typed into, and a list or menu that is open.
const TYPED = "textarea, [contenteditable=true], "
  + "input:not([type=checkbox], [type=radio], [type=range], [type=button], [role=combobox])";
const OPEN = "[role=combobox][aria-expanded=true], [role=listbox], [role=menu], "
  + (CSS.supports("selector(:open)") ? "select:open" : "select");
// Where they are its own if the focus came by the keyboard: all keys, or only Space.
const STEERED = "input[type=radio], input[type=range], select, [role=combobox], [role=slider]";
const PRESSED = "button, a, summary, input[type=checkbox], [role=button]";

// The plot of a scene's page, once Plotly has drawn it: for a moment the one before is there as well.
// It shows the steps of other pages too, whose frames Python sends when they are asked for.
function plot({ scene, first }) {
  const drawn = [...document.querySelectorAll(`${SCENE}:not([data-retained]) .js-plotly-plot`)];
  return drawn.find(({ layout, _transitionData }) =>
    layout?.meta?.scene === scene && layout.meta.first === first && _transitionData?._frames.length);
}

export default function (component) {
  const { data, parentElement, setStateValue, setTriggerValue } = component;
  const state = (parentElement.__tilewise ??= {
    step: data.start, timer: null, report: null, byPointer: true,
  });
  const { stops, first, end, more } = data;
  const last = stops.steps - 1;
  const page = `${data.scene} ${first}`;
  if (state.scene !== data.scene || state.order !== data.order) {
    if (state.scene !== data.scene) state.pages = []; // each with first, end and frames
    state.scene = data.scene;
    state.order = data.order;
    state.step = data.start;
    state.part = null; // of the statement, the one that stands out
    state.asked = null; // the step whose page Python has been asked for
    state.moved = performance.now();
  }
  if (more && !state.pages.some((one) => one.first === more.first)) state.pages.push(more);
  if (more && more.first <= state.asked && state.asked < more.end) state.asked = null;
  state.close?.(); // Streamlit calls again for other data, and cleans up only in the end

  function tell() {
    clearTimeout(state.report);
    state.report = null;
    setStateValue("at", [data.scene, data.order, state.step, state.asked ?? -1]);
  }

  function ask(n) {
    if (state.asked === n) return;
    state.asked = n;
    tell();
  }

  // The plot, once it can show steps.
  function playable() {
    const gd = plot(data);
    return gd?.dataset.ready === page ? gd : null;
  }

  // The page with a step: its first step, its end and its frames, or nothing if it is not here.
  function pageAt(gd, n) {
    const drawn = { first, end, frames: gd._transitionData._frames };
    return [drawn, ...state.pages].find((one) => one.first <= n && n < one.end);
  }

  function report() {
    clearTimeout(state.report);
    state.report = setTimeout(tell, PAUSE_MS);
  }

  // Before anything else is clicked or entered Python hears of the step: a focus keeps it.
  function flush() {
    if (state.report !== null) tell();
  }

  // What cannot be shown yet, watch() shows when it has come.
  function show(n) {
    state.step = Math.max(0, Math.min(last, n));
    state.moved = performance.now();
    tellNumber();
    report();
    const gd = playable();
    if (!gd) return;
    const turned = pageAt(gd, state.step);
    gd.style.opacity = turned ? "" : WAITING;
    if (!turned) return ask(state.step);
    const at = state.step - turned.first;
    draw(gd, turned.frames, at);
    if (state.part !== null) mark(gd, null);
    const live = parentElement.querySelector("[aria-live]");
    if (live) live.textContent = titleOf(turned).replace(/<[^>]*>/g, "");
    askBeside(gd, 2 * at < turned.frames.length ? [turned.first - 1] : [turned.end]);
  }

  // Ask for the first page of some, each given by a step, that there is and that is not here.
  function askBeside(gd, steps) {
    const missing = steps.find((n) => n >= 0 && n <= last && !pageAt(gd, n));
    if (missing !== undefined && state.asked === null) ask(missing);
  }

  const titleOf = (turned) => turned.frames[state.step - turned.first].layout.title.text;

  // Not while another number is being typed: the component is a root of its own, with its own focus.
  function tellNumber() {
    const field = parentElement.querySelector("input");
    if (field && parentElement.getRootNode().activeElement !== field) field.value = state.step + 1;
  }

  // A statement is opened into its parts: one of them stands out, and beyond the last is the next
  // statement's first.
  function part(by) {
    const gd = playable();
    if (!gd) return;
    const at = (state.part ?? (by > 0 ? -1 : partsOf(gd).length)) + by;
    const beyondIt = at < 0 || at >= partsOf(gd).length;
    if (beyondIt) {
      if (state.step + by < 0 || state.step + by > last) return;
      show(state.step + by);
      const count = partsOf(gd).length;
      if (count) mark(gd, by > 0 ? 0 : count - 1);
    } else {
      mark(gd, at);
    }
  }

  const partsTrace = (gd) => gd.data.findIndex((one) => one.meta === "parts");
  const partsOf = (gd) => gd.data[partsTrace(gd)].text.filter((line) => line.trim());

  // Let one part stand out, or with null none.
  function mark(gd, at) {
    state.part = at;
    nodesOf(gd, partsTrace(gd)).forEach((node, i) => {
      node.style.opacity = at === null || i === at ? "" : WAITING;
      node.style.fontWeight = i === at ? "bold" : "";
    });
    const live = parentElement.querySelector("[aria-live]");
    if (live && at !== null) live.textContent = nodesOf(gd, partsTrace(gd))[at].textContent;
  }

  function along(begins, forward) {
    show(beyond(begins, state.step, forward, last));
  }

  function pause() {
    clearInterval(state.timer);
    state.timer = null;
    const button = parentElement.querySelector("[data-do=play]");
    if (button) button.textContent = "Play";
  }

  function play() {
    if (state.timer) return pause();
    if (state.step >= last) show(0);
    const pace = Number(parentElement.querySelector("select")?.value ?? 2);
    state.timer = setInterval(() => state.tick(), 1000 / pace);
    parentElement.querySelector("[data-do=play]").textContent = "Pause";
  }

  state.tick = () => {
    if (state.step >= last) return pause();
    const gd = playable();
    if (gd && pageAt(gd, state.step)) show(state.step + 1);
  };

  state.jump = (number) => show(number - 1);
  state.typed ??= numbers((number) => state.jump(number));

  // The picture at its own size, whatever the window's.
  function save(format) {
    const gd = plot(data);
    if (!gd) return;
    const { width, height } = gd._fullLayout;
    const filename = `tilewise-step-${state.step + 1}`;
    window.Plotly.downloadImage(gd, { format, width, height, filename, scale: format === "png" ? 2 : 1 });
  }

  function present(on) {
    document.body.classList.toggle(PRESENTING, on);
    if (on) document.documentElement.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) document.exitFullscreen();
    fit();
  }

  const actions = {
    first: () => show(0),
    "outer-back": () => along(stops.outer, false),
    "inner-back": () => along(stops.inner, false),
    back: () => show(state.step - 1),
    play,
    forward: () => show(state.step + 1),
    "part-back": () => part(-1),
    "part-forward": () => part(1),
    "inner-forward": () => along(stops.inner, true),
    "outer-forward": () => along(stops.outer, true),
    barrier: () => along(stops.barrier, true),
    last: () => show(last),
    svg: () => save("svg"),
    png: () => save("png"),
    present: () => present(!document.body.classList.contains(PRESENTING)),
    leave: () => present(false),
  };
  const keys = {
    ...STEP_KEYS, ",": "part-back", ".": "part-forward", p: "present", P: "present", Escape: "leave",
  };

  // Whether a key is for the control with the focus. Who clicked it goes on in the scene; who came to
  // it by the keyboard works with it by the keyboard.
  function meant(at, key) {
    if (!at.closest) return false;
    if (at.closest(TYPED) || at.closest(OPEN)) return true;
    if (state.byPointer) return false;
    return Boolean(at.closest(STEERED) || (key === " " && at.closest(PRESSED)));
  }

  function pressed(event) {
    const at = event.composedPath()[0];
    if (event.key === "Tab") state.byPointer = false;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (meant(at, event.key)) {
      // A number that is entered takes effect, and then its field is done with.
      if (event.key === "Enter" && state.byPointer && at.matches("input")) setTimeout(() => at.blur());
      return;
    }
    const digits = state.typed(event.key);
    if (digits) pause();
    const name = actionOf(event, keys);
    if (!name && !digits) return;
    if (name === "leave") return actions.leave(); // Escape closes what else is open, too
    event.preventDefault();
    if (state.byPointer && at.closest?.(`${STEERED}, ${PRESSED}`)) {
      event.stopPropagation(); // before the control that was clicked has it
      at.blur();
    }
    if (digits) return;
    if (!STAYS.includes(name)) pause();
    actions[name]();
  }

  function pointed() {
    state.byPointer = true;
    flush();
  }

  // The sheet is drawn for one size and scaled as a whole to what the window leaves it.
  function fit() {
    const gd = plot(data);
    const stage = document.querySelector(STAGE);
    if (!gd || !stage || !gd._fullLayout) return;
    const { width, height } = gd._fullLayout;
    const room = window.innerHeight - Math.max(0, stage.getBoundingClientRect().top) - MARGIN;
    const scale = Math.min(stage.clientWidth / width, Math.max(room, LOWEST) / height);
    const aside = Math.max(0, (stage.clientWidth - width * scale) / 2);
    gd.style.transformOrigin = "top left"; // of the plot: Streamlit measures what is around it
    gd.style.transform = `translate(${aside}px) scale(${scale})`;
    stage.style.height = `${height * scale}px`;
  }

  state.clicked = (event) => {
    const point = event.points?.[0];
    if (!point) return;
    const [row, column] = point.pointIndex;
    if (point.data.name === "timeline") {
      pause();
      show(column);
    } else if (point.data.name) {
      flush();
      setTriggerValue("clicked", [point.data.name, row, column]);
    }
  };

  state.animating = ({ name }) => {
    if (!/^\d+$/.test(name)) return; // Plotly's own pause
    state.step = Number(name);
    report();
  };

  // Plotly draws when it is ready, and Streamlit may draw its figure once more or put another plot
  // in its place at any time. Once that is quiet the picture is ready, and taken to its step.
  function watch() {
    const gd = plot(data);
    if (!gd) return;
    if (gd.__tilewisePage !== page || gd.__tilewiseEvents !== gd._ev) return attach(gd);
    if (performance.now() - gd.__tilewiseDrawn < QUIET_MS) return;
    gd.dataset.ready = page;
    const turned = pageAt(gd, state.step);
    if (!turned) ask(state.step);
    else if (gd.layout.title.text !== titleOf(turned)) show(state.step);
    else if (performance.now() - state.moved > IDLE_MS) askBeside(gd, [turned.end, turned.first - 1]);
  }

  function attach(gd) {
    gd.__tilewisePage = page;
    gd.__tilewiseDrawn = performance.now();
    if (gd.__tilewiseEvents !== gd._ev) {
      gd.__tilewiseEvents = gd._ev;
      gd.on("plotly_click", (event) => state.clicked(event));
      gd.on("plotly_animatingframe", (event) => state.animating(event));
      gd.on("plotly_afterplot", () => (gd.__tilewiseDrawn = performance.now()));
    }
    fit();
  }

  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = () => {
      if (!STAYS.includes(button.dataset.do)) pause();
      actions[button.dataset.do]();
    };
  }
  const jump = parentElement.querySelector("input");
  if (jump) {
    jump.max = stops.steps;
    tellNumber();
    jump.onchange = () => {
      pause();
      const n = Number.parseInt(jump.value, 10);
      jump.blur();
      show(Number.isFinite(n) ? n - 1 : state.step);
    };
    parentElement.querySelector("[data-total]").textContent = `of ${stops.steps}`;
  }
  document.addEventListener("keydown", pressed, true);
  document.addEventListener("pointerdown", pointed, true);
  document.addEventListener("focusin", flush);
  // Plotly's own pause ends its play with a rejected promise that nobody waits for.
  const pausing = (event) => event.reason === undefined && event.preventDefault();
  window.addEventListener("unhandledrejection", pausing);
  window.addEventListener("resize", fit);
  const watcher = new ResizeObserver(fit);
  const stage = document.querySelector(STAGE);
  if (stage) watcher.observe(stage);
  const watching = setInterval(watch, QUIET_MS / 2);
  watch();
  const close = () => {
    clearInterval(watching);
    watcher.disconnect();
    window.removeEventListener("unhandledrejection", pausing);
    window.removeEventListener("resize", fit);
    document.removeEventListener("keydown", pressed, true);
    document.removeEventListener("pointerdown", pointed, true);
    document.removeEventListener("focusin", flush);
  };
  state.close = close;
  return () => {
    close();
    if (state.close !== close) return;
    pause();
    document.body.classList.remove(PRESENTING);
  };
}
