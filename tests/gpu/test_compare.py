"""What a comparison needs before it runs, and what is added to it after."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gpu import compare
from gpu.candidate import choose
from gpu.compare import CompareJob, check_memory, memory_needed, request, with_simulated
from gpu.comparison import comparison_from, explain_steadiness
from gpu.cuda.compile import Binary, Loaded, Resources
from gpu.cuda.timing import Timing
from gpu.json_data import decode
from gpu.tables import table
from simulator.language.errors import LaunchError
from tests.gpu import fake_cupy

CANNED = json.loads(Path(__file__).with_name("comparison.json").read_text(encoding="utf-8"))
GIB = 2**30


@pytest.mark.parametrize(
    ("size", "element", "least"),
    [
        ((4096, 4096, 4096), "float32", (3 * 4 + 8) * 4096**2),
        ((4096, 4096, 4096), "float64", (3 * 8 + 8) * 4096**2),
        ((100, 50, 30000), "float32", 4 * (100 + 50) * 30000 + 8 * 150 * 30000),
    ],
)
def test_the_memory_needed_holds_matrices_and_the_reference(
    size: tuple[int, int, int], element: str, least: int
) -> None:
    assert least < memory_needed(size, element) < 2 * least + GIB


def test_a_gpu_too_small_for_the_size_is_told_what_fits() -> None:
    check_memory((4096, 4096, 4096), "float32", 2 * GIB)
    with pytest.raises(LaunchError) as caught:
        check_memory((40000, 40000, 40000), "float32", 8 * GIB)
    sentence = str(caught.value)
    assert sentence.startswith("M, N, K = 40,000, 40,000, 40,000 need about ")
    assert "8.6 GB are free" in sentence
    most = int(sentence.rpartition(" = ")[2].removesuffix(" fits.").replace(",", ""))
    assert memory_needed((most,) * 3, "float32") <= 8 * GIB
    assert memory_needed((most + 65,) * 3, "float32") > 8 * GIB


def test_a_gpu_without_any_room_is_a_sentence() -> None:
    with pytest.raises(LaunchError, match="Close what else uses it"):
        check_memory((64, 64, 64), "float32", 1000)


def test_a_kernel_of_the_catalogue_says_how_it_multiplies() -> None:
    half = choose("tensor_half", (512, 512, 512))
    assert (half.multiplies(), half.shared_bytes) == ("float16", 162816)
    assert choose("tensor_fp32", (64, 64, 64)).multiplies() == "float32"
    assert choose("tensor_tf32:DEPTH=16", (64, 64, 64)).multiplies() == "tf32"
    unnamed = dataclasses.replace(choose("tiled_double", (64, 64, 64)), precision="")
    assert unnamed.multiplies() == "float64"
    assert (
        memory_needed((8192, 8192, 8192), "tf32") - memory_needed((8192, 8192, 8192), "float16")
        == 2 * 2 * 8192 * 8192
    )


def test_a_job_names_its_gpu_and_its_kernels() -> None:
    one = choose("tiled:TILE=8", (100, 50, 25))
    job = json.loads(json.dumps(request((100, 50, 25), [one], 3)))
    assert (job["job"], job["gpu"], job["size"]) == ("compare", 3, [100, 50, 25])
    assert decode(CompareJob, job, "The job") == CompareJob((100, 50, 25), (one,), 3)


def test_each_kernel_gets_the_simulators_counters() -> None:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    comparison = comparison_from(CANNED)
    tiled = choose("tiled", comparison.size)
    kernels = [
        dataclasses.replace(comparison.kernels[0], source="int x;"),
        dataclasses.replace(comparison.kernels[1], source=tiled.text, defines=tiled.defines),
        comparison.kernels[2],
    ]
    heard: list[str] = []
    found = with_simulated(
        dataclasses.replace(comparison, kernels=tuple(kernels)),
        lambda message, _done=None, /: heard.append(message),
    )
    assert [kernel.simulated is None for kernel in found.kernels] == [True, False, True]
    M, N, K = comparison.size
    counted = found.kernels[1].simulated
    assert counted is not None
    assert counted["global_load_sectors"] == 2 * M * N * K // 16 // 8
    assert counted["shared_load_requests"] == 2 * M * N * K // 32
    assert heard == [f"Counting the transactions of {name} in the simulator"
                     for name in ("naive", "tiled")]  # fmt: skip
    assert with_simulated(found, lambda *_: heard.clear()).kernels[1] == found.kernels[1]


def test_a_comparison_says_how_often_it_was_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a stand-in for a GPU whose cuBLAS is slowed now and then, as by a limit of power."""
    device, size = comparison_from(CANNED).device, (128, 256, 64)
    host = fake_cupy.install(monkeypatch, 1, 3)
    resources = Resources(0, 0, 0, 1, 1.0)
    monkeypatch.setattr("gpu.cuda.probe.use", lambda _gpu: device)
    monkeypatch.setattr(compare, "compile_text", lambda *_: Binary("warptiles", b"", ""))
    monkeypatch.setattr(
        compare, "load",
        lambda *_: Loaded(None, lambda *given, shared_mem: host.launch(*given), resources),
    )  # fmt: skip
    clock = iter([0.3, 0.12, 0.02])

    def timed(launches: Mapping[str, Callable[[], object]], _progress: object) -> object:
        spread = next(clock)
        return {name: Timing(2.0, 2.0, 2.0 + 2 * spread, 20) for name in launches}

    monkeypatch.setattr("gpu.cuda.timing.measure", timed)
    found = compare.compare(request(size, [choose("warptiles", size)]), lambda *_: None)
    comparison = comparison_from(json.loads(json.dumps(found)))
    assert comparison.verified
    assert [(one.name, one.runs) for one in comparison.kernels] == [("warptiles", 3), ("cublas", 3)]
    assert comparison.kernels[1].ms_spread == (2.0, 2.04)
    sentence = (
        "were timed 3 times, because samples spread by more than 5%; the steadiest run is shown"
    )
    assert sentence in table(comparison)
    assert "Samples spread" not in table(comparison)


def test_kernels_whose_samples_spread_are_named() -> None:
    comparison = comparison_from(CANNED)
    first = dataclasses.replace(comparison.kernels[0], ms=20.0, ms_spread=(19.0, 21.4))
    steady = [dataclasses.replace(one, ms=1.0, ms_spread=(1.0, 1.04))
              for one in comparison.kernels[1:]]  # fmt: skip
    comparison = dataclasses.replace(comparison, kernels=(first, *steady))
    sentence = explain_steadiness(comparison, lambda kernel: kernel.name)
    assert sentence == ["Samples spread by more than 5%: naive (12.0%)."]
