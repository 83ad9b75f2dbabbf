"""Exports: the scene as an HTML file with a keyboard, and the counters as CSV."""

from __future__ import annotations

import csv
import html as markup
import io
import json
from collections.abc import Iterator, Mapping
from string import Template
from typing import Any

import plotly.graph_objects as go
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from simulator import Report
from simulator.observers.counters import FIELDS, IDEAL_FIELDS
from ui.scene.packed_frames import ENCODE, FramePacker
from ui.web_page.web_files import read_script, read_web

WAYS = ("beat", "inner", "outer", "barrier")  # of a navigation
FORMULA = ("=", "+", "-", "@")  # what a spreadsheet takes for a formula begins with one of these


def html(
    figure: go.Figure, navigation: Mapping[str, Any], title: str, start: int = 0
) -> Iterator[str]:
    """Write the scene as an HTML file that needs no network: frames, a toolbar and a keyboard.

    figure and navigation come from ui.scene.scene: frames with the changes since the frame
    before, the steps of each "beat" and "barrier", and the first ones of "inner" and "outer"
    iterations.
    The file is an iterator of strings. Each frame is read when its string is requested: all frames
    of a long recording would occupy too much memory. The player begins at step `start`, from 0.
    """
    layout = figure.to_dict()["layout"]
    page = Template(read_web("animation.html"))
    yield page.substitute(
        title=markup.escape(title),
        paper=markup.escape(layout.get("paper_bgcolor", "white")),
        ink=markup.escape(layout.get("font", {}).get("color", "black")),
        style=read_web("stepper.css"),
        markup=read_web("stepper.html"),
    )
    yield "<script>"
    yield get_plotlyjs()
    yield f"</script>\n<script>\n{navigation_script(navigation, start)}\nconst figure = "
    yield from figure_json(figure)
    yield f";\n{read_script('animation.js')}loadFigure(figure);\n"
    yield "</script>\n</body>\n</html>\n"


def navigation_script(navigation: Mapping[str, Any], start: int) -> str:
    """Write what animation.js needs to know about a scene: its navigation and its first step."""
    stops = {way: [int(n) for n in navigation[way]] for way in WAYS}
    stops_json = json.dumps({"steps": int(navigation["steps"]), **stops})
    return f"const navigation = {stops_json}, start = {start};"


def figure_json(figure: go.Figure) -> Iterator[str]:
    """Write a figure as JSON that may be within a script, frame by frame, its frames packed."""
    plain = figure.to_dict()
    data, layout = (
        within_script(to_json_plotly(plain[part], engine="json")) for part in ("data", "layout")
    )
    yield f'{{"data": {data}, "layout": {layout}, "frames": {{"steps": ['
    packer = FramePacker()
    for number, frame in enumerate(plain["frames"]):
        yield f"{',' if number else ''}{within_script(ENCODE(packer.pack(frame)))}"
    texts, shapes = map(within_script, packer.tables())
    yield f'], "texts": {texts}, "shapes": {shapes}}}}}'


def within_script(text: str) -> str:
    """JSON as it may be within a script, whose end no text of it can be."""
    return text.replace("<", "\\u003c")


def counters_csv(report: Report, text: str) -> str:
    """Write a launch's counters as CSV: a row for each line that accesses memory, and a total.

    text is the kernel's source. The columns are the line's number, its source, and the counters
    under their names in simulator.observers.counters. A source that a spreadsheet would take for a
    formula begins with an apostrophe.
    """
    names = (*FIELDS, *IDEAL_FIELDS)
    lines = text.splitlines()
    csv_text = io.StringIO()
    rows = csv.writer(csv_text)
    rows.writerow(("line", "source", *names))
    for number, counts in report.lines.items():
        rows.writerow(
            (number, _as_text(lines[number - 1].rstrip()), *(counts[name] for name in names))
        )
    rows.writerow(
        ("total", "", *(sum(counts[name] for counts in report.lines.values()) for name in names))
    )
    return csv_text.getvalue()


def _as_text(cell: str) -> str:
    """A cell that a spreadsheet shows as it is, and never computes.

    The rule and the characters are OWASP's (CSV Injection); they count after spaces, too.

    >>> _as_text("=1 + 1;"), _as_text("    +sum;"), _as_text("sum += a;")
    ("'=1 + 1;", "'    +sum;", 'sum += a;')
    """
    return f"'{cell}" if cell.startswith(("\t", "\r")) or cell.strip()[:1] in FORMULA else cell
