// Writes the lesson into an address without one, which the way to the page has left: in its place, so
// that one Back leads to where the way began.
import { lessonPlaces } from "./lesson_place.js";

export default function ({ data }) {
  lessonPlaces.show(new URLSearchParams(data.query).get("lesson"));
  const hasLesson = new URLSearchParams(location.search).has("lesson");
  if (hasLesson || !location.pathname.endsWith("/learn")) return;
  history.replaceState(history.state, "", `?${data.query}`);
}
