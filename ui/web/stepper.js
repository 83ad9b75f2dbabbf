// The component of the Step page: a player that tells Python its step, its viewport and clicks.
import { endWith, readScene } from "./component.js";
import { OPEN, TYPED } from "./player/keyboard.js";
import { Player } from "./player/player.js";
import { Pinch, Wheel, apart, levelBeside } from "./player/zoom.js";

const PAUSE_MS = 450; // after the last step, before Python hears of it
const SPACING_MS = 1000; // between two reports of steps: a hundred visitors may step at once
const FOLLOWED_MS = 250; // a click on a link right after a report, which it must not overtake
const RESIZED_MS = 250; // after the window's last change, before Python hears of the viewport
const GRID = [40, 20]; // pixels; a viewport is reported in whole ones, so that a class shares figures
const PHONE = 640; // pixels of width; a narrower page scrolls, and its viewport is the whole window
const PHONE_GRID = [10, 20];
// The page's menus as ui/step/controls.py names them, and their tooltips: Streamlit's own would cover
// what a menu opens.
const MENUS = {
  presets: "Views that are ready to open (E)",
  what_if: "Change the kernel, and see what happens (I)",
  beside: "A second scene, in lockstep (D)",
  more: "Sizes, block and thread, zoom, files, words (M)",
};
const COOKIE = "tilewise_room";
const BANNER = ".st-key-sentence:has(.hazard)";
const ZOOMED_MS = 3000; // after a key that zooms, within which its picture has come
const DRAWN = "tilewise:frames"; // the event that brings frames of another page

let latest = null; // the player that was made last
// Under load Streamlit may put the component there anew, which then goes on as it was.
const presentation = {
  on: false,
  windowed: null, // the viewport before it
};

