"""What a kernel of the catalogue teaches is there to be seen in the view that it opens with."""

from __future__ import annotations

import pytest

from simulator import Report, catalogue, compile_kernel, simulate
from ui.view.presets import launch, source
from ui.view.view_url import View, from_query

CONFLICT = [name for name, entry in catalogue().items() if "conflict" in entry.teaches]
NO_CONFLICT = [name for name, entry in catalogue().items() if "different banks" in entry.teaches]


def opened(name: str) -> View:
    """The view that opens where only the kernel is chosen."""
    view, problems = from_query({"kernel": name})
    assert not problems
    return view


def conflicts(report: Report) -> int:
    """The wavefronts that a launch's shared loads take beyond those without bank conflicts."""
    return sum(
        line["shared_load_wavefronts"] - line["shared_load_wavefronts_ideal"]
        for line in report.lines.values()
    )


def reported(name: str) -> Report:
    view = opened(name)
    return simulate(compile_kernel(source(view), catalogue()[name].kernel), launch(view))


def test_the_kernels_that_speak_of_conflicts_are_known() -> None:
    assert CONFLICT == ["transposed"]
    assert NO_CONFLICT == ["padded", "swizzled"]


@pytest.mark.parametrize("name", CONFLICT)
def test_a_kernel_that_teaches_a_bank_conflict_opens_with_one(name: str) -> None:
    assert conflicts(reported(name)) > 0


@pytest.mark.parametrize("name", NO_CONFLICT)
def test_a_kernel_that_avoids_the_conflict_opens_with_none_at_the_same_size(name: str) -> None:
    assert conflicts(reported(name)) == 0
    assert [opened(name).defines] == [opened(other).defines for other in CONFLICT]


@pytest.mark.parametrize("name", CONFLICT + NO_CONFLICT)
def test_they_open_with_tiles_whose_numbers_fit_on_the_screen(name: str) -> None:
    """The scene writes the cells' numbers up to 8 x 8."""
    assert dict(opened(name).defines)["TILE"] <= 8
