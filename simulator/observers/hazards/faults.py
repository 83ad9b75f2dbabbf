"""Accesses that are dropped, undefined results of warp functions, and threads that end a launch."""

from __future__ import annotations

from simulator.machine.observer import Fault, Observer, Stop, WarpFault
from simulator.observers.hazards.findings import Findings, Hazard, example_of_lane
from simulator.observers.hazards.hazard_kind import FAULTS, HazardKind
from simulator.sentences import hazards


class Faults(Observer):
    """Reports the faults that the machine notices by itself."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def on_fault(self, fault: Fault) -> None:
        """An access outside its array, or at a wrong multiple."""
        kind, lines, buffer = FAULTS[fault.reason], (fault.lvalue.span.line,), fault.buffer
        lane, count = int(fault.lanes.argmax()), int(fault.lanes.sum())
        message, example = hazards.fault(fault, lane), example_of_lane(fault.group, lane)
        self._findings.add_for_array(kind, lines, buffer, message, count, example)

    def on_warp_fault(self, fault: WarpFault) -> None:
        """A warp function is called with a wrong mask, or reads from a lane that is not there."""
        kind, line = FAULTS[fault.reason], fault.call.span.line
        lane, count = int(fault.lanes.argmax()), int(fault.lanes.sum())
        message, example = hazards.warp_fault(fault, lane), example_of_lane(fault.group, lane)
        hazard = Hazard(kind, (line,), None, None, message, count, example)
        self._findings.add((kind, fault.reason, line), hazard)

    def on_stop(self, stop: Stop) -> None:
        """Threads end the launch."""
        is_assert = stop.call.function == "assert"
        kind = HazardKind.FAILED_ASSERTION if is_assert else HazardKind.TRAP
        lane, count = int(stop.lanes.argmax()), int(stop.lanes.sum())
        message, example = hazards.stop(stop, lane), example_of_lane(stop.group, lane)
        line = stop.call.span.line
        hazard = Hazard(kind, (line,), None, None, message, count, example)
        self._findings.add((kind, line), hazard)
