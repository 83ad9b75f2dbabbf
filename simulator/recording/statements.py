"""What a statement is to who follows a kernel, by its text alone: what happens, or bookkeeping."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.language import functions, tree
from simulator.language.assembly import MATRIX_LOADS, MATRIX_PRODUCTS
from simulator.language.ctype import CType, Pointer, Scalar, innermost
from simulator.language.visit import (
    expressions_of,
    expressions_within,
    sources_of,
    strip_casts,
    subexpressions,
    walk,
)
from simulator.machine.observer import StepKind

# Of cooperative groups those that only tell or make a group: its threads exchange nothing by them.
_GROUP_QUESTIONS = functions.GROUP_NUMBERS | {
    "coalesced_threads", "tiled_partition", "cg::thread_rank", "cg::size", "cg::meta_group_rank",
    "cg::meta_group_size",
}  # fmt: skip

# What threads wait at or exchange values by, what a tensor core does, what a host sees, and random
# numbers.
NOTABLE = (
    (functions.WARP_FUNCTIONS - {"__activemask"})
    | (functions.GROUP_FUNCTIONS - _GROUP_QUESTIONS)
    | functions.FENCES
    | {"__pipeline_wait_prior", functions.SLEEP, functions.PRINT}
    | (functions.FRAGMENT_FUNCTIONS - {"wmma::fill_fragment"})
    | MATRIX_LOADS.keys()
    | MATRIX_PRODUCTS.keys()
    | functions.RANDOM_FUNCTIONS.keys()
)

# Those that add a product to their last argument.
MULTIPLY_ADDS = frozenset(
    name
    for name in functions.ARITHMETIC_FUNCTIONS
    if name.strip("_").removesuffix("f").startswith(("fma", "hfma", "dp4a", "dp2a"))
)


def evaluated(statement: tree.Statement, kind: StepKind) -> tuple[tree.Expression, ...]:
    """The expressions that a step of a statement evaluates."""
    match statement:
        case tree.Loop(condition=condition, advance=advance):
            chosen = {StepKind.TEST: condition, StepKind.ADVANCE: advance}.get(kind)
            return () if chosen is None else (chosen,)
        case tree.If() | tree.Switch() if kind is not StepKind.TEST:
            return ()
        case _:
            return expressions_of(statement)


def is_notable(statement: tree.Statement, kind: StepKind) -> bool:
    """Whether a step of a statement calls a function of NOTABLE."""
    return any(
        isinstance(inner, tree.Call) and inner.function in NOTABLE
        for expression in evaluated(statement, kind)
        for inner in subexpressions(expression)
    )


def adds_product(statement: tree.Statement) -> bool:
    """Whether a statement adds a product to a sum, or subtracts one.

    It may do so by an operator (sum += a * b), by naming the sum again (sum = sum + a * b), or by a
    function (sum = fmaf(a, b, sum)).
    """
    if not isinstance(statement, tree.Evaluate) or not isinstance(
        statement.expression, tree.Assign
    ):
        return False
    assign = statement.expression
    if assign.operator in ("+", "-"):
        return _has_product(assign.value)
    variable = _root(assign.lvalue)
    terms = tuple(_terms(assign.value))
    return (
        not assign.operator
        and variable is not None
        and any(_root(term) is variable for term in terms)
        and any(_has_product(term) for term in terms if _root(term) is not variable)
    )


def target(statement: tree.Statement) -> tree.Variable | None:
    """The variable, or array of a thread's own, to which a statement gives a value; else None.

    What it stores through a pointer has no name here: None.
    """
    match statement:
        case tree.Declare(variable=variable, value=value, cells=cells):
            return None if value is None and cells is None else variable
        case tree.Evaluate(expression=tree.Assign(lvalue=lvalue) | tree.Increment(lvalue=lvalue)):
            return _root(lvalue)
        case _:
            return None


def computes(statement: tree.Statement) -> bool:
    """Whether a statement computes a value from others: a first value alone is none.

    >>> from simulator import compile_kernel
    >>> kernel = compile_kernel('''
    ... __global__ void k(float* x) {
    ...     float sum = 0.0f;
    ...     sum = 2 * sum;
    ... }''', "k")
    >>> [computes(statement) for statement in kernel.body.statements]
    [False, True]
    """
    match statement:
        case tree.Declare() | tree.Evaluate(expression=tree.Assign() | tree.Increment()):
            pass
        case _:
            return False
    return any(
        isinstance(inner, (tree.Load, tree.Increment, tree.Inlined))
        for expression in expressions_of(statement)
        for inner in subexpressions(expression)
    )


def address_variables(kernel: tree.Kernel) -> frozenset[tree.Variable]:
    """The whole numbers and pointers that a kernel computes addresses of, and what leads to them.

    Those are all pointers, and the variables in an index, in a pointer's arithmetic, and in what is
    assigned to such a variable.
    """
    found: set[tree.Variable] = {
        variable
        for expression in expressions_within(kernel.body)
        for part in _address_parts(expression)
        for variable in _variables(part)
    }
    sources: dict[tree.Variable, set[tree.Variable]] = {}
    for statement in walk(kernel.body):
        variable = target(statement)
        if variable is not None:
            if isinstance(innermost(variable.ctype), Pointer):
                found.add(variable)
            read = sources.setdefault(variable, set())
            for expression in expressions_of(statement):
                read.update(_variables(expression))
    return frozenset(sources_of(sources, found))


def _address_parts(expression: tree.Expression) -> tuple[tree.Expression, ...]:
    """What of an expression is arithmetic of addresses."""
    match expression:
        case tree.Index(index=index):
            return (index,)
        case tree.Dereference(pointer=pointer):
            return (pointer,)
        case tree.Binary(ctype=Pointer(), left=left, right=right):
            return (left, right)
        case _:
            return ()


def _variables(expression: tree.Expression) -> Iterator[tree.Variable]:
    """The whole numbers and pointers in an expression, with the results of functions it calls."""
    for inner in subexpressions(expression):
        variable: tree.Variable | None = None
        match inner:
            case tree.Name():
                variable = inner.variable
            case tree.Inlined(function=function):
                variable = function.result
        if variable is not None and _may_be_address(variable.ctype):
            yield variable


def _may_be_address(ctype: CType) -> bool:
    element = innermost(ctype)
    return isinstance(element, Pointer) or (isinstance(element, Scalar) and not element.is_float)


def _root(expression: tree.Expression) -> tree.Variable | None:
    """The variable that an lvalue, or what is read of it, is or is a part of; None for any other.

    What a pointer points to is none.
    """
    expression = strip_casts(expression)
    if isinstance(expression, tree.Load):
        expression = expression.lvalue
    while isinstance(expression, (tree.Index, tree.Member, tree.FieldOf)):
        expression = expression.base
    return expression.variable if isinstance(expression, tree.Name) else None


def _terms(expression: tree.Expression) -> Iterator[tree.Expression]:
    """What is added up, or subtracted, in an expression."""
    expression = strip_casts(expression)
    match expression:
        case tree.Binary(operator="+" | "-", left=left, right=right):
            yield from _terms(left)
            yield from _terms(right)
        case tree.Call(function=function, arguments=arguments) if function in MULTIPLY_ADDS:
            yield tree.Binary(expression.ctype, expression.span, "*", *arguments[:2])
            yield from _terms(arguments[2])
        case _:
            yield expression


def _has_product(expression: tree.Expression) -> bool:
    return any(
        isinstance(inner, tree.Binary) and inner.operator == "*"
        for inner in subexpressions(expression)
    )
