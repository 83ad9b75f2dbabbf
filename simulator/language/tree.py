"""The typed tree of a kernel: what libclang's cursors become and what the machine executes.

Conversions are explicit (Cast), reads of memory and of variables are explicit (Load), so that a
reader of the tree needs no C rules. Every node has its span in the kernel's source, every
expression the C type of its value. Nodes compare by identity, so that they are dictionary keys.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from simulator.language.ctype import ArrayOf, CType, Scalar, Vector, align_up
from simulator.language.errors import Span


class MemorySpace(StrEnum):
    """Where a variable or array is stored."""

    REGISTER = "register"  # a thread's scalars, short vectors and pointers
    PARAMETER = "parameter"  # the kernel's parameters, the same for all threads
    LOCAL = "local"  # a thread's arrays
    SHARED = "shared"  # a block's arrays
    GLOBAL = "global"  # the launch's arrays, which parameters point to, and __device__ variables
    CONSTANT = "constant"  # __constant__ variables: a kernel reads them


# Those whose arrays hold only what a kernel writes to them; a launch gives all others values.
UNSET_SPACES = (MemorySpace.SHARED, MemorySpace.LOCAL)

# Those that hold arrays, which accesses are made to.
ArraySpace = typing.Literal[
    MemorySpace.LOCAL, MemorySpace.SHARED, MemorySpace.GLOBAL, MemorySpace.CONSTANT
]


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A parameter, a local variable, or an array; two of the same name are different objects."""

    name: str
    ctype: CType
    space: MemorySpace
    span: Span  # of its declaration
    dynamic: bool = False  # extern __shared__: as many bytes as the launch gives

    @property
    def in_register(self) -> bool:
        """Whether it has no address: it is in no memory that arrays are in."""
        match self.space:
            case MemorySpace.REGISTER | MemorySpace.PARAMETER:
                return True
            case MemorySpace.LOCAL | MemorySpace.SHARED:
                return False
            case MemorySpace.GLOBAL | MemorySpace.CONSTANT:
                return False
            case _:
                typing.assert_never(self.space)


@dataclass(frozen=True, slots=True, eq=False)
class GlobalVariable:
    """A __device__ or __constant__ variable outside the kernel: one for all threads of the grid.

    A launch may set it like an argument, by its name, as host code does by cudaMemcpyToSymbol.
    """

    variable: Variable  # an array, of one cell for what is declared without [ ]
    is_array: bool  # whether it is declared with [ ]
    first: Any  # a NumPy array of its first values: zeros where the text gives none
    has_first: bool  # whether the text gives any

    @property
    def space(self) -> ArraySpace:
        """Global memory for a __device__ variable, constant memory for a __constant__ one."""
        is_constant = self.variable.space is MemorySpace.CONSTANT
        return MemorySpace.CONSTANT if is_constant else MemorySpace.GLOBAL


@dataclass(frozen=True, slots=True, eq=False)
class _Expression:
    """A node with a value."""

    ctype: CType  # of the value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class _Statement:
    """A node without a value."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Literal(_Expression):
    """A constant."""

    ctype: Scalar
    value: Any  # a NumPy scalar of the type's dtype


@dataclass(frozen=True, slots=True, eq=False)
class Builtin(_Expression):
    """threadIdx, blockIdx, blockDim or gridDim on one axis, or warpSize."""

    ctype: Scalar
    name: str  # "threadIdx", …
    axis: str  # "x", "y" or "z"; "" for warpSize


@dataclass(frozen=True, slots=True, eq=False)
class Name(_Expression):
    """An lvalue: a variable by its name. An array's name is an lvalue of array type."""

    variable: Variable


@dataclass(frozen=True, slots=True, eq=False)
class Index(_Expression):
    """An lvalue: base[index]."""

    base: Expression  # a pointer value, or an lvalue of array type
    index: Expression  # an integer, in elements
    volatile: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Dereference(_Expression):
    """An lvalue: *pointer."""

    pointer: Expression
    copied: bool = False  # whether it is the source of an asynchronous copy
    volatile: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Member(_Expression):
    """A component of a short vector: an lvalue if its base is one."""

    ctype: Scalar
    base: Expression
    position: int  # 0 to 3 for x, y, z, w


@dataclass(frozen=True, slots=True, eq=False)
class FieldOf(_Expression):
    """An lvalue: a member of a struct in memory. Those of one in registers are variables."""

    base: Expression  # an lvalue of a struct's type
    name: str
    offset: int  # bytes from the struct's start


