"""Loads from global memory, and the sums that they are for, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ui.scene_models import EACH, run, scene_model
from ui.analysis.loads import global_loads, naive_loads
from ui.analysis.products import accumulator
from ui.analysis.scene_model import build_scene_model
from ui.analysis.variable_values import values_by_step


@pytest.mark.parametrize(
    ("name", "M", "N", "K", "block", "defines", "mine", "naive"),
    [
        ("tiled", 8, 8, 8, (1, 1, 0), {"TILE": 4}, 2 * 4 * 8, 2 * 16 * 8),
        ("tiled", 64, 64, 64, (0, 0, 0), {"TILE": 16}, 2 * 16 * 64, 2 * 256 * 64),
        ("tiled", 5, 7, 3, (1, 1, 0), {"TILE": 4}, (1 + 3) * 3, 2 * 3 * 3),
        ("tiled_double", 8, 8, 8, (0, 0, 0), {"TILE": 4}, 2 * 4 * 8, 2 * 16 * 8),
        ("naive", 8, 32, 5, (0, 0, 0), {}, 2 * 256 * 5, 2 * 256 * 5),
        ("registers", 8, 8, 8, (0, 0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 2}, 128, 2 * 64 * 8),
        ("vectors", 8, 8, 8, (0, 0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}, 128, 2 * 64 * 8),
        ("pipelined", 8, 8, 8, (0, 0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}, 128, 2 * 64 * 8),
    ],
)
def test_loads_are_those_of_the_closed_form(name, M, N, K, block, defines, mine, naive):
    model = build_scene_model(run(name, M, N, K, block, defines), 0)
    ours, theirs = global_loads(model), naive_loads(model)
    assert (ours[-1], theirs[-1]) == (mine, naive)
    assert ours == sorted(ours)
    assert theirs == sorted(theirs)


@EACH
def test_the_sums_end_as_the_blocks_part_of_the_product(number):
    model = scene_model(number)
    variable = accumulator(model.recording)
    assert variable is not None
    sums = values_by_step(model.recording, variable.name)[-1]
    last = model.recording.steps[-1]
    arguments = model.recording.arguments
    product = arguments["A"].astype(np.int64) @ arguments["B"].astype(np.int64)
    stored = np.asarray(last.stored["C"]).reshape(product.shape)
    ours = np.sort(np.asarray(sums, np.int64).reshape(-1))
    inside = np.sort(product[stored])
    assert inside.size
    assert inside.all()
    assert ours[ours != 0].tolist() == inside[inside != 0].tolist()
