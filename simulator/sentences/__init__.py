"""The sentences about steps, barriers, warps and verdicts: all the wording, and no facts.

Its face is what the lecture says of a step.
"""

from simulator.sentences.line_values import values
from simulator.sentences.steps import spoken
from simulator.sentences.warps import warp

__all__ = ["spoken", "values", "warp"]
