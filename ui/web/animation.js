// A file with a scene of its own: all its frames are here, and no server is asked for anything.
// This stands behind player.js.
const root = document.querySelector(".stepper");
for (const one of root.querySelectorAll("[data-app], [data-do=leave]")) one.remove();
const player = createPlayer(root, {});
player.picture.setAttribute("aria-label", document.title);

// Show the scene as a figure has it; another figure of the same scene goes on at the same step.
function loadFigure(figure) {
  player.load({
    id: "file", order: 0, start, stops: navigation, first: 0, end: navigation.steps, figure,
  });
}
