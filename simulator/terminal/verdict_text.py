"""A verdict as JSON and as text."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from simulator.language.files import with_file_names
from simulator.number_format import format_number
from simulator.sentences.verdicts import size_text
from simulator.terminal.report_text import files_as_json, hazard_as_json, place_as_json
from simulator.terminal.verdict_run import Judged
from simulator.verdict.form import ArrayArgument, LaunchForm
from simulator.verdict.repair import Repair, apply
from simulator.verdict.verdict import CounterRow, SizeCheck, Verdict, WrongCell


def verdict_as_json(judged: Judged) -> dict[str, Any]:
    """What --json prints with a verdict; docs/terminal.md names its keys."""
    found: dict[str, Any] = {"kernel": judged.kernel, "form": form_as_json(judged.form)}
    if judged.exercise is not None and judged.result is not None:
        found["exercise"] = {
            "name": judged.exercise.name,
            "solved": judged.result.solved,
            "problem": judged.result.problem,
            "requirements": [asdict(one) for one in judged.result.results],
        }
    verdict, text = judged.verdict, judged.text
    if verdict is None:
        return found
    cost = verdict.costliest
    return found | {
        "state": verdict.state,
        "next_step": verdict.next_step,
        "repair": None if verdict.repair is None else asdict(verdict.repair),
        "checks": [_check(one, text) for one in verdict.checks],
        "hazards": [
            hazard_as_json(one.hazard, text)
            | {"sizes": dict(one.sizes), "numbers": dict(one.numbers), "launches": one.launches}
            for one in verdict.hazards
        ],
        "counters": dict(verdict.counters),
        "lines": {str(line): dict(counts) for line, counts in verdict.lines.items()},
        "neighbours": [asdict(row) for row in verdict.neighbours],
        "costliest": None
        if cost is None
        else asdict(cost) | {"place": place_as_json(text, cost.line)},
        "occupancy": None if verdict.occupancy is None else asdict(verdict.occupancy),
        "notes": list(verdict.notes),
        "files": files_as_json(text),
        "in_files": with_file_names(verdict.next_step, text),
    }


def form_as_json(form: LaunchForm) -> dict[str, Any]:
    """A form's expressions by name."""
    return {
        "grid": form.grid,
        "block": form.block,
        "shared_bytes": form.shared_bytes,
        "arguments": {
            one.name: [one.rows, one.columns, one.contents]
            if isinstance(one, ArrayArgument)
            else one.value
            for one in form.arguments
        },
        "task": form.task,
        "roles": dict(form.roles),
    }


def _check(check: SizeCheck, text: str) -> dict[str, Any]:
    return {
        "sizes": dict(check.sizes),
        "numbers": dict(check.numbers),
        "state": check.state,
        "ragged": check.is_ragged,
        "fractions": check.has_fractions,
        "seconds": check.seconds,
        "said": check.sentence,
        "wrong": None if check.wrong is None else _wrong(check.wrong, text),
    }


def _wrong(wrong: WrongCell, text: str) -> dict[str, Any]:
    found = asdict(wrong)
    found["said"] = found.pop("sentence")
    found["place"] = None if wrong.line is None else place_as_json(text, wrong.line)
    return found


def verdict_as_text(judged: Judged) -> str:
    """The sentence that says what to do next, then everything that it rests on."""
    lines: list[str] = []
    if judged.exercise is not None and judged.result is not None:
        solved = "solved" if judged.result.solved else "not solved"
        lines += [f"{judged.exercise.title}: {solved}", *_requirements(judged), ""]
    if judged.verdict is None:
        return "\n".join(lines).rstrip()
    verdict = judged.verdict
    lines += [f"{judged.kernel}: {verdict.state}"]
    lines += [with_file_names(verdict.next_step, judged.text)]
    lines += [*_change(judged.text, verdict.repair), ""]
    lines += _launch(judged.form)
    found = [*_checks(verdict), *_hazards(verdict), *_costs(verdict)]
    found += [f"note: {note}" for note in verdict.notes]
    lines += [with_file_names(one, judged.text) for one in found]
    return "\n".join(lines).rstrip()


def _requirements(judged: Judged) -> list[str]:
    assert judged.result is not None
    marks = {True: "met", False: "NOT MET"}
    return [
        f"  {marks[one.met]:<7}  {one.goal}" + ("" if one.met else f" {one.sentence}")
        for one in judged.result.results
    ]


def _launch(form: LaunchForm) -> list[str]:
    arguments = [
        f"{one.name}[{one.rows}][{one.columns}]"
        if isinstance(one, ArrayArgument)
        else f"{one.name} = {one.value}"
        for one in form.arguments
    ]
    return [
        f"launch: <<<({', '.join(form.grid)}), ({', '.join(form.block)})"
        + (f", {form.shared_bytes}" if form.shared_bytes != "0" else "")
        + ">>>",
        f"  {', '.join(arguments)}",
    ]


def _checks(verdict: Verdict) -> list[str]:
    sizes = [size_text(dict(check.sizes)) for check in verdict.checks]
    width = max(map(len, sizes))
    return [
        "sizes:",
        *(
            f"  {size:<{width}}  {check.state:<9}  {check.sentence}"
            for size, check in zip(sizes, verdict.checks, strict=True)
        ),
    ]


def _hazards(verdict: Verdict) -> list[str]:
    if not verdict.hazards:
        return ["hazards: none"]
    lines = ["hazards:"]
    for found in verdict.causes:
        at = f" At {size_text(dict(found.sizes))}." if found.sizes else ""
        lines.append(f"  {found.hazard.kind}: {found.hazard.message}{at}")
        if found.hazard.witness is not None:
            lines.append(f"    {found.hazard.witness.sentence}")
    return lines


def _change(text: str, repair: Repair | None) -> list[str]:
    """The lines that a change takes out and puts in, as a diff has them."""
    if repair is None:
        return []
    before, after = text.split("\n"), apply(text, repair.fixes).split("\n")
    differing = difflib.unified_diff(before, after, "", "", lineterm="", n=0)
    return [f"  {line}" for line in differing if not line.startswith(("---", "+++", "@@"))]


def _costs(verdict: Verdict) -> list[str]:
    lines: list[str] = []
    if verdict.neighbours:
        table = [
            ["", "conflicts", "sectors/request", "bytes/flop", "wavefronts/flop"],
            *([row.title, *_numbers(row)] for row in verdict.neighbours),
        ]
        lines += ["counters at the first size:", *_table(table)]
    if verdict.costliest is not None:
        lines.append(f"costliest: {verdict.costliest.sentence}")
    if verdict.occupancy is not None:
        lines.append(f"occupancy: {verdict.occupancy.sentence}")
    return lines


def _numbers(row: CounterRow) -> list[str]:
    shares = (row.sectors_per_request, row.bytes_per_flop, row.wavefronts_per_flop)
    words = ["–" if one is None else format_number(one, 3) for one in shares]
    return [f"{row.conflicts:,}", *words]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + row[0].ljust(widths[0]) + "".join(
            f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)
        )
        for row in rows
    ]  # fmt: skip
