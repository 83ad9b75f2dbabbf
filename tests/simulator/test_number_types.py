"""simulator.language.number_types: that nothing else has to know which types there are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from simulator import compile_kernel
from simulator.frontend.clang import HEADERS
from simulator.language.ctype import Pointer
from simulator.language.encodings import Encoding
from simulator.language.number_types import FP8_ENCODINGS, NUMBER_TYPES, OPERANDS
from simulator.machine import fp8_conversions

ROOT = Path(__file__).resolve().parents[2]
TABLE = "simulator/language/number_types.py"
# Beside the table, the modules and folders whose subject a type is: C computes with half, host code
# has its size, and texts mostly mean another half; two functions of bfloat16 are computed in a way
# of their own; the GPU is measured with TF32; the names of PTX's instructions have types in them.
PTX = {
    "simulator/frontend/assembly.py",
    "simulator/frontend/unsupported.py",
    "simulator/language/assembly.py",
}
SUBJECTS = {
    "half": {
        "simulator/language/ctype.py",
        "simulator/frontend/expression_values.py",
        "ui/glossary/route.py",
        "simulator/language/assembly.py",
    },
    "__nv_bfloat16": {"simulator/machine/short_floats.py"} | PTX,
    "__nv_fp8_e4m3": {"simulator/language/functions.py", "simulator/machine/fp8_conversions.py"},
    "tf32": {"simulator/catalogue.py", "ui/gpu", "ui/gpu_charts", "ui/lessons"} | PTX,
}


def names_of(name: str) -> str:
    """A pattern of what a module calls a type that it knows: an English word only in quotes."""
    word, names = NUMBER_TYPES[name].word, NUMBER_TYPES[name].names
    if word.isalpha():
        return rf"[\"']{word}[\"']"
    return f"(?i){word}" + (f"|{names}" if names else "")


@pytest.mark.parametrize("name", NUMBER_TYPES)
def test_a_type_is_named_in_the_table_and_where_it_is_the_subject(name: str) -> None:
    paths = [path for folder in ("simulator", "ui") for path in (ROOT / folder).rglob("*.py")]
    pattern = re.compile(names_of(name))
    found = {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if pattern.search(path.read_text(encoding="utf-8"))
    }
    subjects = SUBJECTS.get(name, set())
    others = {one for one in found if not any(one.startswith(subject) for subject in subjects)}
    assert others == {TABLE}
    assert all(any(one.startswith(subject) for one in found) for subject in subjects)


@pytest.mark.parametrize("name", [name for name, each in NUMBER_TYPES.items() if each.header])
def test_a_type_of_a_header_is_declared_there_and_has_its_numbers(name: str) -> None:
    number = NUMBER_TYPES[name]
    head = f"#include <{number.header}>\n__global__ void k({name}* x, float* y) "
    kernel = compile_kernel(head + "{ y[0] = float(x[0]); x[0] = " + name + "(y[1]); }")
    assert kernel.parameters[0].ctype == Pointer(number.ctype)
    numbers = np.array([[0.0, 1.0, -2.0, 0.5]], np.float32)
    cells = number.ctype.cells_of(numbers)
    assert cells.dtype == number.ctype.cell_dtype
    assert number.ctype.values_of(cells).tolist() == numbers.tolist()


def test_the_fragments_of_each_operand_are_declared() -> None:
    *_, declared = HEADERS["mma.h"]
    text = declared.read_text(encoding="utf-8")
    types = set(re.findall(r"_OPERAND\(matrix_a, \d+, \d+, \d+, ([\w:]+)", text))
    assert types == {f"{each.scope}{name}" for name, each in OPERANDS.items()}


def test_the_conversions_of_8_bits_take_as_many_types_as_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    third = Encoding(3, 4, saturates=True)
    monkeypatch.setattr(fp8_conversions, "FP8_ENCODINGS", (*FP8_ENCODINGS, third))
    to_half = fp8_conversions.FP8_CONVERSIONS["__nv_cvt_fp8_to_half"]
    cells = np.full(3, 0b0_010_1000, np.uint8)  # read as e4m3, e5m2 and e3m4
    assert to_half(cells, np.arange(3, dtype=np.uint32)).tolist() == [2**-2, 2**-5, 0.75]
