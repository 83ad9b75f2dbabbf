"""A walk over a kernel that finds its float products, and the sums that they may fuse with.

It visits expressions in the order of execution, numbers their values, and notes definitions and
uses of variables, through which a product may reach a sum.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from simulator.contraction.def_use import (
    OTHER_USE,
    Assigned,
    BasicBlock,
    BlockKind,
    Consumer,
    DefUseChains,
    SumOperand,
    negate,
)
from simulator.contraction.rules import is_product_update, is_sum, product_of
from simulator.contraction.value_numbering import Value, ValueNumbering
from simulator.language import tree
from simulator.language.visit import AssignedVariables, expressions_of, operands, subexpressions


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A product that may fuse with a sum."""

    node: tree.Binary | tree.Assign  # a * b, or a *= b
    block: BasicBlock  # the one that computes it
    loop_depth: int  # loops around it
    consumer: Consumer  # what uses it directly
    value: Value


@dataclass(slots=True)
class CandidateWalk:
    """Walks a kernel's statements; its public fields are what it has found."""

    candidates: list[Candidate] = field(default_factory=list)  # in the order of execution
    sums: list[tree.Binary | tree.Assign] = field(default_factory=list)  # those of float type, too
    sum_loop_depths: dict[tree.Expression, int] = field(default_factory=dict)  # loops it changes in
    chains: DefUseChains = field(default_factory=DefUseChains)
    array_products: dict[tree.Variable, tree.Assign] = field(
        default_factory=dict
    )  # first one stored to each
    arrays_in_sums: set[tree.Variable] = field(default_factory=set)  # a cell is an operand of a sum
    _values: ValueNumbering = field(default_factory=ValueNumbering)
    _assigned: AssignedVariables = field(default_factory=AssignedVariables)
    _block: BasicBlock = field(default_factory=lambda: BasicBlock(None, "kernel"))

    def statement(self, statement: tree.Statement) -> None:
        """Walk a statement."""
        match statement:
            case tree.Declare(variable=variable, value=value) if value is not None:
                known = self._value(value, Assigned(variable, value))
                self._define(variable, value, known)
            case tree.Sequence(statements=statements):
                for inner in statements:
                    self.statement(inner)
            case tree.If(condition=condition, yes=yes, no=no):
                self._value(condition)
                branches = [yes] if no is None else [yes, no]
                for branch in branches:
                    self._nested_block("if", branch)
                self._merge_paths(branches)
            case tree.Loop():
                self._loop(statement)
            case tree.Switch(selector=selector, body=body):
                self._value(selector)
                for inner in body:
                    self._nested_block("switch", inner)
                self._merge_paths(body)
            case tree.Function(parameters=parameters, body=body):
                for parameter in parameters:
                    self.statement(parameter)
                self.statement(body)
            case tree.Barrier(vote=vote):
                if vote is not None:
                    self._value(vote.predicate)
                self._values.store()
                if vote is not None:
                    self._define(vote.result, None, self._values.unknown())
            case _:
                for expression in expressions_of(statement):
                    self._value(expression)

    def _loop(self, loop: tree.Loop) -> None:
        if loop.start is not None:
            self.statement(loop.start)
        repeats = not _is_unrolled(loop)
        self._values.loop_depth += repeats
        self._values.forget(self._assigned.in_statement(loop))
        outer = self._block
        self._block = BasicBlock(outer, "loop")
        if loop.before_test is not None:
            self.statement(loop.before_test)
        if loop.condition is not None:
            self._value(loop.condition)
        self.statement(loop.body)
        if loop.advance is not None:  # in a block of its own: a continue leads there too
            self._block = BasicBlock(outer, "loop")
            self._value(loop.advance)
        self._block = outer
        self._values.loop_depth -= repeats
        self._merge_paths([loop])

    def _nested_block(self, kind: BlockKind, statement: tree.Statement) -> None:
        outer = self._block
        self._block = BasicBlock(outer, kind)
        self.statement(statement)
        self._block = outer

    def _merge_paths(self, statements: Iterable[tree.Statement]) -> None:
        """A new basic block begins after a branch or loop; what was assigned there is merged."""
        assigned = (self._assigned.in_statement(statement) for statement in statements)
        self._values.merge_paths(set[tree.Variable]().union(*assigned))
        self._block = BasicBlock(self._block.enclosing, self._block.kind)

    def _value(self, expression: tree.Expression, consumer: Consumer = OTHER_USE) -> Value:
        """Walk an expression whose value `consumer` uses; gives what is known of the value."""
        values = self._values
        match expression:
            case tree.Literal(ctype=ctype, value=value):
                return values.constant(str(ctype), repr(value))
            case tree.Builtin(name=name, axis=axis):
                return values.builtin(name, axis)
            case tree.Load(lvalue=tree.Name(variable=variable)) if variable.in_register:
                return self._read(variable, consumer)
            case tree.Load(lvalue=tree.Member() as component) if (
                whole := _whole_of(component)
            ) is not None:
                self._read(whole, OTHER_USE)
                return values.load(expression.ctype, self._address(component))
            case tree.Load(lvalue=lvalue, ctype=ctype):
                address, array = self._address(lvalue), _local_array(lvalue)
                if array is not None and isinstance(consumer, SumOperand):
                    self.arrays_in_sums.add(array)
                return values.load(ctype, address)
            case tree.Inlined(function=function):
                self.statement(function)
                if function.result is None:
                    return values.unknown()
                return self._read(function.result, consumer)
            case tree.Assign(lvalue=tree.Name(variable=variable)) if variable.in_register:
                return self._assign_register(expression, variable, consumer)
            case tree.Assign(lvalue=tree.Member() as component) if _whole_of(component) is not None:
                return self._assign_component(expression, component)
            case tree.Assign():
                return self._assign_memory(expression)
            case tree.Increment(lvalue=tree.Name(variable=variable)) if variable.in_register:
                self._read(variable, OTHER_USE)
                self._define(variable, None, values.unknown())
                return values.current(variable)
            case tree.Binary(operator="*", left=left, right=right) if product_of(expression):
                known = values.product(expression.ctype, self._value(left), self._value(right))
                self._add_candidate(expression, consumer, known)
                return known
            case tree.Binary():
                return self._binary(expression)
            case tree.Unary(operator="-", operand=operand):
                known = self._value(operand, negate(consumer))
                return known._replace(negated=not known.negated)
            case tree.Cast(operand=operand, ctype=ctype):
                return values.cast(ctype, self._value(operand))
            case tree.Comma(first=first, second=second):
                self._address(first)
                return self._value(second, consumer)
            case tree.Call():
                self._walk_operands(expression)
                values.store()
                return values.unknown()
            case tree.Conditional(condition=condition, yes=yes, no=no):
                return self._branches(expression, condition, (yes, no))
            case tree.Logical(left=left, right=right):
                return self._branches(expression, left, (right,))
            case _:
                self._walk_operands(expression)
                return values.unknown()

    def _binary(self, binary: tree.Binary) -> Value:
        """Walk a Binary that is no product."""
        on_left: Consumer = OTHER_USE
        on_right: Consumer = OTHER_USE
        if is_sum(binary):
            self.sums.append(binary)
            on_left, on_right = SumOperand(binary, True), SumOperand(binary, False)
        left, right = self._value(binary.left, on_left), self._value(binary.right, on_right)
        known = self._values.binary(binary.operator, binary.ctype, left, right)
        self.sum_loop_depths[binary] = known.loop_depth
        return known

    def _branches(
        self,
        expression: tree.Expression,
        condition: tree.Expression,
        branches: tuple[tree.Expression, ...],
    ) -> Value:
        """Walk a ?:, && or ||.

        A side that assigns variables is a branch of its own; the basic block goes on after it.
        """
        assigned = set[tree.Variable]().union(*map(self._assigned.in_expression, branches))
        if not assigned:
            self._walk_operands(expression)
            return self._values.unknown()
        self._address(condition)
        for branch in branches:
            outer = self._block
            self._block = BasicBlock(outer, "if")
            self._address(branch)
            self._block = outer
        self._values.forget(assigned)
        return self._values.unknown()

    def _assign_memory(self, assign: tree.Assign) -> Value:
        """Walk an assignment to an array's cell, or through a pointer."""
        self._address(assign.lvalue)
        consumer: Consumer = OTHER_USE
        if is_sum(assign):
            self.sums.append(assign)
            consumer = SumOperand(assign, on_left=False)
        self.sum_loop_depths[assign] = self._values.loop_depth
        known = self._value(assign.value, consumer)
        array = _local_array(assign.lvalue)
        if array is not None and not assign.operator and product_of(assign.value) is not None:
            self.array_products.setdefault(array, assign)
        self._values.store()
        return self._values.unknown() if assign.operator else known

    def _assign_component(self, assign: tree.Assign, component: tree.Member) -> Value:
        """Walk an assignment to a component of a short vector in registers."""
        whole = _whole_of(component)
        assert whole is not None
        self._read(whole, OTHER_USE)
        known = self._assign_memory(assign)
        self._define(whole, None, self._values.unknown())
        return known

    def _assign_register(
        self, assign: tree.Assign, variable: tree.Variable, consumer: Consumer
    ) -> Value:
        """Walk an assignment to a variable, whose new value `consumer` uses."""
        value: tree.Expression = assign
        if not assign.operator:
            value = assign.value
            known = self._value(value, Assigned(variable, value))
        elif is_sum(assign):
            self.sums.append(assign)
            old = self._read(variable, SumOperand(assign, on_left=True))
            new = self._value(assign.value, SumOperand(assign, on_left=False))
            known = self._values.binary(assign.operator, assign.ctype, old, new)
            self.sum_loop_depths[assign] = known.loop_depth
        else:
            old, new = self._read(variable, OTHER_USE), self._value(assign.value)
            if is_product_update(assign):
                known = self._values.product(assign.ctype, old, new)
                self._add_candidate(assign, Assigned(variable, assign), known)
            else:
                known = self._values.binary(assign.operator, assign.ctype, old, new)
        self._define(variable, value, known)
        if consumer is not OTHER_USE:
            self.chains.use(variable, self._block, consumer)
        return known

    def _add_candidate(
        self, node: tree.Binary | tree.Assign, consumer: Consumer, value: Value
    ) -> None:
        depth = self._values.loop_depth
        self.candidates.append(Candidate(node, self._block, depth, consumer, value))

    def _define(
        self, variable: tree.Variable, expression: tree.Expression | None, value: Value
    ) -> None:
        self.chains.define(variable, self._block, expression)
        self._values.assign(variable, value)

    def _read(self, variable: tree.Variable, consumer: Consumer) -> Value:
        self.chains.use(variable, self._block, consumer)
        return self._values.current(variable)

    def _address(self, expression: tree.Expression) -> Hashable:
        """Walk an lvalue, or a value; gives a key that is equal for equal addresses, or values."""
        match expression:
            case tree.Index(base=base, index=index):
                return ("index", self._address(base), self._value(index).key)
            case tree.Member(base=base, position=position):
                return ("member", self._address(base), position)
            case tree.FieldOf(base=base, offset=offset):
                return ("field", self._address(base), offset)
            case tree.Dereference(pointer=pointer):
                return ("dereference", self._value(pointer).key)
            case tree.Name(variable=variable):
                return variable
            case _:
                return self._value(expression).key

    def _walk_operands(self, expression: tree.Expression) -> None:
        for operand in operands(expression):
            self._address(operand)


def _is_unrolled(loop: tree.Loop) -> bool:
    """Whether a loop counts between two constants, so that a compiler unrolls it."""
    limits = [loop.condition] if loop.condition is not None else []
    start = loop.start
    if isinstance(start, tree.Declare) and start.value is not None:
        limits.append(start.value)
    names = [e for limit in limits for e in subexpressions(limit) if isinstance(e, tree.Name)]
    return len(limits) == 2 and all(name.variable is loop.variable for name in names)


def _whole_of(component: tree.Member) -> tree.Variable | None:
    """The short vector in registers that a component belongs to, else None."""
    base = component.base
    if isinstance(base, tree.Name) and base.variable.in_register:
        return base.variable
    return None


def _local_array(lvalue: tree.Expression) -> tree.Variable | None:
    """The thread's local array that an lvalue is a cell of, else None."""
    while isinstance(lvalue, (tree.Index, tree.Member, tree.FieldOf)):
        lvalue = lvalue.base
    if isinstance(lvalue, tree.Name) and lvalue.variable.space is tree.MemorySpace.LOCAL:
        return lvalue.variable
    return None
