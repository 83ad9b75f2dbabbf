"""The run: kernels and cuBLAS on the same inputs, each verified, then timed side by side."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu.compile import Loaded, compile_text, element_type, load
from gpu.device import Device
from gpu.result import Comparison, KernelResult
from gpu.timing import FLUSH_BYTES, Timing, measure
from gpu.verify import CHUNK, MARGIN, Verdict, judge, random_inputs, reference, scale
from simulator.catalogue import catalogue
from simulator.launch import Dim3, dim3
from simulator.tree import LaunchError, SourceError

Progress = Callable[[str], None]

LARGEST = 2**31 - 1  # kernels index with int
CUBLAS = {"float32": "cublas", "float64": "cublas-double"}


@dataclass(frozen=True, slots=True)
class Contestant:
    """One kernel of a run: the text that is compiled and how it is launched."""

    name: str
    text: str
    kernel: str
    grid: Dim3
    block: Dim3
    defines: Mapping[str, str]


def choose(
    wanted: str, size: tuple[int, int, int], defines: Mapping[str, str] | None = None
) -> Contestant:
    """The contestant for "tiled" or "tiled:TILE=32" from the catalogue, for M, N, K.

    `defines` are macros set in every kernel that has them. LaunchError names what is wrong.
    """
    name, *settings = wanted.split(":")
    entry = catalogue().get(name)
    if entry is None:
        raise LaunchError(
            f"There is no kernel {name!r}; the catalogue has {', '.join(catalogue())}."
        )
    own = dict(_setting(setting) for setting in settings)
    for macro in own:
        if macro not in entry.defines:
            known = ", ".join(entry.defines) or "none"
            raise LaunchError(f"Kernel {name} has no macro {macro}; its macros: {known}.")
    given = {key: value for key, value in (defines or {}).items() if key in entry.defines}
    chosen: dict[str, int] = {}
    for macro, value in (given | own).items():
        if not value.isdecimal() or int(value) not in entry.defines[macro]:
            offered = ", ".join(map(str, sorted(entry.defines[macro])))
            raise LaunchError(f"{macro}={value} is not offered for {name}; choose from {offered}.")
        chosen[macro] = int(value)
    check_size(size)
    grid, block = entry.shape(size[0], size[1], **chosen)
    if grid[1] > 65535 or grid[2] > 65535:
        raise LaunchError(f"{name} needs {grid[1]:,} blocks in y; a GPU takes 65,535.")
    values = {macro: str(chosen.get(macro, offer[0])) for macro, offer in entry.defines.items()}
    return Contestant(wanted, entry.source(**chosen), entry.kernel, grid, block, values)


def variants() -> list[str]:
    """Each kernel in each setting that is worth measuring, as `choose` takes it."""
    names = []
    for entry in catalogue().values():
        for chosen in entry.speed:
            usual = {macro: values[0] for macro, values in entry.defines.items()}
            own = [f"{macro}={value}" for macro, value in chosen.items() if value != usual[macro]]
            names.append(":".join([entry.name, *own]))
    return names


def _setting(text: str) -> tuple[str, str]:
    macro, equals, value = text.partition("=")
    if not (macro and equals and value):
        raise LaunchError(f"{text!r} is no setting; write MACRO=VALUE.")
    return macro, value


def check_size(size: Sequence[int]) -> None:
    """LaunchError unless M, N and K are sizes that a kernel can index."""
    M, N, K = size
    for name, value in zip("MNK", size, strict=True):
        if value < 1:
            raise LaunchError(f"{name} is {value}; it must be at least 1.")
    for matrix, rows, columns in (("A", M, K), ("B", K, N), ("C", M, N)):
        if rows * columns > LARGEST:
            raise LaunchError(
                f"{matrix} would have {rows * columns:,} elements; the kernels count them with "
                f"int, up to {LARGEST:,}. Choose smaller sizes."
            )


def request(size: Sequence[int], contestants: Sequence[Contestant]) -> dict[str, Any]:
    """The worker's job for a comparison, as JSON takes it."""
    return {
        "job": "compare",
        "size": list(size),
        "kernels": [dataclasses.asdict(contestant) for contestant in contestants],
    }


def contestant_from(found: Mapping[str, Any]) -> Contestant:
    """A Contestant from its JSON object."""
    return Contestant(
        str(found["name"]),
        str(found["text"]),
        str(found["kernel"]),
        dim3(*found["grid"]),
        dim3(*found["block"]),
        {str(key): str(value) for key, value in found["defines"].items()},
    )


