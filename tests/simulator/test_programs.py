"""Whole files as students and samples write them, unchanged: values, verdict, counters, steps."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Launch, Recording, Report, compile_kernel, narrate, record, simulate
from simulator.launch import dim3
from simulator.machine.schedule import Schedule
from simulator.sentences.parts import parts
from tests.programs.table import PROGRAMS, Program, differing

# One launch of each file: for what depends on a file's language more than on its values.
FIRST = list({program.file: program for program in reversed(PROGRAMS)}.values())
SENTENCES = 60  # of a recording's steps


def check(program: Program, schedule: str) -> None:
    kernel = compile_kernel(program.text, program.kernel, program.defines, program.file)
    arguments = program.arguments()
    launch = Launch(dim3(*program.grid), dim3(*program.block), arguments, program.shared)
    report = simulate(kernel, launch, Schedule(schedule))
    assert sorted({str(hazard.kind) for hazard in report.hazards}) == program.verdict
    expected = program.expected(arguments)
    for name, array in report.arrays.items():
        if expected is not None:
            assert not differing(program, name, array, expected.get(name, arguments.get(name)))
    assert {name: report.counters[name] for name in program.counters} == program.counters


@pytest.mark.sample(24)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_program(program: Program) -> None:
    check(program, "ascending")


@pytest.mark.deep
@pytest.mark.parametrize("schedule", ["descending", "random"])
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_program_in_any_order_of_warps(program: Program, schedule: str) -> None:
    check(program, schedule)


def check_end(recording: Recording, report: Report) -> None:
    """The recording of the only block ends as the launch does."""
    last = recording.steps[-1]
    for name, found in last.outputs.items():
        written = last.stored[name]
        assert np.array_equal(found[written], report.arrays[name][written])


@pytest.mark.sample(16)
@pytest.mark.parametrize("program", FIRST, ids=str)
def test_its_steps_are_told(program: Program) -> None:
    kernel = compile_kernel(program.text, program.kernel, program.defines, program.file)
    arguments = program.arguments()
    launch = Launch(dim3(*program.grid), dim3(*program.block), arguments, program.shared)
    recording = record(kernel, launch)
    if launch.blocks == 1 and not program.verdict:
        check_end(recording, simulate(kernel, launch))
    for step in recording.steps[:: 1 + len(recording.steps) // SENTENCES]:
        thread = int(np.flatnonzero(step.active)[0])
        sentences = [
            *narrate.spoken(recording, step, thread),
            *narrate.values(recording, step, thread),
        ]
        sentences += narrate.warp(recording, step, 0)
        assert sentences[0].endswith(".")
        assert not [text for text in sentences if "None" in text or "object at" in text]
        assert parts(recording, step, thread) is not None
