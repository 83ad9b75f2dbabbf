"""Compiles lvalues to closures that give their address, for each lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.language.ctype import Array, ArrayOf, Scalar, size_of
from simulator.language.errors import SourceError
from simulator.language.tree import (
    Binary,
    Cast,
    Dereference,
    Expression,
    FieldOf,
    Index,
    Member,
    Name,
)
from simulator.machine.buffers import Address, add_offsets, scale_index
from simulator.machine.closures import AddressClosure, Closure, ExpressionCompiler, remember
from simulator.machine.group import Group
from simulator.machine.masks import Mask

# An index as a sum: what differs between lanes (int [lanes], None if nothing), and the rest.
SplitIndex = Callable[[Group, Mask], tuple[Array | None, int]]


class Addresses:
    """Compiles the addresses of lvalues in memory.

    An index such as `row * K + k` is split into what differs between lanes and what is the same for
    all, unless splits_indices is False: then each of its subexpressions is evaluated on its own,
    as observers of evaluations need it.
    """

    def __init__(self, compiler: ExpressionCompiler, splits_indices: bool) -> None:
        self._compiler = compiler
        self._splits_indices = splits_indices

    def address(self, lvalue: Expression) -> AddressClosure:
        """The closure that gives an lvalue's address. SourceError if it has none."""
        match lvalue:
            case Name(variable=variable) if not variable.in_register:
                return lambda group, mask: group.arrays[variable]
            case Name(variable=variable):
                raise SourceError(
                    f"{variable.name} is in a register and has no address; "
                    "make it an array of one.",
                    lvalue.span,
                )
            case Index(base=base, index=index):
                is_array = isinstance(base.ctype, ArrayOf)
                origin = self.address(base) if is_array else self._compiler.compile(base)
                return self.advance(origin, index, size_of(lvalue.ctype))
            case Dereference(pointer=pointer):
                return self._compiler.compile(pointer)
            case Member(base=base, position=position):
                return self._within(base, position * lvalue.ctype.size)
            case FieldOf(base=base, offset=offset):
                return self._within(base, offset)
            case _:
                raise SourceError("This has no address.", lvalue.span)

    def _within(self, base: Expression, shift: int) -> AddressClosure:
        """The address of what begins `shift` bytes after an lvalue's start."""
        whole = self.address(base)
        return lambda group, mask: whole(group, mask).moved(shift)

    def advance(self, origin: Closure, index: Expression, size: int) -> AddressClosure:
        """The closure of an address moved by `index` elements of `size` bytes; back if size < 0."""
        split = self._split(index)
        scaled_slot, sum_slot = self._compiler.memo_slot(), self._compiler.memo_slot()

        def advanced(group: Group, mask: Mask) -> Address:
            address: Address = origin(group, mask)
            lane_index, uniform = split(group, mask)
            base = address.base + uniform * size
            if lane_index is None:
                return Address(address.buffer, address.lane_offsets, base)
            lane_offsets = remember(group, scaled_slot, scale_index, lane_index, size)
            if address.lane_offsets is not None:
                lane_offsets = remember(
                    group, sum_slot, add_offsets, address.lane_offsets, lane_offsets
                )
            return Address(address.buffer, lane_offsets, base)

        return advanced

    def _split(self, index: Expression) -> SplitIndex:
        """An index as a sum of what differs between lanes and what is the same for all.

        Only signed sums are split: their overflow is undefined, an unsigned one wraps.
        """
        match index:
            case Binary(operator="+" | "-" as operator, ctype=Scalar(dtype=dtype)) if (
                dtype.kind == "i" and self._splits_indices
            ):
                return self._split_sum(index, operator)
            case Cast(ctype=Scalar(dtype=dtype), operand=operand) if (
                self._splits_indices
                and isinstance(operand.ctype, Scalar)
                and operand.ctype.dtype.kind == "i"
                and dtype.kind == "i"
                and dtype.itemsize >= operand.ctype.size
            ):
                return self._split_cast(operand, dtype)
            case _:
                value = self._compiler.compile(index)

                def unsplit(group: Group, mask: Mask) -> tuple[Array | None, int]:
                    number = value(group, mask)
                    if isinstance(number, np.ndarray):
                        return number, 0
                    return None, int(number.astype(np.int64))  # unsigned as in scale_index

                return unsplit

    def _split_sum(self, index: Binary, operator: str) -> SplitIndex:
        left, right = self._split(index.left), self._split(index.right)
        function: Any = np.add if operator == "+" else np.subtract
        sign = 1 if operator == "+" else -1
        slot = self._compiler.memo_slot()

        def split_sum(group: Group, mask: Mask) -> tuple[Array | None, int]:
            left_lanes, left_uniform = left(group, mask)
            right_lanes, right_uniform = right(group, mask)
            uniform = left_uniform + sign * right_uniform
            if right_lanes is None:
                return left_lanes, uniform
            if left_lanes is None:
                if sign == 1:
                    return right_lanes, uniform
                left_lanes = np.zeros((), right_lanes.dtype)
            return remember(group, slot, function, left_lanes, right_lanes), uniform

        return split_sum

    def _split_cast(self, operand: Expression, dtype: np.dtype[Any]) -> SplitIndex:
        """A signed index, widened to another signed type: this does not change its value."""
        split, slot = self._split(operand), self._compiler.memo_slot()

        def split_cast(group: Group, mask: Mask) -> tuple[Array | None, int]:
            lanes, uniform = split(group, mask)
            if lanes is None or lanes.dtype == dtype:
                return lanes, uniform
            return remember(group, slot, np.ndarray.astype, lanes, dtype), uniform

        return split_cast
