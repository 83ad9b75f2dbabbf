"""Lowers inline assembly: a table of PTX instructions, each as what CUDA C has for it.

The names and their meanings come from NVIDIA's PTX ISA; how operands are written in source is in
its document Inline PTX Assembly in CUDA.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simulator.frontend.clang import assembly_of, constant
from simulator.frontend.expressions import Expressions
from simulator.frontend.hoisting import hoist, value_of
from simulator.frontend.records import assign
from simulator.frontend.types import convert
from simulator.frontend.unsupported import unsupported_instruction
from simulator.language import ctype, tree
from simulator.language.assembly import MATRIX_LOADS, MATRIX_PRODUCTS
from simulator.language.ctype import CType, Pointer, Scalar, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.fragments import Use
from simulator.language.functions import ASYNC_COPY, TO_SHARED, TO_SHARED_POINTER
from simulator.language.visit import strip_casts, subexpressions

MAX_INSTRUCTIONS = 100  # of one statement
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
OPERAND = re.compile(r"\$(\d+)|\$\{(\d+)\}")  # as clang writes %0
NUMBER = re.compile(r"(-?)(0[xX][\da-fA-F]{1,16}|0|[1-9]\d{0,18})U?")
SELECTORS = 0x8888  # bits of prmt's selector that repeat a byte's sign

# By a register's letter in PTX and its bits: the type of its values.
TYPES: Mapping[str, Scalar] = {
    "b16": ctype.USHORT, "u16": ctype.USHORT, "s16": ctype.SHORT, "b32": ctype.UINT,
    "u32": ctype.UINT, "s32": ctype.INT, "b64": ctype.ULONG, "u64": ctype.ULONG,
    "s64": ctype.LONG, "f32": ctype.FLOAT, "f64": ctype.DOUBLE,
}  # fmt: skip
# By an operand's constraint: whether it is a floating-point number, and its bytes.
CONSTRAINTS = {
    "h": (False, 2), "r": (False, 4), "l": (False, 8), "f": (True, 4), "d": (True, 8),
}  # fmt: skip
# Which instruction gives which built-in variable, whose axis comes after it.
BUILTINS = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}
OPERATORS = {
    "add": "+", "sub": "-", "mul.lo": "*", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
# Instructions that are functions of CUDA's: the function, its result and its operands' type.
FUNCTIONS: Mapping[str, tuple[str, Scalar, Scalar]] = {
    "add.rn.f32": ("__fadd_rn", ctype.FLOAT, ctype.FLOAT),
    "sub.rn.f32": ("__fsub_rn", ctype.FLOAT, ctype.FLOAT),
    "mul.rn.f32": ("__fmul_rn", ctype.FLOAT, ctype.FLOAT),
    "fma.rn.f32": ("__fmaf_rn", ctype.FLOAT, ctype.FLOAT),
    "fma.rn.f64": ("__fma_rn", ctype.DOUBLE, ctype.DOUBLE),
    "mul.hi.u32": ("__umulhi", ctype.UINT, ctype.UINT),
    "mul.hi.s32": ("__mulhi", ctype.INT, ctype.INT),
    "popc.b32": ("__popc", ctype.INT, ctype.UINT),
    "clz.b32": ("__clz", ctype.INT, ctype.INT),
    "brev.b32": ("__brev", ctype.UINT, ctype.UINT),
}
ARGUMENTS = {"fma": 3, "popc": 1, "clz": 1, "brev": 1}  # of these functions; of all others 2
FENCES = {
    "membar.cta": "__threadfence_block", "membar.gl": "__threadfence",
    "membar.sys": "__threadfence_system",
}  # fmt: skip


def lower_assembly(cursor: Any, span: Span, expressions: Expressions) -> tree.Statement:
    """A statement of inline assembly; SourceError for an instruction that the table lacks."""
    return _Assembly(cursor, span, expressions).lower()


@dataclass(frozen=True, slots=True)
class _Operand:
    """An expression that the text gives as %0, %1, …."""

    constraint: str  # a letter of CONSTRAINTS, or "n"
    cursor: Any
    is_output: bool


class _Assembly:
    """One statement of inline assembly."""

    def __init__(self, cursor: Any, span: Span, expressions: Expressions) -> None:
        self.span, self._expressions = span, expressions
        text, outputs, inputs = assembly_of(cursor)
        self._instructions = _instructions(text)
        self._operands = [
            _Operand(constraint.strip("=+&"), each, is_output)
            for group, is_output in ((outputs, True), (inputs, False))
            for constraint, each in group
        ]
        self._uses = [int(a or b) for line in self._instructions for a, b in OPERAND.findall(line)]
        self._registers: dict[str, tree.Variable | None] = {}  # None: without a value
        self._inputs: dict[int, tree.Variable] = {}  # operands that were evaluated before
        self._statements: list[tree.Statement] = []

    def lower(self) -> tree.Statement:
        if len(self._instructions) > MAX_INSTRUCTIONS:
            raise self.error(f"Inline assembly has at most {MAX_INSTRUCTIONS} instructions here.")
        if max(self._uses, default=-1) >= len(self._operands):
            raise self.error("$ is not supported in inline assembly: operands are %0, %1, ….")
        for number, operand in enumerate(self._operands):
            self._check(number, operand)
        self._evaluate_inputs()
        for line in self._instructions:
            self._lower_instruction(line)
        if len(self._statements) == 1:
            return self._statements[0]
        return tree.Sequence(self.span, tuple(self._statements))

    def error(self, message: str) -> SourceError:
        return SourceError(message, self.span)

    def _check(self, number: int, operand: _Operand) -> None:
        """SourceError for an operand that nvcc does not take, or that changes what it is."""
        letter = operand.constraint
        effects = (tree.Assign, tree.Call, tree.Increment, tree.Inlined)
        if operand.is_output and any(
            isinstance(part, effects)
            for part in subexpressions(self._expressions.lvalue(operand.cursor))
        ):
            raise self.error(
                f"Inline assembly writes to %{number}: give it a variable, or a cell by an index "
                "that is computed before."
            )
        if letter == "n":
            return
        if letter not in CONSTRAINTS:
            raise self.error(
                f'The constraint "{letter}" of inline assembly is not supported: write "r" for '
                '32-bit numbers, "l" for 64-bit numbers and pointers, "f" for float, "n" for '
                "constants."
            )
        is_float, size = CONSTRAINTS[letter]
        kind = self._raw(operand).ctype
        fits = isinstance(kind, Scalar) and (kind.is_float, kind.size) == (is_float, size)
        if not fits and not (isinstance(kind, Pointer) and letter == "l"):
            what = "a float" if is_float else "a whole number"
            raise self.error(
                f'The constraint "{letter}" of inline assembly is for {what} of {size} bytes'
                f"{' or a pointer' if letter == 'l' else ''}, and this operand is of type {kind}."
            )

    def _evaluate_inputs(self) -> None:
        """Give inputs a register that several instructions may read: all are evaluated before."""
        is_single = sum(not line.startswith(".reg") for line in self._instructions) == 1
        for number, operand in enumerate(self._operands):
            if operand.is_output or (is_single and self._uses.count(number) == 1):
                continue
            value = self._raw(operand)
            if isinstance(value, tree.Literal):
                continue
            name = f"%{number}"
            variable = tree.Variable(name, value.ctype, tree.MemorySpace.REGISTER, self.span)
            self._inputs[number] = variable
            self.put(tree.Declare(self.span, variable, value))

    def put(self, statement: tree.Statement) -> None:
        """Add a statement."""
        self._statements.append(hoist(statement))

    def _raw(self, operand: _Operand) -> tree.Expression:
        return self._expressions.value(operand.cursor)

    def _lower_instruction(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name == ".reg":
            names = rest.partition(" ")[2].split(",")
            self._registers |= {each.strip(): None for each in names}
            return
        operands = _split(rest)
        for pattern, lower in TABLE:
            found = pattern.fullmatch(name)
            if found is not None:
                lower(self, found, operands)
                return
        raise self.error(unsupported_instruction(name))

    # Operands ----------------------------------------------------------------------------------

    def take(self, operands: list[str], *counts: int) -> list[str]:
        """The operands of an instruction; SourceError where they are not as many as it has."""
        if len(operands) not in counts:
            raise self.error(
                f"An instruction of this inline assembly has {len(operands)} operands, but takes "
                f"{' or '.join(map(str, counts))}."
            )
        return operands

    def given(self, text: str) -> tree.Expression:
        """What an operand has, in its own type."""
        number = _number_of(text)
        if number is not None:
            if number in self._inputs:
                return value_of(self._inputs[number], self.span)
            return self._raw(self._operands[number])
        if text.startswith("%"):
            return self._special(text.lstrip("%"))
        if text in self._registers:
            variable = self._registers[text]
            if variable is None:
                raise self.error(f"The register {text} of inline assembly has no value here.")
            return value_of(variable, self.span)
        literal = NUMBER.fullmatch(text)
        if literal is None:
            raise self.error(f"The operand {text} of inline assembly is not supported.")
        value = int(literal[2], 16 if literal[2][:2] in ("0x", "0X") else 10)
        return self.literal(-value if literal[1] else value, ctype.LONG)

    def value(self, text: str, kind: Scalar) -> tree.Expression:
        """What an operand has, as a value of a type of its own size."""
        value = self.given(text)
        is_constant, given = isinstance(value, tree.Literal), value.ctype
        if not isinstance(given, Scalar):
            raise self.error(
                "An instruction of this inline assembly takes a number, but its operand is of type "
                f"{given}: only addresses in shared memory become numbers, by {TO_SHARED}."
            )
        if given.size != kind.size and not is_constant:
            raise self.error(
                f"An instruction of this inline assembly takes {8 * kind.size} bits, but its "
                f"operand {_shown(text)} has {8 * given.size}."
            )
        if given.is_float and not kind.is_float:
            bits = {4: "__float_as_uint", 8: "__double_as_longlong"}[given.size]
            value = tree.Call(
                ctype.UINT if given.size == 4 else ctype.LONGLONG, self.span, bits, (value,)
            )
        elif kind.is_float and not given.is_float:
            if kind.size != 4 or is_constant:
                raise self.error(
                    f"The operand {_shown(text)} of inline assembly must be a floating-point "
                    'number: give it as "f"(…) or "d"(…).'
                )
            bits_of = convert(value, ctype.UINT, self.span)
            return tree.Call(ctype.FLOAT, self.span, "__uint_as_float", (bits_of,))
        return convert(value, kind, self.span)

    def number(self, text: str) -> int:
        """An operand that is known before the launch."""
        number = _number_of(text)
        known: Any = None
        if number is not None:
            known = constant(self._operands[number].cursor)
        elif NUMBER.fullmatch(text):
            value = self.given(text)
            assert isinstance(value, tree.Literal)
            known = value.value
        if known is None or known != int(known):
            raise self.error(
                f"The operand {_shown(text)} of inline assembly must be a number that is known "
                "before the launch."
            )
        return int(known)

    def literal(self, value: int, kind: Scalar) -> tree.Literal:
        """A whole number of a type, its bits cut to the type's."""
        bits = 8 * kind.size
        value &= (1 << bits) - 1
        if kind.dtype.kind == "i" and value >> (bits - 1):
            value -= 1 << bits
        return tree.Literal(kind, self.span, kind.dtype.type(value))

    def shared(self, text: str, target: CType) -> tree.Expression:
        """The pointer, to a target, that an address [ ] of shared memory stands for."""
        inner, offset = self._address(text)
        value = self.given(inner)
        if not isinstance(value.ctype, Scalar) or value.ctype.is_float:
            raise self.error(
                f"The address {_shown(text)} of inline assembly is one in shared memory, but "
                f"{_shown(inner)} is of type {value.ctype}: give the number that {TO_SHARED} makes "
                "of a pointer."
            )
        number = convert(value, ctype.ULONG, self.span)
        if offset:
            number = self.binary("+", number, self.literal(offset, ctype.ULONG))
        return tree.Call(Pointer(target), self.span, TO_SHARED_POINTER, (number,))

    def pointer(self, text: str) -> tree.Expression:
        """The pointer that an address [ ] of global memory is."""
        inner, offset = self._address(text)
        value = self.given(inner)
        if not isinstance(value.ctype, Pointer) or offset:
            raise self.error(
                f"The address {_shown(text)} of inline assembly is one in global memory: give the "
                'pointer itself, as "l"(pointer), without an offset.'
            )
        return value

    def _address(self, text: str) -> tuple[str, int]:
        """An operand in [ ], and the bytes that are added to it."""
        found = re.fullmatch(r"\[\s*(\S+?)\s*(?:\+\s*(\S+?)\s*)?\]", text)
        if found is None:
            raise self.error(f"The operand {_shown(text)} must be an address: write [ ] around it.")
        return found[1], self.number(found[2]) if found[2] else 0

    def registers(self, text: str) -> list[str]:
        """The operands in { }, or the one without."""
        return _split(text[1:-1]) if text.startswith("{") else [text]

    def binary(self, operator: str, left: tree.Expression, right: tree.Expression) -> tree.Binary:
        """An operator of two values of one type."""
        return tree.Binary(left.ctype, self.span, operator, left, right)

    def call(self, kind: CType, function: str, *arguments: tree.Expression) -> tree.Call:
        """A call of one of CUDA's functions."""
        return tree.Call(kind, self.span, function, arguments)

    def evaluate(self, function: str, *arguments: tree.Expression) -> None:
        """A call without a result, as a statement."""
        self.put(tree.Evaluate(self.span, self.call(ctype.VOID, function, *arguments)))

    def write(self, text: str, value: tree.Expression) -> None:
        """Give an operand or a register of the assembly its value."""
        number = _number_of(text)
        if number is not None:
            operand = self._operands[number]
            if not operand.is_output:
                raise self.error(
                    f'Inline assembly writes to %{number}, which is an input: write it as "='
                    f'{operand.constraint}" after the first colon.'
                )
            lvalue = self._expressions.lvalue(operand.cursor)
            if isinstance(lvalue.ctype, Scalar) and isinstance(value.ctype, Scalar):
                value = self._as_bits_of(value, lvalue.ctype)
            self.put(assign(lvalue, convert(value, lvalue.ctype, self.span), self.span))
            return
        if text not in self._registers:
            raise self.error(f"Inline assembly cannot write to {_shown(text)}.")
        variable = self._registers[text]
        if variable is None:
            variable = tree.Variable(text, value.ctype, tree.MemorySpace.REGISTER, self.span)
            self._registers[text] = variable
            self.put(tree.Declare(self.span, variable, value))
        else:
            name = tree.Name(variable.ctype, self.span, variable)
            self.put(assign(name, convert(value, variable.ctype, self.span), self.span))

    def _as_bits_of(self, value: tree.Expression, target: Scalar) -> tree.Expression:
        """A value for a register of a type: its bits, where one is a float and the other not."""
        kind = value.ctype
        assert isinstance(kind, Scalar)
        if kind.size != target.size:
            raise self.error(
                f"Inline assembly writes {8 * kind.size} bits to an operand of {8 * target.size}."
            )
        if kind.is_float == target.is_float or kind.size != 4:
            return value
        if kind.is_float:
            return self.call(ctype.UINT, "__float_as_uint", value)
        return self.call(ctype.FLOAT, "__uint_as_float", convert(value, ctype.UINT, self.span))

    def parts(self, name: str, value: tree.Expression, targets: list[str]) -> None:
        """Compute a number or a short vector, then write it or its components to registers."""
        variable = tree.Variable(name, value.ctype, tree.MemorySpace.REGISTER, self.span)
        self.put(tree.Declare(self.span, variable, value))
        if not isinstance(value.ctype, Vector):
            self.write(targets[0], value_of(variable, self.span))
            return
        for number, target in enumerate(targets):
            whole = tree.Name(value.ctype, self.span, variable)
            element = value.ctype.element
            self.write(
                target,
                tree.Load(element, self.span, tree.Member(element, self.span, whole, number)),
            )

    # Special registers -------------------------------------------------------------------------

    def _special(self, name: str) -> tree.Expression:
        """The value of a special register (PTX ISA, Special Registers)."""
        builtin, _, axis = name.partition(".")
        if builtin in BUILTINS and axis in ("x", "y", "z"):
            return tree.Builtin(ctype.UINT, self.span, BUILTINS[builtin], axis)
        if name == "laneid":
            return self._lane()
        if name.startswith("lanemask_"):
            mask = self._lane_mask(name.removeprefix("lanemask_"))
            if mask is not None:
                return mask
        if name == "clock64":
            return convert(self.call(ctype.LONGLONG, "clock64"), ctype.ULONG, self.span)
        if name in ("clock", "clock_lo"):
            return convert(self.call(ctype.LONG, "clock"), ctype.UINT, self.span)
        raise self.error(unsupported_instruction(f"%{name}"))

    def _lane(self) -> tree.Expression:
        """The thread's number in its block, in x, y, z order, of which a warp has 32."""
        x, y, z = (tree.Builtin(ctype.UINT, self.span, "threadIdx", axis) for axis in "xyz")
        width, height = (tree.Builtin(ctype.UINT, self.span, "blockDim", axis) for axis in "xy")
        row = self.binary("+", y, self.binary("*", height, z))
        thread = self.binary("+", x, self.binary("*", width, row))
        return self.binary("&", thread, self.literal(31, ctype.UINT))

    def _lane_mask(self, order: str) -> tree.Expression | None:
        """The lanes that are equal to, less than, … this one, a bit each."""
        one, two = (self.literal(number, ctype.UINT) for number in (1, 2))
        below = self.binary("-", self.binary("<<", one, self._lane()), self.literal(1, ctype.UINT))
        up_to = self.binary("-", self.binary("<<", two, self._lane()), self.literal(1, ctype.UINT))
        match order:
            case "eq":
                return self.binary("<<", one, self._lane())
            case "lt":
                return below
            case "le":
                return up_to
            case "ge":
                return tree.Unary(ctype.UINT, self.span, "~", below)
            case "gt":
                return tree.Unary(ctype.UINT, self.span, "~", up_to)
            case _:
                return None