@dataclass(frozen=True, slots=True, eq=False)
class Load(_Expression):
    """The value of an lvalue."""

    lvalue: Expression


@dataclass(frozen=True, slots=True, eq=False)
class AddressOf(_Expression):
    """&lvalue; also an array that decays to a pointer to its first element."""

    lvalue: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Cast(_Expression):
    """A conversion to `ctype`."""

    operand: Expression
    explicit: bool = False  # whether the text has it; else C implies it


@dataclass(frozen=True, slots=True, eq=False)
class Unary(_Expression):
    """An operator before a value."""

    operator: str  # "-", "+", "~" or "!"
    operand: Expression


COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})  # operators of Binary that give a bool


@dataclass(frozen=True, slots=True, eq=False)
class Binary(_Expression):
    """Arithmetic, shifts, bits and comparisons; both operands already have their common type.

    With a pointer: pointer + integer, pointer - integer, pointer - pointer and comparisons.
    """

    operator: str  # "+", "<<", "==", …
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Logical(_Expression):
    """&& and ||: only the threads whose left side does not decide evaluate the right side."""

    ctype: Scalar
    operator: str  # "&&" or "||"
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Conditional(_Expression):
    """condition ? yes : no; each thread evaluates one side."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Comma(_Expression):
    """first, second: both are evaluated, the second is the value."""

    first: Expression
    second: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Assign(_Expression):
    """lvalue = value, or lvalue op= value; its own value is the new one."""

    lvalue: Expression
    operator: str  # "" for plain assignment, else "+", "<<", …
    value: Expression
    compute: CType  # the type in which lvalue op value is computed


@dataclass(frozen=True, slots=True, eq=False)
class Increment(_Expression):
    """++ and --."""

    lvalue: Expression
    delta: int  # 1 or -1, in elements for a pointer
    postfix: bool  # whether its value is the old one


@dataclass(frozen=True, slots=True, eq=False)
class Call(_Expression):
    """A call of a function of CUDA or of the maths library."""

    function: str  # its name, one of simulator.language.functions, or make_float4 and its kind
    arguments: tuple[Expression, ...]  # converted to the parameters' types
    texts: tuple[str, ...] = ()  # of printf its format, then those that %s prints; of assert its
    # condition. An argument of type ctype.TEXT is a number in these. Of wmma's functions the types
    # of their fragments, and how a tile lies in memory.


@dataclass(frozen=True, slots=True, eq=False)
class Inlined(_Expression):
    """A call of a __device__ function of the text, for its value."""

    function: Function


Expression = (
    Literal | Builtin | Name | Index | Dereference | Member | FieldOf | Load | AddressOf | Cast
    | Unary | Binary | Logical | Conditional | Comma | Assign | Increment | Call | Inlined
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Declare(_Statement):
    """The declaration of a variable or array."""

    variable: Variable
    value: Expression | None = None  # a variable's first value; None leaves it undefined
    cells: tuple[Expression, ...] | None = None  # an array's, row by row; None as above


@dataclass(frozen=True, slots=True, eq=False)
class Evaluate(_Statement):
    """An expression as a statement, evaluated for its side effects."""

    expression: Expression


@dataclass(frozen=True, slots=True, eq=False)
class BlockVote:
    """What a barrier finds of all threads that come to it: __syncthreads_and, _or and _count."""

    function: str  # its name, one of simulator.language.functions.BLOCK_VOTES
    predicate: Expression  # an int: a thread votes yes where it is not 0
    result: Variable  # an int, which the barrier assigns


@dataclass(frozen=True, slots=True, eq=False)
class Barrier(_Statement):
    """__syncthreads(), one of its kind in which the block's threads vote, or sync() of the grid."""

    vote: BlockVote | None = None
    of_grid: bool = False  # whether the threads of all blocks wait for each other

    @property
    def function(self) -> str:
        """The name of what is called."""
        if self.of_grid:
            return "grid_group::sync"
        return "__syncthreads" if self.vote is None else self.vote.function


@dataclass(frozen=True, slots=True, eq=False)
class Sequence(_Statement):
    """Statements one after another."""

    statements: tuple[Statement, ...]
    opens_scope: bool = True  # False where its declarations belong to the scope around it


@dataclass(frozen=True, slots=True, eq=False)
class If(_Statement):
    """if (condition) yes else no."""

    condition: Expression
    yes: Statement
    no: Statement | None  # None without an else


