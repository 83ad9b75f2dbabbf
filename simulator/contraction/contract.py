"""From a survey of a kernel's products to the sums that fuse, and their closures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from simulator.contraction.products import Site, Survey
from simulator.contraction.rules import Block, Consumer, Event, product_of
from simulator.language.tree import Assign, Binary, Contraction, Contractions, Expression, Statement

Reached = dict[tuple[Expression, bool], tuple[Site, bool]]  # by sum and side: its product
Leaf = tuple[Consumer, Block, bool]  # what takes a product, where, and whether surely


def contract(body: Statement) -> tuple[Contractions, tuple[str, ...]]:
    """A kernel body's contracted sums, each with the product that a compiler would take.

    The second result warns of sums about which a compiler's choice is not known.
    """
    survey = Survey()
    survey.statement(body)
    reached: Reached = {}
    warnings = []
    alike: dict[tuple[int, Block], list[Site]] = {}
    for site in survey.sites:
        alike.setdefault((site.known.number, site.block), []).append(site)
    for sites in alike.values():
        every = [(site, list(_leaves(survey, site.consumer, site.block))) for site in sites]
        leaves = [leaf for _, more in every for leaf in more]
        sums = [leaf.sum for leaf, _, _ in leaves if leaf.sum is not None]
        if not sums or any(surely and leaf.sum is None for leaf, _, surely in leaves):
            continue  # it is needed on its own, and computed once
        depth = sites[0].known.depth
        moved = any(site.depth > depth for site in sites)
        if moved and any(survey.depths[sum_] > depth for sum_ in sums):
            continue  # it does not change in the loop, and is computed before it
        if all(surely for _, _, surely in leaves) and _together(sites[0].block, leaves):
            for site, own in every:
                for consumer, _, _ in own:
                    assert consumer.sum is not None
                    reached[(consumer.sum, consumer.left)] = (site, consumer.minus)
        else:
            warnings.append(
                f"line {sites[0].node.span.line}: the GPU's compiler may fuse this product with "
                f"the sum of line {sums[0].span.line} and round once; here both are rounded."
            )
    for array, product in survey.kept.items():
        if array in survey.taken:
            warnings.append(
                f"line {product.span.line}: the GPU's compiler may fuse this product with the sum "
                f"that takes it from {array.name} and round once; here both are rounded."
            )
    found: dict[Expression, Contraction] = {}
    for sum_ in survey.sums:
        fused = _fused(sum_, reached)
        if fused is not None:
            found[sum_] = fused
    earlier = frozenset(c.earlier for c in found.values() if c.earlier is not None)
    return Contractions(found, earlier), tuple(dict.fromkeys(warnings))


def _leaves(survey: Survey, consumer: Consumer, block: Block) -> Iterator[Leaf]:
    """All that takes a value in the end, through the variables that it is given to."""
    if consumer.variable is None:
        yield consumer, block, True
        return
    definitions = survey.definitions.get(consumer.variable, [])
    mine = next((d for d in definitions if d.value is consumer.given), None)
    here = [d for d in definitions if mine is not None and d.block is mine.block]
    escapes = not here or here[-1] is mine  # else another value takes its place before it can
    for use in survey.uses.get(consumer.variable, []):
        taker = replace(use.consumer, minus=use.consumer.minus != consumer.minus)
        definition = _reaching(definitions, use)
        if definition is None:
            if escapes:
                yield taker, use.block, False
        elif definition is mine:
            yield from _leaves(survey, taker, use.block)


def _reaching(definitions: list[Event], use: Event) -> Event | None:
    """The definition whose value a use sees, or None where that is not plain."""
    before = [d for d in definitions if d.order < use.order]
    here = [d for d in before if d.block is use.block]
    if here and here[-1] is before[-1]:
        return here[-1]
    return before[0] if len(definitions) == len(before) == 1 else None


def _together(block: Block, leaves: list[Leaf]) -> bool:
    """Whether all sums are in the product's stretch of code, or the only one in an if after it."""
    if all(where is block for _, where, _ in leaves):
        return True
    where = leaves[0][1]
    while len(leaves) == 1 and where.kind == "if" and where.outer is not None:
        where = where.outer
        if where is block:
            return True
    return False


def _fused(sum_: Binary | Assign, reached: Reached) -> Contraction | None:
    """Which operand of a sum fuses, if any."""
    first, second = reached.get((sum_, True)), reached.get((sum_, False))
    if first is None and second is None:
        return None
    left = first is not None
    if first is not None and second is not None:
        before, after = _subtracted(first), _subtracted(second) != (sum_.operator == "-")
        if first[0].known.number == second[0].known.number and before != after:
            return None  # computed once, and then nothing is left
        left = first[0].known.rank <= second[0].known.rank if not before | after else not before
        left |= before and after
    site, minus = (first if left else second) or (None, False)
    assert site is not None
    side = None
    if isinstance(sum_, Binary):
        side = sum_.left if left else sum_.right
    elif not left:
        side = sum_.value
    direct = None if side is None else product_of(side)
    if direct is not None:
        return Contraction(left, direct, None, negated=False)
    return Contraction(left, None, site.node, minus)


def _subtracted(reached: tuple[Site, bool]) -> bool:
    """Whether a product comes negated to its sum, by its factors or on the way."""
    site, minus = reached
    return site.known.minus != minus
