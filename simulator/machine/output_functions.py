"""CUDA's mathematical functions that store results through pointers: sincosf, frexp, modf."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import Pointer
from simulator.language.errors import SourceError
from simulator.language.functions import OUTPUT_FUNCTIONS
from simulator.language.tree import Call, Dereference
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.functions import cosine_of_pi, sine_of_pi
from simulator.machine.group import Group
from simulator.machine.masks import Mask

# The call's own value, and one for each pointer; the call's is not used where it is void.
Compute = Callable[[Any], tuple[Any, ...]]


def _fraction_and_exponent(value: Any) -> tuple[Any, ...]:
    fraction, exponent = np.frexp(value)
    return fraction, np.asarray(exponent).astype(np.int32)[()]


def _fraction_and_whole(value: Any) -> tuple[Any, ...]:
    whole = np.trunc(value)
    fraction = np.where(np.isinf(value), value.dtype.type(0), value - whole)
    return np.copysign(fraction, value).astype(value.dtype)[()], whole


COMPUTE: Mapping[str, Compute] = {
    **dict.fromkeys(
        ("sincosf", "sincos", "__sincosf"), lambda x: (np.int32(0), np.sin(x), np.cos(x))
    ),
    **dict.fromkeys(
        ("sincospif", "sincospi"), lambda x: (np.int32(0), sine_of_pi(x), cosine_of_pi(x))
    ),
    **dict.fromkeys(("frexpf", "frexp"), _fraction_and_exponent),
    **dict.fromkeys(("modff", "modf"), _fraction_and_whole),
}


def _output_call(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Stores each result through its pointer, in the order of the arguments."""
    compute, first = COMPUTE[call.function], OUTPUT_FUNCTIONS[call.function]
    operand = compiler.compile(call.arguments[0])
    targets = []
    for argument in call.arguments[first:]:
        if not isinstance(argument.ctype, Pointer):
            raise SourceError(f"{call.function} needs a pointer here.", argument.span)
        ctype = argument.ctype.target
        lvalue = Dereference(ctype, argument.span, argument)
        targets.append((compiler.compile(argument), compiler.operand(lvalue, ctype)))
    memory = compiler.memory

    def store_results(group: Group, mask: Mask) -> Any:
        result, *values = compute(operand(group, mask))
        for (pointer, stored), value in zip(targets, values, strict=True):
            memory.store(group, mask, pointer(group, mask), stored, value)
        return result

    return store_results


OUTPUT_CALLS: Mapping[str, CompileCall] = dict.fromkeys(OUTPUT_FUNCTIONS, _output_call)
