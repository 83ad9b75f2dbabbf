"""From a survey of a kernel's products to the sums that fuse, and their closures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from simulator.contraction.products import Site, Survey
from simulator.contraction.rules import Block, Consumer, Event, Fused, Fusions, product_of
from simulator.language.ctype import Scalar, convert
from simulator.language.tree import Assign, Binary, Expression, Statement
from simulator.machine.addresses import Closure
from simulator.machine.arithmetic import fma
from simulator.machine.group import Group, Mask

Leaf = tuple[Consumer, Block, bool]  # what takes a product, where, and whether surely
Update = Callable[[Group, Mask, Closure], Any]


def fusions(body: Statement) -> Fusions:
    """The fused sums of a kernel's body: of each the product that a compiler would take."""
    survey = Survey()
    survey.statement(body)
    reached: dict[tuple[int, bool], tuple[Site, bool]] = {}
    warnings = []
    alike: dict[tuple[int, Block], list[Site]] = {}
    for site in survey.sites:
        alike.setdefault((site.known.number, site.block), []).append(site)
    for sites in alike.values():
        every = [(site, list(_leaves(survey, site.consumer, site.block))) for site in sites]
        leaves = [leaf for _, more in every for leaf in more]
        sums = [leaf for leaf in leaves if leaf[0].sum is not None]
        if not sums or any(surely and leaf.sum is None for leaf, _, surely in leaves):
            continue  # it is needed on its own, and computed once
        depth = sites[0].known.depth
        moved = any(site.depth > depth for site in sites)
        if moved and any(survey.depths[id(leaf.sum)] > depth for leaf, _, _ in sums):
            continue  # it does not change in the loop, and is computed before it
        if all(surely for _, _, surely in leaves) and _together(sites[0].block, leaves):
            for site, own in every:
                for consumer, _, _ in own:
                    reached[(id(consumer.sum), consumer.left)] = (site, consumer.minus)
        else:
            first = sums[0][0].sum
            assert first is not None
            warnings.append(
                f"line {sites[0].node.span.line}: the GPU's compiler may fuse this product with "
                f"the sum of line {first.span.line} and round once; here both are rounded."
            )
    for array, product in survey.kept.items():
        if array in survey.taken:
            warnings.append(
                f"line {product.span.line}: the GPU's compiler may fuse this product with the sum "
                f"that takes it from {array.name} and round once; here both are rounded."
            )
    found: dict[int, Fused] = {}
    for sum_ in survey.sums:
        fused = _fused(sum_, reached)
        if fused is not None:
            found[id(sum_)] = fused
    kept = frozenset(id(fused.kept) for fused in found.values() if fused.kept is not None)
    return Fusions(found, kept, tuple(dict.fromkeys(warnings)))


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


def _fused(
    sum_: Binary | Assign, reached: dict[tuple[int, bool], tuple[Site, bool]]
) -> Fused | None:
    """Which operand of a sum fuses, if any."""
    first, second = reached.get((id(sum_), True)), reached.get((id(sum_), False))
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
        return Fused(left, direct, None, minus=False)
    return Fused(left, None, site.node, minus)


def _subtracted(reached: tuple[Site, bool]) -> bool:
    """Whether a product comes negated to its sum, by its factors or on the way."""
    site, minus = reached
    return site.known.minus != minus


def _factors(
    fused: Fused, side: Closure | None, compile_value: Callable[[Expression], Closure]
) -> Callable[[Group, Mask], tuple[Any, Any]]:
    """The closure that gives a product's two factors."""
    if fused.product is not None:
        a, b = compile_value(fused.product.left), compile_value(fused.product.right)
        return lambda group, mask: (a(group, mask), b(group, mask))
    key, minus = id(fused.kept), fused.minus

    def remembered(group: Group, mask: Mask) -> tuple[Any, Any]:
        if side is not None:
            side(group, mask)  # a call runs here, a variable is read
        x, y = group.products[key]
        return (-x if minus else x), y

    return remembered


def kept_product(key: int, left: Closure, right: Closure) -> Closure:
    """The closure of a product that a later sum takes the factors of."""

    def product(group: Group, mask: Mask) -> Any:
        x, y = left(group, mask), right(group, mask)
        group.products[key] = (x, y)
        return x * y

    return product


def fused_value(
    sum_: Binary, fused: Fused, compile_value: Callable[[Expression], Closure]
) -> Closure:
    """The closure of a sum or difference that is one fma."""
    side, other = (sum_.left, sum_.right) if fused.left else (sum_.right, sum_.left)
    factors = _factors(
        fused, None if fused.product is not None else compile_value(side), compile_value
    )
    addend = compile_value(other)
    minus = sum_.operator == "-"

    def value(group: Group, mask: Mask) -> Any:
        x, y = factors(group, mask)
        z = addend(group, mask)
        return fma(-x if minus and not fused.left else x, y, -z if minus and fused.left else z)

    return value


def fused_update(
    assign: Assign, fused: Fused, compile_value: Callable[[Expression], Closure]
) -> Update:
    """The same for place += value and place -= value, given a closure for the old value."""
    compute, target = assign.compute, assign.lvalue.ctype
    assert isinstance(compute, Scalar)
    assert isinstance(target, Scalar)
    value = None if fused.product is not None else compile_value(assign.value)
    factors = _factors(fused, None if fused.left else value, compile_value)
    minus = assign.operator == "-"

    def update(group: Group, mask: Mask, old: Closure) -> Any:
        if fused.left:  # the old value is the product
            assert value is not None
            z = value(group, mask)
            old(group, mask)
            x, y = factors(group, mask)
            return convert(fma(x, y, -z if minus else z), target)
        x, y = factors(group, mask)
        before = convert(old(group, mask), compute)
        return convert(fma(-x if minus else x, y, before), target)

    return update
