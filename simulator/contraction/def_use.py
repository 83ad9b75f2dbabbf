"""Def-use chains of a kernel's variables: what uses an assigned value, in which basic block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from simulator.language.tree import Assign, Binary, Expression, Variable

BlockKind = Literal["kernel", "if", "loop", "switch"]


@dataclass(frozen=True, slots=True, eq=False)
class BasicBlock:
    """A stretch of straight code, without branches, loops or paths that meet."""

    enclosing: BasicBlock | None  # the block in which the statement around it begins
    kind: BlockKind  # of the statement around it


@dataclass(frozen=True, slots=True)
class SumOperand:
    """A value is used as an operand of a sum or difference."""

    sum: Binary | Assign
    on_left: bool  # whether it is the left operand
    negated: bool = False  # whether a minus is between the value and the sum


@dataclass(frozen=True, slots=True)
class Assigned:
    """A value is used by an assignment or declaration, for a variable in a register."""

    variable: Variable
    value: Expression  # as Definition.value
    negated: bool = False  # whether a minus is between the value and the variable


@dataclass(frozen=True, slots=True)
class OtherUse:
    """A value is used in any other way: stored, converted, multiplied, passed, compared."""


Consumer = SumOperand | Assigned | OtherUse
OTHER_USE = OtherUse()


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A variable is assigned a value."""

    order: int  # of execution, among all definitions and uses
    block: BasicBlock
    value: Expression | None  # the value's expression (for *= the assignment), None for ++ and --


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A variable's value is read."""

    order: int  # of execution, among all definitions and uses
    block: BasicBlock
    consumer: Consumer


@dataclass(frozen=True, slots=True)
class FinalUse:
    """What uses a value in the end, once variables have passed it on."""

    consumer: SumOperand | OtherUse
    block: BasicBlock  # the one that uses it
    certain: bool  # False when other definitions of a variable may reach this use too


@dataclass(slots=True)
class DefUseChains:
    """The definitions and uses of each variable, in the order of execution."""

    _definitions: dict[Variable, list[Definition]] = field(default_factory=dict)
    _uses: dict[Variable, list[Use]] = field(default_factory=dict)
    _order: int = 0

    def define(self, variable: Variable, block: BasicBlock, value: Expression | None) -> None:
        """Note an assignment."""
        self._order += 1
        definition = Definition(self._order, block, value)
        self._definitions.setdefault(variable, []).append(definition)

    def use(self, variable: Variable, block: BasicBlock, consumer: Consumer) -> None:
        """Note a read."""
        self._order += 1
        self._uses.setdefault(variable, []).append(Use(self._order, block, consumer))

    def final_uses(self, consumer: Consumer, block: BasicBlock) -> Iterator[FinalUse]:
        """All final uses of a value that `consumer` uses in `block`."""
        match consumer:
            case SumOperand() | OtherUse():
                yield FinalUse(consumer, block, certain=True)
            case Assigned(variable=variable, value=value):
                definitions = self._definitions.get(variable, [])
                definition = next((d for d in definitions if d.value is value), None)
                live_out = definition is None or _is_live_out(definition, definitions)
                for use in self._uses.get(variable, []):
                    reaching = _reaching_definition(definitions, use)
                    taker = negate(use.consumer) if consumer.negated else use.consumer
                    if reaching is None and live_out:
                        if isinstance(taker, Assigned):
                            taker = OTHER_USE
                        yield FinalUse(taker, use.block, certain=False)
                    elif reaching is not None and reaching is definition:
                        yield from self.final_uses(taker, use.block)
            case _:
                assert_never(consumer)


def negate(consumer: Consumer) -> Consumer:
    """The consumer of -v, seen from v."""
    if isinstance(consumer, OtherUse):
        return consumer
    return replace(consumer, negated=not consumer.negated)


def _is_live_out(definition: Definition, definitions: list[Definition]) -> bool:
    """Whether a definition is its basic block's last of the variable."""
    return [d for d in definitions if d.block is definition.block][-1] is definition


def _reaching_definition(definitions: list[Definition], use: Use) -> Definition | None:
    """The definition whose value a use reads; None when several definitions may reach it."""
    before = [d for d in definitions if d.order < use.order]
    if before and before[-1].block is use.block:
        return before[-1]
    return before[0] if len(definitions) == len(before) == 1 else None
