"""On a real GPU: its tensor core gives the bits of simulator.machine.tensor_core."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.language.fragments import Use, parse_fragment
from tests.tensor_tiles import kinds
from tools import tensor_core_bits

pytestmark = pytest.mark.gpu

RECORDED = json.loads(
    (Path(__file__).parents[1] / "simulator" / "fragments.json").read_text(encoding="utf-8")
)
NVIDIA = "#include <mma.h>\n"
ELEMENTS = """
using namespace nvcuda;
extern "C" __global__ void elements(const STORED* tile, float* held) {
    FRAGMENT f;
    wmma::load_matrix_sync(f, tile, PITCH LAYOUT);
    for (int i = 0; i < f.num_elements; i++)
        held[threadIdx.x * f.num_elements + i] = static_cast<float>(f.x[i]);
}
"""
LOW_BITS = 7  # of an element's number: bfloat16 holds no more than 8
TILES = 2_000  # of each kind


@pytest.mark.parametrize("name", tensor_core_bits.SHAPES)
def test_no_bit_differs(name: str) -> None:
    import cupy

    if cupy.cuda.Device().compute_capability != "90":
        pytest.skip("The rules are a Hopper GPU's.")
    if not tensor_core_bits.toolkit_has_wmma():
        pytest.skip("NVIDIA's mma.h is not installed.")
    form = tensor_core_bits.SHAPES[name].form
    hardware = tensor_core_bits.Hardware(name)
    wrong = {
        kind: tensor_core_bits.differing(name, kind, TILES, 77, hardware) for kind in kinds(form)
    }
    assert not any(wrong.values()), wrong


def held(name: str, header: str, numbers: Any) -> Any:
    """What each lane's x[i] is, of a tile of numbers [rows, columns]: int [32, count]."""
    import cupy

    from compiler.headers import toolkit_folders

    fragment = parse_fragment(name)
    assert fragment is not None
    stored, precision = tensor_core_bits.TYPES.get(fragment.operand, ("float", "float"))
    spelled = name.replace(fragment.operand, precision)
    for word in (*Use, "row_major"):
        spelled = spelled.replace(word, f"wmma::{word}")
    is_sum = fragment.use is Use.ACCUMULATOR
    macros = {"STORED": stored, "FRAGMENT": f"wmma::{spelled}", "PITCH": str(numbers.shape[1])}
    macros["LAYOUT"] = ", wmma::mem_row_major" if is_sum else ""
    code = "".join(f"#define {macro} {value}\n" for macro, value in macros.items())
    options = [f"--include-path={folder}" for folder in toolkit_folders()]
    module = cupy.RawModule(
        code=tensor_core_bits.TYPE_HEADERS + header + code + ELEMENTS,
        options=("-std=c++17", *options),
    )
    given = np.ascontiguousarray(numbers, np.float32)
    bits = {"half": given.astype(np.float16)}.get(stored, given)
    if stored == "__nv_bfloat16":
        bits = (given.view(np.uint32) >> 16).astype(np.uint16)
    out = cupy.zeros((32, fragment.count), np.float32)
    module.get_function("elements")((1,), (32,), (cupy.asarray(bits), out))
    return cupy.asnumpy(out).astype(np.int64)


@pytest.mark.parametrize("row", RECORDED["fragments"], ids=lambda row: row["fragment"])
def test_each_lane_holds_what_is_recorded(row: dict[str, Any]) -> None:
    if not tensor_core_bits.toolkit_has_wmma():
        pytest.skip("NVIDIA's mma.h is not installed.")
    fragment = parse_fragment(row["fragment"])
    assert fragment is not None
    numbers = np.arange(fragment.rows * fragment.columns).reshape(fragment.rows, fragment.columns)
    low, high = (
        held(row["fragment"], NVIDIA, part)
        for part in (numbers % 2**LOW_BITS, numbers // 2**LOW_BITS)
    )
    assert (high * 2**LOW_BITS + low).tolist() == row["elements"]
