// What Python wants to know again when a session begins; the tab keeps it. What the tab has may only
// be replaced once Python has heard of it.
const REMEMBERED = "tilewise_progress";

export default function ({ data, setStateValue }) {
  try {
    const found = data.asks ? sessionStorage.getItem(REMEMBERED) : null;
    if (found) setStateValue("remembered", found);
    else if (Object.keys(data.marks).length) {
      sessionStorage.setItem(REMEMBERED, JSON.stringify(data.marks));
    }
  } catch (error) {
    console.warn(error); // a browser that keeps nothing, or whose room is full
  }
}
