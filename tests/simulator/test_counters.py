"""Counters against what Nsight Compute counted on an H200, and against a count one by one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simulator import simulate
from simulator.observers.transactions import ideal_wavefronts, sectors, wavefronts
from tests.simulator.launches import launch_text, matmul

MEASURED = json.loads(Path(__file__).with_name("h200_counters.json").read_text(encoding="utf-8"))
TRANSPOSED = (("Bs[ty][tx]", "Bs[tx][ty]"), ("Bs[k][tx]", "Bs[tx][k]"))
PADDED = (*TRANSPOSED, ("Bs[TILE][TILE]", "Bs[TILE][TILE + 1]"))
KERNELS = {
    "naive": ("naive", (), {}),
    "tiled16": ("tiled", (), {"TILE": 16}),
    "tiled32": ("tiled", (), {"TILE": 32}),
    "tiled16_bT": ("tiled", TRANSPOSED, {"TILE": 16}),
    "tiled32_bT": ("tiled", TRANSPOSED, {"TILE": 32}),
    "tiled16_bT_pad": ("tiled", PADDED, {"TILE": 16}),
    "tiled32_bT_pad": ("tiled", PADDED, {"TILE": 32}),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.deep] if KERNELS[name][2].get("TILE") == 32 else [])
        for name in MEASURED["counters"]
    ],
)
def test_counters_equal_the_hardwares(name: str) -> None:
    kernel_name, edit, chosen = KERNELS[name]
    report = simulate(*matmul(kernel_name, 256, 256, 256, edit, **chosen))
    assert dict(report.counters) == MEASURED["counters"][name]
    assert report.hazards == ()


def test_lines_add_up_and_show_the_ideal() -> None:
    report = simulate(*matmul("tiled", 32, 32, 32, TRANSPOSED, TILE=16))
    for name, total in report.counters.items():
        assert sum(line[name] for line in report.lines.values()) == total
    inner = report.lines[26]
    assert inner["shared_load_wavefronts_ideal"] == inner["shared_load_requests"]
    assert inner["shared_load_wavefronts"] == 4.5 * inner["shared_load_requests"]


@pytest.mark.parametrize("width", [4, 8, 16])
def test_transactions_equal_a_count_one_by_one(width: int) -> None:
    random = np.random.default_rng(width)
    addresses = random.integers(0, 256, (200, 32)) * width
    active = random.random((200, 32)) < 0.7
    active[0] = False
    lanes = 128 // width
    for warp in range(200):
        live = [int(a) for a, on in zip(addresses[warp], active[warp], strict=True) if on]
        assert sectors(addresses[warp : warp + 1], active[warp : warp + 1], width)[0] == len(
            {a // 32 for a in live}
        )
        expected = ideal = 0
        for start in range(0, 32, lanes):
            banks: dict[int, set[int]] = {}
            for lane in range(start, start + lanes):
                if active[warp, lane]:
                    for word in range(width // 4):
                        number = int(addresses[warp, lane]) // 4 + word
                        banks.setdefault(number % 32, set()).add(number)
            expected += max((len(words) for words in banks.values()), default=0)
            ideal += bool(banks)
        one = (addresses[warp : warp + 1], active[warp : warp + 1])
        assert wavefronts(*one, width, "store")[0] == expected
        assert ideal_wavefronts(*one, width, "store")[0] == ideal


# The statement of each of two blocks of a warp (w is the block's number, t the thread's), and what
# both take together: sectors of x, wavefronts of s.
TWO_WARPS = {
    "moved by a word": ("y[t] = x[t + w];", 4 + 5, 0),
    "moved by a sector": ("y[t] = x[t + 8 * w];", 4 + 4, 0),
    "twice as far apart": ("y[t] = x[t * (1 + w)];", 4 + 8, 0),
    "of fewer lanes": ("if (t < 32 - 20 * w) y[t] = x[t];", 4 + 2, 0),
    "of no lane": ("if (w) y[t] = x[t];", 4, 0),
    "a column of two": ("s[t * (1 + w)] = 1;", 0, 1 + 2),
    "a row each": ("s[t + 32 * w] = 1;", 0, 1 + 1),
    "a bank each": ("s[(t + w) % 64] = 1;", 0, 1 + 1),
    "a lane more each time": ("for (int i = 0; i < 3; ++i) if (t <= 8 * i) y[t] = x[t];",
                              2 * (1 + 2 + 3), 0),
    "a word on each time": ("for (int i = 0; i < 3; ++i) y[t] = x[t + i];", 2 * (4 + 5 + 5), 0),
    "three floats": ("float3 v = ((float3*)(x + 2))[t]; y[t] = v.x + v.y + v.z;",
                     2 * (12 + 13 + 13), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", TWO_WARPS)
def test_what_differs_between_warps_is_counted_for_each(name: str) -> None:
    statement, expected_sectors, expected_wavefronts = TWO_WARPS[name]
    text = (
        "__global__ void k(const float* x, float* y) { __shared__ float s[64];"
        f" int t = threadIdx.x, w = blockIdx.x; {statement} }}"
    )
    arrays = {"x": np.ones(128, np.float32), "y": np.zeros(32, np.float32)}
    counters = simulate(*launch_text(text, grid=2, **arrays)).counters
    assert counters["global_load_sectors"] == expected_sectors
    assert counters["shared_store_wavefronts"] == expected_wavefronts
