// The page's menus and files beside the scene, and the sentence above it.

// The menus as ui/step/controls.py names them, and their tooltips: Streamlit's own would cover what a
// menu opens.
export const MENUS = {
  presets: "Views that are ready to open (E)",
  what_if: "Change the kernel, and see what happens (I)",
  beside: "A second scene, in lockstep (D)",
  more: "Sizes, block and thread, zoom, files, words (M)",
};

const menuButton = (name) => `.st-key-controls [class*=st-key-popover-${name}] button`;

export function openMenu(name) {
  const button = document.querySelector(menuButton(name));
  button?.focus();
  button?.click();
}

// Streamlit puts a menu's button there anew, which gets its tooltip as a pointer comes to it.
export function explainMenu({ target }) {
  for (const [name, title] of Object.entries(MENUS)) {
    const button = target.closest?.(menuButton(name));
    if (button) button.title = title;
  }
}

// Tab goes from the button of an open popover into it, which the page holds at its very end.
export function enterPopover(event) {
  const button = document.activeElement;
  if (event.key !== "Tab" || event.shiftKey || !button?.matches("[aria-expanded=true]")) return;
  const within = document.querySelector("[data-testid=stPopoverBody]")
    ?.querySelector("input, button, select, a");
  if (!within || !button.closest(".stPopover")) return;
  event.preventDefault();
  within.focus();
}

// The format of the picture whose button among the page's files is clicked; Python has nothing to do.
export function clickedPicture(event) {
  const button = event.target.closest?.("[class*=st-key-picture_] button");
  if (!button) return null;
  event.stopPropagation();
  return button.closest("[class*=st-key-picture_]").className.match(/picture_(\w+)/)[1];
}

// A phone shows two lines of the sentence above the scene, and all of them once it is touched.
export function unfold({ target }) {
  target.closest?.(".st-key-sentence")?.classList.toggle("whole");
}

// A link before all else of the page, which leads to a scene.
export function addSkipLink(picture) {
  const skip = document.createElement("a");
  skip.className = "skip-to-scene";
  skip.href = `#${picture.id}`;
  skip.textContent = "Skip to the scene";
  skip.onclick = (event) => {
    event.preventDefault();
    picture.focus();
  };
  document.body.prepend(skip);
  return skip;
}
