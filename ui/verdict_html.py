"""The verdict on a kernel of one's own as pieces of HTML, for a page and for a file."""

from __future__ import annotations

import html
from collections.abc import Sequence

from simulator.exercises.check import ExerciseResult
from simulator.verdict.verdict import CheckState, CounterRow, FoundHazard, Named, SizeCheck, Verdict

MARKS = {
    CheckState.RIGHT: "✓", CheckState.WRONG: "✗", CheckState.UNCHECKED: "·",
    CheckState.STOPPED: "✗", CheckState.SKIPPED: "–",
}  # fmt: skip
WORDS = {
    CheckState.RIGHT: "right", CheckState.WRONG: "wrong", CheckState.UNCHECKED: "ran",
    CheckState.STOPPED: "stopped", CheckState.SKIPPED: "not run",
}  # fmt: skip
QUIET = frozenset({CheckState.RIGHT, CheckState.UNCHECKED, CheckState.SKIPPED})


def next_step(state: str, sentence: str) -> str:
    """The one thing to do next."""
    return f"<p class='next {state}'>{html.escape(sentence)}</p>"


def hazard(found: FoundHazard) -> str:
    """A hazard, its witness and the size at which it is there."""
    one = found.hazard
    witness = f" {html.escape(one.witness.sentence)}" if one.witness is not None else ""
    return (
        f"<p class='found'><b>{html.escape(one.kind)}</b>: {html.escape(one.message)}{witness} "
        f"<span class='where'>{_at(found.sizes)}</span></p>"
    )


def checks(found: Sequence[SizeCheck]) -> str:
    """The kernel at each size."""
    items = []
    for check in found:
        told = "" if check.state in QUIET else f": {html.escape(check.sentence)}"
        items.append(
            f"<li class='{check.state}'><b>{MARKS[check.state]}</b> {_sizes(check.sizes)} "
            f"{WORDS[check.state]}{told}</li>"
        )
    names = html.escape(" × ".join(name for name, _ in found[0].sizes)) if found else ""
    return f"<ul class='checks' aria-label='{names}'>{''.join(items)}</ul>"


def costs(verdict: Verdict) -> str:
    """What the kernel costs, beside the catalogue's kernels, its occupancy and the notes."""
    said = []
    if verdict.costliest is not None:
        said.append(f"<p class='said'>{html.escape(verdict.costliest.sentence)}</p>")
    if verdict.neighbours:
        said.append(_neighbours(verdict.neighbours))
    if verdict.occupancy is not None:
        said.append(f"<p class='said'>{html.escape(verdict.occupancy.sentence)}</p>")
    said += [f"<p class='said note'>{html.escape(note)}</p>" for note in verdict.notes]
    return "".join(said)


def requirements(result: ExerciseResult) -> str:
    """Which requirements of an exercise are met."""
    items = "".join(
        f"<li class='{'right' if one.met else 'wrong'}'><b>{'✓' if one.met else '✗'}</b> "
        f"{html.escape(one.goal)} <span class='where'>{html.escape(one.sentence)}</span></li>"
        for one in result.results
    )
    return f"<ul class='checks whole'>{items}</ul>"


def _neighbours(rows: Sequence[CounterRow]) -> str:
    """The table of what kernels cost, one's own first."""
    body = []
    for row in rows:
        name = "yours" if not row.name else row.title
        figures = (
            f"{row.conflicts:,}", _figure(row.sectors_per_request), _figure(row.bytes_per_flop),
            _figure(row.wavefronts_per_flop),
        )  # fmt: skip
        body.append(
            f"<tr{'' if row.name else ' class=own'}><th scope=row>{html.escape(name)}</th>"
            + "".join(f"<td>{figure}</td>" for figure in figures)
            + "</tr>"
        )
    return (
        "<div class='wide'><table class='costs'><thead><tr><th></th>"
        "<th scope=col title='Wavefronts of shared memory beyond those without bank conflicts'>"
        "bank conflicts</th>"
        "<th scope=col title='Sectors of 32 bytes for each request to global memory'>"
        "sectors a request</th>"
        "<th scope=col title='Bytes of global memory for each multiplication or addition'>"
        "global bytes an operation</th>"
        "<th scope=col title='Wavefronts of shared memory for each multiplication or addition'>"
        "wavefronts an operation</th></tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _sizes(sizes: Named) -> str:
    return html.escape(" × ".join(f"{value:,}" for _, value in sizes) or "as launched")


def _at(sizes: Named) -> str:
    named = ", ".join(f"{name} = {value:,}" for name, value in sizes)
    return f"At {html.escape(named)}." if named else ""
