// The part of the page that the picture has: it is scaled as a whole to its viewport.
import { fitFigure } from "./geometry.js";

const MARGIN = 4; // pixels under the toolbar
const LOWEST = 300; // pixels; a window that is lower scrolls
const HELD_MS = 3000; // that a picture is faded at most until the one for another viewport is there

const transformOf = ({ scale, left }) => `translate(${left}px) scale(${scale})`;

export class Stage {
  element;
  #root;
  #player;
  #timeline;
  #bar; // the toolbar under it
  #fitted = { scale: 1, left: 0 };
  #held = null; // the timer of a picture that waits for the one for another viewport

  constructor(root, player, viewport) {
    this.#root = root;
    this.#player = player;
    this.element = root.querySelector(".stage");
    this.#timeline = root.querySelector(".timeline");
    this.#bar = root.querySelector(".bar");
    if (viewport) this.viewport = viewport;
  }

  // The viewport that the page leaves the figure, in CSS pixels: the rest of the window.
  viewport() {
    const scroller = this.#root.closest(".stMain");
    const top = this.element.getBoundingClientRect().top + (scroller?.scrollTop ?? 0);
    const isPresenting = this.#root.classList.contains("presenting");
    const below = isPresenting ? 0 : this.#bar.offsetHeight + MARGIN;
    const height = Math.max(LOWEST, window.innerHeight - Math.max(0, top) - below);
    return { width: this.element.clientWidth, height };
  }

  fit() {
    const [viewport, { scene }] = [this.viewport(), this.#player];
    if (!scene) {
      this.element.style.height = `${viewport.height}px`;
      return;
    }
    this.#fitted = fitFigure(scene.layout, viewport, this.#held === null ? Infinity : 1);
    const { height, bar } = this.#fitted;
    scene.plot.style.transform = transformOf(this.#fitted);
    this.element.style.height = `${height}px`;
    this.element.style.setProperty("--fitted-to", `${viewport.width}px`);
    this.#timeline.hidden = !bar;
    for (const side in bar) this.#timeline.style[side] = `${bar[side]}px`;
  }

  // The CSS transform with which a figure will be seen.
  transformFor(layout) {
    return transformOf(fitFigure(layout, this.viewport()));
  }

  // The picture keeps its size, faded, until the one for another viewport is there.
  hold() {
    if (!this.#player.scene) return;
    clearTimeout(this.#held);
    this.#held = setTimeout(() => {
      this.release();
      this.fit();
    }, HELD_MS);
    this.element.classList.add("held");
    this.fit();
  }

  release() {
    clearTimeout(this.#held);
    this.#held = null;
    this.element.classList.remove("held");
  }

  // Where a pointer is, in pixels of the figure.
  placeOf({ clientX, clientY }) {
    const box = this.element.getBoundingClientRect();
    const { scale, left } = this.#fitted;
    return [(clientX - box.left - left) / scale, (clientY - box.top) / scale];
  }
}
