"""Counters of large launches: equal to a whole simulation's, to formulas, and to an H200's own."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.headers import uses_tensor_cores
from gpu.candidate import variants
from gpu.predicted_counters import NotPredictedError, global_bytes, predict, predict_lines, samples
from simulator.catalogue import Entry, catalogue
from simulator.launch import Launch
from simulator.machine.machine import Machine
from simulator.observers.counters import FIELDS, Counters

pytest.importorskip("clang.cindex", reason="libclang is not installed")

PROFILE = Path(__file__).parents[1] / "simulator" / "h200_profile.json"
RECORDED = Path(__file__).parents[2] / "assets" / "recorded" / "nvidia-h200.json"
TEACHING = [
    (entry.name, dict(chosen)) for entry in catalogue().values() for chosen in entry.teaching
]
SPEED = [(entry.name, dict(chosen)) for entry in catalogue().values() for chosen in entry.speed]
# M, N, K in whole tiles (of a multiple of eight) and what is left over: larger than any launch
# that the prediction itself looks at.
BEYOND = [((3, 4, 7), (0, 0, 0)), ((3, 3, 6), (5, 3, 7)), ((4, 3, 5), (1, 4, 4))]
FAST = [((2, 3, 5), (0, 0, 0)), ((3, 1, 6), (0, 0, 0))]
FAST_RAGGED = ((2, 3, 5), (3, 1, 7))
CHEAP = ("uncoalesced", "naive", "tiled", "padded", "rows")


def extents(
    entry: Entry, chosen: dict[str, int], whole: tuple[int, ...], rest: tuple[int, ...]
) -> tuple[int, int, int]:
    tile = entry.unit(**chosen)
    M, N, K = (
        count * int(np.lcm(size, 8)) + left
        for count, size, left in zip(whole, tile, rest, strict=True)
    )
    return M, N, K


def counted(entry: Entry, chosen: dict[str, int], size: tuple[int, int, int]) -> dict[str, int]:
    """Every block of the launch, warp after warp, as the simulator runs it anywhere else."""
    from simulator import compile_kernel

    M, N, K = size
    rng = np.random.default_rng(0)
    arguments = {
        "A": rng.random((M, K)), "B": rng.random((K, N)), "C": np.zeros((M, N)),
        "M": M, "N": N, "K": K,
    }  # fmt: skip
    kernel = compile_kernel(entry.source(**chosen), entry.kernel)
    launch: Launch = entry.launch(arguments, **chosen)
    counters = Counters()
    Machine(kernel, launch, [counters]).run()
    return dict(counters.totals)


def predicted(entry: Entry, chosen: dict[str, int], size: tuple[int, int, int]) -> dict[str, int]:
    defines = {macro: str(value) for macro, value in chosen.items()}
    return dict(predict(entry.name, entry.source(**chosen), defines, size))


def cases(
    settings: Sequence[tuple[str, dict[str, int]]],
    sizes: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    quick: Callable[[str, dict[str, int], tuple[int, ...]], bool],
) -> pytest.MarkDecorator:
    """Each setting at each size; those that are not quick are deep."""
    return pytest.mark.parametrize(
        ("name", "chosen", "whole", "rest"),
        [
            pytest.param(
                name, chosen, *size,
                marks=[] if quick(name, chosen, size[0]) else [pytest.mark.deep],
                id=f"{name}-{' '.join(map(str, chosen.values()))}-{size}",
            )
            for name, chosen in settings
            for size in sizes
        ],
    )  # fmt: skip


def check(name: str, chosen: dict[str, int], whole: tuple[int, ...], rest: tuple[int, ...]) -> None:
    entry = catalogue()[name]
    size = extents(entry, chosen, whole, rest)
    assert predicted(entry, chosen, size) == counted(entry, chosen, size)


@cases(
    TEACHING, BEYOND,
    lambda name, chosen, whole: (
        chosen == dict(catalogue()[name].teaching[0]) and whole != BEYOND[2][0]
    ),
)  # fmt: skip
@pytest.mark.sample(40)
def test_a_teaching_launch_is_predicted_exactly(name, chosen, whole, rest) -> None:  # type: ignore[no-untyped-def]
    check(name, chosen, whole, rest)


@cases(SPEED, FAST, lambda name, chosen, whole: name in CHEAP and whole == FAST[0][0])
@pytest.mark.sample(4)
def test_a_fast_launch_is_predicted_exactly(name, chosen, whole, rest) -> None:  # type: ignore[no-untyped-def]
    check(name, chosen, whole, rest)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CHEAP)
def test_a_fast_ragged_launch_is_predicted_exactly(name: str) -> None:
    check(name, dict(catalogue()[name].speed[0]), *FAST_RAGGED)


@pytest.mark.parametrize(
    ("name", "sectors"),
    [
        # a warp reads one sector of A and four of B a step, and stores four of C
        ("naive", lambda M, N, K: M * N // 32 * (5 * K + 4)),
        # each value of A once for TILE columns of C, of B once for TILE rows; eight a sector
        ("tiled", lambda M, N, K: 2 * M * N * K // 16 // 8 + M * N // 8),
        ("tiled:TILE=32", lambda M, N, K: 2 * M * N * K // 32 // 8 + M * N // 8),
        ("tiled_double", lambda M, N, K: 2 * M * N * K // 16 // 4 + M * N // 4),
        ("registers", lambda M, N, K: 2 * M * N * K // 128 // 8 + M * N // 8),
    ],
)
def test_sectors_of_large_launches_follow_from_the_tiles(name, sectors) -> None:  # type: ignore[no-untyped-def]
    own = name.partition("=")[2]
    entry = catalogue()[name.split(":")[0]]
    chosen = dict(entry.speed[0]) | ({"TILE": int(own)} if own else {})
    for size in ((4096, 4096, 4096), (8192, 6144, 4096)):
        if name == "registers":  # its stores of eight a thread are not of whole sectors at once
            found = predicted(entry, chosen, size)
            assert found["global_load_sectors"] == sectors(*size) - size[0] * size[1] // 8
        else:
            assert global_bytes(predicted(entry, chosen, size)) == 32 * sectors(*size)


def profiled(case: Mapping[str, Any]) -> tuple[str, dict[str, int], tuple[int, int, int]] | None:
    """Kernel, macros and size of a case of the profile; None where its text is another."""
    settings, _, extent = case["name"].rpartition(", ")
    name, *macros = settings.split(" ")
    if name not in catalogue() or "," in settings:
        return None
    chosen = {macro: int(value) for macro, _, value in (one.partition("=") for one in macros)}
    M, N, K = (int(number) for number in extent.split("x"))
    return name, chosen, (M, N, K)


PROFILED = [
    case
    for case in json.loads(PROFILE.read_text(encoding="utf-8"))["cases"]
    if profiled(case) is not None
]


def test_every_setting_of_the_catalogue_is_profiled() -> None:
    found = [(name, tuple(chosen.values())) for name, chosen, _ in map(profiled, PROFILED)]
    assert Counter(found) == {
        (entry.name, tuple(chosen.values())): 2
        for entry in catalogue().values()
        for chosen in entry.settings()
        if not uses_tensor_cores(entry.source())
    }


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            marks=[pytest.mark.deep]
            if re.search("TILE=(64|128) |ACROSS=4|, 96x", case["name"])
            else [],
            id=case["name"],
        )
        for case in PROFILED
    ],
)
def test_predictions_are_what_an_h200_counted(case: Mapping[str, Any]) -> None:
    """Where the profile's text is the catalogue's own, in forms whose counters need no excuse."""
    from tools.profile_cases import explained

    name, chosen, size = profiled(case)
    found = predicted(catalogue()[name], chosen, size)
    looked = [counter for counter in FIELDS if not explained(case["name"], case["form"], counter)]
    assert looked
    assert {counter: found[counter] for counter in looked} == {
        counter: case["measured"][counter] for counter in looked
    }


@pytest.mark.parametrize(
    ("extent", "tile", "begun", "proportional", "expected"),
    [
        (4096, 16, 1, True, ((16, 256),)),
        (4095, 16, 1, True, ((31, -253), (47, 254))),
        (16, 16, 1, True, ((16, 1),)),
        (40, 16, 3, False, ((40, 1),)),
        (4096, 16, 3, False, ((48, -252), (64, 253))),
        (20, 4, 1, True, ((12, 0), (20, 1))),
        (40, 16, 2, True, ((40, 1),)),
        (32, 16, 2, True, ((16, 2),)),
        (1, 1, 3, False, ((1, 1),)),
    ],
)
def test_samples_stand_for_an_extent(
    extent: int, tile: int, begun: int, proportional: bool, expected: tuple[tuple[int, int], ...]
) -> None:
    found = samples(extent, tile, begun, proportional)
    assert found == expected
    assert sum(length * weight for length, weight in found) == extent
    assert {length % np.lcm(tile, 8) for length, _ in found} == {extent % np.lcm(tile, 8)}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("nobody", "", "does not say how nobody is launched"),
        ("tiled", "int x;", "cannot run tiled"),
        (
            "naive",
            'extern "C" __global__ void naive(float* A) { while (true) A[0] += 1; }',
            "cannot run naive",
        ),
    ],
)
def test_what_cannot_be_predicted_is_a_sentence(name: str, text: str, told: str) -> None:
    with pytest.raises(NotPredictedError, match=told):
        predict(name, text, {}, (64, 64, 64))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name.split(":")[0] in CHEAP else [pytest.mark.deep])
        for name in variants(catalogue())
    ],
)
def test_every_variant_is_predicted_at_a_size_nobody_simulates(name: str) -> None:
    from gpu.candidate import choose

    one = choose(name, (8192, 6144, 4096))
    found = predict(one.name, one.text, one.defines, (8192, 6144, 4096))
    assert set(found) == set(FIELDS)
    assert all(count >= 0 for count in found.values())
    assert found["global_load_sectors"] > 0


@pytest.mark.parametrize("name", ["tensor_tf32", "tensor_half", "tensor_fp32"])
@pytest.mark.parametrize(
    "extent", [1024, pytest.param(4096, marks=pytest.mark.deep)], ids=lambda extent: str(extent)
)
@pytest.mark.sample(3)
def test_tensor_kernels_move_what_the_hardware_counted(name: str, extent: int) -> None:
    """But for stores to shared memory: the hardware counts none of an asynchronous copy."""
    size = (extent,) * 3
    comparisons = json.loads(RECORDED.read_text(encoding="utf-8"))["comparisons"]
    [comparison] = [one for one in comparisons if one["size"] == list(size)]
    [kernel] = [one for one in comparison["kernels"] if one["name"] == name]
    predicted = predict(name, kernel["source"], kernel["defines"], size)
    assert dict(predicted) == kernel["simulated"]
    measured = kernel["counters"]
    exact = [field for field in FIELDS if field.startswith("global_")]
    assert [predicted[field] for field in exact] == [measured[field] for field in exact]
    wavefronts = "shared_load_wavefronts"
    retries = measured[wavefronts] - predicted[wavefronts]  # at most a few in 10,000
    assert 0 <= retries <= 5e-4 * predicted[wavefronts]


def test_lines_add_up_and_each_has_what_it_does() -> None:
    """As the tiled kernel's text says: two loads and stores of tiles, and two reads at each k."""
    entry = catalogue()["transposed"]
    chosen, size = {"TILE": 32}, (2048, 2048, 2048)
    text = entry.source(**chosen)
    defines = {"TILE": "32"}
    lines = predict_lines("transposed:TILE=32", text, defines, size)
    total = predict("transposed:TILE=32", text, defines, size)
    assert {field: sum(line[field] for line in lines.values()) for field in FIELDS} == total
    [inner] = [number for number, line in enumerate(text.splitlines(), 1) if "acc +=" in line]
    warps, tiles = 64 * 64 * 32, 64
    # As[ty][k] is one word for all; Bs[tx][k] lies in one bank.
    assert lines[inner]["shared_load_wavefronts"] == warps * tiles * 32 * (1 + 32)
