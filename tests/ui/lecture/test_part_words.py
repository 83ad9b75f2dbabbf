"""A statement's parts in words."""

from __future__ import annotations

import pytest

from simulator.sentences.parts import parts
from tests.ui.scene_models import EACH, run, scene_model
from ui.lecture.sentences.part_words import PART_WIDTH, describe_part, shorten_part


@EACH
def test_an_access_to_shared_memory_is_described_with_its_bank(number: int) -> None:
    model = scene_model(number)
    steps = model.recording.steps
    shared = [step for step in steps if any(a.space == "shared" for a in step.accesses)]
    banks = 0
    for step in [*steps[:: max(1, len(steps) // 20)], *shared[:4]]:
        for piece in parts(model.recording, step, model.thread):
            if piece.cell is not None and piece.cell.bank is not None:
                assert f"bank {piece.cell.bank}" in describe_part(piece)
                banks += 1
    assert (banks > 0) == (len(shared) > 0)


def test_a_part_is_described_with_the_threads_numbers() -> None:
    recording = run("tiled", 4, 4, 4, defines={"TILE": 2})
    step = next(s for s in recording.steps if {a.name for a in s.accesses} == {"As", "Bs"})
    a, b = int(recording.arguments["A"][0, 0]), int(recording.arguments["B"][0, 1])
    lines = [describe_part(piece) for piece in parts(recording, step, 1)]
    assert f"As[ty][k]: As[0][0] holds {a} (byte 0, bank 0)" in lines
    assert f"Bs[k][tx]: Bs[0][1] holds {b} (byte 4, bank 5)" in lines


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("k = 0 + 1 = 1", "k = 0 + 1 = 1"),
        ("t < (K + TILE - 1) / TILE = 1 < (16 + 2 − 1) / 2 = true",
         "t < (K + TILE - 1) / TILE = true"),
        (f"{'x + ' * 20}x = 84", f"{'x + ' * 11}x … = 84"),
        (f"{'word ' * 12}end", f"{'word ' * 10}…"),
    ],
)  # fmt: skip
def test_a_part_too_long_for_its_line_keeps_its_result(line: str, shown: str) -> None:
    assert shorten_part(line) == shown
    assert len(shorten_part(line)) <= PART_WIDTH
