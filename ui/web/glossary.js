// Explains words of the glossary. Streamlit's own elements stay as they are: the browser underlines
// ranges of their text, and a card beside the pointer says what a word means.
const TEXTS = ".stMarkdown p, .stMarkdown li, figcaption, .lesson-idea";
const SKIPPED = "code, pre, .katex, button, [data-testid=stPopoverBody], h1, h2, h3";
const SETTLED_MS = 400;

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function findTerms(terms) {
  const names = Object.keys(terms).sort((one, other) => other.length - one.length);
  const pattern = new RegExp(`(?<![\\w-])(${names.map(escaped).join("|")})s?(?![\\w-])`, "gi");
  const keys = new Map(names.map((name) => [name.toLowerCase(), name]));
  const found = new Map();
  for (const element of document.querySelectorAll(TEXTS)) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest(SKIPPED)) continue;
      for (const match of node.data.matchAll(pattern)) {
        const name = keys.get(match[1].toLowerCase());
        if (found.has(name)) continue;
        const range = new Range();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        found.set(name, range);
      }
    }
  }
  return found;
}

function createGlossary() {
  const card = document.createElement("div");
  card.className = "term-card";
  card.hidden = true;
  card.role = "tooltip";
  document.body.append(card);
  let terms = {};
  let found = new Map();
  let timer = null;

  function look() {
    found = findTerms(terms);
    CSS.highlights.set("tilewise-terms", new Highlight(...found.values()));
  }

  function point({ clientX: x, clientY: y, target }) {
    const isText = target.closest?.(TEXTS);
    const hit = isText && [...found].find(([, range]) =>
      [...range.getClientRects()].some((box) =>
        box.left <= x && x <= box.right && box.top <= y && y <= box.bottom));
    card.hidden = !hit;
    if (!hit) return;
    card.textContent = terms[hit[0]].replaceAll("`", "");
    const { width, height } = card.getBoundingClientRect();
    card.style.left = `${Math.max(8, Math.min(x, window.innerWidth - width - 8))}px`;
    card.style.top = `${y + 24 + height < window.innerHeight ? y + 20 : y - height - 12}px`;
  }

  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(look, SETTLED_MS);
  };
  const watcher = new MutationObserver(later);
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("scroll", () => (card.hidden = true), true);
  watcher.observe(document.body, { childList: true, subtree: true, characterData: true });
  return (given) => {
    terms = given;
    later();
  };
}

export default function (component) {
  if (!window.Highlight || !CSS.highlights) return;
  (window.tilewiseGlossary ??= createGlossary())(component.data);
}
