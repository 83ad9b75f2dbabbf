"""The HTML, CSS and JavaScript of ui/web."""

from __future__ import annotations

import functools
from pathlib import Path

FOLDER = Path(__file__).parent.with_name("web")
# The scripts of a player, in the order in which they stand in one module or file.
PLAYER = ("frames.js", "plotly_nodes.js", "motions.js", "player.js")


@functools.cache
def read_web(*names: str) -> str:
    """The text of some files of ui/web, one behind the other."""
    return "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in names)
