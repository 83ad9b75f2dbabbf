"""The recorded machine code of the catalogue: whole, up to date, and what a GPU measured of it."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from compiler.compile import compile_text
from compiler.iteration import iterations
from compiler.machine_code import Group, MachineCode
from compiler.opcodes import opcodes, sentence
from compiler.recorded import ARCHITECTURES, decode, encode, key, recorded
from compiler.terminal import as_json, as_text
from compiler.toolchain import Toolchain
from simulator.catalogue import whole_catalogue
from simulator.exercises.exercise import exercises

H200 = Path(__file__).resolve().parents[2] / "assets/recorded/nvidia-h200.json"
HOPPER_ALONE = ("warpgroup_tf32", "warpgroup_half", "warpgroup_fp32")
TEXTS = [
    (architecture, name, setting)
    for architecture in ARCHITECTURES
    for name, entry in whole_catalogue().items()
    for setting in entry.settings()
    if name not in HOPPER_ALONE or architecture == "sm_90"
]


@functools.cache
def _found(architecture: str, text: str) -> MachineCode | None:
    return recorded(text, architecture)


def _code(architecture: str, name: str, setting: Mapping[str, int]) -> MachineCode:
    code = _found(architecture, whole_catalogue()[name].source(**setting))
    assert code is not None, f"{name} {setting}: run python -m compiler record"
    return code


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_setting_is_recorded_and_whole(architecture: str) -> None:
    for _, name, setting in (one for one in TEXTS if one[0] == architecture):
        code = _code(architecture, name, setting)
        assert (code.kernel, code.architecture) == (whole_catalogue()[name].kernel, architecture)
        lines = whole_catalogue()[name].source(**setting).splitlines()
        assert Counter(one for each in code.lines.values() for one in each) == Counter(
            code.instructions
        )
        assert set(code.lines) - {None} <= set(range(1, len(lines) + 1)), name
        live = code.live_at()
        assert live is not None, name
        assert 0 < max(live) <= code.registers, name
        assert len(live) == len(code.instructions)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_instruction_has_a_group_and_a_sentence(architecture: str) -> None:
    for _, name, setting in (one for one in TEXTS if one[0] == architecture):
        for one in _code(architecture, name, setting).instructions:
            assert (one.group is Group.OTHER) == (one.base == "NOP"), one
            assert sentence(one).endswith("."), one
    assert all(one.says.endswith(".") for one in opcodes().values())


def test_registers_and_shared_bytes_are_what_a_gpu_said() -> None:
    """CuPy compiled them by the same NVRTC as this program recorded, and the driver read them."""
    recording = json.loads(H200.read_text(encoding="utf-8"))
    compared, seen = recording["comparisons"][1]["kernels"], 0
    for one in compared:
        entry = whole_catalogue().get(one["name"].split(":")[0])
        if entry is None or not one["registers"]:
            continue
        setting = {name: int(value) for name, value in one["defines"].items()}
        code = _found("sm_90", entry.source(**setting))
        if code is None:
            continue
        assert code.compiler == f"NVRTC {recording['device']['nvrtc']}"
        assert code.registers == one["registers"], one["name"]
        dynamic = entry.shared_bytes(**setting)
        assert code.shared_bytes + dynamic == one["shared_bytes"], one["name"]
        assert (code.spill_stores, code.stack_bytes) == (0, one["local_bytes"]), one["name"]
        seen += 1
    assert seen > 20


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_exercise_halves_the_loads_of_the_machine_code(architecture: str) -> None:
    exercise = exercises()["halve_the_loads"]
    found = []
    for text in (exercise.start, exercise.solution):
        code = _found(architecture, text)
        assert code is not None, "run python -m compiler record"
        inner = iterations(code)[0]
        found.append(inner.slots[Group.SHARED_LOAD] / inner.multiply_adds)
    assert found[1] == found[0] / 2


def test_comments_make_no_recording_stale_and_code_does() -> None:
    text = whole_catalogue()["tiled"].source()
    assert key(text) == key(text.replace("// Tiled: a block", "// A block"))
    assert key(text) != key(text.replace("acc +=", "acc -="))
    assert recorded(text.replace("acc +=", "acc -="), "sm_90") is None
    assert recorded(text, "sm_75") is None


def test_what_is_read_back_is_what_was_written() -> None:
    code = _code("sm_90", "rows", {})
    assert decode(json.loads(json.dumps(encode(code)))) == code


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", ["tiled", pytest.param("vectors", marks=pytest.mark.deep)])
def test_the_compiler_makes_what_was_recorded(
    toolchain: Toolchain, architecture: str, name: str
) -> None:
    entry = whole_catalogue()[name]
    now = compile_text(toolchain, entry.source(), entry.kernel, architecture)
    before = _code(architecture, name, {})
    if now.compiler != before.compiler:
        pytest.skip(f"{now.compiler} is here, and {before.compiler} was recorded")
    assert now == before


def test_lines_of_several_files_have_their_file() -> None:
    source = whole_catalogue()["tiled"].source()
    code = _code("sm_90", "tiled", {})
    second = source.splitlines()[1:]
    text = "\n".join(("// ==== file: tiled.cuh ====", *second))
    found = as_json(code, None, text, ())
    assert [one["name"] for one in found["files"]] == [None, "tiled.cuh"]
    assert all(
        line["place"] == {"file": "tiled.cuh", "line": line["line"] - 1}
        for line in found["lines"]
        if line["line"] is not None
    )
    assert {one["file"] for loop in found["loops"] for one in loop["places"]} == {"tiled.cuh"}
    said = as_text(code, None, text, ())
    first = min(line for line in code.lines if line is not None)
    assert f"\nline {first - 1} of tiled.cuh: {second[first - 2].strip()}\n" in said
    assert "loop of lines " in said
