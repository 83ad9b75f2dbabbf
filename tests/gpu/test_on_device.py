"""On a real GPU: kernels verified, timed and compared, and kernels that break their process."""

from __future__ import annotations

import dataclasses
import json

import pytest

from gpu.__main__ import main
from gpu.candidate import Candidate, choose
from gpu.compare import request
from gpu.comparison import Comparison, comparison_from
from gpu.worker import Worker
from tests.gpu.jobs import failure

pytestmark = pytest.mark.gpu

SIZES = [(512, 512, 512), (1, 1, 1), (33, 47, 29), (257, 130, 1023), (1000, 31, 64)]
HEAD = (
    "__global__ void wrong(const float* A, const float* B, float* C, int M, int N, int K) {\n"
    "    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y"
    " + threadIdx.y;\n"
)
PRODUCT = "float acc = 0; for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];"


def written(body: str, size: tuple[int, int, int]) -> Candidate:
    """A kernel that is not in the catalogue, one thread for each element of C."""
    naive = choose("naive", size)
    return dataclasses.replace(naive, name="wrong", kernel="wrong", text=HEAD + body + "\n}\n")


def run(worker: Worker, size: tuple[int, int, int], *candidates: Candidate) -> Comparison:
    return comparison_from(dict(worker.submit(request(size, candidates), 120).wait()))


def test_the_device_is_described(worker: Worker) -> None:
    device = dict(worker.submit({"job": "status"}, 60).wait())["device"]
    assert device["name"]
    assert device["multiprocessors"] > 0
    assert device["memory_bytes"] > 2**30
    assert device["sm_clock_mhz"] > 300
    assert device["peak_fp32_tflops"] is None or device["peak_fp32_tflops"] > 0.5
    assert all(device[key] for key in ("driver_cuda", "cuda_runtime", "nvrtc", "cublas", "cupy"))


@pytest.mark.parametrize("override", ["", "0", "1"])
def test_cublas_multiplies_in_the_precision_that_is_asked_for(
    override: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", override)
    fresh = Worker()
    try:
        size = (256, 256, 256)
        found = run(fresh, size, *(choose(name, size) for name in ("tensor_tf32", "tensor_half")))
    finally:
        fresh.close()
    errors = {kernel.name: kernel.rel_norm_error or 0.0 for kernel in found.kernels}
    assert 0 < errors["cublas"] < 1e-6  # fractions of 24 bits
    assert errors["cublas-tf32"] > 1e-5  # of 11, in TF32 as in half
    assert errors["cublas-tf32"] == pytest.approx(errors["tensor_tf32"], rel=0.5)


@pytest.mark.parametrize("size", SIZES)
def test_the_catalogue_is_right_at_any_size(worker: Worker, size: tuple[int, int, int]) -> None:
    names = ["naive", "tiled", "tiled:TILE=2", "tiled:TILE=8", "tiled:TILE=32"]
    found = run(worker, size, *(choose(name, size) for name in names))
    assert [kernel.name for kernel in found.kernels] == [*names, "cublas"]
    assert [kernel.verdict for kernel in found.kernels if not kernel.verified] == []
    for kernel in found.kernels:
        assert kernel.ms is not None
        assert kernel.ms_spread is not None
        assert 0 < kernel.ms_spread[0] <= kernel.ms <= kernel.ms_spread[1]
        assert kernel.call_us
        assert kernel.repeats >= 20
        if kernel.name != "cublas":
            assert kernel.registers
            assert kernel.occupancy is not None
            assert 0 < kernel.occupancy <= 1
    by_name = {kernel.name: kernel for kernel in found.kernels}
    assert by_name["tiled"].shared_bytes == 2 * 16 * 16 * 4
    assert by_name["cublas"].cublas_ratio == 1


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("", "hold no number"),
        ("if (row < M && col < N - 1) {" + PRODUCT + "C[row * N + col] = acc; }", "64 of C's"),
        (
            "if (row < M && col < N) {" + PRODUCT.replace("k < K", "k < K - 1")
            + "C[row * N + col] = acc; }",
            "C is wrong",
        ),
        (
            "if (row < M && col < N) {" + PRODUCT
            + "C[row * N + col] = acc; if (row + col == 0) C[-5] = 1; }",
            "outside C",
        ),
        ("int x = y;", 'line 3, column 1: NVRTC: identifier "y" is undefined'),
    ],
)  # fmt: skip
def test_a_wrong_kernel_is_not_verified(worker: Worker, body: str, sentence: str) -> None:
    size = (64, 64, 64)
    found = run(worker, size, written(body, size), choose("tiled", size))
    by_name = {kernel.name: kernel for kernel in found.kernels}
    assert not by_name["wrong"].verified
    assert sentence in by_name["wrong"].verdict
    assert by_name["tiled"].verified
    assert by_name["cublas"].verified


def test_too_much_memory_is_refused_in_a_sentence(worker: Worker) -> None:
    size = (46340, 46340, 46340)
    total = dict(worker.submit({"job": "status"}, 60).wait())["device"]["memory_bytes"]
    if total > 60e9:
        pytest.skip("this GPU has room for the largest matrices that int indexes reach")
    assert "are free" in failure(worker.submit(request(size, [choose("tiled", size)]), 60))


@pytest.mark.parametrize(
    ("body", "limit", "expected"),
    [
        ("C[(size_t)row * 4000000000ull + (1ull << 42)] = 1;", 60, "illegal address"),
        ("__trap();", 60, "Running wrong"),
        ("*(float*)((char*)C + 1) = 1;", 60, "not a multiple"),
        ("volatile float* c = C; while (true) c[0] = 1;", 6, "did not end within 6 seconds"),
    ],
)
def test_a_kernel_that_breaks_its_process_does_not_break_ours(
    worker: Worker, body: str, limit: float, expected: str
) -> None:
    size = (64, 64, 64)
    assert run(worker, size, choose("tiled", size)).verified
    sentence = failure(worker.submit(request(size, [written(body, size)]), limit))
    assert sentence.startswith("Running wrong and checking its C")
    assert expected in sentence
    assert run(worker, size, choose("tiled", size)).verified


def test_out_of_memory_ends_the_process_and_the_next_job_runs(fake: Worker) -> None:
    assert "ran out of memory" in failure(fake.submit({"job": "hog"}, 60))
    assert fake.submit({"job": "echo", "say": "well"}, 60).wait()["said"] == "well"


def test_the_command_compares(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--m", "300", "--n", "200", "--k", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["size"] == [300, 200, 100]
    assert all(kernel["verified"] for kernel in found["kernels"])
