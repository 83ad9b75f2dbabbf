// Stops of a lesson: one is shown. The arrow keys walk the stops, or step the scene, that are nearest
// to the window's middle, and go on to the next stops, and to the next lesson.
export const TYPED_INTO = "input, textarea, select, [contenteditable=true], [role=combobox], [role=listbox], .picker, dialog";

// Where the reader was in stops that were drawn before, as after the browser's Back.
const walkedTo = (window.tilewiseStops ??= new Map());

// Walk the stops within root; root keeps its place when it is filled anew.
export function startStops(root) {
  const stops = [...root.querySelectorAll(".stop")];
  const place = root.querySelector(".place");
  const buttons = [...root.querySelectorAll("[data-walk]")];
  const { drawn } = root.dataset;
  let at = Math.min(Number(root.dataset.at ?? walkedTo.get(drawn) ?? 0), stops.length - 1);

  function show() {
    root.dataset.at = at;
    walkedTo.set(drawn, at);
    stops.forEach((stop, i) => stop.classList.toggle("shown", i === at));
    if (!place) return;
    place.textContent = `${at + 1} of ${stops.length}`;
    // Not disabled: Firefox gives a button that is, and has the focus, all keys for nothing.
    buttons.forEach((one) => one.setAttribute("aria-disabled", !stops[at + Number(one.dataset.walk)]));
  }

  // False where a key would go on: the stops have ended, and the place says so already.
  root.walk = (by) => {
    if (!stops[at + by]) {
      const end = `${at + 1} of ${stops.length}\nthe end`;
      if (!place || by < 0) return true;
      if (place.textContent === end) return false;
      place.textContent = end;
      return true;
    }
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
export function nearestWalked() {
  const middle = window.innerHeight / 2;
  const seen = [...document.querySelectorAll(".walking")].flatMap((root) => {
    const { top, bottom, height } = root.getBoundingClientRect();
    if (!height || !root.querySelector("[data-walk], .stepper") || bottom < 0 || top > window.innerHeight) return [];
    return [[Math.abs((top + bottom) / 2 - middle), root]];
  });
  return seen.sort(([one], [other]) => one - other)[0]?.[1];
}

// From the last of some stops to the next ones; from a lesson's last stops to the next lesson.
function goOn(root) {
  const all = [...document.querySelectorAll(".walking")].filter((one) => one.querySelector("[data-walk]"));
  const next = all[all.indexOf(root) + 1];
  if (next) next.scrollIntoView({ block: "center" });
  else document.querySelector(".st-key-next_lesson button")?.click();
}

// Where a key walks to: -1 back, 1 on; nowhere for another key.
export function walkOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (ctrlKey || metaKey || altKey || shiftKey) return undefined;
  return { ArrowLeft: -1, ArrowRight: 1 }[key];
}

export function walkByKey(event) {
  const by = walkOf(event);
  if (!by || event.defaultPrevented) return;
  if (event.composedPath()[0].closest?.(TYPED_INTO)) return;
  const root = nearestWalked();
  if (!root?.walk) return; // a scene's player has keys of its own
  event.preventDefault();
  if (root.walk(by)) root.scrollIntoView({ block: "nearest" });
  else goOn(root);
}
