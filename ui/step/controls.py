"""The Step page's row of controls: the kernel, and four menus.

Each is drawn with the view's value, and the view that they choose is known once all are drawn.
Another kernel sets all of them, which takes another script run.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from simulator import LaunchError, SourceError, catalogue
from simulator.broken_file import Broken
from simulator.catalogue import Entry
from simulator.launch import Dim3
from ui.drawing.look import Held, Level, Stage, parse_held
from ui.glossary.component import draw_glossary
from ui.machine_code.section import ERRORS, TITLE, choose_other
from ui.run.broken_section import list_broken
from ui.run.cache import answers, load_opened
from ui.run.compute import figure_key, find_same_place, recording_key
from ui.run.mailbox import mailbox
from ui.step.state import KERNEL, control_key, step_state, steps_key
from ui.view import presets, shown_kernel, user_kernel_link
from ui.view.small_kernels import is_small
from ui.view.view_url import (
    INPUTS,
    LARGEST,
    SCHEDULES,
    USER_KERNEL,
    ComparedScene,
    View,
    default_comparison,
    follow,
    from_query,
    opening_view,
    to_query,
)
from ui.view.what_if import Edit, applicable_edits
from ui.web_page.popover import close_popovers, draw_popover

SIZES = {"M": "rows of A and C", "N": "columns of B and C", "K": "columns of A and rows of B"}
SCHEDULE_NAMES = {
    "lockstep": "All at once", "ascending": "Warp by warp", "descending": "Last warp first",
}  # fmt: skip
INPUT_NAMES = {"random": "Random digits", "counting": "1, 2, 3, …", "fractions": "Random fractions"}
STAGE_NAMES = {
    "": "Follows the step", Stage.GRID: "Grid of blocks", Level.BLOCK: "Block",
    Level.WARP: "Warp", Stage.REGISTERS: "Registers", Stage.COPY: "Copy",
    Stage.PRODUCT: "Product", Stage.STORE: "Store into C", Stage.BANKS: "Banks",
    Stage.THREADS: "Threads", Stage.TENSOR: "Tensor core", Stage.COSTS: "Costs",
    Stage.CLOCK: "Clock",
}  # fmt: skip
WRITE_PAGE = "ui/pages/write.py"
NOTHING = "None"
SECOND = "Second scene: "  # begins the label of each control of the second scene

Text = TypeVar("Text")


@dataclass(frozen=True, slots=True)
class Places:
    """Containers in the row of controls that are filled once the view has run."""

    changes: Any | None  # None where the list of what-ifs is closed
    downloads: Any | None  # None where the menu of all else is closed
    hazards: Any


def draw_controls(previous: View) -> tuple[View, Places]:
    """Draw the row of controls above the scene; return the chosen view and what is still empty."""
    close_what_ifs()
    titles = {
        name: f"{name}: {entry}" if isinstance(entry, Broken) else entry.title
        for name, entry in catalogue().everything.items()
    }
    shown = previous.kernel
    if previous.user_kernel is not None:
        titles, shown = {USER_KERNEL: shown_kernel.title(previous), **titles}, USER_KERNEL
    with st.container(key="controls", horizontal=True, vertical_alignment="center"):
        draw_popover("Presets", ":material/auto_awesome:", "presets", draw_presets)
        name = st.selectbox(
            "Kernel", list(titles), list(titles).index(shown), key=control_key(KERNEL), width=360,
            label_visibility="collapsed", format_func=titles.__getitem__,
        )  # fmt: skip
        if name != shown:
            choose_kernel(previous, name)
            st.rerun()
        what_if = draw_popover("What if", ":material/edit:", "what_if")
        beside = draw_popover("Beside", ":material/splitscreen_right:", "beside")
        more = draw_popover("More", ":material/tune:", "more")
        view, changes, downloads = previous, None, None
        if more is not None:
            with more:
                view = draw_settings(previous)
                draw_machine_code_switch()
                downloads = st.container(key="files")
                draw_glossary(mailbox().request, lists_all=False)
        if what_if is not None:
            with what_if:
                view = draw_what_if(previous, view)
                changes = st.container()
        view = draw_beside(beside, previous, view)
        hazards = st.container(key="hazards")
        draw_edit_link(previous)
    if steps_key(view) != steps_key(previous):
        state = step_state()
        state.begins |= not is_what_if(previous, view)
        view = replace(view, step=step_in_other_recording(previous, view))
        state.order += 1
    if view != previous:
        step_state().notices = ()
    return view, Places(changes, downloads, hazards)


def choose_kernel(view: View, name: str) -> None:
    """Show another kernel than a view's, from the next script run on."""
    broken = catalogue().everything[name]
    if isinstance(broken, Broken):
        notices = (f"This kernel cannot be shown: {broken}",)
        mailbox().request(view, notices)
    else:
        chosen = with_kernel(view, name)
        mailbox().request(chosen, begins=sizes(chosen) != sizes(opening_view(name)))


