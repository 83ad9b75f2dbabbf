"""A comparison's figures: the dataclasses that pages draw and the JSON that programs read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from gpu.cuda.device import Device
from gpu.cuda.timing import STEADY
from gpu.json_data import decode


@dataclass(frozen=True, slots=True)
class KernelResult:
    """One kernel's figures in a comparison. The names are JSON keys; None means not measured."""

    name: str  # of the candidate, "tiled:TILE=32", or "cublas"
    verified: bool  # whether C is right and nothing outside it was written
    verdict: str  # a sentence
    element: str = "float32"  # how operands are multiplied, a name of gpu.precision
    ms: float | None = None  # median milliseconds of one launch
    ms_spread: tuple[float, float] | None = None  # 20th and 80th percentile, milliseconds
    repeats: int = 0  # launches that were timed
    # Of the call that queues a launch, by the host's clock: the median, while the kernel runs on.
    call_us: float | None = None
    # Of all kernels of its precision, until samples were steady; these are of one of them.
    runs: int = 1
    tflops: float | None = None  # 2 M N K operations over ms, in 10^12 a second
    cublas_ratio: float | None = None  # cuBLAS's time over ms: above 1 is faster than cuBLAS
    peak_share: float | None = None  # of the device's FP32 peak, 0 to 1, without tensor cores
    gb_per_s: float | None = None  # 10^9 bytes a second, A and B read once and C written once
    max_rel_error: float | None = None  # a ratio, see gpu.verify
    rel_norm_error: float | None = None  # a ratio, see gpu.verify
    error_bound: float | None = None  # of max_rel_error
    registers: int | None = None  # of a thread
    shared_bytes: int | None = None  # of a block
    local_bytes: int | None = None  # of a thread
    occupancy: float | None = None  # resident threads over the most there can be, 0 to 1
    grid: tuple[int, int, int] | None = None  # blocks in x, y, z
    block: tuple[int, int, int] | None = None  # threads in x, y, z
    # Macros and their values. A hash leaves out mappings, which have none.
    defines: Mapping[str, str] = field(default_factory=dict, hash=False)
    source: str | None = None  # the CUDA C text that was compiled
    error: str | None = None  # why the kernel could not run, a sentence
    # Counters of one launch, by the simulator (gpu.predicted_counters) and by the hardware
    # (gpu.cuda.hardware_counters). A counter that an older recording lacks is missing from the
    # mapping: its value is unknown.
    simulated: Mapping[str, int] | None = field(default=None, hash=False)
    counters: Mapping[str, int] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Kernels measured in one run on one device for one size M, N, K."""

    device: Device
    size: tuple[int, int, int]  # M, N, K
    kernels: Annotated[tuple[KernelResult, ...], Meta(min_length=1)]

    @property
    def verified(self) -> bool:
        """Whether every kernel's C is right."""
        return all(kernel.verified for kernel in self.kernels)

    def to_json(self) -> dict[str, Any]:
        """The object {"device", "size", "kernels"}."""
        return {
            "device": dataclasses.asdict(self.device),
            "size": list(self.size),
            "kernels": [dataclasses.asdict(kernel) for kernel in self.kernels],
        }


def explain_steadiness(comparison: Comparison, name: Callable[[KernelResult], str]) -> list[str]:
    """How often kernels were timed where samples spread, and whose do still; `name` names one."""
    sentences = []
    for precision in dict.fromkeys(kernel.element for kernel in comparison.kernels):
        kernels = [kernel for kernel in comparison.kernels if kernel.element == precision]
        runs = max(kernel.runs for kernel in kernels)
        if runs > 1:
            sentences.append(
                f"The kernels in {precision} were timed {runs} times, because samples spread by "
                f"more than {STEADY:.0%}; the steadiest run is shown."
            )
    unsteady = {
        name(kernel): (kernel.ms_spread[1] - kernel.ms_spread[0]) / kernel.ms
        for kernel in comparison.kernels
        if kernel.ms and kernel.ms_spread
    }
    named = [f"{who} ({spread:.1%})" for who, spread in unsteady.items() if spread > STEADY]
    if named:
        sentences.append(f"Samples spread by more than {STEADY:.0%}: {', '.join(named)}.")
    return sentences


def comparison_from(found: Any) -> Comparison:
    """A Comparison from its JSON object. ValueError, a sentence, names a missing or wrong field."""
    return decode(Comparison, found, "A comparison")
