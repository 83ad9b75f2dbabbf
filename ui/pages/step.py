"""The stepper: a kernel, statement by statement, forward and back."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from simulator import LaunchError, Report, SourceError, catalogue
from simulator.catalogue import Entry
from ui import export, presets, scene
from ui.cache import animation, figure_of, named, navigated, ran, recorded, report_of
from ui.panels.canvas import WIDTH
from ui.panels.threads import columns_of_block
from ui.scene_model import writer
from ui.toolbar import keys
from ui.view_url import INPUTS, LARGEST, SCHEDULES, View, clamp, from_query, to_query
from ui.what_if import applicable_edits, diff_lines, with_element_type

SIZES = {
    "M": "rows of A and C", "N": "columns of B and C", "K": "columns of A and rows of B",
}  # fmt: skip
SCHEDULE_NAMES = {
    "lockstep": "All at once", "ascending": "Warp by warp", "descending": "Last warp first",
}  # fmt: skip
INPUT_NAMES = {"random": "Random digits", "counting": "1, 2, 3, …"}

ECHO = 3.0  # seconds in which a browser may still ask for an address that it has just left

# The scene needs the height that Streamlit leaves empty above a page.
STYLE = f"""<style>
.stMainBlockContainer {{ padding: 3.95rem 1rem 0; }}
.stMainBlockContainer > .stVerticalBlock {{ gap: .5rem; }}
.st-key-stage.stVerticalBlock {{ overflow: hidden; flex: none; }}
.st-key-scene.stElementContainer {{
  overflow: visible; width: {WIDTH}px !important; max-width: none; flex: none; align-self: start;
}}
.stSidebar .stVerticalBlock {{ gap: .55rem; }}
.stSidebar .stColumn label p {{ white-space: nowrap; }}
[data-testid="stSidebarHeader"] {{ height: 2.4rem; margin: 0; }}
.st-key-hazards summary {{ min-height: 0; padding-block: .3rem; }}
body.presenting :is(.stAppHeader, .stSidebar, .st-key-hazards, .st-key-keys) {{ display: none; }}
body.presenting .stMainBlockContainer {{ padding: 0 .5rem; }}
</style>"""


# The controls' state: the view is kept beside them, for a control that is not drawn forgets.


def opened() -> View:
    """The view that is asked for: a new address's, else the one that is shown."""
    query = st.query_params.to_dict()
    if "view" not in st.session_state or not known(query):
        view, said = from_query(query)
        show(view, said)
    else:
        hear(st.session_state.get("keys"))
    if "kernel" not in st.session_state:  # back from another page
        show(st.session_state["view"], ())
    wanted = st.session_state.pop("wanted", None)
    if wanted is not None:
        show(*wanted)
    return st.session_state["view"]  # type: ignore[no-any-return]  # show() put a View there


def known(query: dict[str, str]) -> bool:
    """Whether an address is the shown view's, or one before it: then the browser lags behind."""
    state, now = st.session_state, time.monotonic()
    state["left"] = [(one, since) for one, since in state["left"] if now - since < ECHO]
    return query == state["address"] or any(query == one for one, _ in state["left"])


def show(view: View, said: tuple[str, ...]) -> None:
    """Set every control to a view, and say what was not as it was asked for."""
    state = st.session_state
    state["view"], state["said"] = view, said
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


def want(view: View) -> None:
    """Show a view from the next run on."""
    st.session_state["wanted"] = (view, ())