def compare(job: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the job that `request` describes on this process's GPU; the comparison as JSON.

    A kernel that does not compile is a result with an `error`; a kernel that breaks the CUDA
    context raises CuPy's error, and the process must end.
    """
    from gpu.probe import status

    progress("Looking at the GPU")
    found = status()
    if found.device is None:
        sentence = found.missing.sentence if found.missing else "no GPU can be used."
        raise LaunchError(sentence)
    M, N, K = size = (int(job["size"][0]), int(job["size"][1]), int(job["size"][2]))
    check_size(size)
    contestants = [contestant_from(kernel) for kernel in job["kernels"]]
    by_type: dict[str, list[Contestant]] = {"float32": []}
    failed: dict[str, KernelResult] = {}
    for contestant in contestants:
        try:
            element = element_type(contestant.text, contestant.kernel)
            by_type.setdefault(element, []).append(contestant)
        except SourceError as error:
            failed[contestant.name] = _failure(contestant, str(error))
    results: dict[str, KernelResult] = {}
    for element, group in by_type.items():
        results |= _run(size, group, element, found.device, progress)
    order = [contestant.name for contestant in contestants]
    order += [name for name in CUBLAS.values() if name in results]
    rows = tuple((results | failed)[name] for name in order)
    return Comparison(found.device, (M, N, K), rows).to_json()


def _run(
    size: tuple[int, int, int],
    contestants: Sequence[Contestant],
    element: str,
    device: Device,
    progress: Progress,
) -> dict[str, KernelResult]:
    """Compile, verify and time the kernels of one element type, cuBLAS with them."""
    import cupy

    M, N, K = size
    _check_memory(size, element, cupy)
    loaded: dict[str, Loaded] = {}
    results: dict[str, KernelResult] = {}
    for contestant in contestants:
        progress(f"Compiling {contestant.name}")
        try:
            loaded[contestant.name] = _compile(contestant, device)
        except (SourceError, LaunchError) as error:
            results[contestant.name] = _failure(contestant, str(error))
    progress("Filling A and B with fresh random numbers")
    host_a, host_b = random_inputs(M, N, K, element)
    typical = scale(host_a, host_b)
    A, B = cupy.asarray(host_a), cupy.asarray(host_b)
    del host_a, host_b
    padded = cupy.empty(M * N + 2 * MARGIN, dtype=element)
    C = padded[MARGIN : MARGIN + M * N].reshape(M, N)
    launches = {
        contestant.name: _launcher(loaded[contestant.name], contestant, (A, B, C, *size))
        for contestant in contestants
        if contestant.name in loaded
    }
    launches[CUBLAS[element]] = lambda: cupy.matmul(A, B, out=C)
    progress("Computing the float64 product")
    product = reference(cupy, A, B)
    verdicts: dict[str, Verdict] = {}
    for name, launch in launches.items():
        progress(f"Running {name} and checking its C")
        padded.fill(math.nan)
        launch()
        cupy.cuda.get_current_stream().synchronize()
        edges = cupy.concatenate((padded[:MARGIN], padded[-MARGIN:]))
        strayed = not bool(cupy.isnan(edges).all())
        verdicts[name] = judge(cupy, C, product, typical, K, strayed)
    del product
    timings = measure(launches, progress)
    baseline = timings[CUBLAS[element]].ms
    by_name = {contestant.name: contestant for contestant in contestants}
    for name, timing in timings.items():
        results[name] = _result(
            name, by_name.get(name), loaded.get(name), size, element, device,
            verdicts[name], timing, baseline,
        )  # fmt: skip
    return results


def _check_memory(size: tuple[int, int, int], element: str, cupy: Any) -> None:
    M, N, K = size
    width = np.dtype(element).itemsize
    matrices = width * (M * K + K * N + M * N)
    product = 8 * (M * N + K * (min(M, CHUNK) + min(N, CHUNK)) + 4 * min(M, CHUNK) * N)
    needed = matrices + product + FLUSH_BYTES
    free = int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())
    if needed > free:
        raise LaunchError(
            f"M, N, K = {M:,}, {N:,}, {K:,} need about {needed / 1e9:.1f} GB on the GPU, "
            f"and {free / 1e9:.1f} GB are free. Choose smaller sizes."
        )


def _compile(contestant: Contestant, device: Device) -> Loaded:
    architecture = "sm_" + device.compute_capability.replace(".", "")
    binary = compile_text(
        contestant.text, contestant.kernel, architecture, contestant.defines,
        f"{contestant.kernel}.cu",
    )  # fmt: skip
    return load(binary, contestant.grid, contestant.block, device.threads_per_multiprocessor)


def _launcher(loaded: Loaded, contestant: Contestant, arguments: tuple[Any, ...]) -> Any:
    arrays, sizes = arguments[:3], tuple(np.int32(value) for value in arguments[3:])

    def launch() -> None:
        loaded.function(contestant.grid, contestant.block, (*arrays, *sizes))

    return launch


def _failure(contestant: Contestant, sentence: str) -> KernelResult:
    return KernelResult(
        name=contestant.name,
        verified=False,
        verdict=sentence,
        error=sentence,
        grid=contestant.grid,
        block=contestant.block,
        defines=dict(contestant.defines),
        source=contestant.text,
    )


def _result(
    name: str,
    contestant: Contestant | None,
    loaded: Loaded | None,
    size: tuple[int, int, int],
    element: str,
    device: Device,
    verdict: Verdict,
    timing: Timing,
    baseline: float,
) -> KernelResult:
    M, N, K = size
    seconds = timing.ms / 1e3
    tflops = 2 * M * N * K / seconds / 1e12
    peak = device.peak_fp32_tflops if element == "float32" else None
    moved = np.dtype(element).itemsize * (M * K + K * N + M * N)
    resources = loaded.resources if loaded else None
    return KernelResult(
        name=name,
        verified=verdict.verified,
        verdict=verdict.sentence,
        element=element,
        ms=timing.ms,
        ms_spread=(timing.p20, timing.p80),
        repeats=timing.repeats,
        tflops=tflops,
        cublas_ratio=baseline / timing.ms,
        peak_share=tflops / peak if peak else None,
        gb_per_s=moved / seconds / 1e9,
        max_rel_error=_finite(verdict.max_rel_error),
        rel_norm_error=_finite(verdict.rel_norm_error),
        error_bound=verdict.error_bound,
        registers=resources.registers if resources else None,
        shared_bytes=resources.shared_bytes if resources else None,
        local_bytes=resources.local_bytes if resources else None,
        occupancy=resources.occupancy if resources else None,
        grid=contestant.grid if contestant else None,
        block=contestant.block if contestant else None,
        defines=dict(contestant.defines) if contestant else {},
        source=contestant.text if contestant else None,
    )


def _finite(value: float) -> float | None:
    """JSON has no NaN: an error that is no number is null."""
    return value if math.isfinite(value) else None
