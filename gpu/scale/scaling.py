"""A product's figures over several GPUs: the dataclasses that are drawn and the JSON of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from gpu.cuda.device import Device
from gpu.json_data import decode
from gpu.scale.plan import Plan


class Way(StrEnum):
    """How the pieces of A and B reach the GPUs, or who multiplies instead of our kernel."""

    PEER = "peer copies"  # copy engines read the other GPU's memory
    NCCL = "NCCL"  # NCCL's kernels send and receive
    IN_PLACE = "in place"  # each GPU has its panels already; nothing moves
    CUBLAS = "cuBLAS"  # on one GPU
    CUBLAS_XT = "cuBLASXt"  # cuBLAS's own product over several GPUs, matrices on the first


@dataclass(frozen=True, slots=True)
class ScaleRun:
    """One way over so many GPUs. The names are JSON keys; None means that it does not apply."""

    gpus: int
    way: Way
    verified: bool  # whether C is right and nothing outside it was written
    verdict: str  # a sentence
    same_bits: bool | None  # whether C is the C of our kernel on one GPU, bit for bit
    ms: float  # median milliseconds by the host's clock, from the first call until all GPUs end
    ms_spread: tuple[float, float]  # 20th and 80th percentile, milliseconds
    repeats: int  # products that were timed
    tflops: float  # 2 M N K operations over ms, in 10^12 a second, of all GPUs together
    speedup: float  # our kernel's time on one GPU over ms
    efficiency: float  # speedup over gpus: 1 is ideal
    ideal_ms: float  # our kernel's time on one GPU over gpus
    bytes_moved: int | None  # from one GPU to another
    max_rel_error: float | None  # a ratio, see gpu.verify
    rel_norm_error: float | None  # a ratio, see gpu.verify
    error_bound: float  # of max_rel_error
    plan: Plan | None  # None for cuBLAS's ways


@dataclass(frozen=True, slots=True)
class Scaling:
    """One kernel's product of one size over several GPUs of a host."""

    device: Device  # the first GPU
    devices: tuple[str, ...]  # names of the GPUs that took part
    size: tuple[int, int, int]  # M, N, K
    kernel: str  # as gpu.candidate.choose takes it
    defines: Mapping[str, str]  # macros and their values
    source: str  # the CUDA C text that ran on every GPU
    resident_blocks: int  # of the kernel on one GPU at a time
    peer_gb_s: float | None  # 10^9 bytes a second of a copy from one GPU to the next
    runs: Annotated[tuple[ScaleRun, ...], Meta(min_length=1)]
    notes: tuple[str, ...] = ()  # sentences on what could not be measured

    @property
    def verified(self) -> bool:
        """Whether every C is right."""
        return all(run.verified for run in self.runs)

    def to_json(self) -> dict[str, Any]:
        """The object, whose keys are the names of the fields."""
        return dataclasses.asdict(self)


def scaling_from(found: Any) -> Scaling:
    """A Scaling from its JSON object. ValueError, a sentence, names a missing or wrong field."""
    return decode(Scaling, found, "A scaling")
