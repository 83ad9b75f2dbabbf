// The first page's picture: its beats one after another, once, until a key or the button stops them.
import { endWith } from "./component.js";

const BEAT_MS = 600;
const TYPED = "input, textarea, select, button, a, [contenteditable=true]";

// Data: the beats as a JSON list of SVGs, gzipped.
async function unpack(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function mount(parent, data) {
  const [figure, picture, button] = ["figure", "[role=img]", "button"].map((one) => parent.querySelector(one));
  const closing = new AbortController();
  const { signal } = closing;
  let beats = [];
  let at = 0;
  let timer = null;
  function show(beat) {
    at = beat;
    picture.innerHTML = beats[beat]; // an image would not have the page's letters
    picture.dataset.beat = beat + 1;
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
  }
  function play() {
    if (at === beats.length - 1) show(0);
    button.textContent = "Stop";
    timer = setInterval(() => {
      show(at + 1);
      if (at === beats.length - 1) stop();
    }, BEAT_MS);
  }
  const toggle = () => (timer ? stop() : play());
  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && timer) stop();
    if (event.key !== " " || event.target.closest?.(TYPED)) return;
    event.preventDefault(); // else it scrolls
    toggle();
  }
  function close() {
    clearInterval(timer);
    closing.abort();
  }
  parent.__tilewise = { close };
  beats = await unpack(data);
  if (signal.aborted) return close(); // left meanwhile
  button.addEventListener("click", toggle, { signal });
  document.addEventListener("keydown", pressed, { signal });
  show(0);
  figure.hidden = false;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    show(Math.floor(beats.length / 2));
    stop();
  } else play();
}

export default function ({ data, parentElement }) {
  if (!parentElement.__tilewise) mount(parentElement, data);
  return endWith(parentElement);
}
