// Explains words of the glossary where they are. Streamlit's own elements stay as they are: the
// browser underlines ranges of their text. A word is found from the place that a pointer rests on,
// in a text of the page or of a scene, and a card beside it says what it means.
import { addressAtServer } from "./component.js";

const TEXTS = ".stMarkdown p, .stMarkdown li, .stMarkdown td, .stMarkdown th, .stCaption p, "
  + "[data-testid=stCaptionContainer] p, .stTable td, .stTable th, .stHtml p, .stHtml li, .stHtml th, "
  + "figcaption, .lesson-idea";
const SCENES = ".stepper .stage, .stops .shot, .stPlotlyChart";
const SKIPPED = "code, pre, .katex, button, .timeline, .stCode, .st-key-glossary_list, .term-card, "
  + ".for-screen-readers, .lesson-title, h1, h2, h3";
const SETTLED_MS = 400; // after the page's last change, before its words are underlined
const RESTED_MS = 300; // that a pointer rests on a word before its card comes
const CLOSING_MS = 350; // on the way from a word to its card
const GAP = 6; // pixels between the two
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];
const LEAST_PICTURE = 90; // pixels of height

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const whenIdle = window.requestIdleCallback?.bind(window) ?? setTimeout;
const contains = (box, x, y) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;

// The words of a text, each [term, start, end].
function createFinder(terms) {
  const names = terms.toSorted((one, other) => other.length - one.length);
  const forms = names.map((name) => escaped(name).replace(/y$/, "(?:y|ie)"));
  const pattern = new RegExp(`(?<![\\w-])(${forms.join("|")})(?:e?s)?(?![\\w-])`, "gi");
  const keys = new Map(names.map((name) => [name.toLowerCase(), name]));
  return (text) => [...text.matchAll(pattern)].flatMap(({ 0: whole, 1: word, index }) => {
    const term = keys.get(word.toLowerCase().replace(/ie$/, "y"));
    const isMacro = word === word.toUpperCase() && word !== term; // TILE, BLOCK
    return isMacro ? [] : [[term, index, index + whole.length]];
  });
}

// The ranges of the first use of each word on the page.
function firstUses(findWords) {
  const found = new Map();
  for (const element of document.querySelectorAll(TEXTS)) {
    if (!element.checkVisibility()) continue; // as in a tab that is not open
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest(SKIPPED)) continue;
      for (const [term, start, end] of findWords(node.data)) {
        if (!found.has(term)) found.set(term, rangeOf(node, start, end));
      }
    }
  }
  return found;
}

function rangeOf(node, start, end) {
  const range = new Range();
  range.setStart(node, start);
  range.setEnd(node, end);
  return range;
}

function caretAt(x, y) {
  const caret = document.caretPositionFromPoint?.(x, y);
  if (caret) return [caret.offsetNode, caret.offset];
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? [range.startContainer, range.startOffset] : [null, 0];
}

// The word of an element's text at a place of the window: its term, its box, and where it is.
function wordInText(findWords, x, y) {
  const [node, offset] = caretAt(x, y);
  if (node?.nodeType !== Node.TEXT_NODE || node.parentElement.closest(SKIPPED)) return null;
  for (const [term, start, end] of findWords(node.data)) {
    if (offset < start || offset > end) continue;
    const box = [...rangeOf(node, start, end).getClientRects()].find((one) => contains(one, x, y));
    if (box) return { term, box, element: node.parentElement };
  }
  return null;
}

// The same in a scene, whose texts SVG has; the program's own text is in letters of one width.
function wordInScene(scene, findWords, x, y) {
  for (const text of scene.querySelectorAll("text")) {
    const drawn = text.getBoundingClientRect();
    if (!contains(drawn, x, y)) continue;
    const style = getComputedStyle(text);
    if (isMonospaced(style) || style.fillOpacity === "0" || style.visibility === "hidden") {
      continue;
    }
    const local = text.getBBox();
    const scale = drawn.width / local.width;
    if (Math.abs(drawn.height / local.height - scale) > 0.1 * scale) continue; // it is turned
    for (const [term, start, end] of findWords(text.textContent)) {
      const [first, last] = [text.getExtentOfChar(start), text.getExtentOfChar(end - 1)];
      const left = drawn.left + (first.x - local.x) * scale;
      const right = drawn.left + (last.x + last.width - local.x) * scale;
      const box = { left, right, top: drawn.top, bottom: drawn.bottom };
      if (contains(box, x, y)) return { term, box, element: text };
    }
  }
  return null;
}

