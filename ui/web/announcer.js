// Reads a verdict to those who do not see it, and scrolls to one that is out of sight.
const VERDICT = "p.next, .stAlert";
const HEADER = 56; // pixels at the top that the page's header covers

function reveal() {
  const verdict = document.querySelector(VERDICT);
  const top = verdict?.getBoundingClientRect().top;
  if (top < HEADER || top > window.innerHeight - HEADER) verdict.scrollIntoView();
}

export default function ({ parentElement, data }) {
  const region = parentElement.querySelector("[aria-live]");
  const before = parentElement.__tilewise_number;
  parentElement.__tilewise_number = data.number;
  if (before === undefined || before === data.number) return;
  region.replaceChildren(data.text);
  requestAnimationFrame(reveal);
}
