"""The direction of imports: ui -> gpu -> simulator, and who may know which library."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.language import functions
from simulator.machine import functions as machine_functions
from simulator.machine import intrinsics

ROOT = Path(__file__).resolve().parent.parent
LAYERS = {
    "simulator": {"gpu", "ui", "streamlit", "plotly", "cupy", "cupyx"},
    "gpu": {"ui", "streamlit", "plotly"},
    "ui": {"cupy", "cupyx"},
}
STREAMLIT = {
    "announcer.py",
    "broken_section.py",
    "browser.py",
    "grid_section.py",
    "popover.py",
    "press.py",
    "cache.py",
    "component.py",
    "costly_download.py",
    "downloads.py",
    "editor.py",
    "exercise_section.py",
    "gpu_jobs.py",
    "gpu_results.py",
    "health.py",
    "index_page.py",
    "launch_section.py",
    "leaving.py",
    "mailbox.py",
    "memory.py",
    "progress_section.py",
    "own_gpu.py",
    "question_section.py",
    "stepper.py",
    "style.py",
    "verdict_section.py",
    "waiting.py",
    "while_serving.py",
}


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


# What each part of the simulator may import, type-only imports included; nothing above it.
SIMULATOR = {
    "language": set(),
    "number_format": set(),
    "launch": {"language"},
    "guard": {"language"},
    "archive": {"language", "launch", "output_file"},
    "output_file": {"language"},
    "contraction": {"language"},
    "frontend": {"language", "launch", "contraction"},
    "machine": {"language", "launch"},
    "observers": {"language", "launch", "number_format", "machine"},
    "recording": {"language", "launch", "number_format", "contraction", "machine", "observers"},
    "size_expression": {"language"},
    "broken_file": {"language"},
    "catalogue": {"language", "launch", "size_expression", "broken_file", "frontend"},
    "report": {"language", "launch", "machine", "observers"},
    "split": {"language", "guard", "launch", "machine", "observers", "report"},
    "command_line": {"language", "launch", "frontend"},
    "terminal": {
        "language",
        "guard",
        "launch",
        "archive",
        "output_file",
        "number_format",
        "frontend",
        "machine",
        "observers",
        "report",
        "verdict",
        "exercises",
    },
    "verdict": {
        "language",
        "guard",
        "launch",
        "size_expression",
        "number_format",
        "frontend",
        "machine",
        "observers",
        "recording",
        "catalogue",
        "report",
    },
    "exercises": {
        "language",
        "broken_file",
        "guard",
        "launch",
        "size_expression",
        "number_format",
        "frontend",
        "machine",
        "observers",
        "catalogue",
        "report",
        "verdict",
    },
}


def import_graph(*layers: str) -> dict[str, set[str]]:
    """The modules of some layers by name, each with those that it imports anywhere in its text."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for layer in layers
        for path in modules(ROOT / layer)
    }
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        targets = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= {name if name in paths else node.module for name in full}
        graph[name] = (targets & paths.keys()) - {name}
    return graph


@pytest.mark.parametrize("room", SIMULATOR)
def test_rooms_of_the_simulator_know_only_those_below(room: str) -> None:
    graph = import_graph("simulator")
    inside = [name for name in graph if name.split(".")[1:2] == [room]]
    assert inside, room
    known = {target for name in inside for target in graph[name]}
    assert "simulator" not in known, "its face rests on all rooms"
    assert {target.split(".")[1] for target in known} - {room} <= SIMULATOR[room]


def test_every_room_of_the_simulator_is_listed() -> None:
    rooms = {name.split(".")[1] for name in import_graph("simulator") if "." in name}
    assert rooms == {*SIMULATOR, "__main__"}


def test_no_imports_run_in_a_circle() -> None:
    graph = import_graph("simulator", "gpu", "ui")
    while leaves := {name for name, targets in graph.items() if not targets & graph.keys()}:
        graph = {name: targets for name, targets in graph.items() if name not in leaves}
    assert not graph, "these import each other"


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
    assert set(machine_functions.FUNCTIONS) == functions.ARITHMETIC_FUNCTIONS
