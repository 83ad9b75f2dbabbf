// Where a reader was in each lesson, so that the browser's Back leads there again: Streamlit draws a
// page anew, and begins at its top.
const LESSON_DRAWN_MS = 15000; // at most, until a lesson is drawn as far down as it was before
const LOOK_MS = 50; // between two looks at how far it is
const SETTLED_LOOKS = 20; // that find a lesson as it was, before it is left alone

function keepLessonPlaces() {
  const places = new Map(); // by the lesson's name
  let latest = null; // the lesson that was open last
  let returning = null; // the timer while a place is on its way back
  let shown = null; // the lesson that was drawn last

  // The way to another page leaves an address of the Learn page that names no lesson.
  function openLesson() {
    if (!location.pathname.endsWith("/learn")) return null;
    latest = new URLSearchParams(location.search).get("lesson") ?? latest;
    return latest;
  }

  // On the way to another page the lesson is gone before the address is, which scrolls to the top.
  function scrolled({ target }) {
    const lesson = openLesson();
    if (returning || !lesson || !target.matches?.(".stMain")) return;
    if (!target.querySelector(".lesson-title")) return;
    places.set(lesson, { top: target.scrollTop, height: target.scrollHeight });
  }

  function stop() {
    clearInterval(returning);
    returning = null;
  }

  // What comes late makes a lesson longer, and what is taken away shorter, which scrolls it to its
  // top: until all has settled it is scrolled again.
  function goBack() {
    stop();
    const place = places.get(openLesson());
    if (!place) return;
    const end = performance.now() + LESSON_DRAWN_MS;
    let settled = 0;
    returning = setInterval(() => {
      const main = document.querySelector(".stMain");
      const isAsBefore = main?.scrollHeight >= place.height && Math.abs(main.scrollTop - place.top) < 1;
      settled = isAsBefore ? settled + 1 : 0;
      if (main && openLesson()) main.scrollTop = place.top;
      if (settled >= SETTLED_LOOKS || performance.now() > end) stop();
    }, LOOK_MS);
  }

  // Another lesson begins at its top, unless the reader has come back to it.
  function show(lesson) {
    const main = document.querySelector(".stMain");
    if (shown && lesson !== shown && !returning && main) main.scrollTop = 0;
    shown = lesson;
  }

  document.addEventListener("scroll", scrolled, true);
  window.addEventListener("popstate", goBack);
  for (const act of ["wheel", "pointerdown", "keydown"]) document.addEventListener(act, stop, true);
  return { show };
}
export const lessonPlaces = (window.tilewiseLessonPlaces ??= keepLessonPlaces());
