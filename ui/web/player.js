// A scene that is played: its picture, toolbar, timeline and keys, in the app and in a file of its
// own. This stands behind frames.js, plotly_nodes.js and motions.js in one script.
const IDLE_MS = 700; // after a step, before the pages beside its own are asked for
const MARGIN = 4; // pixels under the scene
const LOWEST = 300; // pixels; a window that is lower scrolls
const CLICK_PIXELS = 6; // that a pointer may move in a click
const SWIPE_PIXELS = 40; // that a finger moves at least to step
const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, scrollZoom: false };
const HELD_MS = 3000; // that a picture is faded at most until the one for another room is there
const LATE_MS = 20000; // after which a key is no longer for a scene that comes
const KEEP_PLAYING = ["play", "svg", "png", "present", "leave", "sheet", "stage", "keys"];
// What is done again in a scene that was on its way when it was asked for.
const REPEATED = [
  "first", "last", "back", "forward", "outer-back", "outer-forward", "inner-back", "inner-forward",
  "barrier", "play",
];

// Where all keys are the control's: what is typed into, and a list or menu that is open. WebKit does
// not know :open, and gives a page no key while a list is.
const TYPED = "textarea, [contenteditable=true], "
  + "input:not([type=checkbox], [type=radio], [type=range], [type=button], [role=combobox])";
const OPEN = "[role=combobox][aria-expanded=true], [role=listbox], [role=menu]"
  + (CSS.supports("selector(:open)") ? ", select:open" : "");
// Where they are its own if the focus came by the keyboard: all keys, or only Space.
const STEERED = "input[type=radio], input[type=range], select, [role=combobox]";
const PRESSED = "button, a, summary, input[type=checkbox], [role=button]";

// Plotly, which a chart of the page brings: as soon as it is there.
function plotly() {
  return new Promise((resolve) => {
    const look = () => (window.Plotly ? resolve(window.Plotly) : setTimeout(look, 10));
    look();
  });
}

