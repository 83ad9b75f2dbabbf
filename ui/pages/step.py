"""The Step page: a kernel, statement by statement, forward and back."""

from __future__ import annotations

import functools
import html
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from simulator import LaunchError, Report, SourceError, catalogue
from simulator.broken_file import Broken, BrokenFileError, log
from simulator.catalogue import Entry
from simulator.launch import Dim3
from ui.drawing.look import Look, Sheet, Stage
from ui.drawing.room import parse_room
from ui.glossary.component import draw_glossary, explain_words
from ui.glossary.small_kernels import is_small
from ui.jobs.workers import WorkerLostError
from ui.run import click_cost
from ui.run.broken_section import list_broken
from ui.run.cache import answers, is_known, load_animation, load_opened, load_picture
from ui.run.compute import (
    Opened,
    draw_frames,
    figure_id,
    figure_key,
    find_same_place,
    find_stage,
    recording_key,
    scene_title,
)
from ui.run.costly_download import draw_costly_download
from ui.run.follow_click import follow_click
from ui.run.mailbox import Requested, mailbox
from ui.run.told_hazard import Told, hazardous_view, told_hazard, view_at_line
from ui.run.waiting import waits_told_here
from ui.scene import export, scene
from ui.scene.stepper import TOGGLED, Drawn, Shown, bring_plotly, draw_stepper, send_frames
from ui.view import own_link, presets, shown_kernel
from ui.view.view_url import (
    INPUTS,
    LARGEST,
    OWN,
    SCHEDULES,
    Partner,
    View,
    clamp,
    follow,
    from_query,
    opening_view,
    to_query,
    usual_partner,
    usual_step,
)
from ui.view.what_if import Edit, applicable_edits
from ui.web_page.browser import browser_theme, known_room
from ui.web_page.downloads import download_button
from ui.web_page.plain_text import plain_text
from ui.web_page.popover import Popover, close_popovers, draw_popover, is_popover
from ui.web_page.reported import row
from ui.web_page.style import draw_style
from ui.web_page.web_files import read_web

SIZES = {
    "M": "rows of A and C", "N": "columns of B and C", "K": "columns of A and rows of B",
}  # fmt: skip
SCHEDULE_NAMES = {
    "lockstep": "All at once", "ascending": "Warp by warp", "descending": "Last warp first",
}  # fmt: skip
INPUT_NAMES = {"random": "Random digits", "counting": "1, 2, 3, …", "fractions": "Random fractions"}
# Streamlit sends a large message once and then only its hash, also where the message itself was
# dropped since the next script run began. Runs follow each other quickly after a choice: until they
# have settled, each sends a message of its own.
SETTLED_SECONDS = 3.0
RECENT_SECONDS = 10.0  # how long a browser may still request the address before the current URL

# Of any job: a worker may run a kernel anew that another has run, and find less time or memory.
JOB_ERRORS = (SourceError, LaunchError, WorkerLostError)
WRITE_PAGE = Path(__file__).with_name("write.py")
NOTHING = "None"
Text = TypeVar("Text")
RIGHT = "Right: "  # begins the label of each control of the second scene
SIDE_NAMES = ("left", "right")
IN_LOCKSTEP = (
    "Both scenes are at the same place of the story: ≠ marks a count or a line, and a bar under "
    "its cell a value, that is another on the other side."
)


class Places(NamedTuple):  # which is quicker to define in each run than a dataclass
    """Containers in the row of controls that are filled once the view has run."""

    changes: Any | None  # None where the list of what-ifs is closed
    downloads: Popover
    hazards: Any


# The session state has the view, of which the controls are drawn. A view that they did not choose,
# as a preset's, gives each a new key: what the browser still sends of the old ones, as when a key
# closes a popover before the new ones are there, cannot be taken for a choice.


