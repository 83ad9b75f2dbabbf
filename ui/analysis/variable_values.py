"""The values of a variable in registers or local memory, step by step."""

from __future__ import annotations

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind


def values_by_step(recording: Recording, name: str | None) -> list[Array | None]:
    """A variable's values [T, ...] after each step; None before its declaration.

    Where it is not in scope, as in a function that gets the array as a parameter, the stores to it
    are applied to the values of the step before.
    """
    by_step: list[Array | None] = []
    values: Array | None = None
    for step in recording.steps:
        if name is not None:
            snapshot = step.registers.get(name)
            if snapshot is not None:
                values = snapshot
            elif values is not None:
                values = _with_stores(values, step, name)
        by_step.append(values)
    return by_step


def _with_stores(values: Array, step: Step, name: str) -> Array:
    """A local array's values [T, ...] with one step's stores to it."""
    for access in step.accesses:
        if (
            access.space is MemorySpace.LOCAL
            and access.name == name
            and access.kind is not AccessKind.LOAD
        ):
            threads = np.flatnonzero(access.active & access.in_bounds)
            components = access.components
            cells = access.offsets[threads] // access.element_bytes
            values = values.copy()
            flat = values.reshape(values.shape[0], -1)
            for i in range(components):
                component = access.values[threads] if components == 1 else access.values[threads, i]
                flat[threads, cells + i] = component
    return values
