"""What is said of a step: of what a thread does, of its values, and of its warp's requests."""

from simulator.sentences.line_values import values
from simulator.sentences.steps import spoken
from simulator.sentences.warps import warp

__all__ = ["spoken", "values", "warp"]
