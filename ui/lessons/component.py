"""The components of a lesson: stops to walk, scenes, buttons to pick from, and its address."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ui.lessons.lesson import Kind
from ui.web_page.component import component
from ui.web_page.reported import whole_number
from ui.web_page.web_files import read_web


def draw_stops(content: str, count: int, key: str) -> int | None:
    """Draw so many stops, as markup.stops_html has them; return the one that is to be opened."""
    stops = component("stops", "stops_page.js", read_web("stops.html"), ("lesson.css",))
    drawn = hashlib.sha256(content.encode()).hexdigest()[:16]
    result = stops(key=key, data={"html": content, "drawn": drawn}, on_opened_change=lambda: None)
    return whole_number(result.get("opened"), count)


def play_scene(content: bytes, key: str) -> int | None:
    """Draw a scene, as scene.draw_scene has it; return the step, from 0, that is to be opened."""
    scene = component(
        "lesson_scene", "lesson_scene_page.js", read_web("lesson_scene.html"),
        ("stepper.css", "lesson.css"),
    )  # fmt: skip
    return whole_number(scene(key=key, data=content, on_opened_change=lambda: None).get("opened"))


def draw_picker(
    kind: Kind, items: Sequence[str], right: Sequence[int] | None, picked: Sequence[int], key: str
) -> list[int]:
    """Draw buttons to pick from; return the numbers of those that are picked, in their order.

    With `right`, which are marked, nothing can be picked any more.
    """
    return _pick({"kind": kind, "items": list(items)}, len(items), right, picked, key)


def draw_cell_picker(
    picture: str, rows: int, columns: int, right: Sequence[int] | None, picked: Sequence[int],
    key: str,
) -> list[int]:  # fmt: skip
    """Draw a picture of cell_picture.draw_cells to pick a cell from; return as draw_picker."""
    data = {"kind": Kind.CELL, "picture": picture, "columns": columns}
    return _pick(data, rows * columns, right, picked, key)


def _pick(
    data: Mapping[str, Any], count: int, right: Sequence[int] | None, picked: Sequence[int],
    key: str,
) -> list[int]:  # fmt: skip
    picker = component("picker", "picker.js", read_web("picker.html"), ("picker.css",))
    result = picker(
        key=key,
        data={
            **data, "right": right and list(right), "locked": right is not None,
            "picked": list(picked),
        },
        default={"picked": list(picked)},
        on_picked_change=lambda: None,
    )  # fmt: skip
    found = result.get("picked")
    numbers = (whole_number(one, count) for one in found) if isinstance(found, list) else ()
    return [number for number in numbers if number is not None]


def write_address(query: str) -> None:
    """Have the browser write a query into an address that names no lesson yet."""
    address = component("lesson_address", "lesson_address.js", css=("memory.css",))
    address(key="lesson_address", data={"query": query})
