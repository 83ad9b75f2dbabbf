"""The verdict on a user kernel as pieces of HTML, for a page and for a file."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from simulator.exercises.check_solution import ExerciseResult
from simulator.verdict.repair import Repair
from simulator.verdict.verdict import CheckState, CounterRow, FoundHazard, Named, SizeCheck, Verdict

CODE = re.compile(r"`([^`]+)`")
MARKS = {
    CheckState.RIGHT: "✓", CheckState.WRONG: "✗", CheckState.UNCHECKED: "·",
    CheckState.STOPPED: "✗", CheckState.SKIPPED: "–",
}  # fmt: skip
WORDS = {
    CheckState.RIGHT: "right", CheckState.WRONG: "wrong", CheckState.UNCHECKED: "ran",
    CheckState.STOPPED: "stopped", CheckState.SKIPPED: "not run",
}  # fmt: skip
QUIET = frozenset({CheckState.RIGHT, CheckState.UNCHECKED, CheckState.SKIPPED})


def next_step(state: str, sentence: str, repair: Repair | None = None) -> str:
    """The one thing to do next; below it why, where it is a change of the text."""
    why = repair.why if repair is not None and sentence.endswith(repair.why) else ""
    message = sentence.removesuffix(why).rstrip()
    below = f"<small>{_with_code(why)}</small>" if why else ""
    return f"<p class='next {state}'>{_with_code(message)}{below}</p>"


def _with_code(sentence: str) -> str:
    """A sentence in which code is between backquotes."""
    return CODE.sub(r"<code>\1</code>", html.escape(sentence))


def hazard(found: FoundHazard, shown_text: str = "") -> str:
    """A hazard, its witness and its size; "" where shown_text already says all of that."""
    one = found.hazard
    message = "" if one.message in shown_text else html.escape(one.message)
    witness = html.escape(one.witness.sentence) if one.witness is not None else ""
    if not message and not witness:
        return ""
    where = f"<span class='where'>{_at(found.sizes)}</span>" if message else ""
    parts = " ".join(filter(None, (message, witness, where)))
    return f"<p class='found'><b>{html.escape(one.kind)}</b>: {parts}</p>"


def checks(found: Sequence[SizeCheck], shown_text: str = "") -> str:
    """The state at each size, then what is wrong there; what shown_text says is left out."""
    if not found:
        return ""
    names = [name for name, _ in found[0].sizes]
    items = [f"<li class='names'>{html.escape(' × '.join(names))}</li>"] if names else []
    items += [
        f"<li class='{one.state}'><b>{MARKS[one.state]}</b> {_sizes(one.sizes)} "
        f"{WORDS[one.state]}{' with fractions' * one.has_fractions}</li>"
        for one in found
    ]
    unshown = [one for one in found if one.state not in QUIET and one.sentence not in shown_text]
    is_rest = len(unshown) < sum(one.state not in QUIET for one in found)
    return f"<ul class='checks'>{''.join(items)}</ul>{_sentences(unshown, is_rest)}"


def _sentences(found: Sequence[SizeCheck], is_rest: bool) -> str:
    """What is wrong at some sizes, or at the rest of them; once a reader asks, if it is much."""
    paragraphs = "".join(
        f"<p class='found'><b>{_sizes(one.sizes)}</b>: {html.escape(one.sentence)}</p>"
        for one in found
    )
    if len(found) < 2:
        return paragraphs
    sizes = f"{len(found)} {'more ' if is_rest else ''}sizes"
    return f"<details><summary>What is wrong at {sizes}</summary>{paragraphs}</details>"


def costs(verdict: Verdict) -> str:
    """What the kernel costs, beside the catalogue's kernels, its occupancy and the notes.

    What the next step above says is left out.
    """
    parts, shown_text = [], verdict.next_step
    if verdict.costliest is not None and verdict.costliest.sentence not in shown_text:
        parts.append(f"<p class='said'>{_with_code(verdict.costliest.sentence)}</p>")
    if verdict.neighbours:
        parts.append(_neighbours(verdict.neighbours))
    if verdict.occupancy is not None and verdict.occupancy.sentence not in shown_text:
        parts.append(f"<p class='said'>{_with_code(verdict.occupancy.sentence)}</p>")
    parts += [f"<p class='said note'>{_with_code(note)}</p>" for note in verdict.notes]
    return f"<div class='measured'>{''.join(parts)}</div>" if parts else ""


def requirements(result: ExerciseResult, shown_text: str = "") -> str:
    """Which requirements of an exercise are met, and why; what shown_text says is left out."""
    items = "".join(
        f"<li class='{'right' if one.met else 'wrong'}'><b>{'✓' if one.met else '✗'}</b> "
        f"{'' if one.met else 'Required: '}{html.escape(one.goal)}"
        f"{_why(one.sentence, shown_text)}</li>"
        for one in result.results
    )
    return f"<ul class='checks whole'>{items}</ul>"


def _why(sentence: str, shown_text: str) -> str:
    return "" if sentence in shown_text else f" <span class='where'>{html.escape(sentence)}</span>"


def _neighbours(rows: Sequence[CounterRow]) -> str:
    """The table of what kernels cost, the user kernel first."""
    body = []
    for row in rows:
        name = "yours" if not row.name else row.title
        figures = (
            f"{row.conflicts:,}", _figure(row.sectors_per_request), _figure(row.bytes_per_flop),
            _figure(row.wavefronts_per_flop),
        )  # fmt: skip
        body.append(
            f"<tr{'' if row.name else ' class=user_kernel'}><th scope=row>{html.escape(name)}</th>"
            + "".join(f"<td>{figure}</td>" for figure in figures)
            + "</tr>"
        )
    return (
        "<div class='wide'><table class='costs'><thead><tr><th></th>"
        "<th scope=col title='Wavefronts of shared memory beyond those without bank conflicts'>"
        "bank conflicts</th>"
        "<th scope=col title='Sectors of 32 bytes for each request to global memory'>"
        "sectors per request</th>"
        "<th scope=col title='Bytes of global memory for each multiplication or addition'>"
        "global bytes per operation</th>"
        "<th scope=col title='Wavefronts of shared memory for each multiplication or addition'>"
        "wavefronts per operation</th></tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 99.5 else f"{value:#.3g}"


def _sizes(sizes: Named) -> str:
    return html.escape(" × ".join(f"{value:,}" for _, value in sizes) or "as launched")


def _at(sizes: Named) -> str:
    named = ", ".join(f"{name} = {value:,}" for name, value in sizes)
    return f"At {html.escape(named)}." if named else ""
