"""The observers that together find what no correct kernel does, each of them one question."""

from __future__ import annotations

from simulator.machine.observer import Observer
from simulator.observers.hazards.divergent_barriers import DivergentBarriers
from simulator.observers.hazards.faults import Faults
from simulator.observers.hazards.findings import Findings
from simulator.observers.hazards.race_detector import RaceDetector
from simulator.observers.hazards.unset_reads import UnsetReads


def hazard_observers(findings: Findings) -> tuple[Observer, ...]:
    """The observers of all kinds of hazards, which add what they find to the same findings."""
    return (
        Faults(findings), UnsetReads(findings), RaceDetector(findings),
        DivergentBarriers(findings),
    )  # fmt: skip
