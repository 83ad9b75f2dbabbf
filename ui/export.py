"""What a class takes home: the scene as one HTML file with its keys, the counters as CSV."""

from __future__ import annotations

import csv
import html as markup
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import plotly.io

from simulator import Report
from simulator.observers.counters import FIELDS, IDEAL_FIELDS

PACE_MS = 500  # a step, while it plays

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ margin: 0; background: {paper}; color: {ink}; font: 16px sans-serif; overflow: hidden; }}
  #bar {{ display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 8px 12px; }}
  #bar button {{ font: inherit; color: inherit; background: transparent; height: 34px;
    min-width: 40px; border: 1px solid currentColor; border-radius: 6px; cursor: pointer; }}
  #bar input {{ flex: 1; min-width: 160px; }}
  #stage {{ transform-origin: top left; }}
</style>
</head>
<body>
<div id="bar" role="toolbar" aria-label="Steps of the scene">
  <button data-do="first" title="First step (Home)" aria-label="First step">|◀</button>
  <button data-do="back" title="Statement back (Left)" aria-label="Statement back">◀</button>
  <button data-do="play" title="Play or pause (Space)" aria-label="Play or pause">▶❚❚</button>
  <button data-do="forward" title="Statement forward (Right)"
    aria-label="Statement forward">▶</button>
  <button data-do="last" title="Last step (End)" aria-label="Last step">▶|</button>
  <input type="range" min="0" value="0" aria-label="Step">
  <span id="told" aria-live="polite"></span>
  <span>← → statement · Shift inner iteration · Page Up, Page Down tile · B barrier ·
    Home, End · a number · Space plays</span>
</div>
<div id="stage">{figure}</div>
</body>
</html>
"""

# The file's own bar and keys; it stands behind frames.js, which shows a step.
SCRIPT = """
const gd = document.getElementById("scene");
const navigation = NAVIGATION;
const bar = document.getElementById("bar");
const range = bar.querySelector("input");
const frames = gd._transitionData._frames;
const last = frames.length - 1;
let step = 0;
let timer = null;

function show(n) {
  step = Math.max(0, Math.min(last, n));
  draw(gd, frames, step);
  range.value = step;
  const told = new DOMParser().parseFromString(gd.layout.title.text, "text/html");
  document.getElementById("told").textContent = told.body.textContent;
}

const along = (begins, forward) => show(beyond(begins, step, forward, last));

function pause() {
  clearInterval(timer);
  timer = null;
}

function play() {
  if (timer) return pause();
  if (step >= last) step = -1;
  timer = setInterval(() => (step >= last ? pause() : show(step + 1)), PACE_MS);
}

const actions = {
  first: () => show(0), last: () => show(last), play,
  back: () => show(step - 1), forward: () => show(step + 1),
  "inner-back": () => along(navigation.inner, false),
  "inner-forward": () => along(navigation.inner, true),
  "outer-back": () => along(navigation.outer, false),
  "outer-forward": () => along(navigation.outer, true),
  barrier: () => along(navigation.barrier, true),
};
function act(name) {
  if (name !== "play") pause();
  actions[name]();
}

const typed = numbers((number) => show(number - 1));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && event.target.closest?.("button")) return;
  const digits = typed(event.key);
  if (digits) pause();
  const name = actionOf(event, STEP_KEYS);
  if (!name && !digits) return;
  event.preventDefault();
  if (!digits) act(name);
});
for (const button of bar.querySelectorAll("button")) {
  button.onclick = () => act(button.dataset.do);
}
range.max = last;
range.oninput = () => {
  pause();
  show(Number(range.value));
};

function fit() {
  const { width, height } = gd._fullLayout;
  const high = innerHeight - bar.offsetHeight;
  const scale = Math.min(document.documentElement.clientWidth / width, high / height);
  document.getElementById("stage").style.transform = `scale(${scale})`;
}
addEventListener("resize", fit);
show(0);
fit();
"""


def html(figure: go.Figure, navigation: Mapping[str, Any], title: str) -> str:
    """The scene as one HTML file that needs no network: its frames, a bar and its keys.

    figure and navigation are those of ui.scene: frames that hold what changed since the one
    before, and the steps with which "inner" and "outer" iterations begin and a "barrier" stands.
    """
    alone = figure.to_dict()
    for own in ("updatemenus", "sliders"):  # the file's bar takes their place
        alone["layout"].pop(own, None)
    stops = {way: [int(n) for n in navigation[way]] for way in ("inner", "outer", "barrier")}
    shown = (Path(__file__).with_name("web") / "frames.js").read_text(encoding="utf-8")
    script = shown + SCRIPT.replace("NAVIGATION", json.dumps(stops)).replace(
        "PACE_MS", str(PACE_MS)
    )
    drawn = plotly.io.to_html(
        alone, config={"displayModeBar": False, "responsive": False}, auto_play=False,
        include_plotlyjs=True, full_html=False, div_id="scene", post_script=script, validate=False,
    )  # fmt: skip
    layout = alone["layout"]
    return PAGE.format(
        title=markup.escape(title),
        paper=markup.escape(layout.get("paper_bgcolor", "white")),
        ink=markup.escape(layout.get("font", {}).get("color", "black")),
        figure=drawn,
    )


def counters_csv(report: Report, text: str) -> str:
    """A launch's counters as CSV: a row for each line that accesses memory, and their total.

    text is the kernel's, whose lines the report counts; the columns are the line's number, its
    source and the counters, as simulator.observers.counters names them.
    """
    names = (*FIELDS, *IDEAL_FIELDS)
    lines = text.splitlines()
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(("line", "source", *names))
    for number, counts in report.lines.items():
        rows.writerow((number, lines[number - 1].rstrip(), *(counts[name] for name in names)))
    rows.writerow(
        ("total", "", *(sum(counts[name] for counts in report.lines.values()) for name in names))
    )
    return written.getvalue()
