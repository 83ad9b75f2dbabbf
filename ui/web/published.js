// A page that ui.publish writes: the scene's figure for the window and for the colours that the
// reader's system asks for. This stands behind animation.js.
const [isPhone, isDark] = ["(max-width: 640px)", "(prefers-color-scheme: dark)"].map(
  (query) => window.matchMedia(query),
);

function choose() {
  const name = `${isPhone.matches ? "phone" : "wide"}-${isDark.matches ? "dark" : "light"}`;
  loadFigure(JSON.parse(document.getElementById(name).textContent));
}

for (const one of [isPhone, isDark]) one.addEventListener("change", choose);
choose();
