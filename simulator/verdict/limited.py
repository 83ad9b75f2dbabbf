"""Whether a kernel that fails at some sizes is right at those that it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.language.tree import Kernel
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.sentences import verdicts
from simulator.verdict.form import LaunchForm
from simulator.verdict.guards import has_guard
from simulator.verdict.parameters import axes_used, vector_length
from simulator.verdict.places import lines_of_accesses
from simulator.verdict.repair import rounded_down
from simulator.verdict.strides import find_flags
from simulator.verdict.verdict import CheckState, FoundHazard, SizeCheck


def limit(
    kernel: Kernel,
    form: LaunchForm,
    tiles: Mapping[str, int],
    checks: Sequence[SizeCheck],
    hazards: Sequence[FoundHazard],
) -> str:
    """The sentence about the sizes for which a kernel is right; "" where it is not so limited.

    Such a kernel compares nothing with its sizes, or has the right result in any case, and is right
    wherever its tiles divide them; or it takes several elements at a time, which divide them; or
    it takes its blocks in an order that needs a square grid, and is right on such grids. tiles are
    what a block covers of each size.
    """
    failed = [one for one in checks if one.state in (CheckState.WRONG, CheckState.STOPPED)]
    at = {one.sizes for one in failed} | {one.sizes for one in hazards}
    right = [one for one in checks if one.state is CheckState.RIGHT and one.sizes not in at]
    if not right or not at or not form.task:
        return ""
    if (
        all(one.is_ragged for one in failed)
        and all(one.only_ragged for one in hazards)
        and not all(one.is_ragged for one in right)
    ):
        if not has_guard(kernel, form):
            lines = lines_of_accesses(kernel, {what for _, what in form.roles})
            is_padded = "K" in tiles and bool(kernel.shared)
            return verdicts.whole_tiles(tiles, lines, rounded_down(kernel, form), is_padded)
        if _only_drops(failed, hazards):
            return verdicts.whole_tiles(tiles, _lines_to_guard(hazards))
    length = vector_length(kernel)
    if (
        all(any(size % length for _, size in sizes) for sizes in at)
        # Of fewer elements than it takes at a time, what was there before may be right by chance.
        and not any(size % length and size > length for one in right for _, size in one.sizes)
    ):
        flags = find_flags(kernel)
        on = [one.name for one in form.numbers if one.name in flags and one.value != "0"]
        return verdicts.whole_vectors(length, on)
    is_square = any(len({size for _, size in sizes}) == 1 for sizes in at)
    if axes_used(kernel, "gridDim") and "y" in axes_used(kernel, "blockIdx") and not is_square:
        return verdicts.SQUARE
    return ""


def _only_drops(failed: Sequence[SizeCheck], hazards: Sequence[FoundHazard]) -> bool:
    """Whether all results are right, and accesses beyond arrays are all that happens."""
    return all(one.wrong is None for one in failed) and all(
        one.hazard.kind is HazardKind.OUT_OF_BOUNDS for one in hazards
    )


def _lines_to_guard(hazards: Sequence[FoundHazard]) -> list[int]:
    """Which lines access what is outside an array."""
    return sorted({line for one in hazards for line in one.hazard.lines})
