"""The job of `python -m gpu scale`: one product over several GPUs, verified, then timed."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.headers import uses_tensor_cores
from gpu.candidate import choose
from gpu.compare import memory_needed
from gpu.cuda.compile import Binary, Loaded, Resources, compile_text, load
from gpu.cuda.device import Device, architecture
from gpu.cuda.timing import Timing, measure_calls
from gpu.json_data import decode
from gpu.progress import Progress, portion
from gpu.scale.cublas_xt import CublasXt, CublasXtError
from gpu.scale.placement import Multiply, Placement
from gpu.scale.plan import FLOAT_BYTES, Plan, Size, make_plan
from gpu.scale.scaling import ScaleRun, Scaling, Way
from gpu.verify import Verdict, finite, judge, random_inputs, reference, scale
from simulator.catalogue import catalogue
from simulator.language.errors import LaunchError

LINK_BYTES = 2**30  # of the copy that measures the link between two GPUs


@dataclass(frozen=True, slots=True)
class ScaleJob:
    """The worker's job, as JSON."""

    size: tuple[int, int, int]  # M, N, K
    gpus: tuple[int, ...]  # how many GPUs, for each spread; the first is 1


def request(size: Size, gpus: Sequence[int]) -> dict[str, Any]:
    """The worker's job over so many GPUs (`choose_counts`), as JSON takes it."""
    return {"job": "scale", "size": list(size), "gpus": list(gpus)}


def fastest_kernel() -> str:
    """The last rung of the catalogue's ladder whose products are float32 multiply-adds."""
    entries = [one for one in catalogue().values() if not uses_tensor_cores(one.source())]
    return max(entries, key=lambda entry: entry.rung).name


def choose_counts(wanted: Sequence[int], found: int) -> list[int]:
    """How many GPUs to run on, one GPU first: those wanted, or 1, 2, 4 and so on if none are.

    LaunchError where `found` GPUs, those of this machine, do not suffice.
    """
    here = "one GPU" if found == 1 else f"{found} GPUs"
    if found < 2 and not wanted:
        raise LaunchError(
            f"This machine shows {here}; scale spreads a product over two or more of one host."
        )
    powers = [2**power for power in range(found.bit_length())]
    counts = sorted({1, *wanted}) if wanted else powers
    if counts[0] < 1 or counts[-1] > found:
        asked = counts[0] if counts[0] < 1 else counts[-1]
        raise LaunchError(f"This machine shows {here}; a product cannot be spread over {asked}.")
    return counts


@dataclass(frozen=True, slots=True)
class Contender:
    """One way over so many GPUs, ready to run."""

    gpus: int
    way: Way
    placement: Placement
    multiply: Multiply

    @property
    def name(self) -> str:
        """What reports call it: "2 GPUs, NCCL"."""
        return f"{self.gpus} GPU{'s' if self.gpus > 1 else ''}, {self.way}"

    def run(self) -> None:
        """One product; it ends when all GPUs have."""
        self.placement.queue(self.way, self.multiply)
        self.placement.wait()


