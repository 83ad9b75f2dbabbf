"""Decides for each sum of a kernel which product fuses with it, from the candidates found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import assert_never

from simulator.contraction.candidates import Candidate, CandidateWalk
from simulator.contraction.def_use import BasicBlock, FinalUse, SumOperand
from simulator.contraction.rules import is_of_short_float, product_of
from simulator.language.tree import Assign, Binary, Contraction, Contractions, Expression, Statement

Sum = Binary | Assign


class Decision(Enum):
    """What a compiler does with a product."""

    SEPARATE = auto()  # a multiplication of its own, rounded
    FUSED = auto()  # each of its sums is a fused multiply-add
    UNKNOWN = auto()  # depends on what the compiler makes of branches, loops and arrays


@dataclass(frozen=True, slots=True)
class FusibleOperand:
    """A product that reaches an operand of a sum and may fuse there."""

    product: Candidate
    negated: bool  # whether a minus is between the product and the sum

    @property
    def subtracted(self) -> bool:
        """Whether the operand is minus the product of its factors without their signs."""
        return self.negated != self.product.value.negated


def contract(body: Statement) -> tuple[Contractions, tuple[str, ...]]:
    """A kernel body's contracted sums, each with the product that a compiler would fuse with it.

    The second result are warnings, sentences that name sums about which a compiler's choice is
    not known.
    """
    walk = CandidateWalk()
    walk.statement(body)
    operands: dict[tuple[Sum, bool], FusibleOperand] = {}  # by sum and whether on its left
    warnings: list[str] = []
    for products in _equal_products(walk.candidates):
        uses = [
            (product, use)
            for product in products
            for use in walk.chains.final_uses(product.consumer, product.block)
        ]
        match _decide(walk, products, [use for _, use in uses]):
            case Decision.SEPARATE:
                continue
            case Decision.FUSED:
                for product, use in uses:
                    assert isinstance(use.consumer, SumOperand)
                    operands[use.consumer.sum, use.consumer.on_left] = FusibleOperand(
                        product, use.consumer.negated
                    )
            case Decision.UNKNOWN:
                line = _sums(use for _, use in uses)[0].span.line
                warnings.append(
                    f"line {products[0].node.span.line}: the GPU's compiler may fuse this product "
                    f"with the sum of line {line} and round once; here both are rounded."
                )
            case other:
                assert_never(other)
    for array, stored in walk.array_products.items():
        if array in walk.arrays_in_sums:
            warnings.append(
                f"line {stored.span.line}: the GPU's compiler may fuse this product with the sum "
                f"that takes it from {array.name} and round once; here both are rounded."
            )
    contractions: dict[Expression, Contraction] = {}
    for sum_ in walk.sums:
        on_left = _fused_side(sum_, operands)
        if on_left is not None:
            contractions[sum_] = _contraction(sum_, on_left, operands[sum_, on_left])
    earlier = frozenset(c.earlier for c in contractions.values() if c.earlier is not None)
    return Contractions(contractions, earlier), tuple(dict.fromkeys(warnings))


def _equal_products(candidates: Iterable[Candidate]) -> Iterable[list[Candidate]]:
    """Products of one value in one basic block: a compiler computes them once."""
    groups: dict[tuple[int, BasicBlock, int], list[Candidate]] = {}
    for number, candidate in enumerate(candidates):
        own = number if is_of_short_float(candidate.node) else -1
        groups.setdefault((candidate.value.number, candidate.block, own), []).append(candidate)
    return groups.values()


def _decide(walk: CandidateWalk, products: list[Candidate], uses: list[FinalUse]) -> Decision:
    """What becomes of equal products with these final uses."""
    sums = _sums(uses)
    needed_alone = any(use.certain and not isinstance(use.consumer, SumOperand) for use in uses)
    if not sums or needed_alone or _is_hoisted(walk, products, sums):
        return Decision.SEPARATE
    if all(use.certain for use in uses) and _in_reach(products[0].block, uses):
        return Decision.FUSED
    return Decision.UNKNOWN


def _sums(uses: Iterable[FinalUse]) -> list[Sum]:
    return [use.consumer.sum for use in uses if isinstance(use.consumer, SumOperand)]


def _is_hoisted(walk: CandidateWalk, products: list[Candidate], sums: list[Sum]) -> bool:
    """Whether a product is computed before a loop, as it does not change there, and a sum is not.

    (Loop-invariant code motion comes before fusion.)
    """
    if is_of_short_float(products[0].node):
        return False
    depth = products[0].value.loop_depth
    invariant = any(product.loop_depth > depth for product in products)
    return invariant and any(walk.sum_loop_depths[sum_] > depth for sum_ in sums)


def _in_reach(block: BasicBlock, uses: list[FinalUse]) -> bool:
    """Whether all sums are in the product's basic block, or the only one in an if after it."""
    if all(use.block is block for use in uses):
        return True
    if len(uses) > 1:
        return False
    around = uses[0].block
    while around.kind == "if" and around.enclosing is not None:
        around = around.enclosing
        if around is block:
            return True
    return False


def _fused_side(sum_: Sum, operands: dict[tuple[Sum, bool], FusibleOperand]) -> bool | None:
    """Whether a sum's left operand fuses, rather than its right; None when neither does."""
    left, right = operands.get((sum_, True)), operands.get((sum_, False))
    if left is None and right is None:
        return None
    if left is None or right is None:
        return left is not None
    right_subtracted = right.subtracted != (sum_.operator == "-")
    equal = left.product.value.number == right.product.value.number and not is_of_short_float(sum_)
    if equal and left.subtracted != right_subtracted:
        return None  # p - p: the product is computed once and subtracted from itself
    match left.subtracted, right_subtracted:
        case False, False:  # p + q: the one whose operands were loaded first
            return left.product.value.rank <= right.product.value.rank
        case True, False:  # -p + q: the one that is not subtracted
            return False
        case _:  # p - q, the other way round; -p - q
            return True


def _contraction(sum_: Sum, on_left: bool, operand: FusibleOperand) -> Contraction:
    """A sum fused with one of its operands: a product written there, or one computed before."""
    written = None
    if isinstance(sum_, Binary):
        written = product_of(sum_.left if on_left else sum_.right)
    elif not on_left:
        written = product_of(sum_.value)
    if written is not None:
        return Contraction(on_left, written, None, negated=False)
    return Contraction(on_left, None, operand.product.node, operand.negated)
