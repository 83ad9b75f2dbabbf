"""The first page: what Tilewise is, and the ways into it."""

from __future__ import annotations

import gzip
import html
import json
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from simulator import LaunchError, SourceError
from simulator.broken_file import BrokenFileError
from ui.drawing.viewport import USUAL
from ui.jobs.workers import WorkerLostError
from ui.lessons.parse import lessons
from ui.lessons.picture import draw_beats
from ui.lessons.visit import VISIT
from ui.run.broken_section import draw_broken
from ui.run.cache import answers
from ui.step.state import step_state
from ui.view.view_url import from_query
from ui.web_page import navigation_query
from ui.web_page.browser import browser_theme
from ui.web_page.component import component
from ui.web_page.style import draw_style
from ui.web_page.web_files import read_web

SCENE = {"kernel": "naive", "with": "tiled", "M": "8", "N": "8", "K": "8"}  # of the picture
FOLDER = Path(__file__).parent
IDEA = (
    "See how a GPU multiplies matrices tile by tile: a real CUDA kernel, statement by statement.",
    "The code on the screen is the code that the simulator runs and the code that a GPU runs. "
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
    Way("gpu.py", "GPU", "speed",
        "How fast each kernel is on a real GPU, compared with NVIDIA's cuBLAS."),
)  # fmt: skip


def draw_page() -> None:
    """Draw the page."""
    draw_style(read_web("page.css", "door.css"))
    address = step_state().address or {}  # of the Step page, if it was there
    navigation_query.keep(address)
    # With its query a link is one entry of the browser's history: the page adds none of its own.
    first = next(iter(lessons() or lessons().everything))
    visit = st.session_state.get(VISIT)
    lesson = {"lesson": first if visit is None else visit.lesson}
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
    """Draw the naive kernel beside the tiled one, which move for ten seconds."""
    try:
        view, _ = from_query(SCENE)
        look = replace(USUAL, theme=browser_theme())
        beats = answers().ask(draw_beats, view, look, is_quiet=True)
    except BrokenFileError as error:
        draw_broken(error)
        return
    except (SourceError, LaunchError, WorkerLostError):
        return  # the page says what it is without one
    packed = gzip.compress(json.dumps(beats).encode(), mtime=0)
    component("door", "door.js", read_web("door.html"))(key=f"door {look.theme}", data=packed)


if __name__ == "__main__":  # run by Streamlit; not by a test's workers, which import it
    draw_page()
