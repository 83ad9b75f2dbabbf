"""A report as JSON and as text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simulator.language.files import file_at, files_of, with_file_names
from simulator.language.tree import Kernel
from simulator.observers.hazards.findings import Hazard, Witness
from simulator.report import Report


def report_as_json(kernel: Kernel, report: Report) -> dict[str, Any]:
    """What --json prints; docs/terminal.md names its keys."""
    return {
        "kernel": kernel.name,
        "counters": dict(report.counters),
        "lines": {str(line): dict(counts) for line, counts in report.lines.items()},
        "notes": [*kernel.notes, *report.notes],
        "hazards": [hazard_as_json(hazard, kernel.text) for hazard in report.hazards],
        "warnings": list(kernel.warnings),
        "seconds": report.seconds,
        "printed": [
            {"block": line.block, "thread": line.thread, "text": line.text}
            for line in report.printed
        ],
        "more_printed": report.more_printed,
        "files": files_as_json(kernel.text),
    }


def files_as_json(text: str) -> list[dict[str, Any]]:
    """The "files" of a text: the main one, whose name is null, and those that it includes."""
    return [
        {
            "name": file.name or None,
            "first_line": text.count("\n", 0, file.start) + 1,
            "lines": len(text[file.start : file.end].splitlines()),
        }
        for file in files_of(text)
    ]


def place_as_json(text: str, line: int) -> dict[str, Any]:
    """A line of a text as one of a file's: the "place" of what is said of it."""
    file, own = file_at(text, line)
    return {"file": file or None, "line": own}


def hazard_as_json(hazard: Hazard, text: str) -> dict[str, Any]:
    """One entry of "hazards"."""
    example, witness = hazard.example, hazard.witness
    return {
        "kind": hazard.kind,
        "lines": hazard.lines,
        "array": hazard.array,
        "space": hazard.space,
        "message": hazard.message,
        "count": hazard.count,
        "example": {
            "block": example.block,
            "thread": example.thread,
            "other_block": example.other_block,
            "other": example.other_thread,
            "cell": example.cell,
            "iterations": example.iterations,
        },
        "wrong_order": None if witness is None else witness.order,
        "witness": None if witness is None else witness_as_json(witness),
        "places": [place_as_json(text, line) for line in hazard.lines],
        "in_files": with_file_names(hazard.message, text),
    }


def witness_as_json(witness: Witness) -> dict[str, Any]:
    """The "witness" of a hazard."""
    found = asdict(witness)
    found["said"] = found.pop("sentence")
    return found


def report_as_text(kernel: Kernel, report: Report) -> str:
    """What the kernel prints, then counters, warnings and hazards, a line each."""
    lines = [line.text for line in report.printed]
    if report.more_printed:
        lines.append(f"({report.more_printed:,} more calls of printf)")
    lines.append(f"{kernel.name}: {report.seconds:.3f} s")
    width = max(len(name) for name in report.counters)
    for name, count in report.counters.items():
        lines.append(f"  {name:<{width}}  {count:>14,}")
    found = [f"warning: {warning}" for warning in kernel.warnings]
    found += (f"note: {note}" for note in (*kernel.notes, *report.notes))
    if not report.hazards:
        found.append("no hazards")
    for hazard in report.hazards:
        found.append(f"{hazard.kind} ({hazard.how_often}): {hazard.message}")
        if hazard.witness is not None:
            found.append(f"  {hazard.witness.sentence}")
    return "\n".join((*lines, *(with_file_names(one, kernel.text) for one in found)))