def restore_view() -> View:
    """Return the view to draw: a new URL's, a requested one, else the current view."""
    state, query = st.session_state, st.query_params.to_dict()
    if "view" not in state:
        if mailbox().requested is None:  # else another page asks for a view
            request_view(*read_address(query))
    elif is_history_navigation() or not is_recent_address(query):
        view, notices = read_address(query)
        if notices or is_history_navigation() or not is_same_but_step(view, state["view"]):
            request_view(view, notices, state.get("preset"))
        else:  # the stepper writes its step into the address
            state["view"] = view
    else:
        handle_step(state.get("scene"))
    requested = mailbox().requested
    if requested is not None and requested is not state.get("applied"):
        set_controls(requested)
        state["applied"] = requested  # last, for a run may be interrupted
    elif control_key("kernel") not in state:  # the visitor returns from another page: draw it anew
        state["order"] += 1
    return state["view"]  # type: ignore[no-any-return]  # set_controls() stores a View


def read_address(query: Mapping[str, str]) -> tuple[View, tuple[str, ...]]:
    """The view of an address; a kernel that is too long for one comes from the session."""
    return from_query(query, st.session_state.get(own_link.SESSION_KEY))


def is_same_but_step(view: View, other: View) -> bool:
    """Whether two views differ in their step at most."""
    return replace(view, step=0) == replace(other, step=0)


def is_history_navigation() -> bool:
    """Whether the visitor has pressed the browser's Back or Forward."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation)


def is_recent_address(query: dict[str, str]) -> bool:
    """Whether a query is the current view's, or a recent view's that a slow browser sends."""
    state, now = st.session_state, time.monotonic()
    state["recent_addresses"] = [
        (address, since)
        for address, since in state.get("recent_addresses", [])
        if now - since < RECENT_SECONDS
    ]
    return query == state.get("address") or any(
        query == address for address, _ in state["recent_addresses"]
    )


def set_controls(requested: Requested) -> None:
    """Set every control to a view, close the popovers, and store the notices to draw."""
    state, view = st.session_state, requested.view
    if requested.told is not None:
        view = answers().ask(hazardous_view, figure_key(view), requested.told)
        view = replace(view, sheet=requested.view.sheet, stage=requested.view.stage)
    if requested.line is not None:
        view = answers().ask(view_at_line, figure_key(view), requested.line)
    state["controls"] = state.get("controls", 0) + 1  # first, for a run may be interrupted
    state["view"], state["notices"] = view, requested.notices
    state["preset"] = requested.preset
    state["order"] = state.get("order", 0) + 1
    close_popovers()


def control_key(name: str) -> str:
    """The key of a control, which holds until the view is set by something else."""
    return f"{name}:{st.session_state['controls']}"


def entered() -> dict[str, Any]:
    """What the controls are set to, by their keys, and which popovers are open."""
    controls = f":{st.session_state['controls']}"
    values = {str(key): value for key, value in st.session_state.items()}
    return {
        key: value for key, value in values.items() if key.endswith(controls) or is_popover(key)
    }


def request_view(
    view: View, notices: tuple[str, ...] = (), preset: presets.Preset | None = None
) -> None:
    """Show a view, as a preset's, from the next script run on."""
    mailbox().request(view, notices, preset)


def choose_kernel(key: str) -> None:
    """Show the kernel that a control has chosen, from the next script run on.

    Streamlit also calls this when it first hears of a control, with the value that was drawn, and
    for one that another view has replaced.
    """
    view, name = st.session_state["view"], st.session_state[key]
    broken = catalogue().everything.get(name)
    if key == control_key("kernel") and isinstance(broken, Broken):
        request_view(view, (f"This kernel cannot be shown: {broken}",), st.session_state["preset"])
        return
    is_other = name in catalogue() and (view.own is not None or name != view.kernel)
    if key == control_key("kernel") and is_other:
        request_view(with_kernel(view, name))


def with_kernel(view: View, name: str) -> View:
    """The view of another kernel.

    It opens with its own sizes, unless the visitor has chosen others than the last kernel's. A
    what-if that applies to it stays.
    """
    chosen = opening_view(name)
    if view.own is not None:
        return replace(chosen, schedule=view.schedule, sheet=view.sheet, stage=view.stage)
    usual = opening_view(view.kernel)
    if (view.M, view.N, view.K) != (usual.M, usual.N, usual.K):
        chosen = replace(chosen, M=view.M, N=view.N, K=view.K, step=0)
    offered = applicable_edits(catalogue()[chosen.kernel].source(**dict(chosen.defines)))
    edits = tuple(edit.key for edit in offered if edit.key in view.edits)
    what_if = replace(chosen, edits=edits, inputs=view.inputs, schedule=view.schedule)
    if view.partner is not None:
        what_if = replace(what_if, partner=follow(view.partner, view, what_if))
    if what_if != chosen:
        what_if = replace(what_if, step=step_in_other_recording(chosen, what_if))
    return from_query(to_query(replace(what_if, sheet=view.sheet, stage=view.stage)))[0]


