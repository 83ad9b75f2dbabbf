"""The stage of the costs: its numbers, bars and sentences, against the costs themselves."""

from __future__ import annotations

import re

import pytest

from gpu.recorded import recordings
from tests.ui.lecture.lectures import Lecture, of_query, seen, spread
from ui.analysis.costs import add_up_costs
from ui.drawing.look import Look, Stage
from ui.lecture.costs_stage import CostsStage

PINNED = Look(stage=Stage.COSTS)
CONFLICTS = {"kernel": "transposed", "M": 32, "N": 32, "K": 32, "TILE": 16}


def texts(lecture: Lecture, step: int) -> tuple[str, list[str], list[str]]:
    """The sentences, the rows' names and their numbers."""
    described, names, counts = (
        [text.strip("\xa0") for text in trace["text"]]
        for trace in lecture.drawn(lecture.steps[step], CostsStage)[0]
    )
    return " ".join(filter(None, described)), names, counts


@pytest.mark.parametrize("kernel", ["naive", "tiled", "transposed", "registers"])
def test_each_row_tells_what_was_spent_of_all(kernel: str) -> None:
    lecture = of_query(PINNED, kernel=kernel)
    costs = add_up_costs(lecture.recording)
    panel = lecture.panel(CostsStage)
    sums = (costs.sectors, costs.wavefronts, costs.waits, costs.multiply_adds)
    for step in [*spread(lecture.steps, 7), lecture.steps[-1]]:
        _, names, counts = texts(lecture, step.number)
        assert all(names)
        assert counts == [f"{int(one[step.number]):,} of {int(one[-1]):,}" for one in sums]
        frames, *bars, _ = panel.shapes(step)
        for frame, bar, one in zip(seen(frames), bars, sums, strict=True):
            share = one[step.number] / one[-1] if one[-1] else 0
            width = seen(bar)[0][2] - seen(bar)[0][0] if seen(bar) else 0
            assert width == pytest.approx(share * (frame[2] - frame[0]), abs=0.2)


def test_the_conflicts_are_said_and_marked_at_the_end_of_the_wavefronts() -> None:
    lecture = of_query(PINNED, **CONFLICTS)
    costs = add_up_costs(lecture.recording)
    last = lecture.steps[-1]
    described, *_ = texts(lecture, last.number)
    conflicts, served = int(costs.conflicts[-1]), int(costs.wavefronts[-1])
    assert f"{conflicts:,} of {served:,} wavefronts are conflicts." in described
    *_, wavefronts, _, _, marked = lecture.panel(CostsStage).shapes(last)
    [whole], [part] = seen(wavefronts), seen(marked)
    assert part[2] == whole[2]
    assert (part[2] - part[0]) / (whole[2] - whole[0]) == pytest.approx(
        conflicts / served, rel=0.01
    )


def test_without_conflicts_or_shared_memory_the_stage_says_so() -> None:
    tiled, naive = (of_query(PINNED, kernel=name) for name in ("tiled", "naive"))
    assert "No bank conflict" in texts(tiled, len(tiled.steps) - 1)[0]
    assert "has not been used yet" in texts(tiled, 0)[0]
    assert "does not use shared memory" in texts(naive, 0)[0]


def test_a_byte_serves_as_many_multiply_adds_as_were_counted() -> None:
    lecture = of_query(PINNED, kernel="tiled", M=64, N=64, K=64, TILE=16)
    costs = add_up_costs(lecture.recording)
    described = texts(lecture, len(lecture.steps) - 1)[0]
    found = re.search(r"([\d.]+) multiply-adds for each byte", described)
    assert found
    ratio = costs.multiply_adds[-1] / (32 * costs.sectors[-1])
    assert float(found[1]) == pytest.approx(ratio, rel=0.05)


def test_what_a_gpu_took_is_the_recordings_and_not_said_of_a_changed_kernel() -> None:
    run = recordings().runs[0]
    size = max(one.size for one in run.comparisons if len(set(one.size)) == 1)
    [comparison] = [one for one in run.comparisons if one.size == size]
    [kernel] = [one for one in comparison.kernels if one.name == "tiled"]
    lecture = of_query(PINNED, kernel="tiled", M=16, N=16, K=16, TILE=16)
    described = texts(lecture, 0)[0]
    assert f"On an {run.device.name}, tiled took {kernel.ms:,.0f} ms at {size[0]:,}³" in described
    assert f"{kernel.cublas_ratio:.2f} × cuBLAS" in described
    smaller = texts(of_query(PINNED, kernel="tiled", TILE=4), 0)[0]
    assert f"tiled in tiles of 16 × 16 took {kernel.ms:,.0f} ms" in smaller
    [larger] = [one for one in comparison.kernels if one.name == "tiled:TILE=32"]
    described = texts(of_query(PINNED, kernel="tiled", M=32, N=32, K=32, TILE=32), 0)[0]
    assert f"tiled (TILE 32) took {larger.ms:,.0f} ms" in described
    edited = of_query(PINNED, kernel="tiled", edits="second-barrier")
    assert "took" not in texts(edited, 0)[0]
