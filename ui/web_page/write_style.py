"""The style of what is written and judged, on a page and in a report."""

from __future__ import annotations

from dataclasses import asdict
from string import Template

from ui.drawing.palette import LIGHT, Palette
from ui.web_page.web_files import read_web


def write_style(palette: Palette) -> str:
    """ui/web/write.css in a theme's colours."""
    is_light = palette is LIGHT
    return Template(read_web("write.css")).substitute(
        asdict(palette), good="#0a6b4f" if is_light else "#7fdcb8",
        bad="#b3261e" if is_light else "#ff9b92",
        warning="#8a5a00" if is_light else "#f5bb45",
    )  # fmt: skip
