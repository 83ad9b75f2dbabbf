// How near the eye is: what turns of a wheel, fingers and levels mean, and how one picture gives way
// to one of another level.

// Those of ui/drawing/look.py, as an address names them, from far away; and as people call them.
export const LEVELS = ["grid", "block", "warp", "registers"];
const NAMES = ["grid", "block", "warp", "thread"];

const QUIET_MS = 250; // between two turns of a wheel
const APART = 1.25; // how many times as far apart fingers are for a level
const GONE_MS = 240; // that a picture takes to give way
const GROWN = 1.6; // times as large it is then, where the eye goes nearer

// The level beside another, 1 nearer or -1 further away; null where there is none.
export const levelBeside = (level, by) => LEVELS[LEVELS.indexOf(level) + by] ?? null;

// What is shown, in a word: the level, or a single stage that is held.
export const nameOf = (stage) => NAMES[LEVELS.indexOf(stage)] ?? stage;

// A wheel that turns, or two fingers on a trackpad: one level, however far it goes at once.
export class Wheel {
  #last = -Infinity;

  // 1 nearer, -1 further away, 0 for what belongs to the turn before.
  turned(deltaY, now) {
    const isNew = now - this.#last > QUIET_MS;
    this.#last = now;
    return isNew ? -Math.sign(deltaY) || 0 : 0;
  }
}

// How far apart the fingers on a screen are; null unless they are two.
export const apart = ({ length, 0: one, 1: other }) => (
  length === 2 ? Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) : null
);

// Two fingers: a level each time that they are so much further apart, or nearer.
export class Pinch {
  #distance = null;

  // How far apart they are now, in any unit, or null without them. 1, -1 or 0 as of a wheel.
  moved(distance) {
    if (distance === null) {
      this.#distance = null;
      return 0;
    }
    this.#distance ??= distance;
    const by = distance > this.#distance * APART ? 1 : distance < this.#distance / APART ? -1 : 0;
    if (by) this.#distance = distance;
    return by;
  }
}

// Let what is around the stage of a plot, pixels of the figure, grow or shrink away over the plot that
// is drawn under it. Returns what ends that at once; remove(plot) is called when it is over.
export function giveWay(plot, isNearer, { left, top, right, bottom }, { width, height }, remove) {
  plot.removeAttribute("data-ready");
  plot.classList.add("leaving");
  plot.style.clipPath = `inset(${top}px ${width - right}px ${height - bottom}px ${left}px)`;
  const content = plot.firstElementChild;
  content.style.transformOrigin = `${(left + right) / 2}px ${(top + bottom) / 2}px`;
  const going = content.animate(
    { transform: ["none", `scale(${isNearer ? GROWN : 1 / GROWN})`], opacity: [1, 0] },
    { duration: GONE_MS, easing: "ease-out" },
  );
  const end = () => remove(plot);
  going.finished.then(end, end);
  return () => going.cancel();
}