function createCard() {
  const card = document.createElement("div");
  card.className = "term-card";
  card.hidden = true;
  card.setAttribute("role", "dialog");
  card.innerHTML = "<p><b></b>: <span></span></p><img alt=''><button type='button'>Step through it</button>";
  document.body.append(card);
  return card;
}

// What a card should leave in sight, and what covering it costs, in steps of the card's way from its
// word: buttons and names of a scene more than its program's text and the numbers in its cells.
const STEP = 40; // pixels
const CONTROLS = ".stepper .bar > *, .stops .walk > *, .stAppHeader a, .st-key-controls > *";
const [CONTROL_COST, NAME_COST, NUMBER_COST] = [6, 4, 0.5];

function obstacles() {
  const controls = [...document.querySelectorAll(CONTROLS)].map((one) => [one, CONTROL_COST]);
  const texts = [...document.querySelectorAll(SCENES)].flatMap((scene) => (
    [...scene.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) => (
      [text, isMonospaced(getComputedStyle(text)) ? NUMBER_COST : NAME_COST]
    ))
  ));
  return [...controls, ...texts].flatMap(([one, cost]) => {
    const box = one.getBoundingClientRect();
    return box.width && box.bottom > 0 && box.top < window.innerHeight ? [{ box, cost }] : [];
  });
}

const isMonospaced = ({ fontFamily }) => fontFamily.includes("monospace");

// Below its word, else above it, as near as it can be without covering what is to be seen beside the
// word; a picture that has no room there is drawn smaller, or not at all.
function placeCard(card, image, { left, top, bottom }) {
  image.style.maxHeight = "";
  const below = window.innerHeight - bottom - 2 * GAP;
  const above = top - 2 * GAP;
  const isBelow = below >= card.offsetHeight || below >= above;
  const excess = card.offsetHeight - (isBelow ? below : above);
  if (!image.hidden && excess > 0) {
    const height = image.offsetHeight - excess;
    if (height < LEAST_PICTURE) image.hidden = true;
    else image.style.maxHeight = `${height}px`;
  }
  const { offsetWidth: width, offsetHeight: height } = card;
  const start = {
    left: Math.max(GAP, Math.min(left, window.innerWidth - width - GAP)),
    top: isBelow ? bottom + GAP : Math.max(GAP, top - height - GAP),
  };
  const covered = obstacles();
  const costOf = (at) => covered.reduce((sum, { box, cost }) => {
    const isCovered = at.left < box.right && box.left < at.left + width
      && at.top < box.bottom && box.top < at.top + height;
    return sum + (isCovered ? cost : 0);
  }, Math.hypot(at.left - start.left, at.top - start.top) / STEP);
  let best = [costOf(start), start];
  const [first, last] = isBelow
    ? [start.top, window.innerHeight - height - GAP] : [GAP, start.top];
  for (let y = first; y <= last; y += STEP / 4) {
    for (let x = GAP; x <= window.innerWidth - width - GAP; x += STEP / 2) {
      const at = { left: x, top: y };
      const cost = costOf(at);
      if (cost < best[0]) best = [cost, at];
    }
  }
  card.style.left = `${best[1].left}px`;
  card.style.top = `${best[1].top}px`;
}

// How far a pointer is from a box.
function distanceTo({ left, right, top, bottom }, x, y) {
  return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
}

