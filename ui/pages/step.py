"""The Step page: a kernel, statement by statement, forward and back."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

import streamlit as st

from simulator import LaunchError, Report, SourceError, catalogue
from simulator.catalogue import Entry
from ui import export, presets, scene
from ui.cache import (
    build_animation,
    figure_id,
    load_figure,
    load_navigation,
    load_recording,
    load_report,
    recording_key,
)
from ui.panels.canvas import WIDTH
from ui.panels.threads import columns_of_block
from ui.scene_model import writer
from ui.toolbar import draw_toolbar
from ui.view_url import INPUTS, LARGEST, SCHEDULES, View, clamp, from_query, to_query
from ui.what_if import applicable_edits, diff_lines, with_element_type

SIZES = {
    "M": "rows of A and C", "N": "columns of B and C", "K": "columns of A and rows of B",
}  # fmt: skip
SCHEDULE_NAMES = {
    "lockstep": "All at once", "ascending": "Warp by warp", "descending": "Last warp first",
}  # fmt: skip
INPUT_NAMES = {"random": "Random digits", "counting": "1, 2, 3, …"}

RECENT_SECONDS = 3.0  # how long a browser may still request the address before the current URL

# The scene needs the height that Streamlit leaves empty above a page.
PAGE_CSS = Path(__file__).resolve().parents[1] / "web" / "page.css"
STYLE = f"<style>{Template(PAGE_CSS.read_text(encoding='utf-8')).substitute(width=WIDTH)}</style>"


# The session state has the view besides the controls' values: Streamlit deletes the value of a
# control that is not drawn.


def restore_view() -> View:
    """Return the view to draw: a new URL's, else the current view."""
    query = st.query_params.to_dict()
    if "view" not in st.session_state or not is_recent_address(query):
        view, notices = from_query(query)
        set_controls(view, notices)
    else:
        handle_toolbar_event(st.session_state.get("keys"))
    if "kernel" not in st.session_state:  # the visitor returns from another page
        set_controls(st.session_state["view"], ())
    requested = st.session_state.pop("requested_view", None)
    if requested is not None:
        set_controls(*requested)
    return st.session_state["view"]  # type: ignore[no-any-return]  # set_controls() stores a View


def is_recent_address(query: dict[str, str]) -> bool:
    """Whether a query is the current view's, or a recent view's that a slow browser sends."""
    state, now = st.session_state, time.monotonic()
    state["recent_addresses"] = [
        (address, since)
        for address, since in state["recent_addresses"]
        if now - since < RECENT_SECONDS
    ]
    return query == state["address"] or any(
        query == address for address, _ in state["recent_addresses"]
    )


def set_controls(view: View, notices: tuple[str, ...]) -> None:
    """Set every control to a view, and store the notices to draw."""
    state = st.session_state
    state["view"], state["notices"] = view, notices
    state["order"] = state.get("order", 0) + 1
    state["kernel"], state["schedule"], state["inputs"] = view.kernel, view.schedule, view.inputs
    for size in SIZES:
        state[size] = getattr(view, size)
    for macro, value in view.defines:
        state[f"{view.kernel}_{macro}"] = value
    for edit in applicable_edits(catalogue()[view.kernel].source(**dict(view.defines))):
        state[f"edit_{edit.key}"] = edit.key in view.edits
    state["block_x"], state["block_y"] = view.block
    state["thread_x"], state["thread_y"] = view.thread


def request_view(view: View) -> None:
    """Show a view from the next script run on."""
    st.session_state["requested_view"] = (view, ())