def with_kernel(view: View, name: str) -> View:
    """The view of another kernel.

    It opens with its own sizes, unless the visitor has chosen others than the last kernel's. A
    what-if that applies to it stays.
    """
    chosen = opening_view(name)
    if view.user_kernel is not None:
        return replace(chosen, schedule=view.schedule, stage=view.stage)
    if sizes(view) != sizes(opening_view(view.kernel)):
        chosen = replace(chosen, M=view.M, N=view.N, K=view.K, step=0)
    offered = applicable_edits(catalogue()[chosen.kernel].source(**dict(chosen.defines)))
    edits = tuple(edit.key for edit in offered if edit.key in view.edits)
    what_if = replace(chosen, edits=edits, inputs=view.inputs, schedule=view.schedule)
    if view.comparison is not None:
        what_if = replace(what_if, comparison=follow(view.comparison, view, what_if))
    if what_if != chosen:
        what_if = replace(what_if, step=step_in_other_recording(chosen, what_if))
    return from_query(to_query(replace(what_if, stage=view.stage)))[0]


def sizes(view: View) -> tuple[int, int, int]:
    """The sizes of a view's matrices."""
    return view.M, view.N, view.K


def close_what_ifs() -> None:
    """Close the list of what-ifs, which covers what they change; keep an edit's explanation.

    Nothing has changed where the control still has the value that it was drawn with.
    """
    state = step_state()
    explanations = [
        explanation if value else ""
        for key, (drawn, explanation) in state.what_ifs.items()
        if (value := st.session_state.get(key, drawn)) != drawn
    ]
    if explanations:
        close_popovers()
        state.new_explanation = explanations[-1]
    state.what_ifs.clear()  # last: where a run ends before, the next one looks into them


def draw_beside(beside: DeltaGenerator | None, previous: View, view: View) -> View:
    """Draw the choice of a scene beside the view's, if it is open; return the view with it."""
    if beside is not None:
        with beside:
            view = replace(view, comparison=draw_comparison(previous, view))
            draw_machine_code_beside(previous)
            if view.user_kernel is None:
                draw_presets(are_pairs=True)
    elif view.comparison is not None:
        view = replace(view, comparison=follow(view.comparison, previous, view))
    return view


def draw_edit_link(view: View) -> None:
    """Draw a link to the page where a user kernel is written."""
    if view.user_kernel is not None and not is_small(view.user_kernel):
        query = user_kernel_link.to_query(view.user_kernel)
        st.page_link(WRITE_PAGE, label="Edit it", icon=":material/edit_square:", query_params=query)


def draw_what_if(previous: View, view: View) -> View:
    """Draw the edits and the orders of the warps; return the view that they choose."""
    edits = draw_switches(previous, view)
    schedule = st.selectbox(
        "The block's warps run", SCHEDULES, SCHEDULES.index(previous.schedule),
        format_func=SCHEDULE_NAMES.__getitem__,
        help="A race shows its wrong value only in some orders of the warps.",
        **what_if_options("schedule", previous.schedule),
    )  # fmt: skip
    return replace(view, edits=edits, schedule=schedule)


