"""Ceilings and latencies: the chain that is chased, kernels that compile, and their JSON."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from gpu.__main__ import main
from gpu.comparison import comparison_from
from gpu.cuda.compile import compile_text
from gpu.cuda.device import Device, status_from
from gpu.cuda.microbenchmarks import ceilings, latency
from gpu.cuda.microbenchmarks.latency import chain, cycle, region_bytes
from gpu.cuda.microbenchmarks.limits import limits_from, request
from gpu.tables import limits_table
from gpu.worker import Worker
from tests.gpu.jobs import FAKE

CANNED = json.loads(Path(__file__).with_name("comparison.json").read_text(encoding="utf-8"))
FOUND = {
    "ceilings": {
        "fp32_tflops": 60.5,
        "dram_gb_s": 4000.0,
        "l2_gb_s": 9000.0,
        "tf32_tflops": 322.0,
        "half_tflops": 643.0,
        "tf32_group_tflops": 485.0,
        "half_group_tflops": 896.0,
    },
    "latency": {"register": 4.0, "shared": 29.0, "l1": 39.0, "l2": 288.0, "dram": 686.0},
}


@pytest.mark.parametrize("nodes", [1, 2, 3, 128, 1000])
def test_the_chain_goes_through_every_node_once(nodes: int) -> None:
    words = chain(2**40 + 256, cycle(nodes, np.random.default_rng(nodes)), 128)
    assert words.nbytes == nodes * 128
    at, seen = 2**40 + 256, []
    for _ in range(nodes):
        seen.append(at)
        at = int(words[(at - 2**40 - 256) // 8])
    assert at == seen[0]
    assert sorted(seen) == [2**40 + 256 + 128 * node for node in range(nodes)]


def test_a_random_round_does_not_run_along_memory() -> None:
    follower = cycle(4096, np.random.default_rng(1))
    assert (follower == (np.arange(4096) + 1) % 4096).sum() < 20


@pytest.mark.parametrize(
    ("l2", "memory", "expected"),
    [(50 * 2**20, 80 * 2**30, 2**28), (100 * 2**20, 80 * 2**30, 400 * 2**20),
     (50 * 2**20, 2**30, 2**27)],
)  # fmt: skip
def test_the_region_outgrows_the_l2_and_fits_in_memory(l2: int, memory: int, expected: int) -> None:
    device: Device = dataclasses.replace(
        comparison_from(CANNED).device, l2_bytes=l2, memory_bytes=memory
    )
    assert region_bytes(device) == expected


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("name", list(latency.TEXTS))
def test_each_chase_compiles(name: str) -> None:
    assert compile_text(latency.TEXTS[name], "chase", "sm_90").symbol == "chase"


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize(
    ("text", "kernel"), [(ceilings.FMA, "multiply_add"), (ceilings.COPY, "copy")]
)
def test_what_measures_ceilings_compiles(text: str, kernel: str) -> None:
    assert compile_text(text, kernel, "sm_90", ceilings.MACROS).symbol == kernel


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("kind", ceilings.TILE_KINDS)
def test_what_measures_tensor_cores_compiles(kind: str) -> None:
    text = ceilings.tile_text(kind)
    assert compile_text(text, "multiply_tiles", "sm_80").symbol == "multiply_tiles"


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("kind", ceilings.GROUP_KINDS)
def test_what_measures_warp_groups_compiles(kind: str) -> None:
    text = ceilings.group_text(kind)
    assert compile_text(text, "multiply_in_groups", "sm_90").symbol == "multiply_in_groups"


def test_limits_survive_json() -> None:
    found = limits_from(FOUND)
    assert dataclasses.asdict(found) == FOUND
    assert found.latency.dram == 686
    assert "Tensor cores alone: TF32 322 TFLOP/s, half 643" in limits_table(found)
    assert "warpgroup instructions: TF32 485 TFLOP/s, half 896" in limits_table(found)


def test_limits_without_tensor_cores_say_nothing_of_them() -> None:
    older = {name: FOUND["ceilings"][name] for name in ("fp32_tflops", "dram_gb_s", "l2_gb_s")}
    found = limits_from({**FOUND, "ceilings": older})
    assert found.ceilings.half_tflops is None
    assert "Tensor" not in limits_table(found)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ({}, "limits lacks ceilings"),
        ({**FOUND, "latency": {"l1": 1.0}}, "latency lacks register"),
        (
            {**FOUND, "ceilings": FOUND["ceilings"] | {"l2_gb_s": "fast"}},
            "ceilings.l2_gb_s is wrong",
        ),
    ],
)
def test_damaged_limits_are_a_sentence(found: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        limits_from(found)


def test_the_command_prints_limits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    monkeypatch.setattr("gpu.worker.COMMAND", FAKE)
    assert main(["limits", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"ceilings", "latency"}
    assert main(["limits"]) == 0
    assert "dram 686" in capsys.readouterr().out


@pytest.mark.gpu
def test_a_gpus_limits_are_in_the_order_of_its_memories(worker: Worker) -> None:
    device = status_from(worker.status(0)).device
    assert device is not None
    found = limits_from(worker.submit(request(), 120).wait())
    waits = found.latency
    assert 2 < waits.register < waits.shared < waits.l1 < waits.l2 < waits.dram < 5000
    best = found.ceilings
    assert 0 < best.dram_gb_s < best.l2_gb_s
    if device.peak_gb_s:
        assert 0.4 * device.peak_gb_s < best.dram_gb_s <= device.peak_gb_s
    if device.peak_fp32_tflops:
        assert 0.4 * device.peak_fp32_tflops < best.fp32_tflops <= 1.1 * device.peak_fp32_tflops
