"""The section of a page that shows what the compiler made of a kernel, line by line."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from compiler.occupancy import capability
from simulator import LaunchError, SourceError
from simulator.machine.occupancy import CAPABILITIES
from ui.gpu_charts.residency import describe, draw_residency
from ui.jobs.workers import StoppedError, WorkerLostError
from ui.machine_code.compiled import (
    Compared,
    Compiled,
    LinePair,
    find_architectures,
    find_both,
    find_compared,
    find_compiled,
    find_hints,
)
from ui.machine_code.rows import LineRows
from ui.run.cache import answers
from ui.run.compute import recording_key
from ui.view.view_url import View
from ui.web_page.browser import text_colour
from ui.web_page.plain_text import plain_text
from ui.web_page.style import draw_style
from ui.web_page.web_files import read_web

TITLE = "What the compiler made of it"
USUAL = "sm_90"
NOTHING = ""  # beside the machine code
SECOND = "second"  # there: the kernel of the scene beside it
BAND = (
    "The band below a line has a place for each register of a thread, with R0 on the left. A place "
    "is filled while its register holds a value that is still needed."
)
KEY = "machine_code_chosen"  # of the session state
# Of any job: a worker may compile a kernel anew that another has run, and find less time or memory.
ERRORS = (SourceError, LaunchError, StoppedError, WorkerLostError)


@dataclass(slots=True)
class Chosen:
    """What a visitor has chosen of the section, on whichever page."""

    card: str = USUAL  # an architecture
    other: str = NOTHING  # what is beside it: a hint's key, another architecture, NOTHING


def chosen() -> Chosen:
    """The visitor's choices."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Chosen()
    return st.session_state[KEY]  # type: ignore[no-any-return]  # a Chosen, as above


def draw_machine_code(view: View, line: int | None = None, second: View | None = None) -> None:
    """Draw the machine code of a view's kernel: that of a line, if one is given, and of all.

    second is the view of a scene beside it.
    """
    draw_style(read_web("machine_code.css"))
    with st.container(key="machine_code"):
        if line is not None:
            st.subheader(TITLE, anchor=False)
        shown = recording_key(view)
        try:
            with st.container(horizontal=True):
                card = choose_card(answers().ask(find_architectures, shown, is_quiet=True))
                other = choose_other(view, "machine_code", has_second=second is not None)
            if other == SECOND and second is not None:
                both = answers().ask(find_both, shown, recording_key(second), card)
                draw_compared(both, line)
            elif other == NOTHING:
                draw_compiled(answers().ask(find_compiled, shown, card), line)
            else:
                draw_compared(answers().ask(find_compared, shown, card, other), line)
        except ERRORS as error:
            st.error(plain_text(str(error)), icon=":material/error:")


def choose_card(offered: Sequence[str]) -> str:
    """Draw the choice of an architecture, if there is any; return the one chosen."""
    if not offered:
        return USUAL
    before = chosen().card if chosen().card in offered else offered[0]
    key = f"machine_code_card_{before}"

    def store() -> None:
        chosen().card = st.session_state[key]

    return st.selectbox(
        "Card", offered, offered.index(before), format_func=card_name, width=320, key=key,
        on_change=store,
    )  # fmt: skip


def choose_other(
    view: View,
    place: str,
    on_choice: Callable[[str, str], None] | None = None,
    has_second: bool = False,
) -> str:
    """Draw the choice of what is beside a view's machine code; return the one chosen.

    It is drawn in two places, of which each shows what was chosen in the other. on_choice is called
    with the control's key and what was chosen before; has_second offers the kernel of a scene
    beside it.
    """
    shown = recording_key(view)
    cards = answers().ask(find_architectures, shown, is_quiet=True)
    if not cards:
        return NOTHING
    card = chosen().card if chosen().card in cards else cards[0]
    asked = dict(answers().ask(find_hints, shown, card, is_quiet=True))
    second = {SECOND: "The kernel of the scene beside it"} if has_second else {}
    others = {one: card_name(one) for one in cards if one != card}
    names = {NOTHING: "Nothing"} | second | asked | others
    before = chosen().other if chosen().other in names else NOTHING
    key = f"{place}_beside_{before}"

    def store() -> None:
        chosen().other = st.session_state[key]
        if on_choice is not None:
            on_choice(key, before)

    return st.selectbox(
        "Machine code beside it", list(names), list(names).index(before), width=400, key=key,
        format_func=lambda one: names[one].replace("`", ""), on_change=store,
        help="The same code compiled in another way, or for another GPU.",
    )  # fmt: skip


def draw_compiled(compiled: Compiled, line: int | None) -> None:
    """Draw the machine code of one build."""
    if compiled.problem:
        st.info(plain_text(compiled.problem), icon=":material/info:")
        return
    if line is not None:
        draw_line(compiled, line)
    st.html("".join(f"<p class='fact'>{html.escape(one)}</p>" for one in compiled.facts))
    if compiled.occupancy is not None:
        with st.expander(
            "A multiprocessor with its blocks", key="machine_code_blocks", expanded=True
        ):
            chart = draw_residency(compiled.occupancy, text_colour())
            st.plotly_chart(
                chart, key="machine_code_residency", config={"displayModeBar": False},
                alt=describe(compiled.occupancy),
            )  # fmt: skip
    with st.expander("All lines", key="machine_code_lines", expanded=line is None):
        listed = "".join(f"<li>{brief_html(one)}</li>" for one in compiled.lines)
        if any(one.live for one in compiled.lines):
            st.html(f"<p class='fact'>{BAND}</p>")
        st.html(f"<ol class='made'>{listed}</ol>")


