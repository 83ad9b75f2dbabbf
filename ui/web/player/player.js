// A scene that is played: its picture, toolbar, timeline and keys, in the app and in a file.
import { plainText } from "./frames.js";
import { gestureOf, stepAt } from "./geometry.js";
import { Keyboard } from "./keyboard.js";
import { playMotions, stopMotions } from "./motions.js";
import { Pages } from "./pages.js";
import { countParts, markPart, partText, sentencesOf } from "./parts.js";
import { drawPlot, plotly, removePlot, savePlot } from "./plot.js";
import { showFrame } from "./plotly_nodes.js";
import { Replay } from "./replay.js";
import { Stage } from "./stage.js";
import { MOVES, beatOf, clampStep, partAfter } from "./steps.js";
import { LEVELS, giveWay, nameOf } from "./zoom.js";

const IDLE_MS = 700; // after a step, before the pages beside its own are asked for
const KEEP_PLAYING = ["play", "svg", "png", "present", "leave", "stage", "clock", "nearer", "further",
  "keys", "faster", "slower"];
// What is done again in a scene that is on its way.
const REPLAYED = [...Object.keys(MOVES), "play"];

// The player of a scene within root, whose markup is stepper.html's. hooks says what else is to be
// done: moved(step) after each step, ask(step) for the frames of another page, clicked(x, y) for a
// click at a pixel of the figure, drawn() for a figure that is on the screen, and further actions
// and keys. Among others on its page, owns(event) says whether a key is for this one, and viewport()
// how large it may be; else it has every key, and the rest of the window.
export class Player {
  scene = null; // the one that is drawn: id, order, stops, pages, plot, layout, address, usual
  loading = null; // the one that is on its way, as load takes it
  step = 0;
  #part = null; // of the statement, the one that stands out
  #timer = null; // while the scene plays
  #idle = null; // the timer of the pages beside the step's own
  #down = null; // the event of a pointer that is pressed
  #level = null; // an index of LEVELS, that of the step
  #giveWay = () => {}; // ends how the picture before gives way
  #closing = new AbortController();
  #watcher = new ResizeObserver(() => this.stage.fit());
  #root;
  #hooks;
  #actions;

