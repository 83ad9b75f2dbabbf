// Runs in the head of the page, before Streamlit's own script: a first visit has no cookie of its
// viewport yet, or that of a phone's window where this one is wide, and Python would lay the first
// figure out for another one. The stepper measures the viewport itself and corrects what differs.
(() => {
  const [name, phone, large] = ["tilewise_room", 640, 1600];
  // A phone's browser has a wide window until it has read how the page is to be laid out.
  const [wide, high] = ["Width", "Height"].map(
    (side) => Math.min(window[`inner${side}`], screen[side.toLowerCase()]),
  );
  const known = document.cookie.match(`${name}=(\\d+)x`);
  if (known && (known[1] < phone) === (wide < phone)) return;
  const down = (size, unit) => Math.floor(size / unit) * unit;
  const viewport = wide < phone
    ? [down(wide - 16, 10), down(high, 20)]
    : [down(wide - 32, 40), down(high - (wide < large ? 114 : 130), 20)];
  document.cookie = `${name}=${viewport.join("x")}; path=/; max-age=31536000; samesite=lax`;
})();
