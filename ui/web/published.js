// A page that ui.publish writes: the scene's figure for its reader. This stands behind animation.js
// and reader.js.
function choose() {
  loadFigure(JSON.parse(document.getElementById(figureName()).textContent));
}

whenReaderChanges(choose);
choose();
