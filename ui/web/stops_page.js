// The component of the Learn page: it fills in the stops that Python has drawn.
import { startStops, walkByKey } from "./stops.js";

export default function (component) {
  const { parentElement, data } = component;
  const root = parentElement.querySelector(".stops");
  if (root.dataset.drawn !== data.drawn) {
    root.dataset.drawn = data.drawn;
    root.innerHTML = data.html;
    startStops(root);
  }
  const open = root.querySelector("[data-open]");
  if (open) open.onclick = () => component.setTriggerValue("opened", Number(root.dataset.at));
  document.removeEventListener("keydown", window.tilewiseWalk);
  window.tilewiseWalk = walkByKey;
  document.addEventListener("keydown", walkByKey);
}