@dataclass(frozen=True, slots=True, eq=False)
class Loop(_Statement):
    """for, while and do."""

    start: Statement | None  # for's first clause
    condition: Expression | None  # None repeats until a break or return
    advance: Expression | None  # for's third clause
    body: Statement
    test_first: bool = True  # False for do: its condition is tested after the body
    before_test: Statement | None = None  # what the condition needs: a declaration, a vote

    @property
    def variable(self) -> Variable | None:
        """A for loop's counter: the first variable that its start declares or assigns."""
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
class Break(_Statement):
    """break."""


@dataclass(frozen=True, slots=True, eq=False)
class Continue(_Statement):
    """continue."""


@dataclass(frozen=True, slots=True, eq=False)
class Return(_Statement):
    """return, from the kernel or from a function, whose result is assigned before it."""


@dataclass(frozen=True, slots=True, eq=False)
class Switch(_Statement):
    """switch (selector): a thread runs the body from its label's position to the end or a break."""

    selector: Expression
    labels: tuple[tuple[int | None, int], ...]  # value (None for default), position in body
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function(_Statement):
    """A __device__ function, inlined where it is called: its span is the call's."""

    name: str
    # What declares its parameters, with the call's arguments as values; executed first.
    parameters: tuple[Statement, ...]
    body: Sequence
    result: Variable | None  # what its return statements assign; None for void


Statement = (
    Declare | Evaluate | Barrier | Sequence | If | Loop | Break | Continue | Return | Switch
    | Function
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contraction:
    """How a sum becomes one fused multiply-add, without a rounding of the product.

    The product is either an operand of the sum itself, or was computed before: the machine then
    remembers the product's factors under its node.
    """

    on_left: bool  # whether the product is the sum's left operand
    product: Binary | None  # the operand, if it is a product itself
    earlier: Expression | None  # else the product (a * b, or a *= b) that reaches the operand
    negated: bool  # whether the earlier product is negated on its way to the sum


@dataclass(frozen=True, slots=True)
class Contractions:
    """A kernel's contracted sums."""

    sums: Mapping[Expression, Contraction] = field(default_factory=dict)
    earlier: frozenset[Expression] = frozenset()  # the products whose factors sums use later


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """One __global__ function, typed and ready to run."""

    name: str
    text: str  # as the screen shows it; both compilers get it with its host code blanked
    parameters: tuple[Variable, ...]  # in the order of the declaration
    shared: tuple[Variable, ...]  # its shared arrays, in the order of their declarations
    body: Sequence
    globals: tuple[GlobalVariable, ...] = ()  # the __device__ and __constant__ variables it uses
    template: tuple[str, ...] = ()  # a template kernel's arguments, as the text would have them
    contractions: Contractions = field(default_factory=Contractions)
    warnings: tuple[str, ...] = ()  # sentences: the compiler's, and sums that may be contracted
    notes: tuple[str, ...] = ()  # sentences: what of the text was skipped
    counts: tuple[int, ...] = ()  # how many of the parameters each declared one is: a struct's all

    @property
    def shared_offsets(self) -> dict[Variable, int]:
        """The offset of each shared array in its block's shared memory, in bytes.

        Static arrays come first. Dynamic ones (extern) all start after them, at one offset.
        """
        offsets, end = dict.fromkeys(self.shared, self.static_shared_bytes), 0
        for array in self.shared:
            if not array.dynamic:
                offsets[array] = end
                end += align_up(array.ctype.size)
        return offsets

    @property
    def shared_memories(self) -> tuple[Variable, ...]:
        """The shared arrays, of all extern ones only one: they are names of the same memory.

        That is the one with the smallest elements, in which accesses by any name can be counted.
        """
        dynamic = [array for array in self.shared if array.dynamic]
        others = set(dynamic) - {min(dynamic, key=_element_bytes, default=None)}
        return tuple(array for array in self.shared if array not in others)

    @property
    def static_shared_bytes(self) -> int:
        """Bytes of the static shared arrays, each rounded up to a multiple of 16."""
        return sum(align_up(array.ctype.size) for array in self.shared if not array.dynamic)


def _element_bytes(array: Variable) -> int:
    """Bytes of an array's element, of short vectors their component's."""
    assert isinstance(array.ctype, ArrayOf)
    innermost = array.ctype.innermost
    return innermost.element.size if isinstance(innermost, Vector) else innermost.size
