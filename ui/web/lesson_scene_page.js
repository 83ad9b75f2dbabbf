// The component of the Learn page that plays a scene. A line of Python's data is about the scene, the
// rest is its figure.
import { startScene } from "./lesson_scene.js";

function fill(root, header, layout) {
  root.innerHTML = header.html;
  return { root, order: header.order, id: null, player: startScene(root, header, layout) };
}

export default function (component) {
  const { parentElement, data } = component;
  const root = parentElement.querySelector(".played");
  const decoder = new TextDecoder();
  const cut = data.indexOf(10);
  const header = JSON.parse(decoder.decode(data.subarray(0, cut)));
  let app = parentElement.__tilewise;
  if (app?.root !== root || app.id !== header.id) {
    const figure = JSON.parse(decoder.decode(data.subarray(cut + 1)));
    if (app?.root !== root || app.order !== header.order) {
      app?.player.close();
      app = parentElement.__tilewise = fill(root, header, figure.layout);
    }
    app.id = header.id; // another one is the same scene in other colours
    app.player.load({ ...header, figure });
  }
  root.querySelector("[data-open]").onclick = () => (
    component.setTriggerValue("opened", app.player.step)
  );
  // Streamlit also cleans up after data that newer data has overtaken; the component stays then.
  return () => {
    if (parentElement.isConnected) return;
    app.player.close();
    delete parentElement.__tilewise;
  };
}
