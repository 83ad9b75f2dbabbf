// The pages of frames that a scene has: a long scene comes in pages, and the others are requested
// before they are reached.
import { unpackFrames } from "./frames.js";

const within = (one, other) => other.first <= one.first && one.end <= other.end;

export class Pages {
  asked = null; // the step whose page was requested and has not come
  #steps; // of the whole scene
  #ask; // called with the step whose page is requested
  #pages = []; // each the steps from first to before end, and their frames

  constructor(steps, ask) {
    this.#steps = steps;
    this.#ask = ask;
  }

  // The page with a step; undefined where it is not here.
  at(step) {
    return this.#pages.find(({ first, end }) => first <= step && step < end);
  }

  // Take a page whose frames are packed, unless all its steps are here.
  add(page) {
    if (this.#pages.some((other) => within(page, other))) return;
    this.#pages = this.#pages.filter((one) => !within(one, page));
    this.#pages.push({ ...page, frames: unpackFrames(page.frames) });
    if (page.first <= this.asked && this.asked < page.end) this.asked = null;
  }

  request(step) {
    if (this.asked === step) return;
    this.asked = step;
    this.#ask?.(step);
  }

  // Request the page that is nearer to a step than the other one beside its own.
  requestNearer(step) {
    const { first, end } = this.at(step);
    this.#requestMissing([2 * (step - first) < end - first ? first - 1 : end]);
  }

  // Request a page beside a step's own, the one after it first.
  requestBeside(step) {
    const page = this.at(step);
    if (page) this.#requestMissing([page.end, page.first - 1]);
  }

  // Request the first of some steps that has no page, unless another page is on its way.
  #requestMissing(steps) {
    const missing = steps.find((n) => n >= 0 && n < this.#steps && !this.at(n));
    if (missing !== undefined && this.asked === null) this.request(missing);
  }
}
