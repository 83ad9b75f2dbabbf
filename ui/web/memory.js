// What Python wants to know again after a reload; the tab keeps it.
const REMEMBERED = "tilewise_progress";
const isReloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
let isTold = false; // whether Python has heard of it since the page was loaded

export default function ({ data, setStateValue }) {
  if (Object.keys(data).length) {
    sessionStorage.setItem(REMEMBERED, JSON.stringify(data));
  } else if (isReloaded && !isTold) {
    const found = sessionStorage.getItem(REMEMBERED);
    if (found) setStateValue("remembered", JSON.parse(found));
  }
  isTold = true;
}
