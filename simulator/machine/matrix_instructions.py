"""The instructions of tensor cores: ldmatrix and mma.sync, on registers of each lane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.language.assembly import MATRIX_LOADS, MATRIX_PRODUCTS
from simulator.language.ctype import FLOAT, HALF, UINT, USHORT, Array, Vector
from simulator.language.fragments import Fragment, Use
from simulator.language.number_types import OPERANDS, numbers_held
from simulator.language.tree import Call, Dereference
from simulator.launch import WARP_SIZE
from simulator.machine import tensor_core
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.fragments import WholeWarps
from simulator.machine.group import Group
from simulator.machine.masks import Mask, narrow
from simulator.machine.warp_masks import by_lane, by_warp

ROWS = 8  # of a matrix that ldmatrix loads; as many numbers of 16 bits are in each
ROW_BYTES = 16
LANES = np.arange(WARP_SIZE)


def _load(call: Call, compiler: ExpressionCompiler) -> Closure:
    """ldmatrix: lane 8 j + i has the address of row i of matrix j (PTX ISA, ldmatrix)."""
    instruction, (pointer,) = MATRIX_LOADS[call.function], call.arguments
    address, warps, memory = compiler.compile(pointer), WholeWarps(call, compiler), compiler.memory
    # What is loaded has the type of the array's cells, if that is one whose values are its bits.
    operands = {}
    for element in (USHORT, HALF, FLOAT, UINT):
        count = ROW_BYTES // element.size
        row = Vector(f"{element}[{count}]", element, count)
        operands[element] = compiler.operand(Dereference(row, pointer.span, pointer), row)

    def load(group: Group, mask: Mask) -> Any:
        warps.check(group, mask)
        at = address(group, mask)
        operand = operands.get(at.buffer.element, operands[USHORT])
        reads = narrow(mask, group.warp_lanes < ROWS * instruction.matrices)
        cells = memory.load(group, reads, at, operand)
        rows = np.stack([by_warp(group, each, 0) for each in cells], axis=-1).view(np.uint16)
        registers = []
        for number in range(instruction.matrices):
            matrix = rows[:, ROWS * number : ROWS * (number + 1)]
            if instruction.is_transposed:
                matrix = np.ascontiguousarray(matrix.swapaxes(1, 2))
            held = np.ascontiguousarray(matrix).view(np.uint32)[:, LANES // 4, LANES % 4]
            registers.append(by_lane(group, held))
        return tuple(registers) if len(registers) > 1 else registers[0]

    return load


def _multiply(call: Call, compiler: ExpressionCompiler) -> Closure:
    """mma.sync: gives each lane its elements of A B + C, as a float4."""
    product, warps = MATRIX_PRODUCTS[call.function], WholeWarps(call, compiler)
    values = [compiler.compile(argument) for argument in call.arguments]
    form = OPERANDS[product.operand]
    rows, columns = product.fragment(Use.ACCUMULATOR).positions()

    def multiply(group: Group, mask: Mask) -> Any:
        warps.check(group, mask)
        given = [by_warp(group, value(group, mask), 0) for value in values]
        tiles = []
        for use in (Use.A, Use.B, Use.ACCUMULATOR):
            count = product.registers(use)
            tiles.append(_tile(given[:count], product.fragment(use)))
            given = given[count:]
        a, b, c = tiles
        total = tensor_core.multiply_add(a, b, c, form)
        return tuple(
            by_lane(group, total[:, rows[:, number], columns[:, number]])
            for number in range(rows.shape[1])
        )

    return multiply


def _tile(registers: list[Array], fragment: Fragment) -> Array:
    """The tile of each warp, [warps, rows, columns], of the registers [warps, 32] that hold it."""
    cells = np.stack(registers, axis=-1).view(fragment.element.cell_dtype)
    numbers = numbers_held(fragment.element, cells)
    rows, columns = fragment.positions()
    tile = np.zeros((len(numbers), fragment.rows, fragment.columns), numbers.dtype)
    each = slice(fragment.distinct)
    tile[:, rows[:, each], columns[:, each]] = numbers
    return tile


MATRIX_CALLS: Mapping[str, CompileCall] = {
    **dict.fromkeys(MATRIX_LOADS, _load),
    **dict.fromkeys(MATRIX_PRODUCTS, _multiply),
}
