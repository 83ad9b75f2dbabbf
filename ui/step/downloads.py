"""The Step page's files: pictures, the animation and the counters."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import streamlit as st

from simulator import Report
from ui.run import click_cost
from ui.run.cache import load_animation
from ui.run.compute import Opened
from ui.run.costly_download import draw_costly_download
from ui.scene import export
from ui.step.controls import of_text
from ui.step.state import step_state
from ui.view import presets, shown_kernel
from ui.view.view_url import View
from ui.web_page.downloads import download_button

SIDE_NAMES = ("left", "right")


def draw_downloads(view: View, opened: Opened) -> None:
    """Draw the downloads: this step's pictures, the animation and the counters."""
    for column, form in zip(st.columns(2), ("SVG", "PNG"), strict=True):
        with column:  # the stepper makes them: stepper/menus.js has their clicks
            st.button(
                f"Picture, {form}", icon=":material/image:", width="stretch",
                key=f"picture_{form.lower()}",
            )  # fmt: skip
    sides = opened.sides
    kernels = (
        "" if view.user_kernel is not None else "".join(f"{side.kernel}-" for side in sides[:-1])
    )
    name = f"tilewise-{kernels}{shown_kernel.file_stem(sides[-1])}"
    draw_animation_button(view, opened, f"{name}.html")
    for number, (side, report) in enumerate(zip(sides, opened.reports, strict=True)):
        of_side = "" if len(sides) == 1 else f" of the {SIDE_NAMES[number]} scene"
        download_button(
            f"Counters{of_side} by line, CSV",
            functools.partial(counters_csv, side, report),
            f"tilewise-{shown_kernel.file_stem(side)}.csv", "text/csv",
            ":material/table:",
        )  # fmt: skip


def draw_animation_button(view: View, opened: Opened, name: str) -> None:
    """Draw the button that downloads every step, and what that takes where it is notable."""
    look = replace(step_state().look(view), presenting=False)
    work = click_cost.animation(
        view, opened.navigation["steps"], math.prod(opened.block),
        [report.seconds for report in opened.reports],
    )  # fmt: skip
    make = functools.partial(load_animation, view, look)
    draw_costly_download(work, "Animation, one HTML file", make, name, ":material/movie:")


def counters_csv(side: View, report: Report) -> bytes:
    """The counters of one side by line, as a CSV file."""
    return export.counters_csv(report, of_text(presets.source, side)).encode()
