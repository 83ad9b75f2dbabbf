"""A small table of kernels and a run over shapes, as a GPU might have given them."""

from __future__ import annotations

import json
from pathlib import Path

from gpu.cuda.device import Device
from gpu.json_data import decode
from gpu.shapes.plan import Pace, Table, Tuned, choose
from gpu.shapes.shape import Shape, Shapes

CANNED = Path(__file__).with_name("comparison.json")
SMALL = Tuned(
    "small", 32, 64, 16, Pace((0.001, 0.001), (3e-5, 4e-5)), Pace((0.001,), (5e-5,)),
    Pace((0.002, 0.003), (3e-5, 4e-5)), Pace((0.003,), (5e-5,)),
)  # fmt: skip
LARGE = Tuned(
    "large", 128, 128, 8, Pace((0.003,), (1e-4,)), Pace((0.003,), (1.4e-4,)),
    Pace((0.02,), (1e-4,)), Pace((0.02,), (1.4e-4,)),
)  # fmt: skip
WHOLE = Tuned("whole", 128, 256, 8, Pace((0.004,), (1.5e-4,)), None, None, None)
TABLE = Table(132, 0.003, 0.006, 0.004, 3e-9, (WHOLE, SMALL, LARGE))
SIZES = ((4096, 4096, 4096), (256, 256, 16384), (1031, 2053, 515))


def shapes_of(*ratios: float) -> Shapes:
    """A run whose shapes have these ratios to cuBLAS."""
    device = decode(Device, json.loads(CANNED.read_text(encoding="utf-8"))["device"], "The device")
    shapes = []
    for place, ratio in enumerate(ratios):
        size = SIZES[place % len(SIZES)]
        plan = choose(TABLE, size)
        shapes.append(Shape(size, plan.kernel, ratio, True, 1.0, ratio, True, plan))
    return Shapes(device, TABLE, tuple(shapes))