def choose(before: View) -> View:
    """Draw the controls in the sidebar and give what is chosen."""
    entries = catalogue()
    known = presets.presets()
    with st.popover("Presets", icon=":material/auto_awesome:", width="stretch"):
        for preset in known:
            st.button(preset.name, on_click=want, args=(preset.view,), help=preset.text,
                      width="stretch", key=f"preset_{preset.name}")  # fmt: skip
    name = st.selectbox(
        "Kernel", list(entries), key="kernel", format_func=lambda one: entries[one].title
    )
    entry = entries[name]
    st.caption(entry.teaches)
    sizes = {}
    for column, (size, help_) in zip(st.columns(3), SIZES.items(), strict=True):
        with column:
            sizes[size] = whole(size, 1, LARGEST, size, help_)
    defines = macros(name, entry)
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
            focus.append(whole(label, 0, high - 1, label.lower().replace(" ", "_"), help_))
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
    given = st.selectbox("A and B hold", INPUTS, key="inputs", format_func=INPUT_NAMES.__getitem__)
    view = View(
        name, sizes["M"], sizes["N"], sizes["K"], defines, chosen, (focus[0], focus[1]),
        (focus[2], focus[3]), before.step, schedule, given,
    )  # fmt: skip
    if ran(view) != ran(before):
        view = replace(view, step=0)  # another run begins at its first step
        st.session_state["order"] += 1
    if view != before:
        st.session_state["said"] = ()
    return view


def macros(name: str, entry: Entry) -> tuple[tuple[str, int], ...]:
    """The macros' selectors, each at what the kernel is first shown with."""
    columns = st.columns(2)
    defines = []
    for i, (macro, offered) in enumerate(entry.defines.items()):
        key = f"{name}_{macro}"
        st.session_state.setdefault(key, entry.teaching[0][macro])
        with columns[i % 2]:
            value = st.selectbox(macro, sorted(offered), key=key)
        defines.append((macro, int(value)))
    return tuple(defines)


def whole(label: str, low: int, high: int, key: str, help_: str) -> int:
    """A whole number between two bounds, kept while it fits them."""
    kept = st.session_state.get(key, low)
    st.session_state[key] = min(max(kept if isinstance(kept, int) else low, low), high)
    fixed = low == high
    field = st.number_input(label, low, high + fixed, step=1, key=key, help=help_, disabled=fixed)
    return low if fixed else int(field)


def page() -> None:
    """Draw the page."""
    st.html(STYLE)
    before = opened()
    with st.sidebar:
        view = choose(before)
    theme = "dark" if st.context.theme.type == "dark" else "light"
    nearest, said = from_query(to_query(view))
    if said:  # as of an address: a block of more threads than a GPU takes
        st.session_state["wanted"] = (nearest, said)
        st.rerun()
    remember(view)
    try:
        recording, navigation = recorded(ran(view)), navigated(ran(view))
        report = report_of(view)
    except (SourceError, LaunchError) as error:
        say()
        st.error(f"This cannot be run: {error}", icon=":material/error:")
        return
    launch = recording.launch
    view, said = clamp(view, launch.grid, launch.block, len(recording.steps))
    st.session_state["said"] = (*st.session_state["said"], *said)
    remember(view)
    say()
    with st.container(key="hazards"):
        warn(report)
    steps = scene.page(navigation, view.step)
    with st.spinner("Drawing…"):
        figure = figure_of(view, theme, steps)
    move(view, theme, navigation, steps)
    entry = catalogue()[view.kernel]
    with st.container(key="stage"):
        st.plotly_chart(
            figure, key="scene", theme=None, width="content", config={"displayModeBar": False},
            alt=f"{entry.title}: the kernel's source, matrices A, B and C, shared memory and its "
            "banks, the block's threads, and a timeline, at one step of the kernel.",
        )  # fmt: skip
    with st.sidebar:
        show_edit(view)
        offer(view, theme, report)


def remember(view: View) -> None:
    """Keep the view, and write it into the address, from which a link reopens it."""
    state, address = st.session_state, to_query(view)
    state["view"] = view
    if address != state.get("address", address):
        state["left"] = [*state["left"], (state["address"], time.monotonic())]
    state.setdefault("left", [])
    state["address"] = state["query"] = address  # the latter for app.py, on every page
    st.query_params.from_dict(address)


def say() -> None:
    """What was not as the address asked for it."""
    if st.session_state["said"]:
        st.warning(" ".join(st.session_state["said"]), icon=":material/info:")


