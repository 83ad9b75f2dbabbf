"""The run: kernels and cuBLAS on the same inputs, each verified, then timed side by side."""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.headers import uses_tensor_cores
from gpu.candidate import Candidate, check_size
from gpu.comparison import Comparison, KernelResult
from gpu.cuda.compile import Loaded, compile_text, load
from gpu.cuda.cublas import product
from gpu.cuda.device import Device
from gpu.cuda.timing import FLUSH_BYTES, Timing, measure_steadily
from gpu.json_data import decode
from gpu.precision import PRECISIONS
from gpu.predicted_counters import NotPredictedError, Predict, predict
from gpu.progress import Progress, portion
from gpu.verify import CHUNK, MARGIN, Verdict, finite, judge, random_inputs, reference, scale
from simulator.language.errors import LaunchError, SourceError

LARGEST_SQUARE = 46341  # rows: the smallest square with more elements than int counts


@dataclass(frozen=True, slots=True)
class CompareJob:
    """The worker's job for a comparison, as JSON."""

    size: tuple[int, int, int]  # M, N, K
    kernels: tuple[Candidate, ...]
    gpu: int = 0  # the GPU's number


def request(size: Sequence[int], candidates: Sequence[Candidate], gpu: int = 0) -> dict[str, Any]:
    """The worker's job for a comparison on GPU number `gpu`, as JSON takes it."""
    return {
        "job": "compare",
        "gpu": gpu,
        "size": list(size),
        "kernels": [dataclasses.asdict(candidate) for candidate in candidates],
    }