def what_if_options(name: str, drawn: object, explanation: str = "") -> dict[str, Any]:
    """The key of a what-if's control, and the callback that notes that it may have changed."""
    key = control_key(name)
    changed = step_state().what_ifs.__setitem__
    return {"key": key, "on_change": changed, "args": (key, (drawn, explanation))}


def draw_presets(are_pairs: bool = False) -> None:
    """Draw a button for each preset with, or without, a scene beside its own."""
    for preset in presets.every_preset().everything.values():
        if isinstance(preset, Broken):
            list_broken([] if are_pairs else [preset])
        elif (preset.view.comparison is not None) == are_pairs:
            st.button(
                preset.name, on_click=mailbox().request, args=(preset.view,),
                help=preset.text, width="stretch", key=f"preset_{preset.name}",
            )  # fmt: skip


def step_in_other_recording(previous: View, view: View) -> int:
    """The step to begin at: after a what-if the same place, else the first step."""
    if not is_what_if(previous, view):
        return 0
    return answers().ask(
        find_same_place, replace(figure_key(previous), step=previous.step), figure_key(view)
    )


def is_what_if(previous: View, view: View) -> bool:
    """Whether a view is another one with another text, order of the warps, or numbers at most.

    A scene beside it changes nothing of its own.
    """
    what_if = replace(previous, edits=view.edits, schedule=view.schedule, inputs=view.inputs)
    return recording_key(what_if) == recording_key(view)


def draw_comparison(previous: View, view: View) -> ComparedScene | None:
    """Draw the choice of a scene beside the view's, and its controls; return what they choose."""
    before, titles = previous.comparison, {USER_KERNEL: shown_kernel.title(view)}
    if view.user_kernel is None:
        titles = {name: entry.title for name, entry in catalogue().items()}
    names = [NOTHING, *titles]
    shown_first = NOTHING if before is None else before.kernel
    name = st.selectbox(
        "A second scene, in lockstep", names, names.index(shown_first),
        format_func=lambda name: titles.get(name, name),
        help="Both are at the same point of the computation, and what differs is marked.",
        **what_if_options("second", shown_first),
    )  # fmt: skip
    if name == NOTHING:
        return None
    chosen = default_comparison(view, name)
    if before is not None and before.kernel == name:
        chosen = follow(before, previous, view)
    shown = replace(view, edits=chosen.edits, schedule=chosen.schedule)
    if view.user_kernel is None:
        shown = replace(shown, kernel=name, defines=chosen.defines)
        # Other controls once the left scene has others, which they follow.
        beside = f"{SECOND}beside {' '.join(map(str, dict(view.defines).values()))} "
        macros = draw_macro_selectors(shown, name, catalogue()[name], SECOND, beside)
        shown = replace(shown, defines=macros)
    edits = draw_switches(shown, shown, SECOND)
    schedule = st.selectbox(
        f"{SECOND}the block's warps run", SCHEDULES, SCHEDULES.index(chosen.schedule),
        format_func=SCHEDULE_NAMES.__getitem__,
        **what_if_options(f"{SECOND}beside {view.schedule} {name}_schedule", chosen.schedule),
    )  # fmt: skip
    return ComparedScene(name, () if name == USER_KERNEL else shown.defines, edits, schedule)


def draw_switches(previous: View, view: View, side: str = "") -> tuple[str, ...]:
    """Draw a switch for each edit that applies to the view's kernel; return those that are on.

    Their labels begin with `side`.
    """
    name = shown_kernel.short_name(view)
    on = previous.edits
    return tuple(
        edit.key
        for edit in offered_edits(view)
        if st.checkbox(
            f"{side}{edit.label}", edit.key in on, help=edit.help_text,
            **what_if_options(f"edit_{side}{name}_{edit.key}", edit.key in on, edit.help_text),
        )
    )  # fmt: skip


def offered_edits(view: View) -> tuple[Edit, ...]:
    """The what-ifs that the view's kernel has a pattern for."""
    return of_text(shown_kernel.offered_edits, replace(view, edits=()))


def of_text(function: Callable[[View], Text], view: View) -> Text:
    """What a function finds in the text of a view's kernel; of a visitor's a worker finds it."""
    return (
        function(view) if view.user_kernel is None else answers().ask(function, recording_key(view))
    )


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


