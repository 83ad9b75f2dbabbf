// Stops of a lesson: one is shown, the arrow keys walk those that are nearest to the window's middle.
const TYPED_INTO = "input, textarea, select, [contenteditable=true], [role=combobox], [role=listbox], .picker";

// Walk the stops within root; root keeps its place when it is filled anew.
function startStops(root) {
  const stops = [...root.querySelectorAll(".stop")];
  const place = root.querySelector(".place");
  const buttons = [...root.querySelectorAll("[data-walk]")];
  let at = Math.min(Number(root.dataset.at ?? 0), stops.length - 1);

  function show() {
    root.dataset.at = at;
    stops.forEach((stop, i) => stop.classList.toggle("shown", i === at));
    if (!place) return;
    place.textContent = `${at + 1} of ${stops.length}`;
    buttons.forEach((one) => (one.disabled = !stops[at + Number(one.dataset.walk)]));
  }

  root.walk = (by) => {
    if (!stops[at + by]) return false;
    at += by;
    show();
    return true;
  };
  buttons.forEach((one) => (one.onclick = () => root.walk(Number(one.dataset.walk))));
  root.classList.add("walking");
  show();
}

// The walked stops whose middle is nearest to the window's, of those that can be seen.
function nearestStops() {
  const middle = window.innerHeight / 2;
  const seen = [...document.querySelectorAll(".walking")].flatMap((root) => {
    const { top, bottom, height } = root.getBoundingClientRect();
    if (!height || !root.querySelector("[data-walk]") || bottom < 0 || top > window.innerHeight) return [];
    return [[Math.abs((top + bottom) / 2 - middle), root]];
  });
  return seen.sort(([one], [other]) => one - other)[0]?.[1];
}

function walkByKey(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.composedPath()[0].closest?.(TYPED_INTO)) return;
  const root = nearestStops();
  if (!root) return;
  event.preventDefault();
  root.walk(by);
  root.scrollIntoView({ block: "nearest" });
}