def compare(job: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the job that `request` describes on this process's GPU; the comparison as JSON.

    A kernel that does not compile is a result with an `error`; a kernel that breaks the CUDA
    context raises CuPy's error, and the process must end.
    """
    from gpu.cuda.probe import use

    progress("Looking at the GPU", 0.0)
    compare_job = decode(CompareJob, job, "The job")
    size, candidates = compare_job.size, compare_job.kernels
    device = use(compare_job.gpu)
    check_size(size)
    groups: dict[str, list[Candidate]] = {"float32": []}  # by precision
    failed: dict[str, KernelResult] = {}
    for candidate in candidates:
        try:
            groups.setdefault(candidate.multiplies(), []).append(candidate)
        except SourceError as error:
            failed[candidate.name] = _failure(candidate, str(error))
    results: dict[str, KernelResult] = {}
    for index, (precision, group) in enumerate(groups.items()):
        share = portion(progress, index / len(groups), (index + 1) / len(groups))
        results |= _run(size, group, precision, device, share)
    order = [candidate.name for candidate in candidates]
    order += [one.cublas for one in PRECISIONS.values() if one.cublas in results]
    rows = tuple((results | failed)[name] for name in order)
    return Comparison(device, size, rows).to_json()


def with_simulated(
    comparison: Comparison, progress: Progress, predict: Predict = predict
) -> Comparison:
    """The comparison with the simulator's counters of each kernel that has a text, where it can.

    They are computed without the GPU, by predict, which may be done elsewhere.
    """
    rows = []
    for kernel in comparison.kernels:
        if kernel.source is not None and kernel.simulated is None and kernel.error is None:
            progress(f"Counting the transactions of {kernel.name} in the simulator")
            with contextlib.suppress(NotPredictedError):
                counted = predict(kernel.name, kernel.source, kernel.defines, comparison.size)
                kernel = dataclasses.replace(kernel, simulated=counted)
        rows.append(kernel)
    return dataclasses.replace(comparison, kernels=tuple(rows))


def _run(
    size: tuple[int, int, int],
    candidates: Sequence[Candidate],
    precision: str,
    device: Device,
    progress: Progress,
) -> dict[str, KernelResult]:
    """Compile, verify and time the kernels of one precision, cuBLAS with them."""
    import cupy

    M, N, K = size
    free = int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())
    check_memory(size, precision, free)
    types = PRECISIONS[precision]
    loaded: dict[str, Loaded] = {}
    results: dict[str, KernelResult] = {}
    compiling, checking = portion(progress, 0.0, 0.1), portion(progress, 0.1, 0.4)
    for index, candidate in enumerate(candidates):
        compiling(f"Compiling {candidate.name}", index / len(candidates))
        try:
            loaded[candidate.name] = _compile(candidate, device)
        except (SourceError, LaunchError) as error:
            results[candidate.name] = _failure(candidate, str(error))
    checking("Filling A and B with fresh random numbers", 0.0)
    host_a, host_b = random_inputs(M, N, K, types.operands)
    typical = scale(host_a, host_b)
    A, B = cupy.asarray(host_a), cupy.asarray(host_b)
    del host_a, host_b
    padded = cupy.empty(M * N + 2 * MARGIN, dtype=types.results)
    C = padded[MARGIN : MARGIN + M * N].reshape(M, N)
    launches = {
        candidate.name: launcher(loaded[candidate.name], candidate, (A, B, C), size)
        for candidate in candidates
        if candidate.name in loaded
    }
    launches[types.cublas] = product(A, B, C, precision)
    checking("Computing the float64 product", 0.1)
    expected = reference(cupy, A, B)
    by_name = {candidate.name: candidate for candidate in candidates}
    verdicts: dict[str, Verdict] = {}
    for index, (name, launch) in enumerate(launches.items()):
        checking(f"Running {name} and checking its C", 0.2 + 0.8 * index / len(launches))
        padded.fill(math.nan)
        if name in by_name and by_name[name].c_holds_zeros:
            C.fill(0)
        launch()
        cupy.cuda.get_current_stream().synchronize()
        edges = cupy.concatenate((padded[:MARGIN], padded[-MARGIN:]))
        wrote_outside = not bool(cupy.isnan(edges).all())
        verdicts[name] = judge(cupy, C, expected, typical, K, precision, wrote_outside)
    del expected
    timings, runs = measure_steadily(launches, portion(progress, 0.4, 1.0))
    baseline = timings[types.cublas].ms
    for name, timing in timings.items():
        results[name] = _result(
            name, by_name.get(name), loaded.get(name), size, precision, device,
            verdicts[name], timing, baseline, runs,
        )  # fmt: skip
    return results


def memory_needed(size: tuple[int, int, int], precision: str) -> int:
    """Bytes on the GPU that a comparison takes: A, B, C, the float64 product and the flushed L2."""
    M, N, K = size
    in_float64 = 8 * (M * N + K * (min(M, CHUNK) + min(N, CHUNK)) + 4 * min(M, CHUNK) * N)
    return bytes_of_matrices(size, precision) + in_float64 + FLUSH_BYTES


def bytes_of_matrices(size: tuple[int, int, int], precision: str) -> int:
    """Bytes of A, B and C together."""
    M, N, K = size
    types = PRECISIONS[precision]
    operands, results = (np.dtype(name).itemsize for name in (types.operands, types.results))
    return operands * (M * K + K * N) + results * M * N


def check_memory(size: tuple[int, int, int], precision: str, free: int) -> None:
    """LaunchError where a comparison takes more than `free` bytes, with a size that fits."""
    needed = memory_needed(size, precision)
    if needed <= free:
        return
    fitting = bisect.bisect_right(
        range(LARGEST_SQUARE), free, key=lambda extent: memory_needed((extent,) * 3, precision)
    )
    most = (fitting - 1) // 64 * 64
    advice = f"M = N = K = {most:,} fits" if most > 0 else "Close what else uses it"
    raise LaunchError(
        f"M, N, K = {', '.join(f'{extent:,}' for extent in size)} need about "
        f"{needed / 1e9:.1f} GB on the GPU, and {free / 1e9:.1f} GB are free. {advice}."
    )


def _compile(candidate: Candidate, device: Device) -> Loaded:
    binary = compile_text(
        candidate.text, candidate.kernel, device.architecture, candidate.defines, candidate.options
    )
    return load(binary, candidate.block, device.threads_per_multiprocessor, candidate.shared_bytes)


def launcher(
    loaded: Loaded, candidate: Candidate, arrays: tuple[Any, Any, Any], size: tuple[int, int, int]
) -> Any:
    """What queues a launch of a candidate with the arrays A, B and C."""
    names = candidate.arguments or ("A", "B", "C", *(f"i32={value}" for value in size))
    by_name = dict(zip("ABC", arrays, strict=True))
    arguments = tuple(by_name[name] if name in by_name else _number(name) for name in names)

    def launch() -> None:
        loaded.function(
            candidate.grid, candidate.block, arguments, shared_mem=candidate.shared_bytes
        )

    return launch


def _number(text: str) -> Any:
    """A number with its type, such as "i32=4096" or "f32=1.0"."""
    kind, _, value = text.partition("=")
    dtype = np.dtype(f"{kind[:1]}{int(kind[1:]) // 8}")
    return dtype.type(float(value) if dtype.kind == "f" else int(value))


def _failure(candidate: Candidate, sentence: str) -> KernelResult:
    return KernelResult(
        name=candidate.name,
        verified=False,
        verdict=sentence,
        error=sentence,
        grid=candidate.grid,
        block=candidate.block,
        defines=dict(candidate.defines),
        source=candidate.text,
    )


def _result(
    name: str,
    candidate: Candidate | None,
    loaded: Loaded | None,
    size: tuple[int, int, int],
    precision: str,
    device: Device,
    verdict: Verdict,
    timing: Timing,
    baseline: float,
    runs: int,
) -> KernelResult:
    M, N, K = size
    seconds = timing.ms / 1e3
    tflops = 2 * M * N * K / seconds / 1e12
    on_tensor_cores = candidate is not None and uses_tensor_cores(candidate.text)
    has_peak = precision == "float32" and not on_tensor_cores
    peak = device.peak_fp32_tflops if has_peak else None
    moved = bytes_of_matrices(size, precision)
    resources = loaded.resources if loaded else None
    return KernelResult(
        name=name,
        verified=verdict.verified,
        verdict=verdict.sentence,
        element=precision,
        ms=timing.ms,
        ms_spread=(timing.p20, timing.p80),
        repeats=timing.repeats,
        call_us=timing.call_us,
        runs=runs,
        tflops=tflops,
        cublas_ratio=baseline / timing.ms,
        peak_share=tflops / peak if peak else None,
        gb_per_s=moved / seconds / 1e9,
        max_rel_error=finite(verdict.max_rel_error),
        rel_norm_error=finite(verdict.rel_norm_error),
        error_bound=verdict.error_bound,
        registers=resources.registers if resources else None,
        shared_bytes=resources.shared_bytes if resources else None,
        local_bytes=resources.local_bytes if resources else None,
        occupancy=resources.occupancy if resources else None,
        grid=candidate.grid if candidate else None,
        block=candidate.block if candidate else None,
        defines=dict(candidate.defines) if candidate else {},
        source=candidate.text if candidate else None,
    )
