"""Masks: which lanes of a group are active."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.language.ctype import Array

# ALL for every lane, NONE for no lane, else a bool array [lanes]. Masks are compared by identity:
# operations give back the very mask they were given where its lanes do not change, so that
# what was computed for a mask can be used again.
Mask = Any
ALL: Mask = None
NONE: Mask = False


def narrow(mask: Mask, condition: Any) -> Mask:
    """The lanes of a mask for which a condition holds: a bool array [lanes], or a bool for all.

    >>> narrow(ALL, np.array([True, False, True]))
    array([ True, False,  True])
    >>> narrow(np.array([True, True, False]), np.array([False, False, True])) is NONE
    True
    """
    if mask is NONE:
        return NONE
    if not isinstance(condition, np.ndarray):
        return mask if condition else NONE
    both = condition if mask is ALL else mask & condition
    if mask is ALL and both.all():
        return ALL
    if not both.any():
        return NONE
    return mask if mask is not ALL and np.array_equal(both, mask) else both


def negate(condition: Any) -> Any:
    """The opposite of a condition: a bool array [lanes], or a bool for all lanes."""
    return ~condition if isinstance(condition, np.ndarray) else not condition


def union(left: Mask, right: Mask) -> Mask:
    """The lanes of either mask.

    >>> union(np.array([True, False]), np.array([False, True])) is ALL
    True
    """
    if left is NONE or right is ALL:
        return right
    if right is NONE or left is ALL:
        return left
    both = left | right
    return ALL if both.all() else both


def as_array(mask: Mask, lanes: int) -> Array:
    """A mask as a bool array [lanes]."""
    if mask is ALL:
        return np.ones(lanes, np.bool_)
    return np.zeros(lanes, np.bool_) if mask is NONE else mask
