"""What the memory beside a memory takes."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.language.ctype import FLOAT, INT, ArrayOf
from simulator.machine.buffers import Buffer, global_buffer, shared_buffer
from simulator.observers.hazards import shadow
from simulator.observers.hazards.shadow import Shadow

FLOATS = np.zeros(96, np.float32)
BUFFERS = {
    "global": global_buffer("x", FLOATS, FLOAT),
    "shared": shared_buffer("s", ArrayOf(INT, 24), 0, 4, None),
}


def bytes_of(buffer: Buffer) -> int:
    found = Shadow(buffer)
    fields = [getattr(found, name) for name in Shadow.__slots__]
    arrays = [field for field in fields if isinstance(field, np.ndarray)]
    return sum(array.nbytes for array in arrays if array.base is None)  # views are of others


@pytest.mark.parametrize("space", BUFFERS)
def test_what_a_cell_takes_is_what_a_launchs_limit_reckons_with(space: str) -> None:
    """Who read it, and where, is noted of global cells alone."""
    cell = {"global": shadow.CELL_BYTES, "shared": shadow.CELL_BYTES - 8}[space]
    buffer = BUFFERS[space]
    assert buffer.cells.size == 96
    assert bytes_of(buffer) == 96 * cell
