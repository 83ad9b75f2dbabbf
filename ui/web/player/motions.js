// What moves while a scene plays, as ui/drawing/motions.py describes it: numbers that fly from cell to cell,
// wavefronts that light up in turn, a barrier's wall. It is drawn upon the plot, in its pixels, and
// only by transform and opacity, which a browser changes without painting anew.
const FASTEST = 4; // steps a second, beyond which nothing moves
const SHARE = 0.6; // of a step's time, in which everything has come
const moving = new WeakMap(); // of plots: the layer that is drawn upon them

// Let the motions of the step that was just drawn be seen, at a pace in steps a second.
export function playMotions(plot, motions, pace) {
  stopMotions(plot);
  const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!motions?.length || pace > FASTEST || isCalm) return;
  const layer = document.createElement("div");
  layer.className = "motions";
  layer.setAttribute("aria-hidden", "true");
  const { ink, paper } = plot.layout.meta.moving;
  layer.style.setProperty("--moving-ink", ink);
  layer.style.setProperty("--moving-paper", paper);
  plot.append(layer);
  moving.set(plot, layer);
  const time = (SHARE * 1000) / pace;
  const animations = motions.map(([kind, ...values]) => MOTIONS[kind](layer, time, ...values));
  Promise.all(animations.flat().map((one) => one.finished))
    .then(() => layer.remove(), () => {}); // cancelled: the layer is gone
}

export function stopMotions(plot) {
  moving.get(plot)?.remove();
  moving.delete(plot);
}

// A child of the layer that covers a rectangle.
function covering(layer, name, [left, top, right, bottom]) {
  const child = document.createElement("div");
  child.className = name;
  const pixels = { left, top, width: right - left, height: bottom - top };
  for (const [side, value] of Object.entries(pixels)) child.style[side] = `${value}px`;
  layer.append(child);
  return child;
}

// Each draws its parts and returns their animations.
const MOTIONS = {
  fly(layer, time, text, x, y, toX, toY, size, ...cell) {
    const cover = covering(layer, "cover", cell);
    const number = document.createElement("div");
    number.className = "flying";
    number.textContent = text;
    Object.assign(number.style, { left: `${x}px`, top: `${y}px`, fontSize: `${size}px` });
    layer.append(number);
    const there = `translate(-50%, -50%) translate(${toX - x}px, ${toY - y}px)`;
    return [
      number.animate({ transform: ["translate(-50%, -50%)", there] },
        { duration: time, easing: "ease-in-out", fill: "forwards" }),
      cover.animate({ opacity: [1, 1] }, time),
    ];
  },
  light(layer, time, left, top, right, bottom, turn, turns) {
    const each = time / turns;
    return [
      covering(layer, "lit", [left, top, right, bottom]).animate(
        { opacity: [0.5, 0.5] }, { delay: turn * each, duration: each },
      ),
    ];
  },
  walk(layer, time, left, top, right, bottom, start) {
    const cover = covering(layer, "cover", [left, top, right, bottom]);
    return [
      covering(layer, "walking", [left, top, right, bottom]).animate(
        { transform: [`translateX(${start}px)`, "none"] },
        { duration: time, easing: "ease-in-out", fill: "forwards" },
      ),
      cover.animate({ opacity: [1, 1] }, time),
    ];
  },
  wall(layer, time, left, top, right, bottom, opens) {
    const sizes = ["scaleY(0)", "scaleY(1)"];
    return [
      covering(layer, "wall", [left, top, right, bottom]).animate(
        { transform: opens ? sizes.reverse() : sizes },
        { duration: time, easing: "ease-in-out", fill: "forwards" },
      ),
    ];
  },
};
