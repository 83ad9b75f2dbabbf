"""What a thread does by nvcuda::wmma with its warp, in its line's numbers and in a sentence.

Both are several wordings, the longest first. A thread speaks of its first element, x[0].
"""

from __future__ import annotations

from simulator.language.fragments import Fragment, parse_fragment
from simulator.language.tree import AddressOf, Call, Expression
from simulator.launch import WARP_SIZE
from simulator.number_format import format_number
from simulator.sentences.expressions import ExpressionFormatter


def fragment_values(formatter: ExpressionFormatter, call: Call) -> tuple[str, ...]:
    """The numbers of a call's line: c.x[0] = 0 + 16 products = −0.25."""
    name, element = _name(formatter, call.arguments[0]), _element(formatter, call)
    short = f"{name}.x[0] = {element}"
    match call.function:
        case "wmma::mma_sync":
            depth = _fragment(call, 1).columns
            before = _held(formatter, call.arguments[3])
            return (f"{name}.x[0] = {before} + {depth} products = {element}", short)
        case "wmma::load_matrix_sync":
            return (f"{name}.x[0] = {_cell(formatter, call)} = {element}", short)
        case "wmma::store_matrix_sync":
            return (f"{_cell(formatter, call)} = {name}.x[0] = {element}", short)
        case _:
            return (f"{name}.x[0…{_fragment(call).count - 1}] = {element}", short)


def fragment_spoken(formatter: ExpressionFormatter, call: Call) -> tuple[str, ...]:
    """What a thread does by a call, as a sentence's predicate."""
    fragment, name = _fragment(call), _name(formatter, call.arguments[0])
    size = f"{fragment.rows} × {fragment.columns}"
    element, lane = _element(formatter, call), formatter.thread % WARP_SIZE
    rows, columns = fragment.positions()
    place = f"row {rows[lane, 0]} and column {columns[lane, 0]} of {name}"
    match call.function:
        case "wmma::mma_sync":
            a, b, c = (_name(formatter, argument) for argument in call.arguments[1:])
            onto = f"adds {a} × {b} to {name}"
            if c != name:
                onto = f"sets {name} to {a} × {b} + {c}"
            sizes = " by ".join(
                f"{each.rows} × {each.columns}" for each in (_fragment(call, 1), _fragment(call, 2))
            )
            onto += " together with its warp"
            return (
                f"{onto}, {sizes} on the tensor core: its {name}.x[0], {place}, is now {element}",
                f"{onto}, on the tensor core: its {name}.x[0] is now {element}",
                onto,
            )
        case "wmma::load_matrix_sync":
            cell = _cell(formatter, call)
            loads = f"loads {size} elements of {_array(formatter, call)} into {name}"
            loads += " together with its warp"
            return (f"{loads}: its {name}.x[0] is {cell} = {element}, {place}", loads)
        case "wmma::store_matrix_sync":
            cell = _cell(formatter, call)
            stores = f"stores {name}, {size} elements, in {_array(formatter, call)}"
            stores += " together with its warp"
            return (f"{stores}: its {name}.x[0] = {element}, {place}, goes to {cell}", stores)
        case _:
            return (
                f"sets its {fragment.count} elements of {name}, a {size} tile, to {element}",
                f"sets its part of {name} to {element}",
            )


def _fragment(call: Call, number: int = 0) -> Fragment:
    """The type of a call's fragment."""
    found = parse_fragment(call.texts[number])
    assert found is not None
    return found


def _name(formatter: ExpressionFormatter, pointer: Expression) -> str:
    """The name of the fragment whose elements an argument points to."""
    return formatter.lvalue(pointer).removesuffix(".x")


def _element(formatter: ExpressionFormatter, call: Call) -> str:
    """The thread's x[0] of the call's first fragment, after the step."""
    return _held(formatter, call.arguments[0], after=True)


def _held(formatter: ExpressionFormatter, pointer: Expression, after: bool = False) -> str:
    """The first element that a call has read of a fragment, or the last that it has made of it."""
    assert isinstance(pointer, AddressOf)
    accesses = [each for each in formatter.step.accesses if each.expression is pointer.lvalue]
    if not accesses:
        return "?"
    return format_number(accesses[-1 if after else 0].values[formatter.thread].reshape(-1)[0])


def _array(formatter: ExpressionFormatter, call: Call) -> str:
    """The array that a call loads from or stores to."""
    evaluation = formatter.evaluations.get(call.arguments[1])
    return "memory" if evaluation is None or evaluation.array is None else evaluation.array


def _cell(formatter: ExpressionFormatter, call: Call) -> str:
    """The cell of memory whose value the thread's x[0] is."""
    fragment = _fragment(call)
    start, distance = (formatter.value(argument) for argument in call.arguments[1:])
    rows, columns = fragment.positions()
    lane = formatter.thread % WARP_SIZE
    line, place = int(rows[lane, 0]), int(columns[lane, 0])
    if call.texts[1] == "mem_col_major":
        line, place = place, line
    number = int(start) // fragment.element.size + line * int(distance) + place
    return f"{_array(formatter, call)}[{number}]"
