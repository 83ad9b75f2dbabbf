// The component of the Step page: a player that tells Python its step, its viewport and clicks.
import { readScene, updateMounted } from "./component.js";
import { OPEN, TYPED } from "./player/keyboard.js";
import { Player } from "./player/player.js";
import {
  MENUS, addSkipLink, clickedPicture, enterPopover, explainMenu, openMenu, unfold,
} from "./stepper/menus.js";
import { Reports } from "./stepper/reports.js";
import { Viewport } from "./stepper/viewport.js";
import { Zooming } from "./stepper/zooming.js";

const DRAWN = "tilewise:frames"; // the event that brings frames of another page
const KEYS = {
  p: "present", Escape: "leave", s: "stage", "+": "nearer", "=": "nearer", "-": "further",
  c: "clock", w: "hazard", e: "presets", i: "what_if", d: "beside", m: "more",
};

let latest = null; // the player that was made last

class Stepper {
  #header = null; // of the scene that Python sent last
  #closing = new AbortController();

  constructor(root) {
    for (const one of root.querySelectorAll("[data-file]")) one.remove();
    const player = this.player = new Player(root, {
      moved: () => this.reports.moved(),
      ask: () => this.reports.report(),
      clicked: (x, y) => this.#clicked(Math.round(x), Math.round(y)),
      drawn: () => this.#drawn(root),
      actions: this.#actions(),
      keys: KEYS,
    });
    this.reports = new Reports(player);
    this.viewport = new Viewport(root, player, this.reports);
    this.zooming = new Zooming(player, (level) => this.reports.choose(level));
    if (latest) player.replay.takeOver(latest.handOver());
    latest = player;
    player.picture.id = "scene";
    this.skip = addSkipLink(player.picture);
    this.watcher = new ResizeObserver(() => this.viewport.resized());
    this.watcher.observe(root);
    this.#listen();
  }

  #actions() {
    const choose = (name) => {
      this.zooming.forget();
      this.reports.choose(name);
    };
    const present = (on) => this.viewport.present(on);
    // In a presentation a menu would open under the scene.
    const open = (name) => this.viewport.isPresentation || openMenu(name);
    return {
      present: () => present(!this.viewport.isPresentation),
      leave: () => this.viewport.isPresentation && present(false),
      stage: () => choose("stage"),
      clock: () => choose("clock"),
      nearer: () => this.zooming.by(1),
      further: () => this.zooming.by(-1),
      ...Object.fromEntries(Object.keys(MENUS).map((name) => [name, () => open(name)])),
      hazard: () => {
        this.player.replay.forget();
        this.reports.choose("hazard");
      },
    };
  }

  #clicked(x, y) {
    this.reports.flush();
    this.reports.tell("setTriggerValue", "clicked", { x, y, step: this.player.step });
  }

  #drawn(root) {
    const { address } = this.player.scene;
    this.zooming.drawn(address.stage);
    root.dataset.address = JSON.stringify(address);
    this.reports.writeStep();
  }

  #listen() {
    const { player, reports, viewport, zooming } = this;
    const { signal } = this.#closing;
    const listen = (target, names, listener, options) => {
      for (const name of names.split(" ")) target.addEventListener(name, listener, { signal, ...options });
    };
    const capture = { capture: true };
    const onPicture = (names, act) => listen(player.picture, names, act, { passive: false });
    listen(document, DRAWN, ({ detail }) => player.addPage(detail));
    onPicture("wheel", (event) => zooming.turned(event, viewport.isPresentation));
    onPicture("touchstart touchmove touchend touchcancel", (event) => zooming.touched(event));
    onPicture("gesturestart gesturechange gestureend", (event) => zooming.gestured(event));
    listen(document, "pointerover", explainMenu);
    listen(document, "click", unfold);
    listen(document, "pointerdown", () => reports.flush(), capture);
    listen(document, "pointerdown", (event) => reports.closePopover(event), capture);
    listen(document, "click", (event) => reports.hold(event), capture);
    listen(document, "click", (event) => {
      const format = clickedPicture(event);
      if (format) player.act(format);
    }, capture);
    listen(document, "focusin", () => reports.flush());
    listen(document, "keydown", enterPopover);
    listen(document, "fullscreenchange", () => {
      if (!document.fullscreenElement && viewport.isPresentation) viewport.present(false);
    });
    listen(window, "resize", () => viewport.resized());
    listen(window, "popstate", () => reports.noteLeaving());
  }

  update(component) {
    const { player } = this;
    const { header, readFigure } = readScene(component.data);
    const before = this.#header;
    this.#header = header;
    this.reports.update(component);
    player.picture.setAttribute("aria-label", header.name);
    this.viewport.update(header.viewport);
    const shown = player.loading ?? player.scene;
    if (before?.id === header.id && before.first === header.first && shown) {
      if (before.order !== header.order && !player.loading) player.restart(header.order, header.start);
      else if (player.loading) Object.assign(player.loading, { order: header.order, start: header.start });
      this.reports.writeStep();
      return;
    }
    player.load({ ...header, figure: readFigure() });
    this.#returnFocus(before);
  }

  // After a choice by a pointer, or one that has closed what had the focus, the scene has it, unless
  // something is typed or open.
  #returnFocus(before) {
    const at = document.activeElement;
    if (!before || before.order === this.#header.order) return;
    if (!this.player.keyboard.byPointer && at !== document.body) return;
    if (at?.closest?.(`${TYPED}, ${OPEN}, [data-testid=stPopoverBody]`)) return;
    this.player.picture.focus({ preventScroll: true });
  }

  close() {
    this.reports.cancel();
    this.zooming.forget();
    this.player.close();
    this.watcher.disconnect();
    this.skip.remove();
    this.reports.noteLeaving();
    this.viewport.close(latest === this.player);
    this.#closing.abort();
  }
}

export default (component) => updateMounted(component, (parent) => new Stepper(parent.querySelector(".stepper")));
