// The exported file's own bar and keys; it stands behind frames.js, which shows a step.
const gd = document.getElementById("scene");
const navigation = NAVIGATION;
const bar = document.getElementById("bar");
const range = bar.querySelector("input");
const frames = gd._transitionData._frames;
const last = frames.length - 1;
let step = 0;
let timer = null;

function show(n) {
  step = Math.max(0, Math.min(last, n));
  draw(gd, frames, step);
  range.value = step;
  const told = new DOMParser().parseFromString(gd.layout.title.text, "text/html");
  document.getElementById("told").textContent = told.body.textContent;
}

const along = (begins, forward) => show(beyond(begins, step, forward, last));

function pause() {
  clearInterval(timer);
  timer = null;
}

function play() {
  if (timer) return pause();
  if (step >= last) step = -1;
  timer = setInterval(() => (step >= last ? pause() : show(step + 1)), PACE_MS);
}

const actions = {
  first: () => show(0), last: () => show(last), play,
  back: () => show(step - 1), forward: () => show(step + 1),
  "inner-back": () => along(navigation.inner, false),
  "inner-forward": () => along(navigation.inner, true),
  "outer-back": () => along(navigation.outer, false),
  "outer-forward": () => along(navigation.outer, true),
  barrier: () => along(navigation.barrier, true),
};
function act(name) {
  if (name !== "play") pause();
  actions[name]();
}

const typed = numbers((number) => show(number - 1));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && event.target.closest?.("button")) return;
  const digits = typed(event.key);
  if (digits) pause();
  const name = actionOf(event, STEP_KEYS);
  if (!name && !digits) return;
  event.preventDefault();
  if (!digits) act(name);
});
for (const button of bar.querySelectorAll("button")) {
  button.onclick = () => act(button.dataset.do);
}
range.max = last;
range.oninput = () => {
  pause();
  show(Number(range.value));
};

function fit() {
  const { width, height } = gd._fullLayout;
  const high = innerHeight - bar.offsetHeight;
  const scale = Math.min(document.documentElement.clientWidth / width, high / height);
  document.getElementById("stage").style.transform = `scale(${scale})`;
}
addEventListener("resize", fit);
show(0);
fit();
