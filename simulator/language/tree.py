"""The typed tree of a kernel: what libclang's cursors become and what the machine executes.

Every node carries the Span of the text it was written as. Conversions are explicit (Cast), reads
of memory and of variables are explicit (Load), so that a reader of the tree needs no C rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from simulator.language.ctype import CType, Scalar, align_up
from simulator.language.errors import Span


class MemorySpace(StrEnum):
    """Where a variable or array lives.

    Registers hold scalars and pointers, local memory the arrays that every thread has of its own,
    shared memory those of a block, global memory the launch's; parameters are the kernel's own.
    """

    REGISTER = "register"
    PARAMETER = "parameter"
    LOCAL = "local"
    SHARED = "shared"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A parameter, a local variable, or an array; identity tells two of the same name apart."""

    name: str
    ctype: CType
    space: MemorySpace
    span: Span
    dynamic: bool = False  # extern __shared__: as many bytes as the launch gives

    @property
    def in_register(self) -> bool:
        """Whether it has no address; PTX keeps parameters that are read like registers."""
        return self.space in (MemorySpace.REGISTER, MemorySpace.PARAMETER)


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant; value is a NumPy scalar of the type's dtype."""

    ctype: Scalar
    span: Span
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Builtin:
    """threadIdx, blockIdx, blockDim or gridDim in one axis ("x", "y", "z"), or warpSize."""

    ctype: Scalar
    span: Span
    name: str
    axis: str


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A place: a variable by its name. An array's name is a place of array type."""

    ctype: CType
    span: Span
    variable: Variable


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A place: base[index], base a pointer value or a place of array type."""

    ctype: CType
    span: Span
    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Dereference:
    """A place: *pointer; copied tells of an asynchronous copy's source."""

    ctype: CType
    span: Span
    pointer: Expression
    copied: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One of x, y, z, w of a short vector: a place if its base is one."""

    ctype: Scalar
    span: Span
    base: Expression
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """The value that a place holds."""

    ctype: CType
    span: Span
    lvalue: Expression


@dataclass(frozen=True, slots=True, eq=False)
class AddressOf:
    """&place; also an array that decays to a pointer to its first element."""

    ctype: CType
    span: Span
    lvalue: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    """A conversion, written or implied; explicit tells which."""

    ctype: CType
    span: Span
    operand: Expression
    explicit: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    """-, +, ~ or ! of a value."""

    ctype: Scalar
    span: Span
    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Binary:
    """Arithmetic, shifts, bits and comparisons; both operands already have their common type.

    With a pointer: pointer + integer, pointer - integer, pointer - pointer and comparisons.
    """

    ctype: CType
    span: Span
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Logical:
    """&& and ||: the right side runs only for the threads whose left side leaves it open."""

    ctype: Scalar
    span: Span
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """condition ? yes : no, each side run only by the threads that need it."""

    ctype: CType
    span: Span
    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Comma:
    """first, second: both run, the second is the value."""

    ctype: CType
    span: Span
    first: Expression
    second: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """place = value, or place op= value computed in the type `compute`; it gives the new value."""

    ctype: CType
    span: Span
    lvalue: Expression
    operator: str  # "" for plain assignment, else "+", "<<", …
    value: Expression
    compute: CType


@dataclass(frozen=True, slots=True, eq=False)
class Increment:
    """++ and --, before or after."""

    ctype: CType
    span: Span
    lvalue: Expression
    delta: int
    postfix: bool


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A function of CUDA or of the maths library, by name, with converted arguments."""

    ctype: CType
    span: Span
    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Inlined:
    """A call of a __device__ function of the text, for its value."""

    ctype: CType
    span: Span
    function: Function


Expression = (
    Literal | Builtin | Name | Index | Dereference | Member | Load | AddressOf | Cast | Unary
    | Binary | Logical | Conditional | Comma | Assign | Increment | Call | Inlined
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Declare:
    """A variable comes into being, with its value if it has one.

    cells holds the values of an array's cells, row by row; None leaves it unset.
    """

    span: Span
    variable: Variable
    value: Expression | None = None
    cells: tuple[Expression, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evaluate:
    """An expression for what it does."""

    span: Span
    expression: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Barrier:
    """__syncthreads()."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """Statements one after another."""

    span: Span
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class If:
    """if (condition) yes else no."""

    span: Span
    condition: Expression
    yes: Statement
    no: Statement | None


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """for, while and do: `test_first` is False for do; start and advance are for's."""

    span: Span
    start: Statement | None
    condition: Expression | None
    advance: Expression | None
    body: Statement
    test_first: bool = True

    @property
    def variable(self) -> Variable | None:
        """The variable that a for loop counts with: the first that its start declares or sets."""
        start = self.start
        while isinstance(start, Sequence) and start.statements:
            start = start.statements[0]
        match start:
            case Declare():
                return start.variable
            case Evaluate(expression=Assign(lvalue=Name() as name)):
                return name.variable
            case _:
                return None


@dataclass(frozen=True, slots=True, eq=False)
class Break:
    """break."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Continue:
    """continue."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """return, from the kernel or from the function it stands in; its value is assigned before."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Switch:
    """switch (selector): labels pairs a value, or None for default, with a position in body.

    A thread enters the body at its label's position and goes on to the end or a break.
    """

    span: Span
    selector: Expression
    labels: tuple[tuple[int | None, int], ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """The body of a __device__ function where it is called: its parameters come into being first.

    result is the variable that its return statements assign, None for void.
    """

    span: Span
    name: str
    parameters: tuple[Declare, ...]
    body: Sequence
    result: Variable | None


Statement = (
    Declare | Evaluate | Barrier | Sequence | If | Loop | Break | Continue | Return | Switch
    | Function
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contraction:
    """How a sum becomes one fused multiply-add, a product's rounding left out.

    on_left tells which operand of the sum the product is. It is `product`, evaluated here, or
    `earlier`, a product (or *= ) evaluated before, whose factors are remembered under that node.
    negated tells that an earlier product is negated on its way to the sum.
    """

    on_left: bool
    product: Binary | None
    earlier: Expression | None
    negated: bool


@dataclass(frozen=True, slots=True)
class Contractions:
    """A kernel's contracted sums, and the earlier products whose factors they need."""

    sums: Mapping[Expression, Contraction] = field(default_factory=dict)
    earlier: frozenset[Expression] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """One __global__ function, typed and ready to run."""

    name: str
    text: str  # as the screen shows it, as it was parsed, and as the GPU's compiler gets it
    parameters: tuple[Variable, ...]  # in the order of the declaration
    shared: tuple[Variable, ...]  # its shared arrays, in the order of their declarations
    body: Sequence
    template: tuple[str, ...] = ()  # a template kernel's arguments, as the text would have them
    contractions: Contractions = field(default_factory=Contractions)
    warnings: tuple[str, ...] = ()  # sentences: the compiler's, and sums that may be contracted

    @property
    def shared_offsets(self) -> dict[Variable, int]:
        """Where each shared array starts in its block's shared memory, in bytes.

        Arrays that the kernel sizes come first, those that the launch sizes (extern) behind them.
        """
        offsets: dict[Variable, int] = {}
        for variable in self.shared:
            offsets[variable] = sum(
                align_up(before.ctype.size)
                for before in (self.shared if variable.dynamic else offsets)
                if not before.dynamic
            )
        return offsets

    @property
    def static_shared_bytes(self) -> int:
        """Bytes of shared memory that the kernel declares, each array aligned to 16."""
        return sum(align_up(array.ctype.size) for array in self.shared if not array.dynamic)
