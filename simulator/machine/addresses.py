"""Places as closures: where in memory an expression's value stands, for each lane."""

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
    Index,
    Member,
    MemorySpace,
    Name,
)
from simulator.machine.buffers import Address, add_offsets, scale_index
from simulator.machine.group import Group, Mask

Closure = Callable[[Group, Mask], Any]
Place = Callable[[Group, Mask], Address]
Parts = Callable[[Group, Mask], tuple[Array | None, int]]


class Places:
    """Compiles places; `compile_value` compiles the expressions within them.

    memo gives a fresh slot of Group.memo. whole keeps an index from being taken apart, so that
    each of its subexpressions is evaluated on its own.
    """

    def __init__(
        self, compile_value: Callable[[Expression], Closure], memo: Callable[[], int], whole: bool
    ) -> None:
        self._compile = compile_value
        self._memo = memo
        self._whole = whole

    def address(self, lvalue: Expression) -> Place:
        """The closure that gives a place's address; registers have none."""
        match lvalue:
            case Name(variable=variable) if variable.space in (
                MemorySpace.SHARED,
                MemorySpace.LOCAL,
            ):
                return lambda group, mask: group.arrays[variable]
            case Name(variable=variable):
                raise SourceError(
                    f"{variable.name} is in a register and has no address; "
                    "make it an array of one.",
                    lvalue.span,
                )
            case Index(base=base, index=index):
                is_array = isinstance(base.ctype, ArrayOf)
                origin = self.address(base) if is_array else self._compile(base)
                return self.offset(origin, index, size_of(lvalue.ctype), 1)
            case Dereference(pointer=pointer):
                return self._compile(pointer)
            case Member(base=base, position=position):
                whole = self.address(base)
                shift = position * lvalue.ctype.size

                def member(group: Group, mask: Mask) -> Address:
                    address = whole(group, mask)
                    return Address(address.buffer, address.lanes, address.base + shift)

                return member
            case _:
                raise SourceError("This has no address.", lvalue.span)

    def offset(self, origin: Closure, index: Expression, size: int, sign: int) -> Place:
        """The address `index` elements of `size` bytes beyond another."""
        parts = self._parts(index)
        scaled_slot, sum_slot = self._memo(), self._memo()

        def moved(group: Group, mask: Mask) -> Address:
            address: Address = origin(group, mask)
            lanes, uniform = parts(group, mask)
            base = address.base + sign * uniform * size
            if lanes is None:
                return Address(address.buffer, address.lanes, base)
            memo = group.memo[scaled_slot]
            if memo is not None and memo[0] is lanes:
                scaled = memo[1]
            else:
                scaled = scale_index(lanes, sign * size)
                group.memo[scaled_slot] = (lanes, scaled)
            if address.lanes is not None:
                scaled = remember(group, sum_slot, add_offsets, address.lanes, scaled)
            return Address(address.buffer, scaled, base)

        return moved

    def _parts(self, index: Expression) -> Parts:
        """An index as what differs between lanes and what is the same for all.

        Only signed sums are taken apart: their overflow is undefined, an unsigned one wraps.
        """
        match index:
            case Binary(operator="+" | "-" as operator, ctype=Scalar(dtype=dtype)) if (
                dtype.kind == "i" and not self._whole
            ):
                left, right = self._parts(index.left), self._parts(index.right)
                function: Any = np.add if operator == "+" else np.subtract
                sign = 1 if operator == "+" else -1
                slot = self._memo()

                def both(group: Group, mask: Mask) -> tuple[Array | None, int]:
                    (a, x), (b, y) = left(group, mask), right(group, mask)
                    uniform = x + sign * y
                    if b is None:
                        return a, uniform
                    other = np.zeros((), b.dtype) if a is None else a
                    if a is None and sign == 1:
                        return b, uniform
                    return remember(group, slot, function, other, b), uniform

                return both
            case Cast(ctype=Scalar(dtype=to), operand=inner) if (
                not self._whole
                and isinstance(inner.ctype, Scalar)
                and inner.ctype.dtype.kind == "i"
                and to.kind == "i"
                and to.itemsize >= inner.ctype.size
            ):
                narrow, slot = self._parts(inner), self._memo()

                def wide(group: Group, mask: Mask) -> tuple[Array | None, int]:
                    lanes, uniform = narrow(group, mask)
                    if lanes is None or lanes.dtype == to:
                        return lanes, uniform
                    return remember(group, slot, np.ndarray.astype, lanes, to), uniform

                return wide
            case _:
                value = self._compile(index)

                def whole(group: Group, mask: Mask) -> tuple[Array | None, int]:
                    given = value(group, mask)
                    if isinstance(given, np.ndarray):
                        return given, 0
                    return None, int(given.astype(np.int64))  # as scale_index takes an array

                return whole


def remember(group: Group, slot: int, function: Any, left: Any, right: Any) -> Any:
    """function(left, right), or what it gave for the very same operands before."""
    memo = group.memo[slot]
    if memo is not None and memo[0] is left and memo[1] is right:
        return memo[2]
    result = function(left, right)
    group.memo[slot] = (left, right, result)
    return result
