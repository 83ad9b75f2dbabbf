"""The house's style, by the tools that know it: ruff's format and lint, mypy's strict types."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 60  # of a function, from its def to its end, docstring and comments included


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "format", "--check", "."],
        ["ruff", "check", "."],
        pytest.param(["mypy"], marks=pytest.mark.deep),
    ],
)
def test_tool_is_content(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("folder", ["simulator", "compiler", "gpu", "ui", "tools"])
def test_no_function_is_longer_than_an_eye_takes_in(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    lines = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    }
    assert not {name: count for name, count in lines.items() if count > MOST_LINES}
