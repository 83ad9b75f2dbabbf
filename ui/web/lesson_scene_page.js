// The component of the Learn page that plays a scene.
import { endWith, readScene } from "./component.js";
import { startScene } from "./lesson_scene.js";

function fill(root, header, layout) {
  root.innerHTML = header.html;
  const player = startScene(root, header, layout);
  return { root, order: header.order, id: null, player, close: () => player.close() };
}

export default function (component) {
  const { parentElement, data } = component;
  const root = parentElement.querySelector(".played");
  const { header, readFigure } = readScene(data);
  let app = parentElement.__tilewise;
  if (app?.root !== root || app.id !== header.id) {
    const figure = readFigure();
    if (app?.root !== root || app.order !== header.order) {
      app?.close();
      app = parentElement.__tilewise = fill(root, header, figure.layout);
    }
    app.id = header.id; // another one is the same scene in other colours
    app.player.load({ ...header, figure });
  }
  root.querySelector("[data-open]").onclick = () => (
    component.setTriggerValue("opened", app.player.step)
  );
  return endWith(parentElement);
}
