"""Lowers the calls of cooperative groups: to warp functions whose mask is the group, and barriers.

Which group an expression is, is known from its type: a group of the block, a tile of so many lanes,
or lanes that were active together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind

from simulator.frontend.clang import constant, unwrapped
from simulator.frontend.expressions import Expressions
from simulator.frontend.types import convert, lower_type
from simulator.language import ctype
from simulator.language.ctype import CType
from simulator.language.errors import SourceError, Span
from simulator.language.functions import GROUP_OPERATIONS
from simulator.language.thread_groups import GroupKind, ThreadGroup, group_of, group_type
from simulator.language.tree import Assign, Barrier, Binary, Builtin, Call, Expression, Literal
from simulator.launch import WARP_SIZE

NAMESPACE = "cooperative_groups"
INDICES = {
    "group_index": "blockIdx",
    "thread_index": "threadIdx",
    "group_dim": "blockDim",
    "dim_threads": "blockDim",
}
GRID_INDICES = {"block_index": "blockIdx", "group_dim": "gridDim", "dim_blocks": "gridDim"}
GRID_NUMBERS = ("thread_rank", "block_rank", "num_blocks")
SIZES = ("size", "num_threads", "group_size")
SHUFFLES = ("shfl", "shfl_up", "shfl_down", "shfl_xor")
VOTES = {
    "any": "__any_sync",
    "all": "cg::all",
    "ballot": "cg::ballot",
    "match_any": "cg::match_any",
}
JOINS = ("reduce", "inclusive_scan", "exclusive_scan")


@dataclass(frozen=True, slots=True)
class _GroupCall:
    """A call that is made of a group."""

    name: str
    of: Expression | None  # the group's value; None for G::f()
    group: ThreadGroup  # what its type says
    arguments: list[Any]  # cursors, without the group
    span: Span


class GroupCalls:
    """Lowers the calls of one kernel that cooperative groups declare."""

    def __init__(self, expressions: Callable[[], Expressions]) -> None:
        self._expressions = expressions  # what lowers them, which is made after this

    def declares(self, cursor: Any) -> bool:
        """Whether a call is of a function, method or constructor of cooperative groups."""
        called = cursor.referenced
        parent = None if called is None else called.semantic_parent
        if parent is not None and parent.kind != CursorKind.NAMESPACE:
            parent = parent.semantic_parent
        return parent is not None and parent.spelling == NAMESPACE

    def barrier(self, cursor: Any, span: Span) -> Barrier | None:
        """sync() of the group of the whole block or grid, which is a barrier; None for others."""
        if cursor.spelling != "sync" or not self.declares(cursor):
            return None
        kind = self._group(cursor, span)[1].kind
        if kind not in (GroupKind.BLOCK, GroupKind.GRID):
            return None
        return Barrier(span, of_grid=kind is GroupKind.GRID)

    def lower(self, cursor: Any, span: Span) -> Expression:
        """A call, as an expression of the type that CUDA gives it."""
        name, called = cursor.spelling, cursor.referenced
        arguments = list(cursor.get_arguments())
        if called.kind == CursorKind.CONSTRUCTOR and len(arguments) == 1:
            return self._value(arguments[0])  # a copy
        if name == "operator=":
            return self._assign(cursor, span)
        if name in ("this_thread_block", "this_grid", "coalesced_threads"):
            return Call(lower_type(cursor.type, span), span, name, ())
        if name == "tiled_partition":
            return self._tile(cursor, arguments, span)
        expression, group = self._group(cursor, span)
        if called.kind != CursorKind.CXX_METHOD:
            arguments = arguments[1:]
        lower: Callable[[_GroupCall], Expression] = {
            GroupKind.BLOCK: self._of_block,
            GroupKind.GRID: self._of_grid,
            GroupKind.TILE: self._of_warp,
            GroupKind.COALESCED: self._of_warp,
            GroupKind.ANY: _refuse_unknown,
        }[group.kind]
        result = lower(_GroupCall(name, expression, group, arguments, span))
        target = lower_type(cursor.type, span)
        return result if isinstance(target, ctype.Void) else convert(result, target, span)

    def _value(self, cursor: Any) -> Expression:
        return self._expressions().value(cursor)

    def _group(self, cursor: Any, span: Span) -> tuple[Expression | None, ThreadGroup]:
        """The group that a call is made of, and what its type says; without a value for G::f()."""
        if cursor.referenced.kind != CursorKind.CXX_METHOD:
            expression = self._value(next(iter(cursor.get_arguments())))
        else:
            callee = unwrapped(next(iter(cursor.get_children())))
            if callee.kind != CursorKind.MEMBER_REF_EXPR:
                of_type = group_of(lower_type(cursor.referenced.semantic_parent.type, span))
                if of_type is None:
                    raise SourceError("This call is not on a group.", span)
                return None, of_type
            expression = self._value(next(iter(callee.get_children())))
        group = group_of(expression.ctype)
        if group is None:
            raise SourceError("A pointer to a group is not supported; pass the group itself.", span)
        return expression, group

    def _assign(self, cursor: Any, span: Span) -> Expression:
        children = list(cursor.get_children())
        lvalue = self._expressions().lvalue(children[0])
        value = self._value(children[-1])
        if lvalue.ctype != value.ctype:
            raise SourceError(
                f"Here a {lvalue.ctype} becomes a {value.ctype}: give it a variable of its own.",
                span,
            )
        return Assign(lvalue.ctype, span, lvalue, "", value, lvalue.ctype)

    def _tile(self, cursor: Any, arguments: list[Any], span: Span) -> Expression:
        """tiled_partition<N>(group), or tiled_partition(group, N) with a constant N."""
        parent = group_of(self._value(arguments[0]).ctype)
        if parent is None or parent.kind not in (GroupKind.BLOCK, GroupKind.TILE):
            raise SourceError("Only the block and a tile can be partitioned here.", span)
        declared = group_of(lower_type(cursor.type, span))
        width = constant(arguments[1]) if len(arguments) > 1 else declared and declared.width
        if not isinstance(width, int) or not 0 < width <= WARP_SIZE or width & (width - 1):
            raise SourceError(
                "A tile has 1, 2, 4, 8, 16 or 32 threads, a number known before the launch; tiles "
                "of several warps are not supported.",
                span,
            )
        if parent.width and width > parent.width:
            raise SourceError(
                f"A tile of {width} threads is not part of one of {parent.width}.", span
            )
        tile = group_type(ThreadGroup(GroupKind.TILE, width, parent.width))
        return Call(tile, span, "tiled_partition", (_number(width, span),))

    def _of_block(self, call: _GroupCall) -> Expression:
        """A call of a group of the whole block."""
        name, span = call.name, call.span
        if name in INDICES:
            return _dim3(span, INDICES[name])
        if name in SIZES:
            return Call(ctype.UINT, span, "thread_block::size", ())
        if name == "thread_rank":
            return Call(ctype.UINT, span, "thread_block::thread_rank", ())
        if name == "sync":
            raise SourceError("Write the group's sync() in a statement of its own.", span)
        raise SourceError(
            f"{name} of a whole block is not supported: make it of each warp's tile, and join "
            "the warps in shared memory.",
            span,
        )

    def _of_grid(self, call: _GroupCall) -> Expression:
        """A call of the group of the whole grid."""
        name, span = call.name, call.span
        if name in GRID_INDICES:
            return _dim3(span, GRID_INDICES[name])
        if name == "dim_threads":
            return _dim3(span, "gridDim", "blockDim")
        if name == "thread_index":
            return _dim3(span, "blockIdx", "blockDim", "threadIdx")
        if name in SIZES:
            return Call(ctype.ULONGLONG, span, "grid_group::size", ())
        if name in GRID_NUMBERS:
            return Call(ctype.ULONGLONG, span, f"grid_group::{name}", ())
        if name == "is_valid":  # a kernel that waits for the grid is launched as that needs it
            return Literal(ctype.BOOL, span, ctype.BOOL.dtype.type(True))
        if name == "sync":
            raise SourceError("Write the group's sync() in a statement of its own.", span)
        raise SourceError(f"{name} of the whole grid is not supported.", span)

    def _of_warp(self, call: _GroupCall) -> Expression:
        """A call of a tile or of a coalesced group."""
        name, span, expression, group = call.name, call.span, call.of, call.group
        if name in SIZES and group.width:
            return _number(group.width, span)
        if name.startswith("meta_group_"):
            is_rank = name == "meta_group_rank"
            if not group.width:  # the active threads of a warp are one group
                return _number(0 if is_rank else 1, span)
            widths = (_number(group.width, span), _number(group.parent_width, span))
            return Call(ctype.UINT, span, f"cg::{name}", widths)
        if expression is None:
            raise SourceError(f"Call {name} on a group.", span)
        if name == "sync":
            return Call(ctype.VOID, span, "__syncwarp", (expression,))
        if name == "thread_rank" or name in SIZES:
            function = "cg::thread_rank" if name == "thread_rank" else "cg::size"
            return Call(ctype.UINT, span, function, (expression,))
        if name in JOINS:
            return self._join(call, expression)
        values = tuple(self._value(argument) for argument in call.arguments)
        if name in VOTES:
            result = ctype.INT if name in ("any", "all") else ctype.UINT
            return Call(result, span, VOTES[name], (expression, *values))
        if name in SHUFFLES and group.width:
            function = f"__{name}_sync"
            width = Literal(ctype.INT, span, ctype.INT.dtype.type(group.width))
            return Call(values[0].ctype, span, function, (expression, *values, width))
        if name in SHUFFLES:
            return Call(values[0].ctype, span, f"cg::{name}", (expression, *values))
        raise SourceError(f"{name} of a group is not supported.", span)

    def _join(self, call: _GroupCall, expression: Expression) -> Expression:
        """A reduction or scan, by one of CUDA's operations."""
        name, arguments, span = call.name, call.arguments, call.span
        operation, number = "plus", None
        if len(arguments) > 1:
            spelling = arguments[1].type.get_canonical().spelling
            found = re.search(rf"\b{NAMESPACE}::(\w+)<", spelling)
            operation = found[1] if found else ""
            number = arguments[1].type.get_canonical().get_template_argument_type(0)
        if operation not in GROUP_OPERATIONS:
            names = ", ".join(GROUP_OPERATIONS)
            raise SourceError(
                f"{name} takes one of cooperative_groups' own operations ({names}); for other "
                "operations write shuffles.",
                span,
            )
        value = self._value(arguments[0])
        compute: CType = value.ctype if number is None else lower_type(number, span)
        value = convert(value, compute, span)
        return Call(compute, span, f"cg::{name}<{operation}>", (expression, value))


def _refuse_unknown(call: _GroupCall) -> Expression:
    raise SourceError(
        "It is not known here which group this is: declare it with auto, or as thread_block or "
        "thread_block_tile.",
        call.span,
    )


def _dim3(span: Span, builtin: str, factor: str = "", summand: str = "") -> Expression:
    """A built-in variable as a dim3, times another and plus a third, if they are given."""
    axes: list[Expression] = []
    for axis in "xyz":
        value: Expression = Builtin(ctype.UINT, span, builtin, axis)
        for operator, name in (("*", factor), ("+", summand)):
            if name:
                other = Builtin(ctype.UINT, span, name, axis)
                value = Binary(ctype.UINT, span, operator, value, other)
        axes.append(value)
    return Call(ctype.VECTORS["dim3"], span, "make_dim3", tuple(axes))


def _number(value: int, span: Span) -> Literal:
    return Literal(ctype.UINT, span, ctype.UINT.dtype.type(value))
