"""Exports: the scene as an HTML file with a keyboard, and the counters as CSV."""

from __future__ import annotations

import csv
import html as markup
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Any

import plotly.graph_objects as go
import plotly.io
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from simulator import Report
from simulator.observers.counters import FIELDS, IDEAL_FIELDS

PACE_MS = 500  # milliseconds per step, while the animation plays
FRAMES = "the frames"  # placeholder, replaced by the frames
LIBRARY = "plotly.min.js"  # placeholder, replaced by the library
LIBRARY_TAG = f'<script charset="utf-8" src="{LIBRARY}"></script>'

WEB = Path(__file__).with_name("web")


def html(figure: go.Figure, navigation: Mapping[str, Any], title: str) -> Iterator[str]:
    """Write the scene as an HTML file that needs no network: frames, a toolbar and a keyboard.

    figure and navigation are those of ui.scene: frames with the changes since the frame before,
    and the first steps of "inner" and "outer" iterations and the steps of a "barrier".
    The file is an iterator of strings. Each frame is read when its string is requested: all frames
    of a long recording would occupy too much memory.
    """
    plain = figure.to_dict()
    layout, frames = plain["layout"], plain["frames"]
    for control in ("updatemenus", "sliders"):  # the file has a toolbar instead
        layout.pop(control, None)
    stops = {way: [int(n) for n in navigation[way]] for way in ("inner", "outer", "barrier")}
    page, frames_script, bar_script = (
        (WEB / name).read_text(encoding="utf-8")
        for name in ("animation.html", "frames.js", "animation.js")
    )
    bar_script = bar_script.replace("NAVIGATION", json.dumps(stops))
    script = frames_script + bar_script.replace("PACE_MS", str(PACE_MS))
    figure_html = plotly.io.to_html(
        plain | {"frames": [FRAMES]}, config={"displayModeBar": False, "responsive": False},
        auto_play=False, include_plotlyjs=LIBRARY, full_html=False, div_id="scene",
        post_script=script, validate=False,
    )  # fmt: skip
    before, _, after = (
        Template(page)
        .substitute(
            title=markup.escape(title),
            paper=markup.escape(layout.get("paper_bgcolor", "white")),
            ink=markup.escape(layout.get("font", {}).get("color", "black")),
            figure=figure_html,
        )
        .rpartition(to_json_plotly([FRAMES]))
    )
    head, _, data = before.partition(LIBRARY_TAG)
    yield f"{head}<script>"
    yield get_plotlyjs()
    yield f"</script>{data}["
    for number, frame in enumerate(frames):
        yield f"{',' if number else ''}{to_json_plotly(frame, engine='json')}"
    yield f"]{after}"


def counters_csv(report: Report, text: str) -> str:
    """Write a launch's counters as CSV: a row for each line that accesses memory, and a total.

    text is the kernel's source. The columns are the line's number, its source, and the counters
    under their names in simulator.observers.counters.
    """
    names = (*FIELDS, *IDEAL_FIELDS)
    lines = text.splitlines()
    csv_text = io.StringIO()
    rows = csv.writer(csv_text)
    rows.writerow(("line", "source", *names))
    for number, counts in report.lines.items():
        rows.writerow((number, lines[number - 1].rstrip(), *(counts[name] for name in names)))
    rows.writerow(
        ("total", "", *(sum(counts[name] for counts in report.lines.values()) for name in names))
    )
    return csv_text.getvalue()