  constructor(root, hooks) {
    this.#root = root;
    this.#hooks = hooks;
    const find = (selector) => root.querySelector(selector);
    const list = find("dialog");
    [this.picture, this.timeline, this.live, this.field, this.pace, this.playButton, this.beat,
      this.zoom, this.clock] = [
      ".picture", ".timeline", ".live", "input", "[data-pace]", "[data-do=play]", "[data-beat]",
      "[data-do=stage]", "[data-do=clock]",
    ].map(find);
    this.replay = new Replay();
    this.stage = new Stage(root, this, hooks.viewport);
    this.keyboard = new Keyboard(this, list, hooks);
    this.#actions = {
      "part-back": () => this.#openPart(-1),
      "part-forward": () => this.#openPart(1),
      play: () => this.#play(),
      svg: () => this.#save("svg"),
      png: () => this.#save("png"),
      faster: () => this.#changePace(1),
      slower: () => this.#changePace(-1),
      keys: () => (list.open ? list.close() : list.showModal()),
      ...hooks.actions,
    };
    for (const [name, move] of Object.entries(MOVES)) {
      this.#actions[name] = () => this.show(move(this.step, this.scene.stops));
    }
    this.#listen();
    this.stage.fit();
  }

  #listen() {
    const { signal } = this.#closing;
    const on = (target, name, act, capture = false) => (
      target.addEventListener(name, act, { capture, signal })
    );
    on(document, "keydown", (event) => this.keyboard.pressed(event), true);
    on(document, "pointerdown", (event) => {
      this.keyboard.pointed();
      this.#chosen(event);
    }, true);
    on(document, "click", (event) => this.keyboard.clicked(event), true);
    on(document, "change", (event) => this.#chosen(event), true);
    on(window, "popstate", () => this.replay.forget());
    on(this.picture, "pointerdown", (event) => {
      this.#down = event.isPrimary && event.button === 0 ? event : null;
    }, true);
    on(document, "pointerup", (event) => this.#lifted(event), true);
    on(document, "pointercancel", (event) => this.#lifted(event), true);
    on(this.timeline, "pointerdown", (event) => this.#drag(event));
    on(this.timeline, "pointermove", (event) => this.#drag(event));
    on(window, "resize", () => this.stage.fit());
    this.#watcher.observe(this.#root);
    for (const button of this.#root.querySelectorAll("[data-do]")) {
      button.onclick = () => this.act(button.dataset.do);
    }
    this.field.onchange = () => {
      this.pause();
      const n = Number.parseInt(this.field.value, 10);
      this.field.blur();
      this.show(Number.isFinite(n) ? n - 1 : this.step);
    };
    this.pace.onchange = () => {
      if (this.keyboard.byPointer) this.pace.blur();
      if (!this.#timer) return;
      this.pause();
      this.#play();
    };
  }

  close() {
    this.pause();
    clearTimeout(this.#idle);
    this.stage.release();
    this.#watcher.disconnect();
    this.#closing.abort();
  }

  // Draw a scene: id, order, start, stops, first, end, figure. The one before stays until then.
  async load(next) {
    this.loading = next;
    await plotly();
    if (this.loading !== next) return;
    const { figure } = next;
    const plot = await drawPlot(figure, this.picture, this.stage.transformFor(figure.layout));
    if (this.loading !== next) return removePlot(plot);
    const { id, order, start, stops, first, end, address, usual } = next; // as it is asked for by now
    const [before, levelBefore] = [this.scene, this.#level];
    const pages = new Pages(stops.steps, this.#hooks.ask);
    pages.add({ first, end, frames: figure.frames });
    for (const page of next.pages ?? []) pages.add(page);
    this.scene = { id, order, stops, address, usual, plot, layout: figure.layout, pages };
    this.loading = null;
    let keys = [];
    if (before?.order !== order) {
      if (before) this.pause();
      ({ step: this.step, keys } = this.replay.open(order, start));
    }
    this.#part = null;
    this.step = clampStep(this.step, stops);
    this.stage.release();
    this.field.max = stops.steps;
    this.beat.style.setProperty("--digits", String(stops.beat.length).length);
    this.#root.querySelector("[data-total]").textContent = `of ${stops.steps}`;
    this.timeline.setAttribute("aria-valuemax", stops.steps);
    this.stage.fit();
    this.#draw();
    plot.classList.remove("coming");
    plot.dataset.ready = `${id} ${first}`;
    this.#giveWay();
    if (before) this.#leave(before, levelBefore);
    this.#hooks.drawn?.();
    if (this.step !== start) this.#hooks.moved?.(this.step);
    pages.requestBeside(this.step); // a picture comes with a few steps, to be there soon
    this.#rest();
    for (const key of keys) this.#press(key);
  }

  // The picture before is gone at once, unless it was seen at another level and has the same size.
  #leave({ plot, layout }, levelBefore) {
    const { width, height, meta } = this.scene.layout;
    const isSameSize = layout.width === width && layout.height === height;
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const hasMoved = levelBefore !== null && levelBefore !== this.#level;
    if (isStill || !isSameSize || !hasMoved || !meta.near) return removePlot(plot);
    stopMotions(plot);
    this.#giveWay = giveWay(plot, this.#level > levelBefore, meta.near, layout, removePlot);
  }

  // The level that is seen, as an address names it, or null.
  get level() {
    return LEVELS[this.#level] ?? null;
  }

  // Show a scene that is drawn at another step, which Python asks for.
  restart(order, start) {
    this.pause();
    this.scene.order = order;
    this.#part = null;
    const { step, keys } = this.replay.open(order, start);
    this.step = clampStep(step, this.scene.stops);
    this.#draw();
    this.#rest();
    for (const key of keys) this.#press(key);
  }

  // What a player that takes this one's place goes on with.
  handOver() {
    return this.replay.handOver(this.scene && { order: this.scene.order, step: this.step });
  }

  // Take the frames of another page: scene, first, end, frames.
  addPage({ scene, first, end, frames }) {
    // Of a scene that is being drawn they are kept: they are sent once.
    if (this.loading?.id === scene) (this.loading.pages ??= []).push({ first, end, frames });
    if (this.scene?.id !== scene) return;
    const { pages } = this.scene;
    const isDrawn = Boolean(pages.at(this.step));
    pages.add({ first, end, frames });
    if (!isDrawn && pages.at(this.step)) this.#draw();
    this.#rest();
  }

  // The step whose page was asked for and has not come, or null.
  get asked() {
    return this.scene.pages.asked;
  }

  // At rest the pages beside a step's own are asked for.
  #rest() {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.scene.pages.requestBeside(this.step), IDLE_MS);
  }

  // The frame of the step; undefined where its page is not here.
  get #frame() {
    const page = this.scene.pages.at(this.step);
    return page?.frames[this.step - page.first];
  }

  show(n) {
    if (!this.scene) return;
    this.step = clampStep(n, this.scene.stops);
    this.#draw();
    this.#hooks.moved?.(this.step);
    this.#rest();
  }

  // Show the step wherever it is, or ask for its page.
  #draw() {
    const { step, scene: { plot, pages, stops } } = this;
    stopMotions(plot);
    // Not while another number is being typed.
    if (document.activeElement !== this.field) this.field.value = step + 1;
    const [beat, count] = this.beat.childNodes;
    beat.textContent = `beat ${beatOf(step, stops)}`;
    count.textContent = ` of ${stops.beat.length}`;
    const page = pages.at(step);
    this.stage.element.classList.toggle("waiting", !page);
    if (!page) return pages.request(step);
    if (this.#part !== null) this.#mark(null);
    this.#giveWay();
    this.#showLevel();
    showFrame(plot, page.frames, step - page.first);
    const title = plainText(this.#frame.layout.title.text);
    this.timeline.setAttribute("aria-valuenow", step + 1);
    this.timeline.setAttribute("aria-valuetext", title);
    this.live.textContent = `${title} ${sentencesOf(plot)}`.trim();
    pages.requestNearer(step);
  }

  #showLevel() {
    this.#level = this.#frame.level ?? null;
    if (!this.zoom || this.#level === null) return;
    const held = this.scene.address?.stage;
    this.zoom.textContent = nameOf(held ?? this.level);
    this.zoom.setAttribute("aria-pressed", Boolean(held));
    this.clock.setAttribute("aria-pressed", held === "clock");
    this.clock.hidden = !this.scene.layout.meta.clock;
  }

  // A statement is opened into its parts: one of them stands out, and beyond the last is the next
  // statement's first.
  #openPart(by) {
    if (!this.#frame) return;
    let part = partAfter(this.#part, by, countParts(this.scene.plot));
    if (part === null) {
      const step = this.step + by;
      if (step !== clampStep(step, this.scene.stops)) return;
      this.show(step);
      part = partAfter(null, by, countParts(this.scene.plot));
    }
    if (part !== null) this.#mark(part);
  }

  #mark(part) {
    this.#part = part;
    markPart(this.scene.plot, part);
    if (part !== null) this.live.textContent = partText(this.scene.plot, part);
  }

  // Do what a button or a key is for. A number is the step to go to.
  act(name) {
    if (REPLAYED.includes(name)) this.perform(name);
    else if (this.scene) this.#press(name);
  }

  // Do it in the scene that is drawn, and again in one that is on its way.
  perform(key) {
    this.replay.add(key, Boolean(this.scene));
    if (this.scene) this.#press(key);
  }

  #press(key) {
    if (typeof key === "number") return this.show(key - 1);
    if (!KEEP_PLAYING.includes(key)) this.pause();
    this.#actions[key]();
  }

  pause() {
    clearInterval(this.#timer);
    this.#timer = null;
    if (this.scene) stopMotions(this.scene.plot);
    this.playButton.textContent = "Play";
  }

  #play() {
    if (this.#timer) return this.pause();
    const isLast = () => this.step >= this.scene.stops.steps - 1;
    if (isLast()) this.show(0);
    this.#timer = setInterval(() => {
      if (isLast()) return this.pause();
      if (!this.#frame) return; // its page is on the way
      this.show(MOVES.forward(this.step, this.scene.stops));
      this.move();
    }, 1000 / Number(this.pace.value));
    this.playButton.textContent = "Pause";
  }

  // The next pace of the list, which one that plays takes up at once.
  #changePace(by) {
    const { pace } = this;
    pace.selectedIndex = Math.max(0, Math.min(pace.length - 1, pace.selectedIndex + by));
    this.live.textContent = pace.selectedOptions[0].textContent;
    pace.onchange();
  }

  // What the step moves is seen on its way, where there is time for it.
  move(pace = Number(this.pace.value)) {
    if (this.#frame) playMotions(this.scene.plot, this.#frame.motions, pace);
  }

  #save(format) {
    const { plot, layout } = this.scene;
    return savePlot(plot, layout, format, `tilewise-step-${this.step + 1}`);
  }

  // What is chosen elsewhere on the page may ask for another scene.
  #chosen({ target }) {
    if (!this.#root.contains(target)) this.replay.forget();
  }

  // A pointer on the timeline is at a step, wherever it is dragged to.
  #drag(event) {
    const { timeline } = this;
    if (event.type === "pointermove" && !timeline.hasPointerCapture(event.pointerId)) return;
    if (!this.scene || event.button > 0) return;
    if (event.type === "pointerdown") timeline.setPointerCapture(event.pointerId);
    this.pause();
    this.show(stepAt(event.clientX, timeline.getBoundingClientRect(), this.scene.stops.steps));
  }

  // A click goes where the pointer is; a finger that moves sideways steps.
  #lifted(event) {
    const down = this.#down;
    if (event.pointerId !== down?.pointerId) return;
    this.#down = null;
    if (event.type === "pointercancel" || !this.scene) return;
    const gesture = gestureOf(down, event);
    if (gesture !== "click") return gesture && this.act(gesture);
    this.replay.forget();
    this.#hooks.clicked?.(...this.stage.placeOf(event));
  }
}
