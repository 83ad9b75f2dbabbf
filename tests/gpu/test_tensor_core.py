"""On a real GPU: its tensor core gives the bits of simulator.machine.tensor_core."""

from __future__ import annotations

import pytest

from tests.gpu import tensor_core_bits
from tests.tensor_tiles import kinds

pytestmark = pytest.mark.gpu

TILES = 2_000  # of each kind


@pytest.mark.parametrize("name", tensor_core_bits.SHAPES)
def test_no_bit_differs(name: str) -> None:
    import cupy

    if cupy.cuda.Device().compute_capability != "90":
        pytest.skip("The rules are a Hopper GPU's.")
    if not tensor_core_bits.toolkit_has_wmma():
        pytest.skip("NVIDIA's mma.h is not installed.")
    form, shape = tensor_core_bits.SHAPES[name]
    hardware = tensor_core_bits.Hardware(form, shape)
    wrong = {
        kind: tensor_core_bits.differing(name, kind, TILES, 77, hardware) for kind in kinds(form)
    }
    assert not any(wrong.values()), wrong
