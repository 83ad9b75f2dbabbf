"""What a thread does by curand_kernel.h, as a sentence's predicate: several, the longest first."""

from __future__ import annotations

from simulator.language.functions import RANDOM_FUNCTIONS
from simulator.language.tree import AddressOf, Call
from simulator.sentences.expressions import ExpressionFormatter

SKIPPED = {"skipahead": "numbers", "skipahead_sequence": "sequences of 2^67 numbers"}


def random_spoken(formatter: ExpressionFormatter, call: Call, name: str = "") -> tuple[str, ...]:
    """What a call does; name is the variable that it gives a value to, if it does so alone."""
    pointer = call.arguments[RANDOM_FUNCTIONS[call.function]]
    state = formatter.lvalue(pointer)
    if not isinstance(pointer, AddressOf):
        state = formatter.show(pointer).removeprefix("&") or state
    if call.function == "curand_init":
        seed, sequence, offset = map(formatter.show, call.arguments[:3])
        return (
            f"starts its generator {state} with the seed {seed}, in sequence {sequence} at number "
            f"{offset}",
            f"starts its generator {state} with the seed {seed}, in sequence {sequence}",
            f"starts its generator {state}",
        )
    if call.function in SKIPPED:
        count = formatter.show(call.arguments[0])
        return (
            f"moves its generator {state} on by {count} {SKIPPED[call.function]}",
            f"moves its generator {state} on",
        )
    drawn = formatter.show(call)
    what = f"{name} = {drawn}" if name else drawn
    return (f"draws {what} from its generator {state}", f"draws {what}")
