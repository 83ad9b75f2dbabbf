"""The stepper: a kernel, statement by statement, forward and back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from simulator import Kernel, LaunchError, Recording, SourceError, catalogue, compile_kernel, record
from simulator.catalogue import Entry
from ui import scene
from ui.keys import keys

LARGEST = 64  # rows and columns of a matrix on the screen
SMALLEST_VALUES, LARGEST_VALUES = 0, 9  # of A and B: numbers that a class can add in its head
DEFAULTS = {"M": 8, "N": 8, "K": 8, "TILE": 4}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a visitor has chosen to see."""

    kernel: str
    M: int
    N: int
    K: int
    defines: tuple[tuple[str, int], ...]
    block: tuple[int, int, int]
    thread: tuple[int, int, int]


@st.cache_resource(max_entries=32, show_spinner=False)
def compiled(name: str, defines: tuple[tuple[str, int], ...]) -> Kernel:
    """One kernel of the catalogue with its macros set."""
    entry = catalogue()[name]
    return compile_kernel(entry.source(**dict(defines)), entry.kernel, filename=entry.file)


def inputs(M: int, N: int, K: int) -> dict[str, Any]:
    """A and B of small whole numbers, the same for the same sizes, and C of zeros."""
    random = np.random.default_rng((M, N, K))
    top = LARGEST_VALUES + 1
    return {
        "A": random.integers(SMALLEST_VALUES, top, (M, K)).astype(np.float32),
        "B": random.integers(SMALLEST_VALUES, top, (K, N)).astype(np.float32),
        "C": np.zeros((M, N), np.float32),
        "M": M, "N": N, "K": K,
    }  # fmt: skip


@st.cache_resource(max_entries=16, show_spinner="Running the kernel…")
def recorded(choice: Choice) -> Recording:
    """The chosen block, every step of it. SourceError and LaunchError are for the page to say."""
    entry, chosen = catalogue()[choice.kernel], dict(choice.defines)
    launch = entry.launch(inputs(choice.M, choice.N, choice.K), **chosen)
    return record(compiled(choice.kernel, choice.defines), launch, choice.block)


@st.cache_resource(max_entries=16, show_spinner="Drawing…")
def drawn(choice: Choice, theme: str) -> tuple[go.Figure, Mapping[str, Any]]:
    """The scene, and what its keys need."""
    recording = recorded(choice)
    thread = linear(choice.thread, recording.launch.block)
    return scene.figure(recording, thread, theme), scene.navigation(recording, thread)


def linear(place: tuple[int, int, int], sizes: tuple[int, int, int]) -> int:
    """A place in x, y, z as one number."""
    return place[0] + sizes[0] * (place[1] + sizes[1] * place[2])


def whole(label: str, low: int, high: int, default: int, key: str, help_: str) -> int:
    """A whole number between two bounds, kept while it fits them."""
    kept = st.session_state.get(key, default)
    value = min(max(kept if isinstance(kept, int) else default, low), high)
    st.session_state[key] = value
    if low == high:
        st.number_input(label, low, high + 1, disabled=True, key=key, help=help_)
        return low
    return int(st.number_input(label, low, high, step=1, key=key, help=help_))


def choose() -> tuple[Choice, Entry]:
    """Draw the controls and give what is chosen."""
    entries = catalogue()
    columns = st.columns([3.2, 1, 1, 1, 1.2, 1, 1, 1, 1], vertical_alignment="bottom")
    with columns[0]:
        default = list(entries).index("tiled") if "tiled" in entries else 0
        name = st.selectbox(
            "Kernel", list(entries), index=default, key="kernel",
            format_func=lambda one: entries[one].title,
        )  # fmt: skip
    entry = entries[name]
    sizes = {}
    helps = {
        "M": "rows of A and C", "N": "columns of B and C",
        "K": "columns of A and rows of B",
    }  # fmt: skip
    for column, size in zip(columns[1:4], "MNK", strict=True):
        with column:
            sizes[size] = whole(size, 1, LARGEST, DEFAULTS[size], size, helps[size])
    defines = []
    with columns[4]:
        for macro, options in entry.defines.items():
            options = tuple(sorted(options))
            default = options.index(DEFAULTS[macro]) if DEFAULTS.get(macro) in options else 0
            value = st.selectbox(
                macro, options, index=default, key=f"{name}_{macro}",
                help=f"#define {macro} in the source",
            )  # fmt: skip
            defines.append((macro, int(value)))
        if not entry.defines:
            st.selectbox("TILE", ["–"], disabled=True, help="This kernel has no tile")
    grid, block = entry.shape(sizes["M"], sizes["N"], **dict(defines))
    places = []
    for column, label, high, help_ in (
        (columns[5], "Block x", grid[0], "which block of the grid to watch"),
        (columns[6], "Block y", grid[1], "which block of the grid to watch"),
        (columns[7], "Thread x", block[0], "the focused thread within the block"),
        (columns[8], "Thread y", block[1], "the focused thread within the block"),
    ):
        with column:
            key = label.lower().replace(" ", "_")
            places.append(whole(label, 0, high - 1, 0, key, help_))
    choice = Choice(
        name, sizes["M"], sizes["N"], sizes["K"], tuple(defines),
        (places[0], places[1], 0), (places[2], places[3], 0),
    )  # fmt: skip
    return choice, entry


# The scene needs the height that Streamlit leaves empty above a page.
LESS_MARGIN = """<style>
.stMainBlockContainer { padding-top: 3.6rem; padding-bottom: 1rem;
  padding-left: 1.5rem; padding-right: 1.5rem; }
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(LESS_MARGIN)
    moved = st.session_state.pop("clicked_thread", None)
    if moved is not None:
        st.session_state["thread_x"], st.session_state["thread_y"] = moved
    choice, entry = choose()
    theme = "dark" if st.context.theme.type == "dark" else "light"
    try:
        figure, navigation = drawn(choice, theme)
    except (SourceError, LaunchError) as error:
        st.error(f"This cannot be run: {error}", icon=":material/error:")
        return
    story = (choice.kernel, choice.M, choice.N, choice.K, choice.defines, choice.block)
    if st.session_state.get("story") != story:  # another run begins at its first step
        st.session_state["story"] = story
        st.session_state["step"] = 0
    start = min(st.session_state.get("step", 0), navigation["steps"] - 1)
    name = hashlib.sha256(repr((choice, theme)).encode()).hexdigest()[:16]
    block = recorded(choice).launch.block
    told = keys(name, {**navigation, "columns": block[0]}, start)
    if told.step is not None:
        st.session_state["step"] = int(told.step)
    clicked = told.thread
    if clicked is not None and clicked != st.session_state.get("last_clicked"):
        st.session_state["last_clicked"] = clicked
        x, y = int(clicked) % block[0], int(clicked) // block[0] % block[1]
        st.session_state["clicked_thread"] = (x, y)
        st.rerun()
    st.plotly_chart(
        figure, key="scene", theme=None, width="content", config={"displayModeBar": False},
        alt=f"{entry.title}: the kernel's source, matrices A, B and C, shared memory and its "
        "banks, the block's threads, and a timeline, at one step of the kernel.",
    )  # fmt: skip
    st.caption(f"**{entry.title}.** {entry.teaches}")


page()
