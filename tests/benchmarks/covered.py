"""Writes pictures of scenes without a word of them, to find out what a picture alone tells.

Run it as `python -m tests.benchmarks.covered FOLDER`. Every letter of prose and of the source is
painted over and the timeline is cut off; numbers in cells stay. The pictures have numbers for
names, in an order that chance makes; key.json says which is which. Someone who has not seen the
scenes says of each picture what happens, and what in it shows that.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from simulator import Recording
from tests.browser.app import browser, driver
from ui.drawing.look import Look
from ui.drawing.svg import draw_svg
from ui.lessons.picture import figure_at_step
from ui.run.compute import load_recording
from ui.run.standalone import parse_address

ROOM = Look(width=1280, height=720, presenting=True)
LABELS = 24  # pixels above the timeline, where it has labels
SQUARE = "kernel={}&M={n}&N={n}&K={n}&TILE={n}"
SMALL = "kernel=tiled&M=8&N=8&K=8&TILE=4"
TWO_WARPS = "kernel=tiled&M=16&N=16&K=16&TILE=8&schedule=ascending"

# What a picture shows: its view, a piece of the line that runs, and which of the steps that run it.
SCENES: dict[str, tuple[str, str, int]] = {
    "loads, coalesced": ("kernel=naive&M=8&N=32&K=8", "acc +=", 2),
    "loads, not coalesced": ("kernel=uncoalesced&M=32&N=32&K=8", "acc +=", 2),
    "a copy of A's tile": (SMALL, "As[ty][tx] =", 1),
    "a copy of B's tile": (SMALL, "Bs[ty][tx] =", 1),
    "a product": (SMALL, "acc +=", 5),
    "reuse": ("kernel=tiled&M=8&N=8&K=8&TILE=8", "acc +=", 3),
    "no reuse: each thread reads global memory": ("kernel=naive&M=8&N=8&K=8", "acc +=", 3),
    "a warp waits at a barrier": (TWO_WARPS, "__syncthreads();", 0),
    "all have come to a barrier": (TWO_WARPS, "__syncthreads();", 1),
    "a race: a warp overwrites what another has to read": (
        f"{TWO_WARPS}&edits=second-barrier", "Bs[ty][tx] =", 2),
    "a stale value": (f"{TWO_WARPS}&edits=second-barrier&ty=4", "acc +=", 8),
    "a conflict of 32 ways": (f"{SQUARE.format('transposed', n=32)}&stage=banks", "acc +=", 3),
    "a conflict of 8 ways": (f"{SQUARE.format('transposed', n=16)}&stage=banks", "acc +=", 3),
    "a conflict of 2 ways": (f"{SQUARE.format('transposed', n=8)}&stage=banks", "acc +=", 3),
    "padding: no conflict": (f"{SQUARE.format('padded', n=32)}&stage=banks", "acc +=", 3),
    "swizzling: no conflict": (f"{SQUARE.format('swizzled', n=32)}&stage=banks", "acc +=", 3),
    "a ragged edge": ("kernel=tiled&M=6&N=7&K=5&TILE=4&bx=1&by=1", "As[ty][tx] =", 1),
    "double": ("kernel=tiled_double&M=32&N=32&K=32&TILE=8&stage=banks", "acc +=", 3),
    "a store": (SMALL, "C[row * N + col] =", 0),
    "sums in registers": ("kernel=registers&M=16&N=16&K=16", "acc[i][j] +=", 9),
    "a load of four": ("kernel=vectors&M=16&N=16&K=16", "reinterpret_cast<const float4*>", 0),
    "a double buffer": ("kernel=pipelined&M=16&N=16&K=16", "acc[i][j] +=", 20),
    "waves on a GPU": (
        "kernel=tiled&M=64&N=64&K=16&TILE=16&bx=3&by=1&stage=grid", "acc +=", 5),
    "the grid: a block's row of A and column of B": (
        "kernel=tiled&M=16&N=16&K=16&TILE=4&bx=2&by=1&stage=grid", "acc +=", 5),
    "a split K: two blocks add up one tile": (
        "kernel=anyshape&M=32&N=32&K=32&PIECES=2&stage=grid", "acc[i][j] +=", 5),
    "a tensor core": ("kernel=tensor_tf32&K=16", "mma_sync(", 0),
    "the end: C is stored": ("kernel=tiled&M=4&N=4&K=4&TILE=2", "C[row * N + col] =", 0),
}  # fmt: skip


def main() -> None:
    """Write the pictures and their key into the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    names = list(SCENES)
    random.shuffle(names)
    with driver() as playwright, browser(playwright) as chromium:
        page = chromium.new_page()
        for number, name in enumerate(names, 1):
            figure, height = covered(*SCENES[name])
            page.set_viewport_size({"width": int(ROOM.width), "height": height})
            page.set_content(f"<body style='margin: 0'>{draw_svg(figure)}</body>")
            page.screenshot(path=folder / f"{number:02}.png")
    key = {f"{number:02}": name for number, name in enumerate(names, 1)}
    (folder / "key.json").write_text(json.dumps(key, indent=2), encoding="utf-8")
    print(f"{len(names)} pictures are in {folder}, and what they show in key.json.")


def covered(query: str, code: str, nth: int) -> tuple[dict[str, Any], int]:
    """The figure of a step without its letters, and the height above its timeline, in pixels."""
    view = parse_address(query)
    view = replace(view, step=find_step(load_recording(view), code, nth))
    figure = figure_at_step(view, replace(ROOM, stage=view.stage))
    for trace in figure["data"]:
        if "text" in trace:
            trace["text"] = [text if is_number(text) else "" for text in trace["text"]]
    figure["layout"]["title"]["text"] = ""
    return figure, int(figure["layout"]["meta"]["timeline"]["top"]) - LABELS


def find_step(recording: Recording, code: str, nth: int) -> int:
    """The number of the nth step, from 0, of a line that has a piece of code."""
    lines = recording.kernel.text.splitlines()
    found = [step.number for step in recording.steps if code in lines[step.line - 1]]
    return found[nth]


def is_number(text: str) -> bool:
    """Whether a text is a number, with its sign in a sum or a product, or empty.

    >>> is_number("12.5"), is_number("−3"), is_number("× 3"), is_number("acc"), is_number("k = 2")
    (True, True, True, False, False)
    """
    return re.fullmatch(r"[\s\d.,−+e×=-]*", text) is not None


if __name__ == "__main__":
    main()
