"""The statements of a kernel that add products to sums."""

from __future__ import annotations

from simulator import Recording, Step
from simulator.language.ctype import Scalar
from simulator.language.tree import (
    Assign,
    Binary,
    Call,
    Evaluate,
    Expression,
    FieldOf,
    Index,
    MemorySpace,
    Name,
    Statement,
    Variable,
)
from simulator.language.visit import subexpressions


def accumulated_variable(statement: Statement) -> Variable | None:
    """The float variable, or array of them, in registers that a statement adds to, if any."""
    match statement:
        case Evaluate(expression=Assign(lvalue=lvalue, operator="+", ctype=Scalar(is_float=True))):
            return variable_of(lvalue)
        case _:
            return None


def variable_of(lvalue: Expression) -> Variable | None:
    """The variable, or array of them, in registers that an lvalue is of; None of another memory."""
    while isinstance(lvalue, Index | FieldOf):
        lvalue = lvalue.base
    is_own = isinstance(lvalue, Name) and lvalue.variable.space in (
        MemorySpace.REGISTER, MemorySpace.LOCAL
    )  # fmt: skip
    return lvalue.variable if isinstance(lvalue, Name) and is_own else None


def accumulator(recording: Recording) -> Variable | None:
    """The float variable, or array of them, in registers that a loop adds to, if there is one."""
    sums = (accumulated_variable(step.statement) for step in recording.steps)
    return next((variable for variable in sums if variable is not None), None)


def product_of_sum(statement: Statement) -> Binary | None:
    """The product that a statement adds to a sum in registers; None for other statements."""
    if accumulated_variable(statement) is None:
        return None
    assert isinstance(statement, Evaluate)
    assert isinstance(statement.expression, Assign)
    for expression in subexpressions(statement.expression.value):
        if isinstance(expression, Binary) and expression.operator == "*":
            return expression
    return None


def multiplication(step: Step) -> Call | None:
    """The call of wmma::mma_sync that a step makes; None if it makes none."""
    return _call_of(step, "wmma::mma_sync")


def loads_tile(step: Step) -> bool:
    """Whether a warp loads a tile for the tensor core."""
    return _call_of(step, "wmma::load_matrix_sync") is not None


def _call_of(step: Step, function: str) -> Call | None:
    statement = step.statement
    if isinstance(statement, Evaluate) and isinstance(statement.expression, Call):
        call = statement.expression
        return call if call.function == function else None
    return None


def has_tensor_core(recording: Recording) -> bool:
    """Whether any step multiplies on the tensor core."""
    return any(multiplication(step) is not None for step in recording.steps)