def draw_settings(previous: View) -> View:
    """Draw the fields for what is multiplied, how, and what of it is seen; return their view."""
    if previous.user_kernel is not None:
        return replace(draw_user_kernel_settings(previous), stage=draw_stage(previous))
    name, sizes = previous.kernel, {}
    entry = catalogue()[name]
    for column, (size, help_) in zip(st.columns(3), SIZES.items(), strict=True):
        with column:
            sizes[size] = draw_number_input(size, 1, LARGEST, getattr(previous, size), help_)
    hold, shows = st.columns(2)
    with hold:
        inputs = st.selectbox(
            "A and B hold", INPUTS, INPUTS.index(previous.inputs),
            format_func=INPUT_NAMES.__getitem__, key=control_key("inputs"),
        )  # fmt: skip
    with shows:
        stage = draw_stage(previous)
    defines = draw_macro_selectors(previous, name, entry)
    grid, block = entry.shape(sizes["M"], sizes["N"], **dict(defines))
    sized = replace(previous, M=sizes["M"], N=sizes["N"], K=sizes["K"], defines=defines)
    return replace(draw_focus(sized, grid, block), inputs=inputs, stage=stage)


def draw_stage(previous: View) -> Held | None:
    """Draw the choice of what is held; return it, or None where the stage follows the step.

    A key changes it too, and then it is another control.
    """
    held = previous.stage or ""
    chosen = st.selectbox(
        "The chip shows", list(STAGE_NAMES), list(STAGE_NAMES).index(held),
        format_func=STAGE_NAMES.__getitem__, key=control_key(f"stage {held}"),
        help="What the picture of the chip shows. The keys + and - zoom between the grid, the "
        "block, the warp and a thread's registers, and the picture stays at that level. The key S "
        "keeps what it shows now, or lets it follow the step again. The key C shows the measured "
        "cycles of every warp.",
    )  # fmt: skip
    return parse_held(chosen) if chosen else None


def draw_machine_code_switch() -> None:
    """Draw the switch for the machine code below the scene."""
    state = step_state()
    before = state.shows_machine_code  # a choice under Beside changes it too
    state.shows_machine_code = st.toggle(
        f"{TITLE}, below the scene", before, key=control_key(f"machine_code {before}"),
        help="The instructions of the current line, and how many warps a multiprocessor can hold "
        "with this code.",
    )  # fmt: skip


def draw_machine_code_beside(view: View) -> None:
    """Draw the choice of two columns of machine code; one that is chosen is shown."""
    state = step_state()

    def show(key: str, before: str) -> None:
        state.shows_machine_code = True
        state.what_ifs[key] = before, ""  # for close_what_ifs

    with suppress(*ERRORS):  # the scene says these
        choose_other(view, "popover", show)


def draw_user_kernel_settings(previous: View) -> View:
    """Draw the fields for block and thread; its text and its launch have all else."""
    try:
        opened = load_opened(previous, step_state().look(previous))
    except (SourceError, LaunchError):
        st.caption("Its sizes are in its code and its launch.")
        return previous
    return draw_focus(previous, opened.grid, opened.block)


def draw_focus(previous: View, grid: Dim3, block: Dim3) -> View:
    """Draw the fields for block and thread; return the view that they choose."""
    dimensions = 3 if max(grid[2], block[2]) > 1 else 2
    columns = iter(st.columns(4) if dimensions == 2 else [*st.columns(3), *st.columns(3)])
    focus: dict[str, list[int]] = {"Block": [], "Thread": []}
    for name, sizes, index, help_ in (
        ("Block", grid, previous.block_index, "which block of the grid to watch"),
        ("Thread", block, previous.thread_index, "the focused thread within the block"),
    ):
        for axis in range(dimensions):
            with next(columns):
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
    columns = st.columns(3)
    defines = []
    for i, (macro, offered) in enumerate(entry.defines.items()):
        options = sorted(offered)
        index = options.index(dict(previous.defines)[macro])
        with columns[i % 3]:
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