def changed_what_ifs() -> dict[str, tuple[object, str]]:
    """The what-ifs that the browser says have changed: what each was drawn with, and its words.

    A control's callback writes here, and not into the session state, as into the mailbox.
    """
    if "what_ifs" not in st.session_state:
        st.session_state["what_ifs"] = {}
    return st.session_state["what_ifs"]  # type: ignore[no-any-return]  # set above


def close_what_ifs() -> None:
    """Close the list of what-ifs, which covers what they change; keep an edit's explanation.

    Nothing has changed where the control still has the value that it was drawn with.
    """
    changed = changed_what_ifs()
    for key, (drawn, explanation) in changed.items():
        value = st.session_state.get(key, drawn)
        if value != drawn:
            close_popovers()
            st.session_state["new_explanation"] = explanation if value else ""
    changed.clear()  # last, for a run may be interrupted


def draw_controls(previous: View) -> tuple[View, Places]:
    """Draw the row of controls above the scene; return the chosen view and what is still empty."""
    close_what_ifs()
    titles = {
        name: f"{name}: {entry}" if isinstance(entry, Broken) else entry.title
        for name, entry in catalogue().everything.items()
    }
    shown = previous.kernel
    if previous.own is not None:
        titles, shown = {OWN: shown_kernel.title(previous), **titles}, OWN
    with st.container(key="controls", horizontal=True, vertical_alignment="center"):
        named = draw_popover("Presets", ":material/auto_awesome:", "presets")
        if named.is_drawn:
            with named.container:
                draw_presets(are_pairs=False)
        key = control_key("kernel")
        name = st.selectbox(
            "Kernel", list(titles), list(titles).index(shown), key=key, width=360,
            label_visibility="collapsed", format_func=titles.__getitem__,
            on_change=choose_kernel, args=(key,),
        )  # fmt: skip
        if name != shown:  # the callback was interrupted, and is not repeated
            choose_kernel(key)
            st.rerun()
        what_if = draw_popover("What if", ":material/edit:", "what_if")
        settings = draw_popover("Settings", ":material/tune:", "settings")
        view, changes = previous, None
        if settings.is_drawn:
            with settings.container:
                view = draw_settings(previous)
                draw_glossary(request_view, lists_all=False)
        if what_if.is_drawn:
            with what_if.container:
                view = draw_what_if(previous, view)
                changes = st.container()
        view = draw_beside(previous, view)
        # What a popover holds is drawn once the view is known.
        downloads = draw_popover("Files", ":material/download:", "files")
        hazards = st.container(key="hazards")
        draw_edit_link(previous)
    if story_key(view) != story_key(previous):
        view = replace(view, step=step_in_other_recording(previous, view))
        st.session_state["order"] += 1
    if view != previous:
        st.session_state["notices"] = ()
    return view, Places(changes, downloads, hazards)


def draw_beside(previous: View, view: View) -> View:
    """Draw the choice of a scene beside the view's; return the view with it."""
    beside = draw_popover("Beside", ":material/splitscreen_right:", "beside")
    if beside.is_drawn:
        with beside.container:
            view = replace(view, partner=draw_partner(previous, view))
            if view.own is None:
                draw_presets(are_pairs=True)
    elif view.partner is not None:
        view = replace(view, partner=follow(view.partner, previous, view))
    return view


def draw_edit_link(view: View) -> None:
    """Draw a link to the page where a kernel of one's own is written."""
    if view.own is not None and not is_small(view.own):
        query = {own_link.PARAMETER: own_link.encode(view.own) or own_link.IN_SESSION}
        st.page_link(WRITE_PAGE, label="Edit it", icon=":material/edit_square:", query_params=query)


