// Runs in the head of the page, before Streamlit's own script: a first visit has no cookie of its
// room yet, and Python would lay the first figure out for another one. The stepper measures the room
// itself and corrects what differs.
(() => {
  const [name, phone, large] = ["tilewise_room", 640, 1600];
  if (document.cookie.includes(`${name}=`)) return;
  const { innerWidth, innerHeight } = window;
  const down = (size, unit) => Math.floor(size / unit) * unit;
  const room = innerWidth < phone
    ? [down(innerWidth - 16, 10), down(innerHeight, 20)]
    : [down(innerWidth - 32, 40), down(innerHeight - (innerWidth < large ? 116 : 136), 20)];
  document.cookie = `${name}=${room.join("x")}; path=/; max-age=31536000; samesite=lax`;
})();
