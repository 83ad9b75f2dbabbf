"""A comparison's figures: the dataclasses that pages draw and the JSON that programs read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from gpu.device import Device
from gpu.json_data import decode


@dataclass(frozen=True, slots=True)
class KernelResult:
    """One kernel's figures in a comparison. The names are an interface; None is not measured.

    ms: median milliseconds of `repeats` launches, ms_spread their 20th and 80th percentile.
    tflops: 2 M N K operations over that time, in 10^12 a second. cublas_ratio: cuBLAS's time over
    this one, so above 1 is faster. peak_share: of the device's FP32 peak. gb_per_s: 10^9 bytes a
    second if A and B were read once and C written once. max_rel_error, rel_norm_error and
    error_bound: see gpu.verify. registers and local_bytes are a thread's, shared_bytes a block's;
    occupancy is resident threads over the most there can be. error: why it could not run.
    simulated: the simulator's counters of the same launch (gpu.predict); counters: the same as the
    hardware counted them (gpu.hardware). A counter that an older recording lacks is missing from
    the mapping: its value is unknown.
    """

    name: str
    verified: bool
    verdict: str
    element: str = "float32"
    ms: float | None = None
    ms_spread: tuple[float, float] | None = None
    repeats: int = 0
    tflops: float | None = None
    cublas_ratio: float | None = None
    peak_share: float | None = None
    gb_per_s: float | None = None
    max_rel_error: float | None = None
    rel_norm_error: float | None = None
    error_bound: float | None = None
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    occupancy: float | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    error: str | None = None
    simulated: Mapping[str, int] | None = None
    counters: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Kernels measured in one run on one device for one size M, N, K."""

    device: Device
    size: tuple[int, int, int]
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


def comparison_from(found: Any) -> Comparison:
    """A Comparison from its JSON object. ValueError, a sentence, names a missing or wrong field."""
    return decode(Comparison, found, "A comparison")