def draw_what_if(previous: View, view: View) -> View:
    """Draw the edits, the orders of the warps and the inputs; return the view that they choose."""
    changed = changed_what_ifs().__setitem__
    edits = draw_switches(previous, view)
    schedule = st.selectbox(
        "The block's warps run", SCHEDULES, SCHEDULES.index(previous.schedule),
        key=(key := control_key("schedule")), format_func=SCHEDULE_NAMES.__getitem__,
        help="A race shows its wrong value only in some orders of the warps.",
        on_change=changed, args=(key, (previous.schedule, "")),
    )  # fmt: skip
    if previous.own is not None:
        return replace(view, edits=edits, schedule=schedule)
    inputs = st.selectbox(
        "A and B hold", INPUTS, INPUTS.index(previous.inputs),
        key=(key := control_key("inputs")), format_func=INPUT_NAMES.__getitem__,
        on_change=changed, args=(key, (previous.inputs, "")),
    )  # fmt: skip
    return replace(view, edits=edits, schedule=schedule, inputs=inputs)


def draw_presets(are_pairs: bool) -> None:
    """Draw a button for each preset with, or without, a scene beside its own."""
    for preset in presets.every_preset().everything.values():
        if isinstance(preset, Broken):
            list_broken([] if are_pairs else [preset])
        elif (preset.view.partner is not None) == are_pairs:
            st.button(
                preset.name, on_click=mailbox().request, args=(preset.view, (), preset),
                help=preset.text, width="stretch", key=f"preset_{preset.name}",
            )  # fmt: skip


def story_key(view: View) -> tuple[View, Partner | None]:
    """What the steps of a view's scene depend on, but for the focused thread's cell of C."""
    return recording_key(view), view.partner


def step_in_other_recording(previous: View, view: View) -> int:
    """The step to begin at: after a what-if the same place, else the first step.

    A what-if changes the text, the order of the warps, or the numbers. A scene beside it changes
    nothing of its own.
    """
    what_if = replace(previous, edits=view.edits, schedule=view.schedule, inputs=view.inputs)
    if recording_key(what_if) != recording_key(view):
        return 0
    return answers().ask(
        find_same_place, replace(figure_key(previous), step=previous.step), figure_key(view)
    )


def draw_partner(previous: View, view: View) -> Partner | None:
    """Draw the choice of a scene beside the view's, and its controls; return what they choose."""
    before, titles = previous.partner, {OWN: shown_kernel.title(view)}
    if view.own is None:
        titles = {name: entry.title for name, entry in catalogue().items()}
    names = [NOTHING, *titles]
    changed = changed_what_ifs().__setitem__
    shown_first = NOTHING if before is None else before.kernel
    name = st.selectbox(
        "A second scene, in lockstep", names, names.index(shown_first),
        key=(key := control_key("second")),
        format_func=lambda name: titles.get(name, name),
        help="Both are at the same place of the story, and what differs is marked. O shows both "
        "sources in place of the stages.",
        on_change=changed, args=(key, (shown_first, "")),
    )  # fmt: skip
    if name == NOTHING:
        return None
    chosen = usual_partner(view, name)
    if before is not None and before.kernel == name:
        chosen = follow(before, previous, view)
    shown = replace(view, edits=chosen.edits, schedule=chosen.schedule)
    if view.own is None:
        shown = replace(shown, kernel=name, defines=chosen.defines)
        # Other controls once the left scene has others, which they follow.
        beside = f"{RIGHT}beside {' '.join(map(str, dict(view.defines).values()))} "
        macros = draw_macro_selectors(shown, name, catalogue()[name], RIGHT, beside)
        shown = replace(shown, defines=macros)
    edits = draw_switches(shown, shown, RIGHT)
    schedule = st.selectbox(
        f"{RIGHT}the block's warps run", SCHEDULES, SCHEDULES.index(chosen.schedule),
        key=(key := control_key(f"{RIGHT}beside {view.schedule} {name}_schedule")),
        format_func=SCHEDULE_NAMES.__getitem__,
        on_change=changed, args=(key, (chosen.schedule, "")),
    )  # fmt: skip
    return Partner(name, () if name == OWN else shown.defines, edits, schedule)