# The table ---------------------------------------------------------------------------------------

Lower = Callable[[_Assembly, "re.Match[str]", list[str]], None]


def _move(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    target, source = assembly.take(operands, 2)
    given, kind = assembly.given(source), TYPES[found[1]]
    is_pointer = isinstance(given.ctype, Pointer) and kind.size == given.ctype.size
    assembly.write(target, given if is_pointer else assembly.value(source, kind))


def _convert(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    """cvt between whole numbers of 32 and 64 bits."""
    target, source = assembly.take(operands, 2)
    value = assembly.value(source, TYPES[found[2]])
    assembly.write(target, convert(value, TYPES[found[1]], value.span))


def _to_shared(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    target, source = assembly.take(operands, 2)
    pointer = assembly.given(source)
    if not isinstance(pointer.ctype, Pointer):
        raise assembly.error('cvta.to.shared takes a pointer here: write "l"(pointer).')
    assembly.write(target, assembly.call(ctype.ULONG, TO_SHARED, pointer))


def _to_global(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    """The pointer stays itself."""
    target, source = assembly.take(operands, 2)
    assembly.write(target, assembly.pointer(f"[{source}]"))


def _permute(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    target, *sources = assembly.take(operands, 4)
    selector = assembly.number(sources[2])
    if selector & SELECTORS:
        raise assembly.error(
            "A digit of 8 or more in prmt's selector repeats a byte's sign, which is not "
            "supported: use shifts."
        )
    words = [assembly.value(source, ctype.UINT) for source in sources[:2]]
    digits = assembly.literal(selector, ctype.UINT)
    assembly.write(target, assembly.call(ctype.UINT, "__byte_perm", *words, digits))


def _operator(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    target, *sources = assembly.take(operands, 3)
    left, right = (assembly.value(source, TYPES[found[2]]) for source in sources)
    assembly.write(target, assembly.binary(OPERATORS[found[1]], left, right))


def _function(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    function, result, kind = FUNCTIONS[found[0]]
    target, *sources = assembly.take(operands, 1 + ARGUMENTS.get(found[0].partition(".")[0], 2))
    values = [assembly.value(source, kind) for source in sources]
    assembly.write(target, assembly.call(result, function, *values))


def _barrier(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    (which,) = assembly.take(operands, 1, 2)[:1]
    if len(operands) > 1 or assembly.number(which):
        raise assembly.error(
            "Of inline assembly's barriers only bar.sync 0 is supported, for all threads of the "
            "block: write __syncthreads(), or __syncwarp() for a warp."
        )
    assembly.put(tree.Barrier(assembly.span))


def _sync_warp(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    (mask,) = assembly.take(operands, 1)
    assembly.evaluate("__syncwarp", assembly.value(mask, ctype.UINT))


def _fence(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    assembly.take(operands, 0)
    assembly.evaluate(FENCES[found[0]])


def _copy(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    """cp.async: the bytes after the fourth operand are zeros."""
    to, origin, size, *rest = assembly.take(operands, 3, 4)
    copied = assembly.number(size)
    if copied not in (4, 8, 16) or (found[1] == "cg" and copied != 16):
        raise assembly.error(
            f"cp.async.{found[1]} copies {'16' if found[1] == 'cg' else '4, 8 or 16'} bytes, and "
            f"not {copied}."
        )
    source = assembly.pointer(origin)
    length = assembly.literal(copied, ctype.ULONG)
    arguments = [assembly.shared(to, _copied_type(source, copied)), source, length]
    if rest:
        kept = assembly.given(rest[0])
        total = assembly.literal(copied, ctype.ULONG)
        kept = convert(kept, ctype.ULONG, length.span)
        arguments.append(assembly.binary("-", total, kept))
    assembly.evaluate(ASYNC_COPY, *arguments)


def _copied_type(source: tree.Expression, size: int) -> CType:
    """The type of the cells that are copied: the source's, if a copy holds whole ones."""
    pointer = strip_casts(source).ctype
    target = pointer.target if isinstance(pointer, Pointer) else None
    element = target.element if isinstance(target, Vector) else target
    if isinstance(element, Scalar) and element.size <= size:
        return element
    return ctype.UINT


def _commit(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    assembly.take(operands, 0)
    assembly.evaluate("__pipeline_commit")


def _wait(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    unfinished = assembly.number(assembly.take(operands, 1)[0])
    assembly.evaluate("__pipeline_wait_prior", assembly.literal(unfinished, ctype.ULONG))


def _wait_for_all(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    assembly.take(operands, 0)
    assembly.evaluate("__pipeline_commit")
    assembly.evaluate("__pipeline_wait_prior", assembly.literal(0, ctype.ULONG))


def _load_matrices(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    to, origin = assembly.take(operands, 2)
    name = f"ldmatrix.{found[1]}{found[2] or ''}"
    count = MATRIX_LOADS[name].matrices
    targets = assembly.take(assembly.registers(to), count)
    kind = ctype.UINT if count == 1 else ctype.VECTORS[f"uint{count}"]
    pointer = assembly.shared(origin, ctype.USHORT)
    assembly.parts("ldmatrix", assembly.call(kind, name, pointer), targets)


def _multiply(assembly: _Assembly, found: re.Match[str], operands: list[str]) -> None:
    to, *sources = (assembly.registers(each) for each in assembly.take(operands, 4))
    name = f"mma.{found[1]}.{found[2]}"
    product = MATRIX_PRODUCTS.get(name)
    if product is None:
        raise assembly.error(unsupported_instruction(found[0]))
    values = []
    for use, texts in zip((Use.A, Use.B, Use.ACCUMULATOR), sources, strict=True):
        kind = ctype.FLOAT if use is Use.ACCUMULATOR else ctype.UINT
        assembly.take(texts, product.registers(use))
        values += [assembly.value(text, kind) for text in texts]
    targets = assembly.take(to, product.registers(Use.ACCUMULATOR))
    assembly.parts("mma", assembly.call(ctype.VECTORS["float4"], name, *values), targets)


INTEGERS = "[bsu](?:32|64)"
TABLE: tuple[tuple[re.Pattern[str], Lower], ...] = tuple(
    (re.compile(pattern), lower)
    for pattern, lower in (
        (r"mov\.([bsu](?:16|32|64)|f32|f64)", _move),
        (rf"cvt\.({INTEGERS})\.({INTEGERS})", _convert),
        (r"cvta\.to\.shared\.u64", _to_shared),
        (r"cvta\.to\.global\.u64", _to_global),
        (r"prmt\.b32", _permute),
        (rf"(add|sub|mul\.lo|and|or|xor)\.({INTEGERS})", _operator),
        ("|".join(map(re.escape, FUNCTIONS)), _function),
        (r"(?:bar|barrier)(?:\.cta)?\.sync(?:\.aligned)?", _barrier),
        (r"bar\.warp\.sync", _sync_warp),
        ("|".join(map(re.escape, FENCES)), _fence),
        (r"cp\.async\.(ca|cg)\.shared(?:::cta)?\.global(?:\.L2::(?:64|128|256)B)?", _copy),
        (r"cp\.async\.commit_group", _commit),
        (r"cp\.async\.wait_group", _wait),
        (r"cp\.async\.wait_all", _wait_for_all),
        (r"ldmatrix\.sync\.aligned\.(?:m8n8\.)?(x[124])(?:\.m8n8)?(\.trans)?"
         r"(?:\.m8n8)?\.shared(?:::cta)?\.b16", _load_matrices),
        (r"mma\.sync\.aligned\.(m16n8k(?:4|8|16))\.row\.col\.f32\.(f16|bf16|tf32)\.\2\.f32",
         _multiply),
    )
)  # fmt: skip


def _instructions(text: str) -> list[str]:
    """The instructions of a text, and its declarations of registers, with single spaces.

    >>> _instructions("{ .reg .u64 t;\\n  cvta.to.shared.u64 t, $1; }")
    ['.reg .u64 t', 'cvta.to.shared.u64 t, $1']
    """
    lines = (line.lstrip("{} \t\r\n") for line in COMMENT.sub(" ", text).split(";"))
    return [" ".join(line.split()) for line in lines if line]


def _split(text: str) -> list[str]:
    """Operands between commas, those in { } as one.

    >>> _split("{$0, $1}, [$2], 16")
    ['{$0, $1}', '[$2]', '16']
    """
    return [each.strip() for each in re.findall(r"\{[^}]*\}|[^,{}]+", text) if each.strip()]


def _number_of(text: str) -> int | None:
    """The number of an operand, which is $0 or ${0} for %0; None for another text."""
    found = OPERAND.fullmatch(text)
    return None if found is None else int(found[1] or found[2])


def _shown(text: str) -> str:
    """An operand as the text writes it, with %0 for what clang writes as $0."""
    return text.replace("$", "%")
