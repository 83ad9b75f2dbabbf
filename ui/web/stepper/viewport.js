// The viewport that the page leaves the scene, of which Python hears, and the presentation, which has
// the whole screen.
const RESIZED_MS = 250; // after the window's last change, before Python hears of the viewport
const GRID = [40, 20]; // pixels; a viewport is reported in whole ones, so that a class shares figures
const PHONE = 640; // pixels of width; a narrower page scrolls, and its viewport is the whole window
const PHONE_GRID = [10, 20];
const COOKIE = "tilewise_room";
const BANNER = ".st-key-sentence:has(.hazard)";

// Under load Streamlit may put the component there anew, which then goes on as it was.
const presentation = {
  on: false,
  windowed: null, // the viewport before it
};

export const inUnits = (width, height, [across, down]) => ({
  width: Math.floor(width / across) * across, height: Math.floor(height / down) * down,
});

export class Viewport {
  #root;
  #player;
  #reports;
  #known = null; // what Python knows
  measuring = null;
  isSettling = false; // whether the window is on its way to or from the whole screen

  constructor(root, player, reports) {
    this.#root = root;
    this.#player = player;
    this.#reports = reports;
    this.#showPresentation();
  }

  get isPresentation() {
    return presentation.on;
  }

  // Python's, when it has drawn for it.
  update(known) {
    this.#known ??= known;
    this.#leaveBanner();
    this.#report();
  }

  resized() {
    this.#leaveBanner();
    clearTimeout(this.measuring);
    this.measuring = setTimeout(() => this.#report(), RESIZED_MS);
  }

  // The figure for the new viewport is asked for at once; what the window then has is measured once it
  // has settled.
  async present(on) {
    if (on) presentation.windowed = this.#known;
    presentation.on = on;
    this.#showPresentation();
    this.#player.stage.hold();
    this.isSettling = true;
    clearTimeout(this.measuring);
    this.#tell(on ? this.#wholeScreen() : presentation.windowed);
    if (on) await document.documentElement.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) await document.exitFullscreen().catch(() => {});
    this.isSettling = false;
    this.#leaveBanner();
    this.#player.stage.fit();
    this.resized();
  }

  close(isLatest) {
    clearTimeout(this.measuring);
    if (this.#reports.isLeft) presentation.on = false;
    if (isLatest) document.body.classList.remove("presenting");
  }

  #showPresentation() {
    for (const one of [this.#root, document.body]) one.classList.toggle("presenting", presentation.on);
  }

  #report() {
    clearTimeout(this.measuring);
    this.measuring = null;
    const [now, before, isPhone] = [this.#measure(), this.#known, window.innerWidth < PHONE];
    if (now.width <= 0 || !before || this.isSettling) return;
    if (!now.presenting) {
      document.cookie =
        `${COOKIE}=${now.width}x${now.height}; path=/; max-age=31536000; samesite=lax`;
    }
    const same = before.width === now.width && before.presenting === now.presenting;
    // A phone's window grows and shrinks with its address bar.
    if (!same || (before.height !== now.height && !isPhone)) this.#tell(now);
  }

  #tell(viewport) {
    this.#reports.flush(); // the figure for it comes with the steps around this one
    this.#known = viewport;
    this.#reports.tell("setStateValue", "viewport", viewport);
  }

  #measure() {
    const { width, height } = this.#player.stage.viewport();
    const units = window.innerWidth < PHONE
      ? inUnits(width, window.innerHeight, PHONE_GRID)
      : inUnits(width, height, GRID);
    return { ...units, presenting: presentation.on };
  }

  // The viewport of a presentation, before the window has grown: the screen, in CSS pixels.
  #wholeScreen() {
    const zoom = Math.round((20 * window.outerWidth) / window.innerWidth) / 20 || 1;
    const [width, height] = document.fullscreenEnabled
      ? [screen.width / zoom, screen.height / zoom]
      : [window.innerWidth, window.innerHeight];
    const free = Math.round(height - this.#leaveBanner());
    return { ...inUnits(Math.round(width), free, GRID), presenting: true };
  }

  // Leave room for the sentence of a hazard, which a presentation has above the scene; its height.
  #leaveBanner() {
    const height = document.querySelector(BANNER)?.offsetHeight ?? 0;
    this.#root.style.setProperty("--banner", `${height}px`);
    return height;
  }
}