def draw_switches(previous: View, view: View, side: str = "") -> tuple[str, ...]:
    """Draw a switch for each edit that applies to the view's kernel; return those that are on.

    Their labels begin with `side`.
    """
    name, changed = shown_kernel.short_name(view), changed_what_ifs().__setitem__
    return tuple(
        edit.key
        for edit in offered_edits(view)
        if st.checkbox(f"{side}{edit.label}", edit.key in previous.edits, help=edit.help_text,
                       key=(key := control_key(f"edit_{side}{name}_{edit.key}")),
                       on_change=changed,
                       args=(key, (edit.key in previous.edits, edit.help_text)))
    )  # fmt: skip


def offered_edits(view: View) -> tuple[Edit, ...]:
    """The what-ifs that the view's kernel has a pattern for."""
    return of_text(shown_kernel.offered_edits, replace(view, edits=()))


def of_text(function: Callable[[View], Text], view: View) -> Text:
    """What a function finds in the text of a view's kernel; of a visitor's a worker finds it."""
    return function(view) if view.own is None else answers().ask(function, recording_key(view))


def draw_settings(previous: View) -> View:
    """Draw the fields for sizes, macros, block and thread; return the view that they choose."""
    if previous.own is not None:
        return draw_own_settings(previous)
    name, sizes = previous.kernel, {}
    entry = catalogue()[name]
    for column, (size, help_) in zip(st.columns(3), SIZES.items(), strict=True):
        with column:
            sizes[size] = draw_number_input(size, 1, LARGEST, getattr(previous, size), help_)
    defines = draw_macro_selectors(previous, name, entry)
    grid, block = entry.shape(sizes["M"], sizes["N"], **dict(defines))
    sized = replace(previous, M=sizes["M"], N=sizes["N"], K=sizes["K"], defines=defines)
    return draw_focus(sized, grid, block)


def draw_own_settings(previous: View) -> View:
    """Draw the fields for block and thread; its text and its launch have all else."""
    try:
        opened = load_opened(previous, current_look(previous))
    except (SourceError, LaunchError):
        st.caption("Its sizes are in its text and its launch.")
        return previous
    return draw_focus(previous, opened.grid, opened.block)


def draw_focus(previous: View, grid: Dim3, block: Dim3) -> View:
    """Draw the fields for block and thread; return the view that they choose."""
    dimensions = 3 if max(grid[2], block[2]) > 1 else 2
    columns = st.columns(dimensions)
    focus: dict[str, list[int]] = {"Block": [], "Thread": []}
    for name, sizes, index, help_ in (
        ("Block", grid, previous.block_index, "which block of the grid to watch"),
        ("Thread", block, previous.thread_index, "the focused thread within the block"),
    ):
        for axis in range(dimensions):
            with columns[axis]:
                label = f"{name} {'xyz'[axis]}"
                found = draw_number_input(label, 0, sizes[axis] - 1, index[axis], help_)
                focus[name].append(found)
    (block_x, block_y, block_z), (x, y, z) = ((*found, 0)[:3] for found in focus.values())
    return replace(previous, block=(block_x, block_y), thread=(x, y), z=(block_z, z))


def draw_macro_selectors(
    previous: View, name: str, entry: Entry, side: str = "", key: str = ""
) -> tuple[tuple[str, int], ...]:
    """Draw a selector for each macro; return the values chosen.

    Its label begins with `side`, and its key with `key`.
    """
    columns = st.columns(2)
    defines = []
    for i, (macro, offered) in enumerate(entry.defines.items()):
        options = sorted(offered)
        index = options.index(dict(previous.defines)[macro])
        with columns[i % 2]:
            value = st.selectbox(
                f"{side}{macro}", options, index, key=control_key(f"{key}{name}_{macro}")
            )
        defines.append((macro, int(value)))
    return tuple(defines)


def draw_number_input(label: str, low: int, high: int, value: int, help_: str) -> int:
    """Draw an integer field with a value, within low and high; it is disabled if they agree.

    A field with other limits is another one, for it may hold a value outside of them.
    """
    fixed = low == high
    field = st.number_input(
        label, low, high + fixed, min(max(value, low), high), step=1, disabled=fixed, help=help_,
        key=control_key(f"{label} to {high}"),
    )  # fmt: skip
    return low if fixed else int(field)


def draw_page() -> None:
    """Draw the page."""
    draw_style(read_web("page.css"))
    st.html("<h1 class='for-screen-readers'>Tilewise: step through a kernel</h1>")
    bring_plotly("step")
    explain_words(request_view)  # first, for a scene that it asks for is drawn in this run
    try:
        draw_view()
    except JOB_ERRORS as error:
        draw_error(error)


