// What Python hears of a player: its steps, after a pause, and at once what is chosen.
const PAUSE_MS = 450; // after the last step, before Python hears of it
const SPACING_MS = 1000; // between two reports of steps: a hundred visitors may step at once
const FOLLOWED_MS = 250; // a click on a link right after a report, which it must not overtake

// The address of a scene at a step; null where the page's is another view's, whose scene is on its way.
export function addressAt(href, scene, step) {
  const address = new URL(href);
  const { searchParams } = address;
  const names = [...searchParams.keys()].filter((name) => name !== "step");
  const isShown = names.length === Object.keys(scene.address).length
    && names.every((name) => searchParams.get(name) === scene.address[name]);
  if (!isShown) return null;
  if (step === scene.usual) searchParams.delete("step");
  else searchParams.set("step", step + 1);
  return address.href;
}

export class Reports {
  component = null; // Streamlit's
  #player;
  #now;
  #path = location.pathname;
  isLeft = false; // whether another page is on its way
  waiting = null; // the timer of a step that Python has yet to hear of
  #reported = -SPACING_MS;
  #flushed = -FOLLOWED_MS;

  constructor(player, now = () => performance.now()) {
    this.#player = player;
    this.#now = now;
  }

  // The page has run, so that it is the one that is shown.
  update(component) {
    this.component = component;
    this.isLeft = false;
  }

  // A link or the browser's Back may have left this page already: a report would then ask for a run
  // of a fragment that the page on its way does not have, and Streamlit may not finish that page.
  noteLeaving() {
    if (location.pathname !== this.#path) this.isLeft = true;
  }

  tell(method, name, value) {
    this.noteLeaving();
    if (!this.isLeft) this.component?.[method](name, value);
  }

  choose(name) {
    this.flush();
    this.tell("setTriggerValue", "chosen", { name });
  }

  moved() {
    clearTimeout(this.waiting);
    const wait = this.#reported + SPACING_MS - this.#now();
    this.waiting = setTimeout(() => this.report(), Math.max(PAUSE_MS, wait));
  }

  report() {
    this.cancel();
    this.noteLeaving();
    const { scene, step, asked } = this.#player;
    if (!scene || this.isLeft) return;
    this.writeStep();
    this.#reported = this.#now();
    const { id, order } = scene;
    this.tell("setStateValue", "at", { scene: id, order, step, requested: asked ?? -1 });
  }

  // Before anything else is clicked or entered Python hears of the step, which is to stay.
  flush() {
    if (this.waiting === null) return;
    this.report();
    this.#flushed = this.#reported;
  }

  cancel() {
    clearTimeout(this.waiting);
    this.waiting = null;
  }

  // A step is no entry of the browser's history.
  writeStep() {
    const { scene, step } = this.#player;
    const href = scene && addressAt(location.href, scene, step);
    if (href && href !== location.href) history.replaceState(history.state, "", href);
  }

  // A click on a link closes an open popover, which asks for a run of this page: it must come first.
  // What closes it is a press and a click outside.
  closePopover({ target }) {
    if (!target.closest?.("a[href]") || !document.querySelector(".stPopover [aria-expanded=true]")) return;
    for (const name of ["pointerdown", "click"]) {
      document.body.dispatchEvent(new PointerEvent(name, { bubbles: true }));
    }
    this.#flushed = this.#now();
  }

  // The run of another page's script would take the place of the run that stores the step.
  hold(event) {
    const link = event.target.closest?.("a[href]");
    const opensHere = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!link || !opensHere) return;
    if (this.#now() - this.#flushed >= FOLLOWED_MS) {
      const to = new URL(link.href);
      if (to.origin === location.origin && to.pathname !== this.#path && !link.target) {
        this.isLeft = true;
      }
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => link.click(), FOLLOWED_MS);
  }
}
