"""The job that measures what a GPU's memories and cores give at best: ceilings and latencies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu.cuda.microbenchmarks import ceilings, latency
from gpu.cuda.microbenchmarks.ceilings import Ceilings
from gpu.cuda.microbenchmarks.latency import Latency
from gpu.json_data import decode
from gpu.progress import Progress, portion


@dataclass(frozen=True, slots=True)
class Limits:
    """A device's measured ceilings and latencies."""

    ceilings: Ceilings
    latency: Latency


@dataclass(frozen=True, slots=True)
class LimitsJob:
    """The worker's job for Limits, as JSON."""

    gpu: int = 0  # the GPU's number


def request(gpu: int = 0) -> dict[str, Any]:
    """The worker's job for GPU number `gpu`, as JSON takes it."""
    return {"job": "limits", "gpu": gpu}


def limits(job: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the job that `request` describes on this process's GPU: Limits as JSON."""
    from gpu.cuda.probe import use

    progress("Looking at the GPU", 0.0)
    device = use(decode(LimitsJob, job, "The job").gpu)
    found = Limits(
        ceilings.measure(device, portion(progress, 0.0, 0.5)),
        latency.measure(device, portion(progress, 0.5, 1.0)),
    )
    return dataclasses.asdict(found)


def limits_from(found: Mapping[str, Any]) -> Limits:
    """Limits from their JSON object; ValueError, a sentence, names a missing or wrong field."""
    return decode(Limits, found, "A measurement of limits")