function mount(parent) {
  const root = parent.querySelector(".stepper");
  const path = location.pathname;
  for (const one of root.querySelectorAll("[data-file]")) one.remove();
  const app = {
    component: null, header: null, reporting: null, reported: -SPACING_MS, measuring: null,
    flushed: -FOLLOWED_MS,
    viewport: null, // that Python knows
    zoomed: null, // the level that was asked for and is not drawn yet
    zooming: null,
    settling: false, // whether the window is on its way to or from the whole screen
    isLeft: false, // whether another page is on its way
  };

  // A link or the browser's Back may have left this page already: a report would then ask for a run
  // of a fragment that the page on its way does not have, and Streamlit may not finish that page.
  function noteLeaving() {
    if (location.pathname !== path) app.isLeft = true;
  }
  function tell(method, name, value) {
    noteLeaving();
    if (!app.isLeft) app.component[method](name, value);
  }

  function report() {
    clearTimeout(app.reporting);
    app.reporting = null;
    noteLeaving();
    if (!player.scene || app.isLeft) return;
    const { id: scene, order } = player.scene;
    writeStep();
    app.reported = performance.now();
    const requested = player.asked ?? -1;
    tell("setStateValue", "at", { scene, order, step: player.step, requested });
  }

  // Before anything else is clicked or entered Python hears of the step, which is to stay.
  function flush() {
    if (app.reporting === null) return;
    report();
    app.flushed = app.reported;
  }

  // A click on a link closes an open popover, which asks for a run of this page: it must come first.
  // What closes it is a press and a click outside.
  function closePopover({ target }) {
    if (!target.closest?.("a[href]") || !document.querySelector(".stPopover [aria-expanded=true]")) return;
    for (const name of ["pointerdown", "click"]) {
      document.body.dispatchEvent(new PointerEvent(name, { bubbles: true }));
    }
    app.flushed = performance.now();
  }

  // The run of another page's script would take the place of the run that stores the step.
  function hold(event) {
    const link = event.target.closest?.("a[href]");
    const opensHere = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!link || !opensHere) return;
    if (performance.now() - app.flushed >= FOLLOWED_MS) {
      const to = new URL(link.href);
      if (to.origin === location.origin && to.pathname !== path && !link.target) app.isLeft = true;
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => link.click(), FOLLOWED_MS);
  }

  // The address has the step; a step is no entry of the browser's history. The address of another
  // view, whose scene is still on its way, has its own.
  function writeStep() {
    const address = new URL(location.href);
    const { searchParams } = address;
    const names = [...searchParams.keys()].filter((name) => name !== "step");
    const shown = player.scene.address;
    const isShown = names.length === Object.keys(shown).length
      && names.every((name) => searchParams.get(name) === shown[name]);
    if (!isShown) return;
    if (player.step === player.scene.usual) searchParams.delete("step");
    else searchParams.set("step", player.step + 1);
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  }

  // The viewport in whole units of the grid.
  function measure() {
    const { width, height: free } = player.stage.viewport();
    const isPhone = window.innerWidth < PHONE;
    const [across, down] = isPhone ? PHONE_GRID : GRID;
    const height = isPhone ? window.innerHeight : free;
    return {
      width: Math.floor(width / across) * across, height: Math.floor(height / down) * down,
      presenting: presentation.on,
    };
  }

  function reportViewport() {
    clearTimeout(app.measuring);
    app.measuring = null;
    const now = measure();
    const before = app.viewport;
    if (now.width <= 0 || !app.component || app.settling) return;
    if (!now.presenting) {
      document.cookie =
        `${COOKIE}=${now.width}x${now.height}; path=/; max-age=31536000; samesite=lax`;
    }
    const same = before.width === now.width && before.presenting === now.presenting;
    // A phone's window grows and shrinks with its address bar.
    if (same && (before.height === now.height || window.innerWidth < PHONE)) return;
    tellViewport(now);
  }

  function tellViewport(viewport) {
    flush(); // the figure for it comes with the steps around this one
    app.viewport = viewport;
    tell("setStateValue", "viewport", viewport);
  }

  // The viewport of a presentation, before the window has grown: the screen, in CSS pixels.
  function wholeScreen() {
    const zoom = Math.round((20 * window.outerWidth) / window.innerWidth) / 20 || 1;
    const [width, height] = document.fullscreenEnabled
      ? [screen.width / zoom, screen.height / zoom]
      : [window.innerWidth, window.innerHeight];
    const down = (size, unit) => Math.floor(Math.round(size) / unit) * unit;
    const free = height - leaveBanner();
    return { width: down(width, GRID[0]), height: down(free, GRID[1]), presenting: true };
  }

  // Leave room for the sentence of a hazard, which a presentation has above the scene; its height.
  function leaveBanner() {
    const height = document.querySelector(BANNER)?.offsetHeight ?? 0;
    root.style.setProperty("--banner", `${height}px`);
    return height;
  }

  function resized() {
    leaveBanner();
    clearTimeout(app.measuring);
    app.measuring = setTimeout(reportViewport, RESIZED_MS);
  }

  function showPresentation() {
    for (const one of [root, document.body]) one.classList.toggle("presenting", presentation.on);
  }

  // The figure for the new viewport is asked for at once; what the window then has is measured once it
  // has settled.
  async function present(on) {
    if (on) presentation.windowed = app.viewport;
    presentation.on = on;
    showPresentation();
    player.stage.hold();
    app.settling = true;
    clearTimeout(app.measuring);
    tellViewport(on ? wholeScreen() : presentation.windowed);
    if (on) await document.documentElement.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) await document.exitFullscreen().catch(() => {});
    app.settling = false;
    leaveBanner();
    player.stage.fit();
    resized();
  }

  function choose(name) {
    flush();
    tell("setTriggerValue", "chosen", { name });
  }

  // Zoom a level nearer (1) or further away (-1), and hold it there. The next key goes on from there,
  // also while the picture is on its way.
  function zoom(by) {
    const level = by ? levelBeside(app.zoomed ?? player.level, by) : null;
    if (level === null) return;
    zoomTo(level);
    choose(level);
  }

  function zoomTo(level) {
    clearTimeout(app.zooming);
    app.zoomed = level;
    app.zooming = level && setTimeout(() => zoomTo(null), ZOOMED_MS);
  }

  // A wheel scrolls the page, but where the scene is all there is; a pinch comes as one with Ctrl, but
  // in Safari.
  const wheel = new Wheel();
  function turned(event) {
    if (!event.ctrlKey && !presentation.on) return;
    event.preventDefault();
    zoom(wheel.turned(event.deltaY, event.timeStamp));
  }

  const pinch = new Pinch();
  function touched(event) {
    if (event.touches.length > 1 && event.cancelable) event.preventDefault();
    zoom(pinch.moved(apart(event.touches)));
  }

  // Safari has events of its own for a pinch on a trackpad, with how far apart it is by now. On a
  // screen that is touched they come beside those of the fingers.
  function gestured(event) {
    event.preventDefault();
    if (!navigator.maxTouchPoints) zoom(pinch.moved(event.type === "gestureend" ? null : event.scale));
  }

  const menuButton = (name) => `.st-key-controls [class*=st-key-popover-${name}] button`;

  // Streamlit puts a menu's button there anew, which gets its tooltip as a pointer comes to it.
  function explainMenu({ target }) {
    for (const [name, title] of Object.entries(MENUS)) {
      const button = target.closest?.(menuButton(name));
      if (button) button.title = title;
    }
  }

  // A menu of the page; in a presentation it would open under the scene.
  function openMenu(name) {
    const button = document.querySelector(menuButton(name));
    if (!button || presentation.on) return;
    button.focus();
    button.click();
  }

  // The buttons of pictures are among the page's files; Python has nothing to do for them.
  function savePicture(event) {
    const button = event.target.closest?.("[class*=st-key-picture_] button");
    if (!button) return;
    event.stopPropagation();
    player.act(button.closest("[class*=st-key-picture_]").className.match(/picture_(\w+)/)[1]);
  }

  const player = new Player(root, {
    moved: () => {
      clearTimeout(app.reporting);
      const wait = app.reported + SPACING_MS - performance.now();
      app.reporting = setTimeout(report, Math.max(PAUSE_MS, wait));
    },
    ask: report,
    clicked: (x, y) => {
      flush();
      const { step } = player;
      tell("setTriggerValue", "clicked", { x: Math.round(x), y: Math.round(y), step });
    },
    drawn: () => {
      if (player.scene.address.stage === app.zoomed) zoomTo(null);
      root.dataset.address = JSON.stringify(player.scene.address);
      writeStep();
    },
    actions: {
      present: () => present(!presentation.on),
      leave: () => presentation.on && present(false),
      stage: () => {
        zoomTo(null);
        choose("stage");
      },
      nearer: () => zoom(1),
      further: () => zoom(-1),
      ...Object.fromEntries(Object.keys(MENUS).map((name) => [name, () => openMenu(name)])),
      clock: () => {
        zoomTo(null);
        choose("clock");
      },
      hazard: () => {
        player.replay.forget();
        choose("hazard");
      },
    },
    keys: {
      p: "present", Escape: "leave", s: "stage", "+": "nearer", "=": "nearer", "-": "further",
      c: "clock", w: "hazard", e: "presets", i: "what_if", d: "beside", m: "more",
    },
  });
  showPresentation();
  if (latest) player.replay.takeOver(latest.handOver());
  latest = player;
  player.picture.id = "scene";

  const skip = document.createElement("a");
  skip.className = "skip-to-scene";
  skip.href = "#scene";
  skip.textContent = "Skip to the scene";
  skip.onclick = (event) => {
    event.preventDefault();
    player.picture.focus();
  };
  document.body.prepend(skip);

  // Tab goes from the button of an open popover into it, which the page holds at its very end.
  function tabbed(event) {
    const button = document.activeElement;
    if (event.key !== "Tab" || event.shiftKey || !button?.matches("[aria-expanded=true]")) return;
    const within = document.querySelector("[data-testid=stPopoverBody]")
      ?.querySelector("input, button, select, a");
    if (!within || !button.closest(".stPopover")) return;
    event.preventDefault();
    within.focus();
  }

  // A phone shows two lines of the sentence above the scene, and all of them once it is touched.
  function unfold({ target }) {
    target.closest?.(".st-key-sentence")?.classList.toggle("whole");
  }

  const take = ({ detail }) => player.addPage(detail);
  const left = () => !document.fullscreenElement && presentation.on && present(false);
  const watcher = new ResizeObserver(resized);
  const closing = new AbortController();
  const { signal } = closing;
  watcher.observe(root);
  document.addEventListener(DRAWN, take, { signal });
  player.picture.addEventListener("wheel", turned, { signal, passive: false });
  for (const name of ["touchstart", "touchmove", "touchend", "touchcancel"]) {
    player.picture.addEventListener(name, touched, { signal, passive: false });
  }
  for (const name of ["gesturestart", "gesturechange", "gestureend"]) {
    player.picture.addEventListener(name, gestured, { signal, passive: false });
  }
  document.addEventListener("pointerover", explainMenu, { signal });
  document.addEventListener("click", unfold, { signal });
  document.addEventListener("pointerdown", flush, { signal, capture: true });
  document.addEventListener("pointerdown", closePopover, { signal, capture: true });
  document.addEventListener("click", hold, { signal, capture: true });
  document.addEventListener("click", savePicture, { signal, capture: true });
  document.addEventListener("focusin", flush, { signal });
  document.addEventListener("keydown", tabbed, { signal });
  document.addEventListener("fullscreenchange", left, { signal });
  window.addEventListener("resize", resized, { signal });
  window.addEventListener("popstate", noteLeaving, { signal });

  app.update = (component) => {
    app.component = component;
    app.isLeft = false;
    const { header, readFigure } = readScene(component.data);
    const before = app.header;
    app.header = header;
    app.viewport ??= header.viewport;
    player.picture.setAttribute("aria-label", header.name);
    leaveBanner();
    reportViewport();
    const shown = player.loading ?? player.scene;
    if (before?.id === header.id && before.first === header.first && shown) {
      if (before.order !== header.order && !player.loading) player.restart(header.order, header.start);
      else if (player.loading) Object.assign(player.loading, { order: header.order, start: header.start });
      writeStepOnceDrawn();
      return;
    }
    player.load({ ...header, figure: readFigure() });
    returnFocus(before, header);
  };

  function writeStepOnceDrawn() {
    if (player.scene) writeStep();
  }

  // After a choice by a pointer, or one that has closed what had the focus, the scene has it, unless
  // something is typed or open.
  function returnFocus(before, header) {
    const at = document.activeElement;
    if (!before || before.order === header.order) return;
    if (!player.keyboard.byPointer && at !== document.body) return;
    if (at?.closest?.(`${TYPED}, ${OPEN}, [data-testid=stPopoverBody]`)) return;
    player.picture.focus({ preventScroll: true });
  }

  app.close = () => {
    clearTimeout(app.reporting);
    clearTimeout(app.measuring);
    clearTimeout(app.zooming);
    player.close();
    watcher.disconnect();
    skip.remove();
    noteLeaving();
    if (app.isLeft) presentation.on = false;
    if (latest === player) document.body.classList.remove("presenting");
    closing.abort();
  };
  return app;
}

export default function (component) {
  const { parentElement } = component;
  const app = (parentElement.__tilewise ??= mount(parentElement));
  app.update(component);
  return endWith(parentElement);
}
