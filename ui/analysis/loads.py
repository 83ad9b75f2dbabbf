"""Elements loaded from global memory: by a block, and by the naive kernel for the same products."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from simulator import Kernel, Launch, Step, record
from simulator.language.ctype import Array, ArrayOf
from simulator.language.tree import MemorySpace, Variable
from simulator.launch import Dim3
from simulator.machine.observer import AccessKind
from ui.analysis.costs import floating_products, threads_multiplying
from ui.analysis.product_roles import Product
from ui.analysis.products import accumulator, has_tensor_core
from ui.analysis.scene_model import SceneModel
from ui.analysis.variable_values import values_by_step


def global_loads(model: SceneModel, thread: int | None = None) -> list[int]:
    """Elements that the block, or a thread, has loaded from global memory, up to each step."""
    counted = _counted_threads(model, thread)
    counts, count = [], 0
    for step in model.recording.steps:
        for access in step.accesses:
            if access.kind is AccessKind.LOAD and access.space is MemorySpace.GLOBAL:
                count += int((access.active & access.in_bounds & counted).sum()) * access.components
        counts.append(count)
    return counts


def naive_loads(model: SceneModel, thread: int | None = None) -> list[int] | None:
    """Elements the naive kernel would have loaded for the products done, up to each step.

    The products are the block's, or one thread's. None for a kernel that multiplies no
    matrices, for one of which it is not plain which sums belong to cells of C, and on tensor cores,
    where the sums are a warp's.

    It loads two for each product that a stored cell of C needs. A sum takes up its products in the
    order of k, so that its first K are those; what follows multiplies the zeros of a last tile,
    and the sums of cells beyond C's edges multiply nothing that the naive kernel would.
    """
    recording, product = model.recording, model.product
    if product is None or has_tensor_core(recording):
        return None
    sums = accumulator(recording)
    within = _sums_within_c(model, product, sums)
    if within is None:
        return None
    needed = within & _counted_threads(model, thread)[:, None]
    products_done = np.zeros(needed.shape, np.int64)
    statements = {step.statement for step in recording.steps}
    factors = {statement: floating_products(statement) for statement in statements}
    counts, count = [], 0
    for step in recording.steps:
        for active in threads_multiplying(step, factors[step.statement]):
            sums_added = np.flatnonzero(active), _cells_added(step, sums)[active]
            products_done[sums_added] += 1
            count += 2 * int((needed[sums_added] & (products_done[sums_added] <= product.K)).sum())
        counts.append(count)
    return counts


def _counted_threads(model: SceneModel, thread: int | None) -> Array:
    """bool [T]: the one thread, or all."""
    threads: Array = np.arange(model.recording.launch.threads)
    return np.ones(threads.size, np.bool_) if thread is None else threads == thread


def _sums_within_c(model: SceneModel, product: Product, sums: Variable | None) -> Array | None:
    """Which of each thread's sums [T, sums of a thread] belong to a cell within C.

    None where that is not known.
    """
    recording, tile = model.recording, model.tile
    T, each = recording.launch.threads, math.prod(_dimensions(sums))
    if each == 1:
        stores = [
            access.active & access.in_bounds
            for step in recording.steps
            for access in step.accesses
            if access.kind is not AccessKind.LOAD and access.name == product.C
        ]
        stored: Array = np.logical_or.reduce([np.zeros(T, np.bool_), *stores])
        return stored[:, None]
    cells = recording.steps[-1].stored.get(product.C, np.zeros(0))
    if np.count_nonzero(cells) == T * each:
        return np.ones((T, each), np.bool_)
    if model.is_user_kernel or tile is None:  # threads may share a cell
        return None
    element = recording.arguments[product.C].dtype
    row, column = sums_within_tile(recording.kernel, recording.launch.block, tile, element)
    (rows, columns, _), (x, y, _) = tile, recording.block
    needed: Array = (y * rows + row < product.M) & (x * columns + column < product.N)
    return needed


@functools.lru_cache(maxsize=16)
def sums_within_tile(
    kernel: Kernel, block: Dim3, tile: tuple[int, int, int], element: np.dtype[Any]
) -> tuple[Array, Array]:
    """Row and column, within the block's tile of C, of each thread's sums [T, sums of a thread].

    They are read off a block whose tile lies within C: with the A and B it is given, each cell of C
    becomes its own number, row by row. element is the type of A, B and C.
    """
    rows, columns, depth = tile
    A, B = np.zeros((rows, depth), element), np.zeros((depth, columns), element)
    A[:, 0], B[0] = np.arange(rows), columns
    A[:, 1], B[1] = 1, np.arange(columns)
    arguments = {"A": A, "B": B, "C": np.zeros((rows, columns), element)}
    launch = Launch((1, 1, 1), block, {**arguments, "M": rows, "N": columns, "K": depth})
    recording = record(kernel, launch)
    sums = accumulator(recording)
    assert sums is not None, "a kernel whose sums are an array"
    last = values_by_step(recording, sums.name)[-1]
    assert last is not None
    row, column = np.divmod(last.reshape(launch.threads, -1).astype(np.int64), columns)
    return row, column


def _cells_added(step: Step, sums: Variable | None) -> Array:
    """Which of its sums each thread [T] adds to at a step: 0 where it has one."""
    if sums is not None and sums.space is MemorySpace.LOCAL:
        for access in step.accesses:
            is_sums = access.space is MemorySpace.LOCAL and access.name == sums.name
            if is_sums and access.kind is AccessKind.STORE:
                cells: Array = access.offsets // access.element_bytes
                return cells
    return np.zeros(step.active.size, np.int64)


def _dimensions(variable: Variable | None) -> tuple[int, ...]:
    """The lengths of an array variable; () for a plain one."""
    ctype = variable.ctype if variable is not None else None
    return ctype.shape if isinstance(ctype, ArrayOf) else ()