def draw_view() -> None:
    """Draw the controls, and the scene of the view that they choose."""
    previous = restore_view()
    view, places = draw_controls(previous)
    nearest, notices = read_address(to_query(view))
    if notices:  # for example a block with too many threads
        request_view(nearest, notices, st.session_state.get("preset"))
        st.rerun()
    store_view(view)
    state, key = st.session_state, figure_key(view)
    if state.get("stopped") == key and not is_known(view):
        draw_stopped()
        return
    state["stopped"] = None
    try:
        opened = load_opened(view, current_look(view), functools.partial(note_stopped, key))
    except (SourceError, LaunchError) as error:
        draw_notices()
        draw_error(error)
        return
    view, notices = clamp(view, opened.grid, opened.block, opened.navigation["steps"])
    st.session_state["notices"] = (*st.session_state["notices"], *notices)
    store_view(view)
    with places.hazards:
        draw_hazards(view, opened.reports)
    draw_sentence(view, opened.reports)
    draw_notices()
    st.session_state["entered"] = entered()
    draw_scene(opened)
    if places.changes is not None:
        with places.changes:
            draw_changed_lines(view)
    if places.downloads.is_drawn:
        with places.downloads.container:
            draw_downloads(view, opened)


def note_stopped(key: View | None) -> None:
    """Remember which view's run the visitor has stopped: its figure_key."""
    st.session_state["stopped"] = key


def draw_stopped() -> None:
    """Draw what a visitor may do who has stopped a run."""
    st.info("This run was stopped. Choose smaller matrices or another kernel, or run it after all.")
    st.button("Run it", icon=":material/play_arrow:", on_click=note_stopped, args=(None,))


def draw_error(error: Exception) -> None:
    """Draw why there is no scene."""
    if isinstance(error, BrokenFileError):
        log(error.broken)
    place = "\n" if "\n" in str(error) else " "  # several errors are a line each
    st.error(plain_text(f"This cannot be run:{place}{error}"), icon=":material/error:")


def store_view(view: View) -> None:
    """Store the view in the session state, and in the URL, so that a link reopens it.

    A choice is an entry of the browser's history. A step is none: the stepper itself writes it
    into the address.
    """
    state, address = st.session_state, to_query(view)
    before = state.get("view", view)
    state["view"] = view
    if view.own is not None:
        state[own_link.SESSION_KEY] = view.own  # for an address that cannot hold it
    if address != state.get("address", address):
        state["recent_addresses"] = [
            *state.get("recent_addresses", []),
            (state["address"], time.monotonic()),
        ]
    state["address"] = state["query"] = address  # app.py reads "query", on every page
    query = st.query_params.to_dict()
    mended = bool(state["notices"]) and query.get("step") != address.get("step")
    # The address of a choice may have reached the browser after it went back.
    is_uncertain = mended or is_history_navigation()
    if (
        is_uncertain
        or without_step(query) != without_step(address)
        or not is_same_but_step(before, view)
    ):
        st.query_params.from_dict(address)


def without_step(query: Mapping[str, str]) -> dict[str, str]:
    """A query without its step."""
    return {name: text for name, text in query.items() if name != "step"}


def draw_notices() -> None:
    """Draw the notices about what a URL requested and the page could not show."""
    if st.session_state["notices"]:
        st.warning(" ".join(st.session_state["notices"]), icon=":material/info:")


def draw_sentence(view: View, reports: tuple[Report, ...]) -> None:
    """Draw what to look at.

    It is a preset's sentence, else the first hazard's witness, else the hazard, else what the edit
    does that was switched on last, else the kernel's idea. A hazard can be opened.
    """
    state = st.session_state
    new_explanation = state.pop("new_explanation", None)
    if new_explanation is not None:
        state["explanation"] = (recording_key(view), new_explanation)
    explained, explanation = state.get("explanation", (None, ""))
    if explained != recording_key(view):
        explanation = ""
    preset = state.get("preset")
    if preset is not None and story_key(preset.view) != story_key(view):
        preset = state["preset"] = None
    told = told_hazard(reports)
    text = explanation or (IN_LOCKSTEP if view.partner else shown_kernel.idea(view))
    if told is not None:
        witness = told.hazard.witness
        text = told.hazard.message if witness is None else witness.sentence
        text = f"{RIGHT}{text}" if told.side else text
    kind = f"hazard {browser_theme()}" if told is not None and preset is None else "idea"
    with st.container(key="sentence", horizontal=True, vertical_alignment="center"):
        st.html(f"<p class='{kind}'>{html.escape(text if preset is None else preset.text)}</p>")
        if told is not None:
            draw_show_button(view, told, "show_hazard")


