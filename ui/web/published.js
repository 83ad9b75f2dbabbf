// A page that ui.publish writes: the scene's figure for its reader.
import { loadFigure } from "./animation.js";
import { figureName, whenReaderChanges } from "./reader.js";

function choose() {
  loadFigure(JSON.parse(document.getElementById(figureName()).textContent));
}

whenReaderChanges(choose);
choose();
