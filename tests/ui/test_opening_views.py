"""What a kernel's caption says can be seen at the step that it opens with."""

from __future__ import annotations

import dataclasses

import pytest

from simulator import Step, catalogue, compile_kernel, simulate
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.observers.transactions import wavefronts
from tests.ui.lecture.lectures import record_view
from ui.view.presets import launch, source
from ui.view.view_url import View, opening_view, to_query


def shown(view: View) -> Step:
    return record_view(view).steps[view.step]


def wavefronts_of_reads(view: View) -> int:
    """The most that a read of shared memory takes of warp 0 at the step shown."""
    step = shown(view)
    reads = [
        access for access in step.accesses
        if access.space is MemorySpace.SHARED and access.kind is AccessKind.LOAD
    ]  # fmt: skip
    assert reads
    return max(
        int(wavefronts(one.offsets[None, :32], one.active[None, :32], one.width, "load")[0])
        for one in reads
    )


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", catalogue())
def test_a_kernel_opens_at_an_access_to_memory_or_a_product(name: str) -> None:
    view = opening_view(name)
    step = shown(view)
    assert step.accesses
    assert step.active[0], "the focused thread takes part"
    named = {"kernel": name, "step": str(view.step + 1)}
    assert to_query(view) == ({} if name == "tiled" else named)


def test_the_conflict_is_there_and_is_mended() -> None:
    found = {name: wavefronts_of_reads(opening_view(name))
             for name in ("transposed", "padded", "swizzled")}  # fmt: skip
    assert found == {"transposed": 2, "padded": 1, "swizzled": 1}


def test_double_takes_two_wavefronts_where_float_takes_one() -> None:
    double = opening_view("tiled_double")
    assert wavefronts_of_reads(double) == 2
    assert wavefronts_of_reads(dataclasses.replace(double, edits=("float",))) == 1


def test_registers_opens_at_a_product_with_each_of_its_sums() -> None:
    view = opening_view("registers")
    step = shown(view)
    each = dict(view.defines)["EACH"]
    assert step.registers["acc"].shape[1:] == (each, each)
    assert step.registers["acc"][0].all(), "they grow"
    assert source(view).split("\n")[step.line - 1].strip() == "acc[i][j] += a[i] * b[j];"


def test_naive_has_four_by_four_sums() -> None:
    view = opening_view("naive")
    assert (view.M, view.N) == (4, 4)
    step = shown(view)
    assert int(step.active.sum()) == 16
    assert step.registers["acc"][step.active].all(), "they grow"


CONFLICT = [name for name, entry in catalogue().items() if "conflict" in entry.teaches]
NO_CONFLICT = [name for name, entry in catalogue().items() if "different banks" in entry.teaches]


def test_the_kernels_that_speak_of_conflicts_are_known() -> None:
    assert CONFLICT == ["transposed"]
    assert NO_CONFLICT == ["padded", "swizzled"]


@pytest.mark.parametrize("name", CONFLICT + NO_CONFLICT)
def test_the_kernel_that_teaches_a_bank_conflict_has_one_and_the_others_none(name: str) -> None:
    view = opening_view(name)
    report = simulate(compile_kernel(source(view), catalogue()[name].kernel), launch(view))
    conflicts = sum(
        line["shared_load_wavefronts"] - line["shared_load_wavefronts_ideal"]
        for line in report.lines.values()
    )
    assert (conflicts > 0) == (name in CONFLICT)
    assert [view.defines] == [opening_view(other).defines for other in CONFLICT], "the same size"
    assert dict(view.defines)["TILE"] <= 8, "a tile whose numbers the scene has room for"