def draw_controls(previous: View) -> View:
    """Draw the controls in the sidebar and return the chosen view."""
    entries = catalogue()
    offered_presets = presets.presets()
    with st.popover("Presets", icon=":material/auto_awesome:", width="stretch"):
        for preset in offered_presets:
            st.button(preset.name, on_click=request_view, args=(preset.view,), help=preset.text,
                      width="stretch", key=f"preset_{preset.name}")  # fmt: skip
    name = st.selectbox(
        "Kernel", list(entries), key="kernel", format_func=lambda name: entries[name].title
    )
    entry = entries[name]
    st.caption(entry.teaches)
    sizes = {}
    for column, (size, help_) in zip(st.columns(3), SIZES.items(), strict=True):
        with column:
            sizes[size] = draw_number_input(size, 1, LARGEST, size, help_)
    defines = draw_macro_selectors(name, entry)
    text = entry.source(**dict(defines))
    grid, block = entry.shape(sizes["M"], sizes["N"], **dict(defines))
    columns = st.columns(2)
    focus = []
    for i, (label, high, help_) in enumerate(
        (
            ("Block x", grid[0], "which block of the grid to watch"),
            ("Block y", grid[1], "which block of the grid to watch"),
            ("Thread x", block[0], "the focused thread within the block"),
            ("Thread y", block[1], "the focused thread within the block"),
        )
    ):
        with columns[i % 2]:
            focus.append(
                draw_number_input(label, 0, high - 1, label.lower().replace(" ", "_"), help_)
            )
    st.markdown("**What if**")
    chosen = tuple(
        edit.key
        for edit in applicable_edits(text)
        if st.checkbox(edit.label, key=f"edit_{edit.key}", help=edit.help_text)
    )
    schedule = st.selectbox(
        "The block's warps run", SCHEDULES, key="schedule", format_func=SCHEDULE_NAMES.__getitem__,
        help="A race shows its wrong value only in some orders of the warps.",
    )  # fmt: skip
    inputs = st.selectbox("A and B hold", INPUTS, key="inputs", format_func=INPUT_NAMES.__getitem__)
    view = View(
        name, sizes["M"], sizes["N"], sizes["K"], defines, chosen, (focus[0], focus[1]),
        (focus[2], focus[3]), previous.step, schedule, inputs,
    )  # fmt: skip
    if recording_key(view) != recording_key(previous):
        view = replace(view, step=0)  # a new recording starts at its first step
        st.session_state["order"] += 1
    if view != previous:
        st.session_state["notices"] = ()
    return view


def draw_macro_selectors(name: str, entry: Entry) -> tuple[tuple[str, int], ...]:
    """Draw a selector for each macro, initially with the kernel's first teaching value."""
    columns = st.columns(2)
    defines = []
    for i, (macro, offered) in enumerate(entry.defines.items()):
        key = f"{name}_{macro}"
        st.session_state.setdefault(key, entry.teaching[0][macro])
        with columns[i % 2]:
            value = st.selectbox(macro, sorted(offered), key=key)
        defines.append((macro, int(value)))
    return tuple(defines)


def draw_number_input(label: str, low: int, high: int, key: str, help_: str) -> int:
    """Draw an integer field; its value is limited to low and high, and disabled if they agree."""
    value = st.session_state.get(key, low)
    st.session_state[key] = min(max(value if isinstance(value, int) else low, low), high)
    fixed = low == high
    field = st.number_input(label, low, high + fixed, step=1, key=key, help=help_, disabled=fixed)
    return low if fixed else int(field)


def draw_page() -> None:
    """Draw the page."""
    st.html(STYLE)
    previous = restore_view()
    with st.sidebar:
        view = draw_controls(previous)
    theme = "dark" if st.context.theme.type == "dark" else "light"
    nearest, notices = from_query(to_query(view))
    if notices:  # for example a block with too many threads
        st.session_state["requested_view"] = (nearest, notices)
        st.rerun()
    store_view(view)
    try:
        recording = load_recording(recording_key(view))
        navigation = load_navigation(recording_key(view))
        report = load_report(view)
    except (SourceError, LaunchError) as error:
        draw_notices()
        st.error(f"This cannot be run: {error}", icon=":material/error:")
        return
    launch = recording.launch
    view, notices = clamp(view, launch.grid, launch.block, len(recording.steps))
    st.session_state["notices"] = (*st.session_state["notices"], *notices)
    store_view(view)
    draw_notices()
    with st.container(key="hazards"):
        draw_hazards(report)
    steps = scene.page(navigation, view.step)
    with st.spinner("Drawing…"):
        figure = load_figure(view, theme, steps)
    draw_toolbar_fragment(view, theme, navigation, steps)
    entry = catalogue()[view.kernel]
    with st.container(key="stage"):
        st.plotly_chart(
            figure, key="scene", theme=None, width="content", config={"displayModeBar": False},
            alt=f"{entry.title}: the kernel's source, matrices A, B and C, shared memory and its "
            "banks, the block's threads, and a timeline, at one step of the kernel.",
        )  # fmt: skip
    with st.sidebar:
        draw_changed_lines(view)
        draw_downloads(view, theme, report)


def store_view(view: View) -> None:
    """Store the view in the session state, and in the URL, so that a link reopens it."""
    state, address = st.session_state, to_query(view)
    state["view"] = view
    if address != state.get("address", address):
        state["recent_addresses"] = [
            *state["recent_addresses"],
            (state["address"], time.monotonic()),
        ]
    state.setdefault("recent_addresses", [])
    state["address"] = state["query"] = address  # app.py reads "query", on every page
    st.query_params.from_dict(address)


def draw_notices() -> None:
    """Draw the notices about what a URL requested and the page could not show."""
    if st.session_state["notices"]:
        st.warning(" ".join(st.session_state["notices"]), icon=":material/info:")