def scale_product(job: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the job that `request` describes on this process's GPUs; a Scaling as JSON."""
    import cupy

    from gpu.cuda.probe import status, use

    progress("Looking at the GPUs", 0.0)
    asked = decode(ScaleJob, job, "The job")
    size, counts, name = asked.size, asked.gpus, fastest_kernel()
    device, names = use(0), status().devices
    candidate = choose(name, size)
    unit = catalogue()[name].produces()
    plans = {gpus: make_plan(size, gpus, unit) for gpus in counts}
    check_memory(list(plans.values()), int(cupy.cuda.runtime.memGetInfo()[0]))
    progress(f"Compiling {name}", 0.02)
    multiply, resources = load_everywhere(name, candidate.text, counts[-1], device)
    progress("Filling A and B with fresh random numbers", 0.05)
    host_a, host_b = random_inputs(*size, "float32")
    typical = scale(host_a, host_b)
    A, B = cupy.asarray(host_a), cupy.asarray(host_b)
    placements = {gpus: Placement(plan, A, B) for gpus, plan in plans.items()}
    contenders, notes = find_contenders(placements, multiply)
    progress("Computing the float64 product", 0.1)
    product = reference(cupy, A, B)
    checks = check_all(contenders, product, typical, portion(progress, 0.2, 0.5))
    del product
    calls = {one.name: one.run for one in contenders}
    timings = measure_calls(calls, portion(progress, 0.5, 1.0))
    alone = timings[contenders[0].name].ms
    return Scaling(
        device=device,
        devices=names[: counts[-1]],
        size=size,
        kernel=name,
        defines=dict(candidate.defines),
        source=candidate.text,
        resident_blocks=device.multiprocessors * resources.blocks_per_multiprocessor,
        peer_gb_s=measure_link(progress) if counts[-1] > 1 else None,
        runs=tuple(
            summarise_run(one, *checks[one.name], timings[one.name], alone) for one in contenders
        ),
        notes=tuple(notes),
    ).to_json()


def check_memory(plans: Sequence[Plan], free: int) -> None:
    """LaunchError where GPU 0, which has the most, would need more than its `free` bytes."""
    M, N, K = plans[0].size
    whole = 3 * FLOAT_BYTES * M * N  # C as it is gathered, a part of it, and one to compare with
    needed = memory_needed((M, N, K), "float32") + whole
    needed += sum(plan.bytes_held(0) for plan in plans)
    if needed > free:
        raise LaunchError(
            f"M, N, K = {M:,}, {N:,}, {K:,} need about {needed / 1e9:.1f} GB on the first GPU, "
            f"which also checks C, and {free / 1e9:.1f} GB are free. Choose a smaller size."
        )


def load_everywhere(name: str, text: str, gpus: int, device: Device) -> tuple[Multiply, Resources]:
    """The kernel of that name on each GPU, compiled for its architecture; what it takes on GPU 0.

    `device` is GPU 0.
    """
    import cupy

    binaries: dict[str, Binary] = {}
    loaded: list[Loaded] = []
    tiny = choose(name, (1, 1, 1))
    shape = functools.cache(catalogue()[name].shape)
    for gpu in range(gpus):
        with cupy.cuda.Device(gpu) as current:
            target = architecture(current.compute_capability)
            if target not in binaries:
                binaries[target] = compile_text(text, tiny.kernel, target, tiny.defines)
            threads = device.threads_per_multiprocessor
            loaded.append(load(binaries[target], tiny.block, threads))

    def multiply(gpu: int, a: Any, b: Any, c: Any, /) -> None:
        (M, K), N = a.shape, b.shape[1]
        loaded[gpu].function(*shape(M, N), (a, b, c, np.int32(M), np.int32(N), np.int32(K)))

    return multiply, loaded[0].resources


def find_contenders(
    placements: Mapping[int, Placement], multiply: Multiply
) -> tuple[list[Contender], list[str]]:
    """Every way that this machine has, our kernel on one GPU first; and what it lacks."""
    import cupy
    from cupy.cuda import nccl

    def cublas(_gpu: int, a: Any, b: Any, c: Any, /) -> None:
        cupy.matmul(a, b, out=c)

    alone = placements[1]
    ways = [Way.PEER, Way.NCCL, Way.IN_PLACE] if nccl.available else [Way.PEER, Way.IN_PLACE]
    contenders = [
        Contender(1, Way.IN_PLACE, alone, multiply),
        Contender(1, Way.CUBLAS, alone, cublas),
    ]
    notes = [] if nccl.available else ["NCCL was not found by CuPy, so nothing went through it."]
    for gpus, placement in placements.items():
        if gpus == 1:
            continue
        contenders += [Contender(gpus, way, placement, multiply) for way in ways]
        try:
            spread = CublasXt(range(gpus))
        except CublasXtError as error:
            notes.append(str(error))
        else:
            contenders.append(Contender(gpus, Way.CUBLAS_XT, alone, spread.multiply))
    return contenders, notes


def check_all(
    contenders: Sequence[Contender], product: Any, typical: float, progress: Progress
) -> dict[str, tuple[Verdict, bool]]:
    """Each contender's verdict, and whether its C is the first one's bit for bit."""
    import cupy

    first: Any = None
    checks = {}
    for index, one in enumerate(contenders):
        progress(f"Running {one.name} and checking its C", index / len(contenders))
        one.placement.clear()
        if one.way is Way.IN_PLACE:
            one.placement.fetch()
        one.run()
        C, wrote_outside = one.placement.gather()
        verdict = judge(
            cupy, C, product, typical, one.placement.plan.size[2], "float32", wrote_outside
        )
        first = C if first is None else first
        same = bool((C.view(cupy.uint32) == first.view(cupy.uint32)).all())
        checks[one.name] = (verdict, same)
    return checks


def summarise_run(
    one: Contender, verdict: Verdict, same: bool, timing: Timing, alone: float
) -> ScaleRun:
    """A contender's figures; `alone` is our kernel's time on one GPU, milliseconds."""
    plan = one.placement.plan
    M, N, K = plan.size
    ours = one.way in (Way.PEER, Way.NCCL, Way.IN_PLACE)
    moved = 0 if one.way is Way.IN_PLACE else plan.bytes_moved
    speedup = alone / timing.ms
    return ScaleRun(
        gpus=one.gpus,
        way=one.way,
        verified=verdict.verified,
        verdict=verdict.sentence,
        same_bits=same if ours else None,
        ms=timing.ms,
        ms_spread=(timing.p20, timing.p80),
        repeats=timing.repeats,
        tflops=2 * M * N * K / (timing.ms / 1e3) / 1e12,
        speedup=speedup,
        efficiency=speedup / one.gpus,
        ideal_ms=alone / one.gpus,
        bytes_moved=moved if ours else None,
        max_rel_error=finite(verdict.max_rel_error),
        rel_norm_error=finite(verdict.rel_norm_error),
        error_bound=verdict.error_bound,
        plan=plan if ours else None,
    )


def measure_link(progress: Progress) -> float:
    """10^9 bytes a second of one copy from GPU 0 to GPU 1."""
    import cupy

    source = cupy.zeros(LINK_BYTES, cupy.uint8)
    with cupy.cuda.Device(1) as device:
        target = cupy.empty(LINK_BYTES, cupy.uint8)

        def copy() -> None:
            target.data.copy_from_device_async(source.data, LINK_BYTES)
            device.synchronize()

        timing = measure_calls({"a copy from GPU 0 to GPU 1": copy}, progress)
    (ms,) = (one.ms for one in timing.values())
    return LINK_BYTES / (ms / 1e3) / 1e9
