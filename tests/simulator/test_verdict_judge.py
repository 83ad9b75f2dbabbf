"""What a verdict asks and adds, how long it takes, and what lines cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator import LaunchError, compile_kernel
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.verdict.form import ArrayArgument, LaunchForm, NumberArgument, UserKernel
from simulator.verdict.judge import judge, task_of
from simulator.verdict.residency import occupancy
from simulator.verdict.traffic import Place, Traffic, line_traffic
from simulator.verdict.verdict import CheckState, State, Verdict
from tests.simulator.launches import launch_text

TEXT = """__global__ void k(const float* A, const float* B, float* C, int m, int n, int k) {
    int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x >= n || y >= m) return;
    float s = 0;
    for (int i = 0; i < k; ++i)
        s += A[y * k + i] * B[i * n + x];
    C[y * n + x] = s;
}"""
ROLES = (("A", "A"), ("B", "B"), ("C", "C"), ("M", "m"), ("N", "n"), ("K", "k"))
FORM = LaunchForm(
    grid=("(n + 3) / 4", "(m + 3) / 4", "1"),
    block=("4", "4", "1"),
    shared_bytes="0",
    arguments=(
        ArrayArgument("A", "m", "k"),
        ArrayArgument("B", "k", "n"),
        ArrayArgument("C", "m", "n"),
        *(NumberArgument(one, "8") for one in "mnk"),
    ),
    task="product",
    roles=ROLES,
)


def judged(
    old: str = "", new: str = "", form: LaunchForm = FORM, progress: list[str] | None = None
) -> Verdict:
    text = TEXT.replace(old, new)
    kernel = compile_kernel(text)
    told = None if progress is None else progress.append
    return judge(UserKernel(text, "k", form), kernel, on_progress=told)


@pytest.mark.parametrize(
    ("seconds", "states"),
    [
        (0.0, [CheckState.RIGHT, *[CheckState.SKIPPED] * 7]),
        (60.0, [CheckState.RIGHT] * 8),
    ],
)
def test_further_sizes_have_a_time_of_their_own(
    monkeypatch: pytest.MonkeyPatch, seconds: float, states: list[CheckState]
) -> None:
    monkeypatch.setattr("simulator.verdict.judge.OWN_SECONDS", 60.0)
    monkeypatch.setattr("simulator.verdict.judge.ALL_SECONDS", seconds)
    progress: list[str] = []
    found = judged(progress=progress)
    assert [one.state for one in found.checks] == states
    assert len(progress) == states.count(CheckState.RIGHT)
    assert progress[0] == "Running at M = 8, N = 8, K = 8."
    assert found.state is State.RIGHT


@pytest.fixture
def _own_size_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.verdict.judge.OWN_SECONDS", 60.0)
    monkeypatch.setattr("simulator.verdict.judge.ALL_SECONDS", 0.0)


@pytest.mark.usefixtures("_own_size_alone", "_no_repairs")
@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("s = 0", "s = 1", ""),
        ("B[i * n + x]", "B[x * k + i]", "product_of_rows"),
        ("A[y * k + i]", "A[i * m + y]", "product_of_columns"),
    ],
)
def test_a_wrong_product_may_be_another(old: str, new: str, name: str) -> None:
    found = judged(old, new)
    assert found.state is State.WRONG
    assert found.repair is None
    assert ("It computes" in found.next_step) is bool(name)
    assert found.next_step.endswith(f"or with --task {name}, if that is meant." if name else ".")


@pytest.mark.usefixtures("_own_size_alone")
def test_arrays_whose_size_nothing_tells_are_asked_for() -> None:
    seen = tuple(
        replace(one, is_seen=True) if isinstance(one, ArrayArgument) and one.name != "A" else one
        for one in FORM.arguments
    )
    found = judged(form=replace(FORM, task="", roles=(), arguments=seen))
    assert found.state is State.UNCHECKED
    assert found.next_step.startswith("It runs without hazards, and here C = A · B holds.")
    assert "How many cells do B and C have?" in found.next_step
    right = judged(form=replace(FORM, arguments=seen))
    assert right.state is State.RIGHT
    assert "How many" not in right.next_step
    renamed = judged(form=replace(FORM, roles=(*ROLES[:4], ("N", "k"), ("K", "n"))))
    assert renamed.notes[0].startswith("The kernel has other names for the sizes: our M is its m,")
    assert not right.notes


@pytest.mark.parametrize(
    ("task", "roles", "message"),
    [
        ("nothing", ROLES, "'nothing' is not a task; the tasks are product, transpose,"),
        ("product", ROLES[:5], "The task C = A · B needs to know what K is."),
        ("product", (("A", "m"), *ROLES[1:]), "A is 'm', which is not an array of the form."),
        ("scaled", (("x", "A"), ("y", "B"), ("n", "m")), "needs to know what a is."),
    ],
)
def test_a_task_has_roles(task: str, roles: tuple[tuple[str, str], ...], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        task_of(replace(FORM, task=task, roles=roles))


def test_a_form_without_a_task_has_none() -> None:
    assert task_of(replace(FORM, task="")) is None
    found = task_of(FORM)
    assert found is not None
    assert found.name == "product"


@pytest.mark.usefixtures("_own_size_alone")
def test_costs_that_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(*_: object) -> None:
        raise LaunchError("The time is over.")

    monkeypatch.setattr("simulator.verdict.judge.line_traffic", end)
    found = judged()
    assert found.costliest is None
    assert [row.name for row in found.neighbours][:3] == ["", "naive", "tiled"]


def test_shared_memory_of_both_kinds_takes_room() -> None:
    kernel, launch = launch_text(
        "__global__ void k(float* a) { __shared__ float s[8192]; extern __shared__ float t[];"
        " s[0] = t[0] = 1; a[0] = s[0] + t[0]; }",
        shared=16384, a=np.zeros(1, np.float32),
    )  # fmt: skip
    found = occupancy(kernel, launch, 32)
    assert (found.blocks, found.warps, found.warps_at_most) == (4, 4, 64)
    assert (found.limit, found.registers) == ("shared memory", 32)
    assert found.sentence.startswith("A multiprocessor holds 4 blocks at once, 4 of 64 warps with")


ACCESSES = """__global__ void k(float* a, float* b) {
    __shared__ float s[128];
    int i = threadIdx.x;
    s[i * 4] = a[i * 3];
    for (int j = 0; j < 2; ++j)
        b[i + j] = s[i];
    if (i < 8) b[i * 2] = 1;
    if (i % 2) b[i] = 2;
    atomicAdd(b, 1.0f);
    float own[2];
    own[i % 2] = 1;
}"""


def test_what_each_line_takes_of_each_array() -> None:
    zeros = np.zeros(96, np.float32)
    kernel, launch = launch_text(ACCESSES, a=zeros, b=zeros)
    shared, in_all = MemorySpace.SHARED, MemorySpace.GLOBAL
    load, store = AccessKind.LOAD, AccessKind.STORE
    assert line_traffic(kernel, launch, 60.0) == {
        Place(4, "a", in_all, load): Traffic(1, 12, 4, 12, 12),
        Place(4, "s", shared, store): Traffic(1, 4, 1, 16, 4),
        Place(6, "s", shared, load): Traffic(2, 2, 2, 4, 1),
        Place(6, "b", in_all, store): Traffic(2, 9, 8, 4, 5),
        Place(7, "b", in_all, store): Traffic(1, 2, 1, 8, 2),
        Place(8, "b", in_all, store): Traffic(1, 4, 2, 0, 4),
    }
