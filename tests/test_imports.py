"""The direction of imports: ui -> gpu -> simulator, and who may know which library."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.language import functions
from simulator.machine import arithmetic, intrinsics

ROOT = Path(__file__).resolve().parent.parent
LAYERS = {
    "simulator": {"gpu", "ui", "streamlit", "plotly", "cupy", "cupyx"},
    "gpu": {"ui", "streamlit", "plotly"},
    "ui": {"cupy", "cupyx"},
}
STREAMLIT = {"cache.py", "gpu_results.py", "toolbar.py"}


def modules(folder: Path) -> list[Path]:
    """Every Python file of a folder, of which there must be some."""
    found = sorted(folder.rglob("*.py"))
    assert found, folder
    return found


def imported(path: Path, top_level_only: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_know_only_those_below(layer: str) -> None:
    for path in modules(ROOT / layer):
        assert not set(imported(path)) & LAYERS[layer], path


def test_only_pages_and_keys_import_streamlit() -> None:
    paths = modules(ROOT / "ui")
    users = {path for path in paths if "streamlit" in set(imported(path))}
    known = {path for path in paths if path.parent.name == "pages" or path.name in STREAMLIT}
    assert {path.name for path in users} >= STREAMLIT
    assert users <= known


def test_cupy_is_imported_only_within_functions() -> None:
    paths = modules(ROOT / "gpu")
    assert any("cupy" in set(imported(path)) for path in paths)
    for path in paths:
        assert not {"cupy", "cupyx"} & set(imported(path, top_level_only=True)), path


def test_simulator_imports_without_libclang() -> None:
    code = "import sys; sys.modules['clang'] = None; import simulator; simulator.catalogue()"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_every_function_that_a_kernel_may_call_is_executed() -> None:
    assert set(intrinsics.INTRINSICS) == functions.INTRINSICS
    assert set(arithmetic.FUNCTIONS) == functions.ARITHMETIC_FUNCTIONS