function createGlossary() {
  const card = createCard();
  const [image, button] = [card.querySelector("img"), card.querySelector("button")];
  const line = document.createElement("div"); // under a word of a scene
  line.className = "term-line";
  line.hidden = true;
  document.body.append(line);
  let component = null;
  let words = {};
  let findWords = () => [];
  let loaded = null; // the folder of the words
  let shown = null; // the word whose card is open
  let away = Infinity; // pixels from the pointer to the card
  const timers = { look: null, rest: null, close: null };

  function look() {
    if (shown && !shown.element.isConnected) hide();
    const found = firstUses(findWords);
    if (window.Highlight) CSS.highlights.set("tilewise-terms", new Highlight(...found.values()));
  }

  function wordAt({ clientX: x, clientY: y, target }) {
    if (!target.closest || target.closest(SKIPPED)) return null;
    const scene = target.closest(SCENES);
    if (scene) return wordInScene(scene, findWords, x, y);
    return target.closest(TEXTS) ? wordInText(findWords, x, y) : null;
  }

  function show(word) {
    clearTimeout(timers.close);
    timers.close = null;
    if (shown?.term === word.term && shown.element === word.element) return;
    hide();
    shown = word;
    const { text, picture, opens } = words[word.term];
    const [name, definition] = [card.querySelector("b"), card.querySelector("span")];
    name.textContent = word.term;
    definition.innerHTML = text;
    card.setAttribute("aria-label", word.term);
    button.hidden = !opens;
    image.hidden = true;
    if (picture) image.src = addressOf(`${component.data.theme}/${picture}.svg`);
    else image.removeAttribute("src");
    card.hidden = false;
    away = Infinity;
    placeCard(card, image, word.box);
    if (!(word.element instanceof SVGElement)) return;
    line.hidden = false;
    const { left, right, bottom } = word.box;
    Object.assign(line.style, { left: `${left}px`, width: `${right - left}px`, top: `${bottom - 2}px` });
    changes.observe(word.element, { childList: true, characterData: true, subtree: true });
  }

  function hide() {
    clearTimeout(timers.close);
    timers.close = null;
    if (!shown) return;
    changes.disconnect();
    shown = null;
    card.hidden = true;
    line.hidden = true;
  }
  const changes = new MutationObserver(hide); // a step writes another text into the same element

  // A pointer that has left the word may be on its way into the card.
  function moved(event) {
    clearTimeout(timers.rest);
    if (event.pointerType === "touch" || event.buttons) return;
    if (card.contains(event.target)) {
      clearTimeout(timers.close);
      timers.close = null;
      return;
    }
    if (shown && contains(shown.box, event.clientX, event.clientY)) return;
    if (shown) {
      const distance = distanceTo(card.getBoundingClientRect(), event.clientX, event.clientY);
      if (distance < away) clearTimeout(timers.close);
      if (distance < away || timers.close === null) timers.close = setTimeout(hide, CLOSING_MS);
      away = distance;
    }
    timers.rest = setTimeout(() => whenIdle(() => {
      const word = wordAt(event);
      if (word) show(word);
    }), RESTED_MS);
  }

  function pressed({ target }) {
    clearTimeout(timers.rest);
    if (!card.contains(target)) hide();
  }

  function clicked(event) {
    if (card.contains(event.target)) return;
    const word = wordAt(event);
    if (word) show(word);
  }

  // Escape closes the card and nothing else; all other keys are the page's.
  function typed(event) {
    if (!shown) return;
    const isEscape = event.key === "Escape";
    if (isEscape) event.stopImmediatePropagation();
    if (isEscape || !card.contains(document.activeElement) && !MODIFIERS.includes(event.key)) hide();
  }

  image.onload = () => {
    if (!shown || !words[shown.term].picture) return;
    image.hidden = false;
    placeCard(card, image, shown.box);
  };
  button.onclick = () => {
    const { term } = shown;
    hide();
    component.setTriggerValue("opened", term);
  };

  const later = () => {
    clearTimeout(timers.look);
    timers.look = setTimeout(() => whenIdle(look), SETTLED_MS);
  };
  document.addEventListener("pointermove", moved);
  document.addEventListener("pointerdown", pressed, true);
  document.addEventListener("click", clicked, true);
  window.addEventListener("keydown", typed, true);
  document.addEventListener("scroll", hide, true);
  new MutationObserver(later).observe(document.body, { childList: true, subtree: true, characterData: true });

  const addressOf = (path) => addressAtServer(`${component.data.folder}/${path}`);

  return async (given) => {
    component = given;
    const { folder } = component.data;
    if (loaded !== folder) {
      loaded = folder;
      const answer = await fetch(addressOf("words.json"));
      if (!answer.ok) return;
      words = await answer.json();
      await new Promise(whenIdle); // a scene is drawn first
      findWords = createFinder(Object.keys(words).filter((term) => words[term].linked));
    }
    later();
  };
}

export default function (component) {
  (window.tilewiseGlossary ??= createGlossary())(component);
}
