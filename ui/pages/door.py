"""The first page: what Tilewise is, and the ways into it."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from simulator import LaunchError, SourceError
from simulator.broken_file import BrokenFileError
from ui.drawing.viewport import USUAL
from ui.jobs.workers import WorkerLostError
from ui.lessons.parse import lessons
from ui.lessons.picture import draw_stop
from ui.run.broken_section import draw_broken
from ui.run.cache import answers
from ui.step.state import step_state
from ui.view.view_url import opening_view
from ui.web_page.browser import browser_theme
from ui.web_page.style import draw_style
from ui.web_page.web_files import read_web

KERNEL, STEP = "tiled", 42  # of the picture
ALT = "A step of the tiled kernel: its source, its tiles and its sums as on a blackboard"
FOLDER = Path(__file__).parent
IDEA = (
    "See how a GPU multiplies matrices by tiles: a real CUDA kernel, statement by statement.",
    "The text on the screen is the text that the simulator runs and the text that a GPU runs. "
    "You need no GPU.",
)


@dataclass(frozen=True, slots=True)
class Way:
    """A way into the app."""

    page: str  # its script
    name: str
    icon: str
    text: str  # a sentence


WAYS = (
    Way("learn.py", "Learn", "school",
        "Short lessons with pictures to step through and questions. Start here."),
    Way("step.py", "Step", "steps",
        "Go through a kernel one statement at a time: threads, tiles, banks, barriers."),
    Way("write.py", "Write", "edit_note",
        "Paste or write a kernel. See what it does, and what is wrong with it."),
    Way("compare.py", "GPU", "speed",
        "How fast each kernel is on a real GPU, beside NVIDIA's cuBLAS."),
)  # fmt: skip


def draw_page() -> None:
    """Draw the page."""
    draw_style(read_web("page.css", "door.css"))
    state = st.session_state
    address = step_state().address or {}  # of the Step page, if it was there
    state["query"] = address  # of the navigation's links
    # With its query a link is one entry of the browser's history: the page adds none of its own.
    first = next(iter(lessons() or lessons().everything))
    lesson = {"lesson": state["learn_visit"].lesson if "learn_visit" in state else first}
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in IDEA)
    st.html(f"<h1>Tilewise</h1>{lines}", width="stretch")
    with st.container(key="ways", horizontal=True):
        for way in WAYS:
            with st.container(border=True, key=f"way_{Path(way.page).stem}"):
                st.page_link(
                    FOLDER / way.page, label=way.name, icon=f":material/{way.icon}:",
                    query_params=lesson if way.page == "learn.py" else address,
                )  # fmt: skip
                st.html(f"<p>{html.escape(way.text)}</p>")
    draw_picture()


def draw_picture() -> None:
    """Draw what the Step page opens with."""
    try:
        view = replace(opening_view(KERNEL), step=STEP)
        look = replace(USUAL, theme=browser_theme(), stage=view.stage)
        picture = answers().ask(draw_stop, view, look, is_quiet=True)
    except BrokenFileError as error:
        draw_broken(error)
        return
    except (SourceError, LaunchError, WorkerLostError):
        return  # the page says what it is without one
    data = base64.b64encode(picture.encode()).decode()
    st.html(f"<img class='door' alt='{ALT}' src='data:image/svg+xml;base64,{data}'>")


if __name__ == "__main__":  # run by Streamlit; not by a test's workers, which import it
    draw_page()
