"""Whether a kernel guards its edges: compares with a size what is not the same for all threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from simulator.language import tree
from simulator.language.functions import ARITHMETIC_FUNCTIONS
from simulator.language.visit import (
    defined_variable,
    expressions_of,
    in_register,
    inner_statements,
    operands,
    sources_of,
    subexpressions,
    walk,
)
from simulator.observers.written_parameters import root_variable
from simulator.size_expression import WORD
from simulator.verdict.form import LaunchForm
from simulator.verdict.parameters import is_whole

# What a value comes from: a variable, or OF_ONE, what may differ between threads: their numbers,
# those of their blocks, and what they read from memory.
Source = tree.Variable | None
Sources = dict[Source, set[Source]]
OF_ONE: Source = None


def has_guard(kernel: tree.Kernel, form: LaunchForm) -> bool:
    """Whether a kernel compares something with a size that keeps some threads from an access.

    What follows from sizes, constants and loops' counters alone is the same in all threads: such a
    comparison, as of whether there is a next tile, keeps either all of them from it or none. A
    variable that keeps its first value counts as a size where that follows from sizes alone.
    """
    statements = list(walk(kernel.body))
    held, deciding = _sources(statements[0])
    names = {word for _, what in form.roles for word in WORD.findall(what)}
    sizes = {one for one in kernel.parameters if one.name in names and is_whole(one.ctype)}
    return any(
        isinstance(one, tree.Binary) and one.operator in tree.COMPARISONS
        and sources_of(held, _read(one)) & sizes
        and OF_ONE in sources_of(deciding, _read(one))
        for statement in statements
        for root in expressions_of(statement)
        if not (isinstance(statement, tree.Loop) and root is statement.condition)
        for one in subexpressions(root)
    )  # fmt: skip


def _sources(body: tree.Statement) -> tuple[Sources, Sources]:
    """What variables with one value for all threads get that from, and what each depends on."""
    kept: Sources = {}
    deciding: Sources = defaultdict(set)

    def note(variable: Source, root: tree.Expression, conditions: set[Source]) -> None:
        found = set(_read(root))
        kept[variable] = set() if variable in kept else found
        deciding[variable] |= found | conditions

    def visit(statement: tree.Statement, conditions: set[Source]) -> None:
        roots, variable = expressions_of(statement), defined_variable(statement)
        if variable is not None:
            for root in roots:
                note(variable, root, set())  # conditions around it are around all its uses too
        for one in (one for root in roots for one in subexpressions(root)):
            if isinstance(one, tree.Assign | tree.Increment) and in_register(one.lvalue):
                note(root_variable(one.lvalue), one, conditions)
        inside = conditions
        if isinstance(statement, tree.If | tree.Switch):
            inside = conditions.union(*map(_read, roots))
        for inner in inner_statements(statement):  # a function of a condition is called before it
            visit(inner, conditions if isinstance(inner, tree.Function) else inside)

    visit(body, set())
    alike = (one for one in kept if OF_ONE not in sources_of(deciding, [one]))
    return {one: kept[one] for one in alike}, deciding


def _read(expression: tree.Expression) -> Iterator[Source]:
    """What the value of an expression comes from, without what picks a cell of memory."""
    match expression:
        case tree.Builtin(name="threadIdx" | "blockIdx"):
            yield OF_ONE
        case tree.Load(lvalue=lvalue) if not in_register(lvalue):
            yield OF_ONE
        case tree.Call(function=function) if function not in ARITHMETIC_FUNCTIONS:
            yield OF_ONE
        case tree.Name(variable=variable):
            yield variable
        case tree.Inlined(function=function) if function.result is not None:
            yield function.result
        case _:
            for one in operands(expression):
                yield from _read(one)
