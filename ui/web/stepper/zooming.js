// Zooming by keys, a wheel or fingers: the next level, also while the picture of the last is on its way.
import { Pinch, Wheel, apart, levelBeside } from "../player/zoom.js";

const ZOOMED_MS = 3000; // after a key that zooms, within which its picture has come

export class Zooming {
  #player;
  #choose;
  #asked = null; // the level that was asked for and is not drawn yet
  #timer = null;
  #wheel = new Wheel();
  #pinch = new Pinch();

  constructor(player, choose) {
    this.#player = player;
    this.#choose = choose;
  }

  // Zoom a level nearer (1) or further away (-1), and hold it there.
  by(count) {
    const level = count ? levelBeside(this.#asked ?? this.#player.level, count) : null;
    if (level === null) return;
    this.#ask(level);
    this.#choose(level);
  }

  // Another stage is chosen, or the scene is closed.
  forget() {
    this.#ask(null);
  }

  drawn(level) {
    if (level === this.#asked) this.forget();
  }

  #ask(level) {
    clearTimeout(this.#timer);
    this.#asked = level;
    this.#timer = level && setTimeout(() => this.forget(), ZOOMED_MS);
  }

  // A wheel scrolls the page, but where the scene is all there is; a pinch comes as one with Ctrl, but
  // in Safari.
  turned(event, isAlone) {
    if (!event.ctrlKey && !isAlone) return;
    event.preventDefault();
    this.by(this.#wheel.turned(event.deltaY, event.timeStamp));
  }

  touched(event) {
    if (event.touches.length > 1 && event.cancelable) event.preventDefault();
    this.by(this.#pinch.moved(apart(event.touches)));
  }

  // Safari has events of its own for a pinch on a trackpad, with how far apart it is by now. On a
  // screen that is touched they come beside those of the fingers.
  gestured(event) {
    event.preventDefault();
    if (navigator.maxTouchPoints) return;
    this.by(this.#pinch.moved(event.type === "gestureend" ? null : event.scale));
  }
}
