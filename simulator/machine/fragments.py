"""What a warp does by nvcuda::wmma: loads and stores fragments, and multiplies them.

A fragment's elements are a local array of each lane. How its tile moves is what an H200 did: 4
bytes a lane where elements have 16 bits, eight lines of 16 bytes each (of operands in shared memory
it moves four such accesses by one ldmatrix, in as many wavefronts); otherwise an element at a time,
or two where a lane has neighbours in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import Array, CType, Vector
from simulator.language.errors import SourceError
from simulator.language.fragments import Fragment, Use, parse_fragment
from simulator.language.number_types import OPERANDS
from simulator.language.tree import AddressOf, Call, Dereference, Expression, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine import tensor_core
from simulator.machine.buffers import Address, clip_offsets
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.load_store import MemoryOperand
from simulator.machine.masks import ALL, Mask, as_array
from simulator.machine.warp_masks import by_lane, by_warp

TILE_ALIGNMENT = 32  # bytes that a tile's address is a multiple of (CUDA C++ Programming Guide)
LINE_ALIGNMENT = 16  # the same of the distance between its rows or columns
BLOCK = 8  # lines and elements of what one access moves, where elements have 16 bits


@dataclass(frozen=True, slots=True)
class TileAccess:
    """One load or store instruction of a tile: where in it each lane's elements are.

    A line is a row of the tile where that is row-major in memory, else a column.
    """

    lines: Array  # int [32]
    places: Array  # int [32], of the first element within the line
    count: int  # neighbouring elements of a line that a lane moves


def tile_accesses(fragment: Fragment, is_row_major: bool) -> tuple[TileAccess, ...]:
    """The instructions that load or store a fragment's tile."""
    sizes = (fragment.rows, fragment.columns)
    line_count, line_length = sizes if is_row_major else sizes[::-1]
    if fragment.element.size == 2:
        lane = np.arange(WARP_SIZE)
        return tuple(
            TileAccess(line + lane // 4, place + lane % 4 * 2, 2)
            for place in range(0, line_length, BLOCK)
            for line in range(0, line_count, BLOCK)
        )
    rows, columns = fragment.positions()
    lines, places = (rows, columns) if is_row_major else (columns, rows)
    has_pairs = bool(
        (lines[:, 0] == lines[:, 1]).all() and (places[:, 0] + 1 == places[:, 1]).all()
    )
    count = 2 if has_pairs else 1
    return tuple(
        TileAccess(lines[:, first], places[:, first], count)
        for first in range(0, fragment.distinct, count)
    )


class Registers:
    """The elements of a fragment that a call names, in the registers of each lane."""

    def __init__(self, pointer: Expression, name: str, compiler: ExpressionCompiler) -> None:
        fragment = parse_fragment(name)
        assert fragment is not None
        assert isinstance(pointer, AddressOf)
        self.fragment = fragment
        element = fragment.element
        ctype = Vector(f"{element}[{fragment.count}]", element, fragment.count)
        self._memory, self._address = compiler.memory, compiler.compile(pointer)
        self._operand = compiler.operand(pointer.lvalue, ctype)
        self._rows, self._columns = fragment.positions()

    def read(self, group: Group, mask: Mask) -> Array:
        """The tile of each warp: [warps, rows, columns]."""
        address = self._address(group, mask)
        elements = self._memory.load(group, mask, address, self._operand)
        fragment = self.fragment
        held = [by_warp(group, each, 0) for each in elements[: fragment.distinct]]
        tiles = np.zeros((len(held[0]), fragment.rows, fragment.columns), held[0].dtype)
        for number, values in enumerate(held):
            tiles[:, self._rows[:, number], self._columns[:, number]] = values
        return tiles

    def write(self, group: Group, mask: Mask, tiles: Array) -> None:
        """Give the lanes their elements of each warp's tile."""
        elements = tuple(
            by_lane(group, tiles[:, self._rows[:, number], self._columns[:, number]])
            for number in range(self.fragment.count)
        )
        self.fill(group, mask, elements)

    def fill(self, group: Group, mask: Mask, elements: tuple[Any, ...]) -> None:
        """Give the lanes their elements, each [lanes] or one number."""
        address = self._address(group, mask)
        self._memory.store(group, mask, address, self._operand, elements)


class TileAlignmentError(SourceError):
    """A tile lies in memory where tensor cores take none."""


class WholeWarps:
    """Refuses a call that part of a warp makes, or with arguments that differ within a warp."""

    def __init__(self, call: Call, compiler: ExpressionCompiler) -> None:
        self._name = call.function.removeprefix("wmma::")
        self._span, self._slot = call.span, compiler.memo_slot()

    def check(self, group: Group, mask: Mask) -> None:
        """SourceError unless all 32 lanes of a warp are active, or none."""
        checked = mask if mask is not ALL else self
        if group.memo[self._slot] is checked:
            return
        active = by_warp(group, as_array(mask, group.lanes), False)
        counts = active.sum(axis=1)
        parts = (counts > 0) & (counts < WARP_SIZE)
        if parts.any():
            warp = int(np.flatnonzero(parts)[0])
            lane = int(np.flatnonzero(by_lane(group, np.arange(len(counts)) == warp))[0])
            block, thread = group.thread_of(lane)
            raise SourceError(
                f"{self._name} is for all {WARP_SIZE} threads of a warp together, but of the warp "
                f"of thread {thread} in block {block} only {counts[warp]} call it here: have whole "
                f"warps call it, of a block whose size is a multiple of {WARP_SIZE}.",
                self._span,
            )
        group.memo[self._slot] = checked

    def common(self, group: Group, mask: Mask, values: Any, what: str) -> Any:
        """A number, or [lanes] with one number for each warp; SourceError where lanes differ."""
        if not isinstance(values, np.ndarray):
            return values
        table = by_warp(group, values, 0)
        active = by_warp(group, as_array(mask, group.lanes), False)
        if ((table != table[:, :1]) & active).any():
            raise SourceError(
                f"{self._name} takes one {what} for all {WARP_SIZE} threads of a warp, but theirs "
                "differ here: compute it from the warp's number, not the thread's.",
                self._span,
            )
        return values


class TileInMemory:
    """A tile in shared or global memory that a call loads or stores."""

    def __init__(self, call: Call, fragment: Fragment, compiler: ExpressionCompiler) -> None:
        _, pointer, distance = call.arguments
        self.fragment, self._is_row_major = fragment, call.texts[1] == "mem_row_major"
        self._warps = WholeWarps(call, compiler)
        self._address, self._distance = compiler.compile(pointer), compiler.compile(distance)
        self.memory, self._offsets_slot = compiler.memory, compiler.memo_slot()
        self.instructions: list[tuple[TileAccess, MemoryOperand]] = []
        element, self._span = fragment.element, pointer.span
        for access in tile_accesses(fragment, self._is_row_major):
            moved: CType = element if access.count == 1 else Vector(f"{element}2", element, 2)
            lvalue = Dereference(moved, self._span, pointer)
            self.instructions.append((access, compiler.operand(lvalue, moved)))

    def addresses(self, group: Group, mask: Mask) -> list[Address]:
        """Where each instruction's lanes begin."""
        self._warps.check(group, mask)
        origin: Address = self._address(group, mask)
        distance = self._distance(group, mask)
        known = group.memo[self._offsets_slot]
        if (
            known is None
            or known[0] is not origin.lane_offsets
            or known[1] is not mask
            or not np.array_equal(known[2], distance)
        ):
            offsets = self._offsets(group, mask, origin.lane_offsets, distance)
            known = (origin.lane_offsets, mask, distance, offsets)
            group.memo[self._offsets_slot] = known
        if origin.buffer.space is MemorySpace.LOCAL:
            raise SourceError(
                f"{origin.buffer.name} is an array of each thread's own, and a tile is the whole "
                "warp's: keep it in shared or global memory.",
                self._span,
            )
        distance_to_tile = "A tile's distance from the start of its array"
        self._check_multiple(group, mask, origin.offset, TILE_ALIGNMENT, distance_to_tile)
        return [Address(origin.buffer, each, origin.base) for each in known[3]]

    def _offsets(
        self, group: Group, mask: Mask, lane_offsets: Array | None, distance: Any
    ) -> list[Array]:
        """Of each instruction the bytes [lanes] from the base of the tile's address."""
        size, lanes = self.fragment.element.size, group.warp_lanes
        step = np.asarray(distance).astype(np.int64)
        self._warps.common(group, mask, distance, "distance between rows or columns")
        between = f"The distance between {'rows' if self._is_row_major else 'columns'} of a tile"
        self._check_multiple(group, mask, step * size, LINE_ALIGNMENT, between)
        start: Any = 0
        if lane_offsets is not None:
            start = clip_offsets(lane_offsets)
            self._warps.common(group, mask, start, "address")
        return [
            start + (access.lines[lanes] * step + access.places[lanes]) * size
            for access, _ in self.instructions
        ]

    def _check_multiple(self, group: Group, mask: Mask, values: Any, unit: int, what: str) -> None:
        """TileAlignmentError where bytes, one number or [lanes], are none that a GPU takes."""
        every = group.spread(clip_offsets(values))[as_array(mask, group.lanes)]
        wrong = every[every % unit != 0]
        if wrong.size:
            raise TileAlignmentError(
                f"{what} must be a multiple of {unit} bytes, but is {int(wrong[0])} here.",
                self._span,
            )

    def place(self, access: TileAccess, number: int) -> tuple[Array, Array]:
        """The rows and columns [32] of the tile where the lanes' elements of a number are."""
        lines, places = access.lines, access.places + number
        return (lines, places) if self._is_row_major else (places, lines)


def _load(call: Call, compiler: ExpressionCompiler) -> Closure:
    """load_matrix_sync: a tile of memory to the lanes' registers."""
    registers = Registers(call.arguments[0], call.texts[0], compiler)
    fragment = registers.fragment
    tile = TileInMemory(call, fragment, compiler)

    def load(group: Group, mask: Mask) -> Any:
        addresses = tile.addresses(group, mask)
        warps = int(group.warp_numbers[-1]) + 1
        tiles = np.zeros((warps, fragment.rows, fragment.columns), fragment.element.dtype)
        for address, (access, operand) in zip(addresses, tile.instructions, strict=True):
            given = tile.memory.load(group, mask, address, operand)
            values = given if isinstance(given, tuple) else (given,)
            for number, each in enumerate(values):
                rows, columns = tile.place(access, number)
                tiles[:, rows, columns] = by_warp(group, each, 0)
        registers.write(group, mask, tiles)
        return np.int32(0)

    return load


def _store(call: Call, compiler: ExpressionCompiler) -> Closure:
    """store_matrix_sync: the lanes' registers to a tile of memory."""
    registers = Registers(call.arguments[0], call.texts[0], compiler)
    tile = TileInMemory(call, registers.fragment, compiler)

    def store(group: Group, mask: Mask) -> Any:
        addresses = tile.addresses(group, mask)
        tiles = registers.read(group, mask)
        for address, (access, operand) in zip(addresses, tile.instructions, strict=True):
            values = tuple(
                by_lane(group, tiles[(slice(None), *tile.place(access, number))])
                for number in range(access.count)
            )
            given = values if access.count > 1 else values[0]
            tile.memory.store(group, mask, address, operand, given)
        return np.int32(0)

    return store


def _multiply(call: Call, compiler: ExpressionCompiler) -> Closure:
    """mma_sync: d = a b + c."""
    d, a, b, c = (
        Registers(pointer, name, compiler)
        for pointer, name in zip(call.arguments, call.texts, strict=True)
    )
    assert a.fragment.use is Use.A
    form, warps = OPERANDS[a.fragment.operand], WholeWarps(call, compiler)

    def multiply(group: Group, mask: Mask) -> Any:
        warps.check(group, mask)
        left, right, sums = (each.read(group, mask) for each in (a, b, c))
        d.write(group, mask, tensor_core.multiply_add(left, right, sums, form))
        return np.int32(0)

    return multiply


def _fill(call: Call, compiler: ExpressionCompiler) -> Closure:
    """fill_fragment: one number for all elements."""
    registers = Registers(call.arguments[0], call.texts[0], compiler)
    value, warps = compiler.compile(call.arguments[1]), WholeWarps(call, compiler)

    def fill(group: Group, mask: Mask) -> Any:
        warps.check(group, mask)
        registers.fill(group, mask, (value(group, mask),) * registers.fragment.count)
        return np.int32(0)

    return fill


FRAGMENT_CALLS: Mapping[str, CompileCall] = {
    "wmma::load_matrix_sync": _load,
    "wmma::store_matrix_sync": _store,
    "wmma::mma_sync": _multiply,
    "wmma::fill_fragment": _fill,
}
