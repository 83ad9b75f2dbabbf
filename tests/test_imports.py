"""The direction of imports: ui -> gpu -> compiler -> simulator, and who may know which library."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.language import functions
from simulator.machine import functions as machine_functions
from simulator.machine import intrinsics

ROOT = Path(__file__).resolve().parent.parent
INSTRUMENTS = {"tests", "tools"}  # which may import all, and only tests import
LAYERS = {
    "simulator": {"compiler", "gpu", "ui", "streamlit", "plotly", "cupy", "cupyx"} | INSTRUMENTS,
    "compiler": {"gpu", "ui", "streamlit", "plotly", "cupy", "cupyx"} | INSTRUMENTS,
    "gpu": {"ui", "streamlit", "plotly"} | INSTRUMENTS,
    "ui": {"cupy", "cupyx"} | INSTRUMENTS,
}
# Which folders of ui/, and which of its commands, may import these.
LIBRARIES = {
    "streamlit": {
        "web_page", "scene", "run", "gpu", "lessons", "user_kernel", "glossary", "serving",
        "health", "machine_code", "step", "pages",
    },
    "plotly": {"gpu_charts", "scene", "run", "lessons", "serving", "publish"},
}  # fmt: skip
# What the folders of ui/ and its commands may import of each other, from the ground floor up.
UI = {
    "drawing": set(),
    "health": set(),
    "view": {"drawing"},
    "web_page": {"drawing"},
    "gpu_charts": {"drawing"},
    "analysis": {"view"},
    "jobs": {"view"},
    "lecture": {"analysis", "drawing", "gpu_charts", "view"},
    "scene": {"analysis", "drawing", "lecture", "web_page"},
    "run": {"analysis", "drawing", "jobs", "scene", "view", "web_page"},
    "machine_code": {"drawing", "gpu_charts", "jobs", "run", "view", "web_page"},
    "film": {"drawing", "run", "view"},
    "notebook": {"drawing", "run", "view"},
    "publish": {"drawing", "run", "scene", "view", "web_page"},
    "serving": {"jobs", "run"},
    "gpu": {"drawing", "gpu_charts", "jobs", "run", "web_page"},
    "lessons": {
        "analysis", "drawing", "gpu_charts", "lecture", "run", "scene", "view",
        "web_page",
    },
    "glossary": {"drawing", "gpu_charts", "jobs", "lessons", "run", "view", "web_page"},
    "user_kernel": {"drawing", "gpu", "jobs", "lessons", "run", "view", "web_page"},
    "step": {"drawing", "glossary", "jobs", "machine_code", "run", "scene", "view", "web_page"},
    "pages": {
        "drawing", "glossary", "gpu", "gpu_charts", "jobs", "lessons", "machine_code", "run",
        "scene", "step", "user_kernel", "view", "web_page",
    },
}  # fmt: skip


def modules(folder: Path) -> list[Path]:
    """Every Python file of a folder, of which there must be some."""
    found = sorted(folder.rglob("*.py"))
    assert found, folder
    return found


@functools.cache
def imports(path: Path, top_level_only: bool = False) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The import statements of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else ast.walk(tree)
    return tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


def imported(path: Path, top_level_only: bool = False) -> Iterator[str]:
    for node in imports(path, top_level_only):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif node.module and not node.level:
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
    "sentences.hazards": {"language", "launch", "number_format", "machine"},
    "observers": {"language", "launch", "number_format", "machine", "sentences.hazards"},
    "recording": {"language", "launch", "machine", "observers"},
    "sentences": {
        "language",
        "launch",
        "number_format",
        "contraction",
        "machine",
        "observers",
        "recording",
        "sentences.hazards",
    },
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
        "sentences",
        "verdict",
        "exercises",
    },
    "verdict": {
        "language",
        "guard",
        "launch",
        "size_expression",
        "frontend",
        "machine",
        "observers",
        "sentences",
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


@functools.cache
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
        for node in imports(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= {name if name in paths else node.module for name in full}
        graph[name] = (targets & paths.keys()) - {name}
    return graph


# What the folders of gpu/ may import of each other.
GPU = {"cuda": set(), "scale": {"cuda"}, "shapes": {"cuda"}, "trace": {"cuda"}}


@pytest.mark.parametrize(("layer", "folders"), [("simulator", SIMULATOR), ("ui", UI)])
def test_folders_know_only_those_below(layer: str, folders: dict[str, set[str]]) -> None:
    graph = import_graph(layer)

    def part(name: str) -> str:
        """The folder of a module, or a part of it that is listed by itself."""
        _, folder, *rest = name.split(".")
        inner = ".".join((folder, *rest))
        return inner if inner in folders else folder

    for folder, below in folders.items():
        inside = [name for name in graph if "." in name and part(name) == folder]
        assert inside, folder
        known = {target for name in inside for target in graph[name]}
        assert layer not in known, "its face rests on all folders"
        assert {part(target) for target in known} - {folder} <= below, folder


@pytest.mark.parametrize("folder", GPU)
def test_measurements_on_a_gpu_do_not_know_each_other(folder: str) -> None:
    graph = import_graph("gpu")
    inside = [name for name in graph if name.startswith(f"gpu.{folder}.")]
    assert inside, folder
    known = {target.split(".")[1] for name in inside for target in graph[name] if "." in target}
    assert known & GPU.keys() <= {folder} | GPU[folder]


def test_every_folder_of_gpu_is_listed() -> None:
    assert {path.parent.name for path in ROOT.glob("gpu/*/__init__.py")} == GPU.keys()


@pytest.mark.parametrize(("layer", "folders"), [("simulator", SIMULATOR), ("ui", UI)])
def test_every_folder_is_listed(layer: str, folders: dict[str, set[str]]) -> None:
    found = {name.split(".")[1] for name in import_graph(layer) if "." in name}
    assert found - {"__main__"} == {name.split(".")[0] for name in folders}


def test_host_code_is_read_without_libclang_and_for_few() -> None:
    graph, host = import_graph("simulator"), "simulator.frontend.host."
    inside = {name for name in graph if name.startswith(host)}
    users = {name.split(".")[1] for name in graph.keys() - inside if graph[name] & inside}
    assert users == {"frontend", "verdict", "command_line", "__main__"}
    below = set(inside)
    while more := {target for name in below for target in graph[name]} - below:
        below |= more
    paths = [(ROOT / name.replace(".", "/")).with_suffix(".py") for name in below]
    assert not [path for path in paths if path.is_file() and "clang" in set(imported(path))]


def test_no_imports_run_in_a_circle() -> None:
    graph = import_graph("simulator", "compiler", "gpu", "ui", "tools")
    while leaves := {name for name, targets in graph.items() if not targets & graph.keys()}:
        graph = {name: targets for name, targets in graph.items() if name not in leaves}
    assert not graph, "these import each other"


@pytest.mark.parametrize("library", LIBRARIES)
def test_few_folders_import_a_library_of_pages(library: str) -> None:
    paths = [path for path in modules(ROOT / "ui") if library in set(imported(path))]
    users = {path.relative_to(ROOT / "ui").with_suffix("").parts[0] for path in paths}
    assert users == LIBRARIES[library]


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
    of_types = set().union(*machine_functions.SHORT_FLOAT_FUNCTIONS.values())
    assert set(machine_functions.FUNCTIONS) | of_types == functions.ARITHMETIC_FUNCTIONS
