// How large a figure is drawn in its viewport, and what a pointer on it means.
const CLICK_PIXELS = 6; // that a pointer may move in a click
const SWIPE_PIXELS = 40; // that a finger moves at least to step

// A figure's scale, its left edge and its height in a viewport, and the rectangle of its timeline,
// if it has one, all in CSS pixels. A tall figure is as wide as the viewport.
export function fitFigure({ width, height, meta }, viewport, largestScale = Infinity) {
  const scale = Math.min(
    largestScale, viewport.width / width, meta.tall ? Infinity : viewport.height / height,
  );
  const left = Math.max(0, (viewport.width - width * scale) / 2);
  const { timeline } = meta;
  const bar = timeline && {
    left: left + timeline.left * scale,
    top: timeline.top * scale,
    width: (timeline.right - timeline.left) * scale,
    height: (timeline.bottom - timeline.top) * scale,
  };
  return { scale, left, height: height * scale, bar };
}

// The step that a pointer at x is at on a timeline.
export const stepAt = (x, { left, width }, steps) => Math.floor(((x - left) / width) * steps);

// What a pointer has done between two of its events: an action, a click, or nothing (null).
export function gestureOf(down, up) {
  const [x, y] = [up.clientX - down.clientX, up.clientY - down.clientY];
  const isSwipe = up.pointerType === "touch"
    && Math.abs(x) > Math.max(SWIPE_PIXELS, 2 * Math.abs(y));
  if (isSwipe) return x < 0 ? "forward" : "back";
  return Math.hypot(x, y) > CLICK_PIXELS ? null : "click";
}
