"""What a block's steps cost, in the terms of the roofline, as the simulator counts them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.fragments import parse_fragment
from simulator.language.tree import Barrier, Binary, Expression, MemorySpace, Statement
from simulator.language.visit import expressions_of, is_copy, subexpressions
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.observers.counters import add_up_cost
from simulator.observers.transactions import BANK_BYTES, LINE_BYTES, SECTOR_BYTES, instructions
from simulator.recording.recording import StepAccess
from simulator.sentences.line_values import is_float
from ui.analysis.products import multiplication


@dataclass(frozen=True, slots=True)
class Costs:
    """What a block has spent up to and with each step: int64 [steps] each."""

    sectors: Array  # of global memory, loaded or stored, SECTOR_BYTES each
    wavefronts: Array  # of shared memory
    conflicts: Array  # of these, those that no request would take without a bank conflict
    waits: Array  # warps that have come to a barrier
    multiply_adds: Array  # of floating-point numbers, over all threads and tensor cores


def add_up_costs(recording: Recording) -> Costs:
    """Add up what a block's steps cost.

    Sectors and wavefronts are counted as in simulator.observers.transactions; an atomic is neither
    load nor store, as in simulator.observers.counters. A multiply-add is a product of two
    floating-point numbers, whether it is fused with a sum or not; wmma::mma_sync on m x n x k
    does m * n * k.
    """
    counted = np.zeros((len(recording.steps), 5), np.int64)
    known: dict[tuple[object, ...], tuple[int, int, int]] = {}
    starts = {array.name: start for array, start in recording.kernel.shared_offsets.items()}
    factors = {
        statement: floating_products(statement)
        for statement in {step.statement for step in recording.steps}
    }
    for row, step in zip(counted, recording.steps, strict=True):
        for access in step.accesses:
            if access.kind is not AccessKind.ATOMIC:
                row[:3] += _cost(access, starts, known)
        if isinstance(step.statement, Barrier):
            row[3] = int(_by_warp(step.active).any(axis=1).sum())
        row[4] = sum(int(a.sum()) for a in threads_multiplying(step, factors[step.statement]))
        row[4] += _products_of_tiles(step)
    return Costs(*np.cumsum(counted, axis=0).T)


def floating_products(statement: Statement) -> list[Expression]:
    """The products of two floating-point numbers in a statement."""
    return [
        expression
        for root in expressions_of(statement)
        for expression in subexpressions(root)
        if isinstance(expression, Binary) and expression.operator == "*" and is_float(expression)
    ]


def threads_multiplying(step: Step, products: list[Expression]) -> list[Array]:
    """For each product of its statement, which threads [T] have done it at a step.

    A product that is fused with a sum has no value of its own: all who run the statement do it.
    """
    if not products:
        return []
    active = {evaluation.expression: evaluation.active for evaluation in step.evaluations}
    return [active.get(product, step.active) for product in products]


def _products_of_tiles(step: Step) -> int:
    """The products that a step's warps do on the tensor core."""
    call = multiplication(step)
    fragment = None if call is None else parse_fragment(call.texts[0])
    if fragment is None:
        return 0
    return int(_by_warp(step.active).any(axis=1).sum()) * math.prod(fragment.shape)


def _cost(
    access: StepAccess,
    starts: dict[str, int],
    known: dict[tuple[object, ...], tuple[int, int, int]],
) -> tuple[int, int, int]:
    """Sectors, wavefronts and conflicts of an access.

    They depend on the lanes' pattern, and on where it begins only within a sector or bank.
    """
    active = access.active & access.in_bounds
    if access.space not in (MemorySpace.GLOBAL, MemorySpace.SHARED) or not active.any():
        return 0, 0, 0
    is_shared = access.space is MemorySpace.SHARED
    unit = BANK_BYTES if is_shared else SECTOR_BYTES
    offsets = access.offsets + (starts[access.name] if is_shared else 0)
    offsets = np.where(active, offsets - int(offsets[active].min()) // unit * unit, 0)
    targets = None
    if access.targets is not None:  # as they differ from the least, which begins within a line
        least = int(access.targets[active].min())
        targets = np.where(active, access.targets - least // LINE_BYTES * LINE_BYTES, 0)
    key = (
        offsets.tobytes(), active.tobytes(), access.width, access.element_bytes, access.kind,
        access.space, is_copy(access.expression), None if targets is None else targets.tobytes(),
    )  # fmt: skip
    if key not in known:
        parts = instructions(access.width, access.element_bytes)
        lanes = _by_warp(offsets), _by_warp(active)
        cost = add_up_cost(
            *lanes, parts, access.kind, is_shared, is_copy(access.expression),
            None if targets is None else _by_warp(targets),
        )  # fmt: skip
        known[key] = (
            (0, cost.transactions, cost.transactions - cost.ideal) if is_shared
            else (cost.transactions, 0, 0)
        )  # fmt: skip
    return known[key]


def _by_warp(values: Array) -> Array:
    """Values [T] as [warps, 32]; lanes that a partial warp lacks are 0."""
    return np.pad(values, (0, -values.size % WARP_SIZE)).reshape(-1, WARP_SIZE)