def open_told_hazard() -> None:
    """Open the hazard that is told above the scene, as its button does."""
    view: View = st.session_state["view"]
    told = told_hazard(load_opened(view, current_look(view)).reports)
    if told is not None:
        mailbox().request(view, (), None, told)
        st.rerun()


def draw_show_button(view: View, told: Told, key: str) -> None:
    """Draw a button that opens a hazard: its order of the warps, its thread and its step."""
    st.button(
        "Show it", icon=":material/play_arrow:", key=key, on_click=mailbox().request,
        args=(view, (), None, told),
        help="Go to this thread, at this step, in an order of the warps that shows it.",
    )  # fmt: skip


def draw_hazards(view: View, reports: tuple[Report, ...]) -> None:
    """Draw the hazards: how many different ones there are, and in a popover all of them."""
    every = [Told(one, side) for side, report in enumerate(reports) for one in report.hazards]
    both = {(told.hazard.kind, told.hazard.message): told for told in reversed(every)}
    hazards = list(both.values())[::-1]
    if not hazards:
        return
    count = f"{len(hazards)} hazards" if len(hazards) > 1 else "1 hazard"
    popover = draw_popover(f":red[**{count}**]", ":material/warning:", "hazards")
    if not popover.is_drawn:
        return
    with popover.container:
        for number, told in enumerate(hazards):
            hazard = told.hazard
            where = RIGHT if told.side else ""
            said = plain_text(hazard.message)
            st.write(f"**{where}{hazard.kind}**, {hazard.count:,} times: {said}")
            if hazard.witness is not None:
                st.caption(plain_text(hazard.witness.sentence))
            draw_show_button(view, told, f"show_hazard_{number}")


def draw_changed_lines(view: View) -> None:
    """Draw the lines that the edits changed."""
    changed = of_text(presets.changes, view)
    if not changed:
        return
    with st.expander("What the edit changed", expanded=False):
        st.code(
            "\n".join(
                f"{change.line:>3} - {change.old}\n{change.line:>3} + {change.new}"
                for change in changed
            ),
            language=None,  # its colours for a diff have too little contrast
            wrap_lines=True,  # a region that scrolls would have to be reached by the keyboard
        )


def draw_downloads(view: View, opened: Opened) -> None:
    """Draw the downloads: the animation and the counters. The toolbar exports pictures."""
    sides = opened.sides
    kernels = "" if view.own is not None else "".join(f"{side.kernel}-" for side in sides[:-1])
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
    look = replace(current_look(view), presenting=False)
    work = click_cost.animation(
        view, look.sheet, opened.navigation["steps"], math.prod(opened.block),
        [report.seconds for report in opened.reports],
    )  # fmt: skip
    make = functools.partial(load_animation, view, look)
    draw_costly_download(work, "Animation, one HTML file", make, name, ":material/movie:")


def counters_csv(side: View, report: Report) -> bytes:
    """The counters of one side by line, as a CSV file."""
    return export.counters_csv(report, of_text(presets.source, side)).encode()


def current_look(view: View) -> Look:
    """How to draw a view: in the browser's theme, for the room that its page leaves the scene."""
    state = st.session_state
    room = state.get("room")
    if room is None:  # until the stepper has measured it: what it was at the last visit
        room = known_room()
    return replace(room, theme=browser_theme(), sheet=view.sheet, stage=view.stage)


@st.fragment
def draw_scene(opened: Opened) -> None:
    """Draw the scene; it reports its step, its room, choices and clicks, which move the focus.

    Frames of steps that the figure does not have are sent on request.
    """
    try:
        with waits_told_here():
            draw_scene_of(opened)
    except JOB_ERRORS as error:
        draw_error(error)


