"""The decoder of JSON that is read back: what fits a dataclass, and the sentence where not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gpu.json_data import decode


@dataclass(frozen=True, slots=True)
class Inner:
    number: int
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner
    size: tuple[int, int]
    rows: tuple[Inner, ...] = ()
    counters: Mapping[str, int] | None = None
    right: bool = False


def test_json_becomes_nested_dataclasses() -> None:
    text = """{"inner": {"number": 1, "share": 2}, "size": [3, 4], "rows": [{"number": 5}],
               "counters": {"a": 6}, "right": true, "unknown": {"b": 7}}"""
    found = decode(Outer, json.loads(text), "It")
    assert found == Outer(Inner(1, 2.0), (3, 4), (Inner(5),), {"a": 6}, True)
    assert type(found.inner.share) is float
    assert decode(Outer, json.loads('{"inner": {"number": 1}, "size": [3, 4]}'), "It") == Outer(
        Inner(1), (3, 4)
    )


def test_numbers_that_are_not_finite_are_floats() -> None:
    nan = decode(Inner, json.loads('{"number": 1, "share": NaN}'), "It").share
    assert nan is not None
    assert math.isnan(nan)
    assert decode(Inner, json.loads('{"number": 1, "share": -Infinity}'), "It").share == -math.inf


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"size": [3]}, "It's size is wrong: expected array of length 2, got 1."),
        ({"size": [3, 4.0]}, "It's size[1] is wrong: expected int, got float."),
        ({"size": [3, True]}, "It's size[1] is wrong: expected int, got bool."),
        ({"right": 1}, "It's right is wrong: expected bool, got int."),
        ({"inner": {}}, "It's inner lacks number."),
        ({"inner": []}, "It's inner is wrong: expected object, got array."),
        ({"inner": {"number": "1"}}, "It's inner.number is wrong: expected int, got str."),
        (
            {"rows": [{"number": 1, "share": True}]},
            "It's rows[0].share is wrong: expected float | null, got bool.",
        ),
        ({"counters": {"a": None}}, "It's counters[...] is wrong: expected int, got null."),
    ],
)
def test_what_does_not_fit_is_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    fitting = {"inner": {"number": 1}, "size": [3, 4]}
    assert decode(Outer, fitting, "It")
    with pytest.raises(ValueError, match="It") as caught:
        decode(Outer, fitting | changes, "It")
    assert str(caught.value) == sentence


def test_the_whole_may_be_wrong() -> None:
    with pytest.raises(ValueError, match=r"^It is wrong: expected object, got array\.$"):
        decode(Outer, [], "It")
    with pytest.raises(ValueError, match=r"^It lacks inner\.$"):
        decode(Outer, {}, "It")