def draw_hazards(report: Report) -> None:
    """Draw the hazards: the first as a line, all of them in an expander."""
    hazards = report.hazards
    if not hazards:
        return
    others = f" And {len(hazards) - 1} more." if len(hazards) > 1 else ""
    with st.expander(f":red[**{hazards[0].message}**{others}]", icon=":material/warning:"):
        for hazard in hazards:
            st.write(f"**{hazard.kind}**, {hazard.count:,} times: {hazard.message}")
            if hazard.witness is not None:
                st.caption(hazard.witness.sentence)


def draw_changed_lines(view: View) -> None:
    """Draw the lines that the edits changed."""
    original = catalogue()[view.kernel].source(**dict(view.defines))
    changed = diff_lines(original, presets.source(view))
    if not changed:
        return
    with st.expander("What the edit changed", expanded=False):
        st.code(
            "\n".join(
                f"{change.line:>3} - {change.old}\n{change.line:>3} + {change.new}"
                for change in changed
            ),
            language="diff",
        )


def draw_downloads(view: View, theme: str, report: Report) -> None:
    """Draw the downloads: the animation and the counters. The toolbar exports pictures."""
    name = f"tilewise-{view.kernel}-{view.M}x{view.N}x{view.K}"
    st.download_button(
        "Animation, one HTML file", functools.partial(build_animation, view, theme),
        f"{name}.html", "text/html", icon=":material/movie:", on_click="ignore", width="stretch",
    )  # fmt: skip
    st.download_button(
        "Counters by line, CSV", export.counters_csv(report, presets.source(view)),
        f"{name}.csv", "text/csv", icon=":material/table:", on_click="ignore", width="stretch",
    )  # fmt: skip


@st.fragment
def draw_toolbar_fragment(
    view: View, theme: str, navigation: Mapping[str, Any], steps: range
) -> None:
    """Draw the toolbar; it reports the current step and clicks, which move the focus.

    steps are those of the drawn figure; frames of other steps are sent on request.
    """
    state = st.session_state
    state["figure_id"] = figure_id(view, theme)
    frames = load_requested_frames(view, theme, navigation, steps)
    toolbar = draw_toolbar(
        state["figure_id"], state["order"], navigation, steps, state["view"].step, frames
    )
    handle_toolbar_event(toolbar)
    if toolbar.clicked:
        request_view(move_focus(state["view"], *toolbar.clicked))
        st.rerun()


def handle_toolbar_event(toolbar: Any) -> None:
    """Store the step that the toolbar reports, if it reports on the scene that was last drawn."""
    state = st.session_state
    if is_current(toolbar):
        store_view(replace(state["view"], step=max(int(toolbar.at[2]), 0)))


def is_current(toolbar: Any) -> bool:
    """Whether the toolbar's report is about the scene that was last drawn."""
    state = st.session_state
    return bool(
        toolbar and toolbar.at and toolbar.at[:2] == [state.get("figure_id"), state["order"]]
    )


def load_requested_frames(
    view: View, theme: str, navigation: Mapping[str, Any], steps: range
) -> dict[str, Any] | None:
    """Load the frames that the toolbar requests, None if the drawn figure has them."""
    toolbar = st.session_state.get("keys")
    requested = int(toolbar.at[3]) if toolbar is not None and is_current(toolbar) else -1
    if not 0 <= requested < navigation["steps"] or requested in steps:
        return None
    requested_steps = scene.page(navigation, requested)
    frames = load_figure(view, theme, requested_steps).to_dict()["frames"]
    return {"first": requested_steps.start, "end": requested_steps.stop, "frames": frames}


def move_focus(view: View, name: str, row: int, column: int) -> View:
    """Move the focus to the clicked thread, or to the writer of a cell of C or shared memory.

    name is of the clicked trace: "threads", "C", or "shared:" and an array.
    """
    recording = load_recording(recording_key(view))
    block_width = recording.launch.block[0]
    row, column = int(row), int(column)
    thread: int | None = row * columns_of_block(recording.launch.block) + column
    if name == "C":
        entry = with_element_type(catalogue()[view.kernel], view.edits)
        rows, columns = entry.produces(**dict(view.defines))
        view = replace(view, block=(column // columns, row // rows))
        recording = load_recording(recording_key(view))
        view = replace(view, step=min(view.step, len(recording.steps) - 1))
        thread = writer(recording, "C", row * view.N + column)
    elif name != "threads":
        array = name.removeprefix("shared:")
        width = recording.steps[view.step].shared[array].shape[-1]
        thread = writer(recording, array, row * width + column, view.step)
    if thread is None:
        return view
    return replace(view, thread=(thread % block_width, thread // block_width))


draw_page()