def draw_scene_of(opened: Opened) -> None:
    """Draw the scene, for draw_scene."""
    state = st.session_state
    stepper = state.get("scene")
    if stepper is not None:
        handle_step(stepper)
        # The browser sends a step and a click of one instant as a run of the fragment alone.
        # It may leave out controls that have their first values.
        before = state["entered"]
        is_changed = any(before.get(key, value) != value for key, value in entered().items())
        if is_changed or mailbox().requested is not state.get("applied"):
            st.rerun()
        state["room"] = parse_room(stepper.room) or state.get("room")
        clicked = row(stepper.clicked, int, int, int)
        if clicked is not None:
            handle_click(opened, *clicked)
        chosen = row(stepper.chosen, str, str)
        if chosen is not None and chosen[0] == "hazard":
            open_told_hazard()
        elif chosen is not None:
            store_view(choose_look(state["view"], *chosen))
    view, navigation = state["view"], opened.navigation
    look = current_look(view)
    identifier, sides = figure_id(view, look), opened.sides
    drawn = state.get("drawn")
    if drawn is None or (drawn.scene, drawn.order) != (identifier, state["order"]):
        steps = scene.first_steps(navigation, view.step)
        drawn = state["drawn"] = Drawn(
            identifier, state["order"], view.step, steps, time.monotonic()
        )
    if time.monotonic() - drawn.since < SETTLED_SECONDS:
        state["sent"] = state.get("sent", 0) + 1
    name = (
        f"{scene_title(opened.sides)}: the kernel's source, its arrays, shared memory and "
        "threads, and a timeline, at one step."
    )
    draw_stepper(
        Shown(identifier, state["order"], drawn.start, usual_step(view), drawn.steps, look, name,
              without_step(to_query(view)), state["sent"]),
        navigation, load_picture(view, look, drawn.steps),
    )  # fmt: skip
    requested = requested_step(stepper, drawn)
    if 0 <= requested < navigation["steps"] and requested not in drawn.steps:
        steps = scene.page(navigation, requested, len(sides))
        frames = answers().ask(
            draw_frames, figure_key(view), look, steps, is_ahead=requested != view.step
        )
        send_frames(identifier, steps, frames, state["sent"])


def handle_step(stepper: Any) -> None:
    """Store the step that the stepper reports, if it reports on what was last drawn."""
    state = st.session_state
    _, order, step, _ = reported_place(stepper)
    if order == state["order"]:
        store_view(replace(state["view"], step=max(step, 0)))


def requested_step(stepper: Any, drawn: Drawn) -> int:
    """The step whose frames the stepper requests of the drawn figure; -1 for none."""
    shown, _, _, step = reported_place(stepper)
    return step if shown == drawn.scene else -1


def reported_place(stepper: Any) -> list[Any]:
    """Where the stepper is: the scene, the order, the step, and one that it requests, or -1."""
    place = None if stepper is None else row(stepper.at, str, int, int, int)
    return ["", -1, 0, -1] if place is None else place


def choose_look(view: View, name: str, value: str) -> View:
    """The view with another sheet or another stage, as the stepper's toolbar names them."""
    if name == "sheet" and value in tuple(Sheet):
        return replace(view, sheet=Sheet(value))
    if name == "stage" and value == TOGGLED:
        return replace(view, stage=None if view.stage else shown_stage(view))
    if name == "stage" and value in ("", *Stage):
        return replace(view, stage=Stage(value) if value else None)
    return view


def shown_stage(view: View) -> Stage | None:
    """The stage that the view's step is shown on."""
    return answers().ask(find_stage, replace(figure_key(view), step=view.step), current_look(view))


def handle_click(opened: Opened, x: int, y: int, step: int) -> None:
    """Handle a click on the scene at a step: move the focus, or go to another step."""
    state = st.session_state
    view: View = state["view"]
    view = replace(view, step=min(max(step, 0), opened.navigation["steps"] - 1))
    clicked = answers().ask(follow_click, view, current_look(view), x, y)
    if is_same_but_step(clicked, view):
        if clicked.step != view.step:
            state["order"] += 1
        store_view(clicked)
    else:
        request_view(clicked, (), state.get("preset"))
        st.rerun()


if __name__ == "__main__":  # run by Streamlit; not by a test's workers, which import it
    draw_page()
