"""What a thread does by ldmatrix and mma.sync with its warp, in numbers and in a sentence.

Both are several wordings, the longest first. A thread speaks of its first element.
"""

from __future__ import annotations

from simulator.language.assembly import MATRIX_LOADS, MATRIX_PRODUCTS
from simulator.language.fragments import Use
from simulator.language.tree import Call
from simulator.launch import WARP_SIZE
from simulator.number_format import format_number
from simulator.recording.recording import farthest_of
from simulator.sentences.cells import cell_name
from simulator.sentences.expressions import ExpressionFormatter

MATRIX_INSTRUCTIONS = MATRIX_LOADS.keys() | MATRIX_PRODUCTS.keys()


def matrix_values(formatter: ExpressionFormatter, call: Call) -> tuple[str, ...]:
    """The numbers of a call's line: 0 + 16 products = 7.5."""
    if call.function in MATRIX_LOADS:
        row = _row(formatter)
        return (f"the row that begins at {row}",) if row else ()
    product = MATRIX_PRODUCTS[call.function]
    before = formatter.show(call.arguments[-product.registers(Use.ACCUMULATOR)])
    return (f"{before} + {product.shape[2]} products = {_first(formatter, call)}",)


def matrix_spoken(formatter: ExpressionFormatter, call: Call) -> tuple[str, ...]:
    """What a thread does by a call, as a sentence's predicate."""
    if call.function in MATRIX_LOADS:
        load, row = MATRIX_LOADS[call.function], _row(formatter)
        matrices = "an 8 × 8 matrix" if load.matrices == 1 else f"{load.matrices} matrices of 8 × 8"
        turned = ", transposed" if load.is_transposed else ""
        loads = f"loads {matrices} of 16-bit numbers from shared memory{turned}, with its warp"
        if not row:
            return (loads,)
        return (f"{loads}; its address is that of the row that begins at {row}", loads)
    product = MATRIX_PRODUCTS[call.function]
    m, n, k = product.shape
    rows, columns = product.fragment(Use.ACCUMULATOR).positions()
    lane = formatter.thread % WARP_SIZE
    multiplies = f"multiplies {m} × {k} by {k} × {n} with its warp, on the tensor core"
    result = _first(formatter, call)
    return (
        f"{multiplies}, and adds the products to its sums: the first of these, at row "
        f"{rows[lane, 0]} and column {columns[lane, 0]} of the tile, is now {result}",
        f"{multiplies}: its first sum is now {result}",
        multiplies,
    )


def _first(formatter: ExpressionFormatter, call: Call) -> str:
    """The thread's first sum."""
    return format_number(formatter.value(call)[0])


def _row(formatter: ExpressionFormatter) -> str:
    """The cell that the thread's row begins with; "" if the instruction takes none of its."""
    load, _ = farthest_of(formatter.step, formatter.thread)
    return "" if load is None else cell_name(formatter.recording, load, formatter.thread)
