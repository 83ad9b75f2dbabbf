"""The worked examples in docstrings, run as doctests."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for layer in ("simulator", "compiler", "gpu", "ui")
    for path in (ROOT / layer).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_there_are_examples() -> None:
    assert {"simulator", "simulator.launch"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert not results.failed
