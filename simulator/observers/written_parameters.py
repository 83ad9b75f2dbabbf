"""Which of a launch's arrays a kernel may write to: only those need a shadow."""

from __future__ import annotations

from simulator.language import tree
from simulator.language.ctype import Pointer
from simulator.language.functions import (
    ASYNC_COPY,
    ATOMIC_FUNCTIONS,
    OUTPUT_FUNCTIONS,
    RANDOM_FUNCTIONS,
    TO_SHARED_POINTER,
)
from simulator.language.visit import expressions_within, in_register

WRITING_FUNCTIONS = ATOMIC_FUNCTIONS | {ASYNC_COPY}


def written_parameters(kernel: tree.Kernel) -> set[str]:
    """The names of the parameters that are written through, and of the __device__ variables.

    All of them if a pointer is copied.
    """
    in_global = {
        known.variable.name
        for known in kernel.globals
        if known.variable.space is tree.MemorySpace.GLOBAL
    }
    found: set[str] = set()
    for expression in expressions_within(kernel.body):
        if _points_elsewhere(expression):
            return {parameter.name for parameter in kernel.parameters} | in_global
        for target in _write_targets(expression):
            root = root_variable(target)
            if root is None or root.space is tree.MemorySpace.REGISTER:
                return {parameter.name for parameter in kernel.parameters} | in_global
            if root.space in (tree.MemorySpace.PARAMETER, tree.MemorySpace.GLOBAL):
                found.add(root.name)
    return found


def _write_targets(expression: tree.Expression) -> tuple[tree.Expression, ...]:
    """The pointers or lvalues that an expression writes through, () if it writes no memory."""
    match expression:
        case tree.Call(arguments=(tree.Call(function=function), *_)) if (
            function == TO_SHARED_POINTER
        ):
            return ()  # an asynchronous copy or a load, by an address in shared memory
        case tree.Call(function=function, arguments=arguments) if function in WRITING_FUNCTIONS:
            return arguments[:1]
        case tree.Call(function="wmma::store_matrix_sync", arguments=arguments):
            return arguments[1:2]
        case tree.Call(function="__match_all_sync", arguments=arguments):
            return arguments[-1:]  # where its flag goes
        case tree.Call(function=function, arguments=arguments) if function in OUTPUT_FUNCTIONS:
            return arguments[OUTPUT_FUNCTIONS[function] :]
        case tree.Call(function=function, arguments=arguments) if function in RANDOM_FUNCTIONS:
            return (arguments[RANDOM_FUNCTIONS[function]],)
        case tree.Assign(lvalue=lvalue) | tree.Increment(lvalue=lvalue) if not isinstance(
            lvalue, tree.Name
        ):
            return (lvalue,)
        case _:
            return ()


def _points_elsewhere(expression: tree.Expression) -> bool:
    """Whether a parameter is given another's pointer."""
    match expression:
        case tree.Assign(
            lvalue=tree.Name(variable=variable, ctype=Pointer()), value=value, operator=""
        ):
            is_parameter = variable.space is tree.MemorySpace.PARAMETER
            return is_parameter and root_variable(value) is not variable
        case _:
            return False


def root_variable(lvalue: tree.Expression) -> tree.Variable | None:
    """The variable that an address starts from, None where it is computed."""
    match lvalue:
        case tree.Name(variable=variable):
            return variable
        case tree.Load(lvalue=inner, ctype=Pointer()) if not in_register(inner):
            return None  # a pointer in memory
        case tree.Load(lvalue=inner) | tree.AddressOf(lvalue=inner) | tree.Increment(lvalue=inner):
            return root_variable(inner)
        case tree.Index(base=inner) | tree.Member(base=inner) | tree.FieldOf(base=inner):
            return root_variable(inner)
        case tree.Dereference(pointer=inner) | tree.Cast(operand=inner) | tree.Comma(second=inner):
            return root_variable(inner)
        case tree.Binary(left=left, right=right):
            return root_variable(left if isinstance(left.ctype, Pointer) else right)
        case tree.Assign(lvalue=inner, operator=operator) if operator:
            return root_variable(inner)  # moved
        case _:
            return None