def warn(report: Report) -> None:
    """What a correct kernel never does: the first in a line, all of them on demand."""
    found = report.hazards
    if not found:
        return
    more = f" And {len(found) - 1} more." if len(found) > 1 else ""
    with st.expander(f":red[**{found[0].message}**{more}]", icon=":material/warning:"):
        for hazard in found:
            st.write(f"**{hazard.kind}**, {hazard.count:,} times: {hazard.message}")
            if hazard.witness is not None:
                st.caption(hazard.witness.sentence)


def show_edit(view: View) -> None:
    """The lines that the edits changed."""
    before = catalogue()[view.kernel].source(**dict(view.defines))
    found = diff_lines(before, presets.source(view))
    if not found:
        return
    with st.expander("What the edit changed", expanded=False):
        st.code(
            "\n".join(
                f"{change.line:>3} - {change.old}\n{change.line:>3} + {change.new}"
                for change in found
            ),
            language="diff",
        )


def offer(view: View, theme: str, report: Report) -> None:
    """What can be taken along: the animation, and the counters. Pictures are the keys' to give."""
    name = f"tilewise-{view.kernel}-{view.M}x{view.N}x{view.K}"
    st.download_button(
        "Animation, one HTML file", functools.partial(animation, view, theme),
        f"{name}.html", "text/html", icon=":material/movie:", on_click="ignore", width="stretch",
    )  # fmt: skip
    st.download_button(
        "Counters by line, CSV", export.counters_csv(report, presets.source(view)),
        f"{name}.csv", "text/csv", icon=":material/table:", on_click="ignore", width="stretch",
    )  # fmt: skip


@st.fragment
def move(view: View, theme: str, navigation: Mapping[str, Any], steps: range) -> None:
    """The keys; a step only tells where the scene is, a click moves the focus.

    steps are those of the page that is drawn: the frames of another are sent when asked for.
    """
    state = st.session_state
    state["name"] = named(view, theme)
    more = asked(view, theme, navigation, steps)
    told = keys(state["name"], state["order"], navigation, steps, state["view"].step, more)
    hear(told)
    if told.clicked:
        want(focused(state["view"], *told.clicked))
        st.rerun()


def hear(told: Any) -> None:
    """Take up the step that the keys tell, if they tell it of the scene that was last drawn."""
    state = st.session_state
    if tells(told):
        remember(replace(state["view"], step=max(int(told.at[2]), 0)))


def tells(told: Any) -> bool:
    """Whether the keys speak of the scene that was last drawn."""
    state = st.session_state
    return bool(told and told.at and told.at[:2] == [state.get("name"), state["order"]])


def asked(
    view: View, theme: str, navigation: Mapping[str, Any], steps: range
) -> dict[str, Any] | None:
    """The frames of the page that the keys ask for, if it is not the one that is drawn."""
    told = st.session_state.get("keys")
    wanted = int(told.at[3]) if told is not None and tells(told) else -1
    if not 0 <= wanted < navigation["steps"] or wanted in steps:
        return None
    page = scene.page(navigation, wanted)
    frames = figure_of(view, theme, page).to_dict()["frames"]
    return {"first": page.start, "end": page.stop, "frames": frames}


def focused(view: View, name: str, row: int, column: int) -> View:
    """The view with its focus on the clicked thread, cell of C or cell of shared memory."""
    recording = recorded(ran(view))
    across = recording.launch.block[0]
    row, column = int(row), int(column)
    thread: int | None = row * columns_of_block(recording.launch.block) + column
    if name == "C":
        entry = with_element_type(catalogue()[view.kernel], view.edits)
        rows, columns = entry.produces(**dict(view.defines))
        view = replace(view, block=(column // columns, row // rows))
        other = recorded(ran(view))
        view = replace(view, step=min(view.step, len(other.steps) - 1))
        thread = writer(other, "C", row * view.N + column)
    elif name != "threads":
        array = name.removeprefix("shared:")
        width = recording.steps[view.step].shared[array].shape[-1]
        thread = writer(recording, array, row * width + column, view.step)
    return view if thread is None else replace(view, thread=(thread % across, thread // across))


page()
