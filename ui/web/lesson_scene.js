// A scene that a lesson's reader steps through. It may be among stops and other scenes.
import { Player } from "./player/player.js";
import { TYPED_INTO, nearestWalked, walkOf } from "./stops.js";

const AROUND = 96; // pixels of the window for the page's header and a line of text above the toolbar
const SCENE_LOWEST = 240; // pixels of a scene; a window that is lower scrolls

// What the scenes of all lessons have in common, whichever script they came with: the steps where the
// reader was, and the scene that has the focus or the last click.
const scenes = (window.tilewiseScenes ??= keepScenes());

function keepScenes() {
  const kept = { steps: new Map(), chosen: null, byKeyboard: false };
  const choose = ({ target, type }) => {
    if (type === "pointerdown") kept.byKeyboard = false;
    kept.chosen = target.closest?.(".played") ?? null;
  };
  document.addEventListener("pointerdown", choose, true);
  document.addEventListener("focusin", choose, true);
  document.addEventListener("keydown", ({ key }) => (kept.byKeyboard ||= key === "Tab"), true);
  return kept;
}

function isInSight(root) {
  const { top, bottom } = root.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}

// Whether a key is for a scene. Left and Right step what is nearest, as with stops, unless the
// keyboard brought the focus into a scene. The other keys are for the scene that was chosen.
function isForScene(root, event) {
  const at = event.composedPath()[0];
  const dialog = document.querySelector("dialog[open]");
  if (dialog) return root.contains(dialog);
  if (!root.contains(at) && at.closest?.(TYPED_INTO)) return false;
  if (!walkOf(event)) return scenes.chosen === root && isInSight(root);
  const focused = scenes.byKeyboard && at.closest?.(".played");
  if ((focused || nearestWalked()) !== root) return false;
  root.scrollIntoView({ block: "nearest" });
  return true;
}

// The player of a scene within root, whose markup is scene_html's. order names the scene, layout is
// its figure's.
export function startScene(root, { order, name }, layout) {
  for (const one of root.querySelectorAll("[data-app], [data-do=leave]")) one.remove();
  const [stage, bar] = [".stage", ".bar"].map((one) => root.querySelector(one));
  let player = null;

  // The scene and its toolbar fit into the window; until it is drawn it has the height that it will.
  function viewport() {
    const width = stage.clientWidth;
    const free = Math.max(SCENE_LOWEST, window.innerHeight - bar.offsetHeight - AROUND);
    if (player?.scene) return { width, height: free };
    const across = width / layout.width;
    const scale = layout.meta.tall ? across : Math.min(across, free / layout.height);
    return { width, height: layout.height * scale };
  }

  player = new Player(root.querySelector(".stepper"), {
    viewport,
    owns: (event) => isForScene(root, event),
    moved: (step) => scenes.steps.set(order, step),
  });
  player.picture.setAttribute("aria-label", name);
  const step = scenes.steps.get(order);
  if (step !== undefined) player.replay.takeOver({ order, step, record: [] });
  root.classList.add("walking");
  return player;
}
