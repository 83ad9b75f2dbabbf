// Which step of a scene, and which part of a step's statement, an action leads to.

const next = (begins, step) => begins.find((n) => n > step) ?? Infinity;
const previous = (begins, step) => begins.findLast((n) => n < step) ?? 0;

// The steps at which tiles begin: the first beat of each iteration of the outer loop.
const tiles = ({ beat, outer }) => [...new Set(outer.map((begin) => next(beat, begin - 1)))];

// From a step and the scene's stops: the steps that are beats or waits at a barrier, and at which
// iterations of the outer and of the inner loop begin. A step beyond the last means the last one, a
// negative one the first.
export const MOVES = {
  first: () => 0,
  last: () => Infinity,
  back: (step, { beat }) => previous(beat, step),
  forward: (step, { beat }) => next(beat, step),
  "statement-back": (step) => step - 1,
  "statement-forward": (step) => step + 1,
  "outer-back": (step, stops) => previous(tiles(stops), step),
  "outer-forward": (step, stops) => next(tiles(stops), step),
  "inner-back": (step, { inner }) => previous(inner, step),
  "inner-forward": (step, { inner }) => next(inner, step),
  barrier: (step, { barrier }) => next(barrier, step),
};

// Which beat a step belongs to, from 1: bookkeeping belongs to the one after it.
export function beatOf(step, { beat }) {
  const at = beat.findIndex((n) => n >= step);
  return at < 0 ? beat.length : at + 1;
}

export const clampStep = (step, { steps }) => Math.max(0, Math.min(steps - 1, step));

// The part to mark after another of `count` parts, or after none (null), by 1 or -1. It is null where
// the statement has no such part: the next or previous statement's is meant.
export function partAfter(part, by, count) {
  const at = (part ?? (by > 0 ? -1 : count)) + by;
  return at >= 0 && at < count ? at : null;
}
