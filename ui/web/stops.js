// Stops of a lesson: one is shown. The arrow keys walk the stops, or step the scene, that are nearest
// to the window's middle.
const TYPED_INTO = "input, textarea, select, [contenteditable=true], [role=combobox], [role=listbox], .picker, dialog";

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
    if (matchMedia("(max-width: 640px)").matches) {
      stops[at].querySelector(".mark")?.scrollIntoView({ block: "nearest" });
    }
    return true;
  };
  buttons.forEach((one) => (one.onclick = () => root.walk(Number(one.dataset.walk))));
  root.classList.add("walking");
  show();
}

// The walked stops or the scene whose middle is nearest to the window's, of those that can be seen.
function nearestWalked() {
  const middle = window.innerHeight / 2;
  const seen = [...document.querySelectorAll(".walking")].flatMap((root) => {
    const { top, bottom, height } = root.getBoundingClientRect();
    if (!height || !root.querySelector("[data-walk], .stepper") || bottom < 0 || top > window.innerHeight) return [];
    return [[Math.abs((top + bottom) / 2 - middle), root]];
  });
  return seen.sort(([one], [other]) => one - other)[0]?.[1];
}

// Where a key walks to: -1 back, 1 on; nowhere for another key.
function walkOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (ctrlKey || metaKey || altKey || shiftKey) return undefined;
  return { ArrowLeft: -1, ArrowRight: 1 }[key];
}

function walkByKey(event) {
  const by = walkOf(event);
  if (!by || event.defaultPrevented) return;
  if (event.composedPath()[0].closest?.(TYPED_INTO)) return;
  const root = nearestWalked();
  if (!root?.walk) return; // a scene's player has keys of its own
  event.preventDefault();
  root.walk(by);
  root.scrollIntoView({ block: "nearest" });
}
