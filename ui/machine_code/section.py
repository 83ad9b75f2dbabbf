"""The section of a page that shows what the compiler made of a kernel, line by line."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from compiler.occupancy import capability
from simulator import LaunchError, SourceError
from simulator.machine.occupancy import CAPABILITIES
from ui.jobs.workers import StoppedError, WorkerLostError
from ui.machine_code.compiled import Compiled, find_architectures, find_compiled
from ui.machine_code.rows import LineRows
from ui.run.cache import answers
from ui.run.compute import recording_key
from ui.view.view_url import View
from ui.web_page.plain_text import plain_text
from ui.web_page.style import draw_style
from ui.web_page.web_files import read_web

TITLE = "What the compiler made of it"
USUAL = "sm_90"
# Of any job: a worker may compile a kernel anew that another has run, and find less time or memory.
ERRORS = (SourceError, LaunchError, StoppedError, WorkerLostError)


def draw_machine_code(view: View, line: int | None = None) -> None:
    """Draw the machine code of a view's kernel: that of a line, if one is given, and of all."""
    draw_style(read_web("machine_code.css"))
    with st.container(key="machine_code"):
        if line is not None:
            st.subheader(TITLE, anchor=False)
        shown = recording_key(view)
        try:
            architecture = choose_card(answers().ask(find_architectures, shown, is_quiet=True))
            compiled = answers().ask(find_compiled, shown, architecture)
        except ERRORS as error:
            st.error(plain_text(str(error)), icon=":material/error:")
            return
        if compiled.problem:
            st.info(plain_text(compiled.problem), icon=":material/info:")
            return
        if line is not None:
            draw_line(compiled, line)
        st.html("".join(f"<p class='fact'>{html.escape(one)}</p>" for one in compiled.facts))
        with st.expander("All lines", key="machine_code_lines", expanded=line is None):
            st.html(f"<ol class='made'>{''.join(map(brief_html, compiled.lines))}</ol>")


def choose_card(offered: Sequence[str]) -> str:
    """Draw the choice of an architecture, if there is any; return the one chosen."""
    if not offered:
        return USUAL
    usual = offered.index(USUAL) if USUAL in offered else 0
    return str(st.selectbox("Card", offered, usual, format_func=card_name, width=320))


def card_name(architecture: str) -> str:
    """An architecture with the cards that have it.

    >>> card_name("sm_90")
    'H100, H200 (sm_90)'
    """
    return f"{CAPABILITIES[capability(architecture)].cards} ({architecture})"


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
    return f"<li>{_place(rows)}{counts}{_changes(rows)}</li>"


def _place(rows: LineRows) -> str:
    if rows.line is None:
        return "<p class='place'><b>Of no line</b></p>"
    live = "" if rows.registers is None else f" <small>registers in use: {rows.registers}</small>"
    code = f"<code>{html.escape(rows.source)}</code>"
    return f"<p class='place'><b>Line {rows.line}</b> {code}{live}</p>"


def _changes(rows: LineRows) -> str:
    return "".join(f"<p class='done'>{html.escape(one)}</p>" for one in rows.changes)
