"""What a class takes home: the scene as one HTML file with its keys, the counters as CSV."""

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

PACE_MS = 500  # a step, while it plays
FRAMES = "the frames"  # stands where they do, until they are written
LIBRARY = "plotly.min.js"  # likewise
LIBRARY_TAG = f'<script charset="utf-8" src="{LIBRARY}"></script>'

WEB = Path(__file__).with_name("web")


def html(figure: go.Figure, navigation: Mapping[str, Any], title: str) -> Iterator[str]:
    """The scene as one HTML file that needs no network: its frames, a bar and its keys.

    figure and navigation are those of ui.scene: frames that hold what changed since the one
    before, and the steps with which "inner" and "outer" iterations begin and a "barrier" stands.
    The file comes in pieces, one for each frame, which is asked for only then: the frames of a long
    recording take too much memory together.
    """
    alone = figure.to_dict()
    layout, frames = alone["layout"], alone["frames"]
    for own in ("updatemenus", "sliders"):  # the file's bar takes their place
        layout.pop(own, None)
    stops = {way: [int(n) for n in navigation[way]] for way in ("inner", "outer", "barrier")}
    page, frames_script, bar_script = (
        (WEB / name).read_text(encoding="utf-8")
        for name in ("animation.html", "frames.js", "animation.js")
    )
    bar_script = bar_script.replace("NAVIGATION", json.dumps(stops))
    script = frames_script + bar_script.replace("PACE_MS", str(PACE_MS))
    drawn = plotly.io.to_html(
        alone | {"frames": [FRAMES]}, config={"displayModeBar": False, "responsive": False},
        auto_play=False, include_plotlyjs=LIBRARY, full_html=False, div_id="scene",
        post_script=script, validate=False,
    )  # fmt: skip
    before, _, after = (
        Template(page)
        .substitute(
            title=markup.escape(title),
            paper=markup.escape(layout.get("paper_bgcolor", "white")),
            ink=markup.escape(layout.get("font", {}).get("color", "black")),
            figure=drawn,
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
