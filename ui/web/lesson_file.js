// A lesson as a file: its stops are walked, its scenes played and printed.
import { startScene } from "./lesson_scene.js";
import { figureName, whenReaderChanges } from "./reader.js";
import { startStops, walkByKey } from "./stops.js";

document.querySelectorAll(".stops").forEach(startStops);
document.addEventListener("keydown", walkByKey);

function playFromFile(root) {
  const read = (name) => JSON.parse(root.querySelector(`[data-of=${name}]`).textContent);
  const header = read("scene");
  let player = null;
  const load = () => {
    const [id, figure] = [figureName(), read(figureName())];
    player ??= startScene(root, header, figure.layout);
    player.load({ ...header, id, figure });
  };
  whenReaderChanges(load);
  load();
}
document.querySelectorAll(".played").forEach(playFromFile);

// A picture for paper is that of a wide window and of light colours; a chart fits the page.
const PAPER = 690; // pixels of CSS within the margins of A4 and of US Letter
for (const name of ["beforeprint", "afterprint"]) {
  addEventListener(name, () => {
    for (const chart of document.querySelectorAll(".chart")) {
      chart.style.zoom = name === "beforeprint" ? Math.min(1, PAPER / chart.clientWidth) : "";
    }
    for (const one of document.querySelectorAll("source")) {
      const media = one.dataset.media ?? "not all";
      one.dataset.media = one.media;
      one.media = media;
    }
  });
}
