// Which step of a scene, and which part of a step's statement, an action leads to.

const next = (begins, step) => begins.find((n) => n > step) ?? Infinity;
const previous = (begins, step) => begins.findLast((n) => n < step) ?? 0;

// From a step and the scene's stops: at which steps iterations of the outer and of the inner loop, and
// waits at a barrier, begin. A step beyond the last means the last one, a negative one the first.
export const MOVES = {
  first: () => 0,
  last: () => Infinity,
  back: (step) => step - 1,
  forward: (step) => step + 1,
  "outer-back": (step, { outer }) => previous(outer, step),
  "outer-forward": (step, { outer }) => next(outer, step),
  "inner-back": (step, { inner }) => previous(inner, step),
  "inner-forward": (step, { inner }) => next(inner, step),
  barrier: (step, { barrier }) => next(barrier, step),
};

export const clampStep = (step, { steps }) => Math.max(0, Math.min(steps - 1, step));

// The part to mark after another of `count` parts, or after none (null), by 1 or -1. It is null where
// the statement has no such part: the next or previous statement's is meant.
export function partAfter(part, by, count) {
  const at = (part ?? (by > 0 ? -1 : count)) + by;
  return at >= 0 && at < count ? at : null;
}
