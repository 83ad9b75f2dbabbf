// A file with a scene of its own: all its frames are here, and no server is asked for anything.
// The script before this one declares the scene's `navigation` and its first step, `start`.
import { Player } from "./player/player.js";

const root = document.querySelector(".stepper");
for (const one of root.querySelectorAll("[data-app], [data-do=leave]")) one.remove();
const player = new Player(root, {});
player.picture.setAttribute("aria-label", document.title);

// Show the scene as a figure has it; another figure of the same scene goes on at the same step.
export function loadFigure(figure) {
  player.load({
    id: "file", order: 0, start, stops: navigation, first: 0, end: navigation.steps, figure,
  });
}