// The player of a scene within root, whose markup is stepper.html's. hooks says what else is to be
// done: moved(step) after each step, ask(step) for the frames of another page, clicked(x, y) for a
// click at a pixel of the figure, drawn(scene) for a figure that is on the screen, and further
// actions and keys. Among others on its page, owns(event) says whether a key is for this one, and
// room() what room it has; else it has every key, and the rest of the window.
function createPlayer(root, hooks) {
  const find = (selector) => root.querySelector(selector);
  const [stage, picture, timeline, live] = [".stage", ".picture", ".timeline", ".live"].map(find);
  const list = find("dialog"); // of the keys
  const [field, pace, playButton] = ["input", "[data-pace]", "[data-do=play]"].map(find);
  let scene = null; // the one that is drawn: id, order, stops, pages, plot, and its layout
  let coming = null; // the one that is on its way
  let step = 0;
  let part = null; // of the statement, the one that stands out
  let asked = null; // the step whose page was asked for
  let timer = null;
  let idle = null;
  let byPointer = true; // whether the last control was reached by a pointer
  let fitted = { scale: 1, left: 0 };
  let held = null; // the timer of a picture that waits for the one for another room
  let repeated = []; // the keys since the visitor last chose something else: at, key, done
  let inherited = null; // what the player before this one had: its order, step and repeated

  const last = () => scene.stops.steps - 1;
  const pageAt = (n) => scene.pages.find((page) => page.first <= n && n < page.end);

  // Draw a scene: id, order, start, stops, first, end, figure. The one before stays until then.
  async function load(next) {
    coming = next;
    const Plotly = await plotly();
    if (coming !== next) return;
    const { data, layout } = next.figure;
    const frames = unpackFrames(next.figure.frames);
    const plot = document.createElement("div");
    plot.className = "plot coming";
    picture.append(plot);
    await Plotly.newPlot(plot, data, layout, CONFIG);
    keepAsWritten(plot);
    if (coming !== next) {
      Plotly.purge(plot);
      return plot.remove();
    }
    const before = scene;
    const goesOn = !before && inherited?.order === next.order;
    const { id, order, stops, first, end, address, usual } = next;
    scene = { id, order, stops, address, usual, plot, layout, pages: [{ first, end, frames }] };
    coming = null;
    asked = null;
    if (before?.order !== order) {
      step = next.start;
      if (before) pause();
      inherit(order);
    }
    part = null;
    step = Math.min(step, last());
    release();
    field.max = stops.steps;
    find("[data-total]").textContent = `of ${stops.steps}`;
    timeline.setAttribute("aria-valuemax", stops.steps);
    fit();
    draw();
    plot.classList.remove("coming");
    plot.dataset.ready = `${id} ${first}`;
    if (before) {
      before.plot.remove();
      Plotly.purge(before.plot);
    }
    hooks.drawn?.(scene);
    if (step !== next.start) hooks.moved?.(step);
    askBeside([end, first - 1]); // a picture comes with a few steps, to be there soon
    rest();
    if (before?.order !== order) repeat(goesOn);
  }

  // Keys that were pressed while a scene was on its way are for that one: each is an action's name,
  // or the number of a step.
  function perform(key) {
    repeated.push({ at: performance.now(), key, done: Boolean(scene) });
    if (scene) press(key);
  }

  function press(key) {
    if (typeof key === "number") return show(key - 1);
    if (!KEEP_PLAYING.includes(key)) pause();
    actions[key]();
  }

  // In a scene that goes on, what was done in it already is kept for the one that may come next.
  function repeat(goesOn) {
    const since = performance.now() - LATE_MS;
    const due = repeated.filter(({ at, done }) => at > since && !(goesOn && done));
    repeated = goesOn ? repeated.map((one) => ({ ...one, done: true })) : [];
    for (const { key } of due) press(key);
  }

  // A player that takes the place of another in the middle of a visit goes on at its step. In a scene
  // that the other did not get to draw, its keys are done again.
  function inherit(order) {
    if (!inherited) return;
    if (inherited.order === order) step = inherited.step;
    repeated.unshift(...inherited.repeated);
    inherited = null;
  }

  // Something else was chosen, perhaps another scene.
  function forget() {
    repeated = [];
  }

  // Take the frames of another page: scene, first, end, frames.
  function addPage(page) {
    const within = (one, other) => other.first <= one.first && one.end <= other.end;
    if (scene?.id !== page.scene || scene.pages.some((other) => within(page, other))) return;
    const isDrawn = Boolean(pageAt(step));
    scene.pages = scene.pages.filter((one) => !within(one, page));
    scene.pages.push({ ...page, frames: unpackFrames(page.frames) });
    if (page.first <= asked && asked < page.end) asked = null;
    if (!isDrawn && pageAt(step)) draw();
    rest();
  }

  function ask(n) {
    if (asked === n) return;
    asked = n;
    hooks.ask?.(n);
  }

  // At rest the pages beside a step's own are asked for.
  function rest() {
    clearTimeout(idle);
    idle = setTimeout(() => {
      const page = pageAt(step);
      if (page) askBeside([page.end, page.first - 1]);
    }, IDLE_MS);
  }

  // Ask for the first page of some, each given by a step, that there is and that is not here.
  function askBeside(steps) {
    const missing = steps.find((n) => n >= 0 && n <= last() && !pageAt(n));
    if (missing !== undefined && asked === null) ask(missing);
  }

  function show(n) {
    if (!scene) return;
    step = Math.max(0, Math.min(last(), n));
    draw();
    hooks.moved?.(step);
    rest();
  }

  // Show the step wherever it stands, or ask for its page.
  function draw() {
    stopMotions(scene.plot);
    writeNumber();
    const page = pageAt(step);
    stage.classList.toggle("waiting", !page);
    if (!page) return ask(step);
    const at = step - page.first;
    if (part !== null) mark(null);
    showFrame(scene.plot, page.frames, at);
    const title = plainText(page.frames[at].layout.title.text);
    timeline.setAttribute("aria-valuenow", step + 1);
    timeline.setAttribute("aria-valuetext", title);
    live.textContent = [title, ...textsOf("sentence").flat().map(plainText)].join(" ").trim();
    askBeside(2 * at < page.frames.length ? [page.first - 1] : [page.end]);
  }

  // The numbers of the traces with a meta: one, of two scenes beside each other two.
  function tracesOf(meta) {
    return scene.plot.data.flatMap((one, i) => (one.meta === meta ? [i] : []));
  }

  // The texts that are drawn of each trace with a meta.
  function textsOf(meta) {
    return tracesOf(meta).map((i) => scene.plot.data[i].text.filter((text) => text.trim()));
  }

  // How many parts the statement has, of two scenes the one with more.
  const countParts = () => Math.max(0, ...textsOf("parts").map((texts) => texts.length));

  // Not while another number is being typed.
  function writeNumber() {
    if (document.activeElement !== field) field.value = step + 1;
  }

  // A statement is opened into its parts: one of them stands out, and beyond the last is the next
  // statement's first.
  function openPart(by) {
    if (!scene || !pageAt(step)) return;
    const at = (part ?? (by > 0 ? -1 : countParts())) + by;
    if (0 <= at && at < countParts()) return mark(at);
    if (step + by < 0 || step + by > last()) return;
    show(step + by);
    const count = countParts();
    if (count) mark(by > 0 ? 0 : count - 1);
  }

  // Let one part stand out, or with null none.
  function mark(at) {
    part = at;
    markTexts(scene.plot, tracesOf("parts"), at, tracesOf("warp"));
    if (at === null) return;
    live.textContent = textsOf("parts").map((texts) => plainText(texts[at] ?? "")).join(" ").trim();
  }

  const along = (begins, forward) => show(beyond(begins, step, forward, last()));

  function pause() {
    clearInterval(timer);
    timer = null;
    if (scene) stopMotions(scene.plot);
    playButton.textContent = "Play";
  }

  function play() {
    if (timer) return pause();
    if (!scene) return;
    if (step >= last()) show(0);
    timer = setInterval(() => {
      if (step >= last()) pause();
      else if (pageAt(step)) {
        show(step + 1);
        move();
      }
    }, 1000 / Number(pace.value));
    playButton.textContent = "Pause";
  }

  // What the step moves is seen on its way, where there is time for it.
  function move(at = Number(pace.value)) {
    const page = pageAt(step);
    if (page) playMotions(scene.plot, page.frames[step - page.first].motions, at);
  }

  // The picture at its own size, whatever the window's. Plotly's own download takes its file away
  // at once, before a busy browser has read it.
  async function save(format) {
    const { width, height } = scene.layout;
    const link = document.createElement("a");
    link.download = `tilewise-step-${step + 1}.${format}`;
    const scale = format === "png" ? 2 : 1;
    link.href = await window.Plotly.toImage(scene.plot, { format, width, height, scale });
    link.click();
  }

  const actions = {
    first: () => show(0),
    last: () => show(last()),
    back: () => show(step - 1),
    forward: () => show(step + 1),
    "outer-back": () => along(scene.stops.outer, false),
    "outer-forward": () => along(scene.stops.outer, true),
    "inner-back": () => along(scene.stops.inner, false),
    "inner-forward": () => along(scene.stops.inner, true),
    barrier: () => along(scene.stops.barrier, true),
    "part-back": () => openPart(-1),
    "part-forward": () => openPart(1),
    play,
    svg: () => save("svg"),
    png: () => save("png"),
    keys: () => (list.open ? list.close() : list.showModal()),
    ...hooks.actions,
  };
  const keys = { ...STEP_KEYS, "?": "keys", ...hooks.keys };
  const typed = numbers(perform);

  function act(name) {
    if (REPEATED.includes(name)) perform(name);
    else if (scene) press(name);
  }

  // Whether a key is for the control with the focus. Who clicked it goes on in the scene; who came to
  // it by the keyboard works with it by the keyboard.
  function isForControl(at, key) {
    if (!at.closest) return false;
    if (at.closest(TYPED) || at.closest(OPEN)) return true;
    if (byPointer) return false;
    return Boolean(at.closest(STEERED) || (key === " " && at.closest(PRESSED)));
  }

  function pressed(event) {
    const at = event.composedPath()[0];
    if (event.key === "Tab") byPointer = false;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (hooks.owns && !hooks.owns(event)) return;
    if (list.open) { // Escape closes it
      if (event.key === "?") act("keys");
      return;
    }
    if (isForControl(at, event.key)) {
      forget();
      // A number that is entered takes effect, and then its field is done with.
      if (event.key === "Enter" && byPointer && at.matches("input")) setTimeout(() => at.blur());
      return;
    }
    const digits = typed(event.key);
    if (digits) pause();
    const name = actionOf(event, keys);
    if (!name && !digits) return forget();
    if (name === "leave") return act("leave"); // Escape closes what else is open, too
    event.preventDefault();
    if (byPointer && at.closest?.(`${STEERED}, ${PRESSED}`)) {
      event.stopPropagation(); // before the control that was clicked has it
      at.blur();
    }
    if (!digits) act(name);
  }

  function pointed(event) {
    byPointer = true;
    chosen(event);
  }

  function chosen(event) {
    if (!root.contains(event.target)) forget();
  }

  // The picture keeps its size, faded, until the one for another room is there.
  function hold() {
    if (!scene) return;
    clearTimeout(held);
    held = setTimeout(() => {
      release();
      fit();
    }, HELD_MS);
    stage.classList.add("held");
    fit();
  }

  function release() {
    clearTimeout(held);
    held = null;
    stage.classList.remove("held");
  }

  // Scale the figure as a whole to the room it has; a tall one is as wide as the room.
  function fit() {
    const { width, height } = room();
    if (!scene) {
      stage.style.height = `${height}px`;
      return;
    }
    const { width: wide, height: high, meta } = scene.layout;
    const largest = held === null ? Infinity : 1;
    const scale = Math.min(largest, width / wide, meta.tall ? Infinity : height / high);
    const left = Math.max(0, (width - wide * scale) / 2);
    fitted = { scale, left };
    scene.plot.style.transform = `translate(${left}px) scale(${scale})`;
    stage.style.height = `${high * scale}px`;
    const bar = meta.timeline;
    timeline.hidden = !bar;
    if (!bar) return;
    timeline.style.left = `${left + bar.left * scale}px`;
    timeline.style.top = `${bar.top * scale}px`;
    timeline.style.width = `${(bar.right - bar.left) * scale}px`;
    timeline.style.height = `${(bar.bottom - bar.top) * scale}px`;
  }

  // The room that the page leaves the figure, in CSS pixels.
  function room() {
    if (hooks.room) return hooks.room();
    const scroller = root.closest(".stMain");
    const top = stage.getBoundingClientRect().top + (scroller?.scrollTop ?? 0);
    const margin = root.classList.contains("presenting") ? 0 : MARGIN;
    const height = Math.max(LOWEST, window.innerHeight - Math.max(0, top) - margin);
    return { width: stage.clientWidth, height };
  }

  // A pointer on the timeline is at a step, wherever it is dragged to.
  function drag(event) {
    if (event.type === "pointermove" && !timeline.hasPointerCapture(event.pointerId)) return;
    if (!scene || event.button > 0) return;
    if (event.type === "pointerdown") timeline.setPointerCapture(event.pointerId);
    pause();
    const box = timeline.getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * scene.stops.steps);
    show(at);
  }

  // A click goes where the pointer is; a finger that moves sideways steps.
  let down = null;
  function touched(event) {
    if (event.type === "pointerdown") {
      down = event.isPrimary && event.button === 0 ? event : null;
      return;
    }
    if (!down || event.pointerId !== down.pointerId) return;
    const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
    const swiped = event.pointerType === "touch" && Math.abs(x) > SWIPE_PIXELS
      && Math.abs(x) > 2 * Math.abs(y);
    down = null;
    if (event.type === "pointercancel" || !scene) return;
    if (swiped) return act(x < 0 ? "forward" : "back");
    if (Math.hypot(x, y) > CLICK_PIXELS) return;
    forget();
    const box = stage.getBoundingClientRect();
    hooks.clicked?.(
      (event.clientX - box.left - fitted.left) / fitted.scale,
      (event.clientY - box.top) / fitted.scale,
    );
  }

  const onEvents = [
    [document, "keydown", pressed, true],
    [document, "pointerdown", pointed, true],
    [document, "change", chosen, true],
    [window, "popstate", forget],
    [picture, "pointerdown", touched, true],
    [document, "pointerup", touched, true],
    [document, "pointercancel", touched, true],
    [timeline, "pointerdown", drag],
    [timeline, "pointermove", drag],
    [window, "resize", fit],
  ];
  for (const [target, ...rest_] of onEvents) target.addEventListener(...rest_);
  const watcher = new ResizeObserver(fit);
  watcher.observe(root);
  for (const button of root.querySelectorAll("[data-do]")) {
    button.onclick = () => act(button.dataset.do);
  }
  field.onchange = () => {
    pause();
    const n = Number.parseInt(field.value, 10);
    field.blur();
    show(Number.isFinite(n) ? n - 1 : step);
  };
  pace.onchange = () => {
    if (byPointer) pace.blur();
    if (timer) {
      pause();
      play();
    }
  };
  fit();

  return {
    load, addPage, show, move, forget, pause, fit, hold, room, act,
    get scene() { return scene; },
    get step() { return step; },
    get asked() { return asked; },
    get byPointer() { return byPointer; },
    picture,
    // Show a scene that is drawn at another step, which Python asks for.
    restart(order, start) {
      pause();
      scene.order = order;
      part = null;
      step = Math.min(start, last());
      draw();
      rest();
      repeat(false);
    },
    get loading() { return coming; },
    // What a player that takes this one's place goes on with.
    get legacy() {
      if (scene) return { order: scene.order, step, repeated };
      return { ...inherited, repeated: [...(inherited?.repeated ?? []), ...repeated] };
    },
    follow(legacy) { inherited = legacy; },
    close() {
      pause();
      clearTimeout(idle);
      clearTimeout(held);
      watcher.disconnect();
      for (const [target, ...rest_] of onEvents) target.removeEventListener(...rest_);
    },
  };
}