def draw_compared(compared: Compared, line: int | None) -> None:
    """Draw the machine code of two builds in two columns, what differs first."""
    if compared.problem:
        st.info(plain_text(compared.problem), icon=":material/info:")
        return
    st.html(f"<p class='fact'>{html.escape(compared.says)}</p>{figures_html(compared)}")
    here = [one for one in compared.pairs if one.first and one.first.line == line]
    if here and line is not None:
        st.html(pairs_html(compared, here, line_html))
    changed = [one for one in compared.pairs if one.is_changed]
    label = f"{len(changed)} of {len(compared.pairs)} lines have other instructions"
    with st.expander(label, key="machine_code_changed", expanded=True):
        st.html(pairs_html(compared, changed, brief_html))
    with st.expander("All lines", key="machine_code_both"):
        st.html(pairs_html(compared, compared.pairs, brief_html))


def card_name(architecture: str) -> str:
    """An architecture with the cards that have it.

    >>> card_name("sm_90")
    'H100, H200 (sm_90)'
    """
    return f"{CAPABILITIES[capability(architecture)].cards} ({architecture})"


def figures_html(compared: Compared) -> str:
    """The figures of two builds, those that differ in bold letters."""
    heads = "".join(f"<th scope='col'>{in_code(one)}</th>" for one in ("", *compared.names))
    rows = "".join(
        f"<tr{' class=changed' if one.first != one.second else ''}>"
        f"<th scope='row'>{html.escape(one.name)}</th>"
        f"<td>{html.escape(one.first)}</td><td>{html.escape(one.second)}</td></tr>"
        for one in compared.figures
    )
    head = f"<thead><tr>{heads}</tr></thead>"
    return f"<table class='opcodes both'>{head}<tbody>{rows}</tbody></table>"


def pairs_html(
    compared: Compared, pairs: Sequence[LinePair], draw: Callable[[LineRows], str]
) -> str:
    """Lines of two builds in two columns; on a phone one below the other."""
    heads = "".join(f"<p class='head'>{in_code(one)}</p>" for one in compared.names)
    cells = "".join(
        f"<div class='pair'>{''.join(_cell(one, rows, draw) for rows in one.sides)}</div>"
        for one in pairs
    )
    return f"<div class='pairs'><div class='pair'>{heads}</div>{cells}</div>"


def in_code(text: str) -> str:
    """A text as HTML, what is between backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text))


def _cell(pair: LinePair, rows: LineRows | None, draw: Callable[[LineRows], str]) -> str:
    without = "No instruction." if pair.is_in_both else "No such line."
    return f"<ul><li>{draw(rows) if rows else without}</li></ul>"


def draw_line(compiled: Compiled, line: int) -> None:
    """Draw what was made of the line that a step is at."""
    rows = next((one for one in compiled.lines if one.line == line), None)
    if rows is None:
        st.html(f"<p class='fact'><b>Line {line}</b> has no machine code.</p>")
        return
    st.html(line_html(rows))
    if rows.instructions:
        with st.expander("Its instructions in order", key="machine_code_order"):
            listed = "".join(
                f"<li><code>{html.escape(one)}</code></li>" for one in rows.instructions
            )
            st.html(f"<ol class='ordered'>{listed}</ol>")


def line_html(rows: LineRows) -> str:
    """A line: what was done to it, and a row for each of its opcodes."""
    table = "".join(
        f"<tr><td>{one.count}</td><th scope='row'><code>{html.escape(one.opcode)}</code></th>"
        f"<td>{one.group}</td><td>{html.escape(one.says)}</td></tr>"
        for one in rows.opcodes
    )
    heads = "".join(f"<th scope='col'>{one}</th>" for one in ("Times", "Opcode", "Kind", "Each"))
    listed = f"<table class='opcodes'><thead><tr>{heads}</tr></thead><tbody>{table}</tbody></table>"
    return f"{_place(rows)}{_changes(rows)}{listed if table else ''}"


def brief_html(rows: LineRows) -> str:
    """A line in short, for the list of all."""
    counts = f"<p>{html.escape(rows.summary)}</p>" if rows.summary else ""
    return f"{_place(rows)}{counts}{_changes(rows)}"


def _place(rows: LineRows) -> str:
    if rows.line is None:
        return "<p class='place'><b>Instructions that belong to no line</b></p>"
    live = "" if rows.registers is None else f" <small>registers in use: {rows.registers}</small>"
    code = f"<code>{html.escape(rows.source)}</code>"
    return f"<p class='place'><b>Line {rows.line}</b> {code}{live}</p>{band_html(rows)}"


def band_html(rows: LineRows) -> str:
    """A line's registers as a band: a field for each, filled where its value is needed there."""
    if not rows.live:
        return ""
    stops = []
    for first, count in rows.live:
        begin, end = (f"{100 * at / rows.of_all:.2f}%" for at in (first, first + count))
        stops.append(f"#0000 {begin}, var(--live) {begin}, var(--live) {end}, #0000 {end}")
    live = sum(count for _, count in rows.live)
    return (
        f"<div class='band' role='img' aria-label='{live} of {rows.of_all} registers' "
        f"style='background-image: linear-gradient(to right, {', '.join(stops)})'></div>"
    )


def _changes(rows: LineRows) -> str:
    return "".join(f"<p class='done'>{html.escape(one)}</p>" for one in rows.changes)
