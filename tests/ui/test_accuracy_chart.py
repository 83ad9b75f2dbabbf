"""Speed against error, and the ceilings of tensor cores."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from gpu.comparison import Comparison, comparison_from
from gpu.cuda.microbenchmarks.ceilings import Ceilings
from gpu.cuda.microbenchmarks.latency import Latency
from gpu.cuda.microbenchmarks.limits import Limits
from ui.gpu_charts import accuracy, performance, roofline

CANNED = Path(__file__).parent.parent / "gpu" / "comparison.json"
LATENCY = Latency(4.0, 29.0, 39.0, 288.0, 686.0)
BEST = Ceilings(0.9, 50.0, 150.0, 300.0, 600.0)


@pytest.fixture
def comparison() -> Comparison:
    """A wrong kernel, a tiled one, cuBLAS, and one on tensor cores."""
    found = comparison_from(json.loads(CANNED.read_text(encoding="utf-8")))
    tiled = found.kernels[1]
    tensor = dataclasses.replace(
        tiled, name="tensor_tf32", element="tf32", tflops=190.0, rel_norm_error=2.6e-4
    )
    return dataclasses.replace(found, kernels=(*found.kernels, tensor))


def test_each_right_kernel_with_an_error_is_a_point(comparison: Comparison) -> None:
    figure = accuracy.draw_accuracy(comparison)
    assert [series.name for series in figure.data] == ["FP32", "TF32"]
    assert list(figure.data[1].x) == [2.6e-4]
    assert list(figure.data[1].y) == [190.0]
    assert "naive" not in figure.data[0].customdata
    assert "tensor_tf32, TILE 16: error 0.00026, 190 TFLOP/s" in accuracy.describe(comparison)


def test_a_run_without_errors_has_no_points(comparison: Comparison) -> None:
    bare = [dataclasses.replace(kernel, rel_norm_error=None) for kernel in comparison.kernels]
    assert accuracy.find_points(dataclasses.replace(comparison, kernels=tuple(bare))) == []


def test_points_lie_within_the_axes(comparison: Comparison) -> None:
    figure = accuracy.draw_accuracy(comparison)
    for series in figure.data:
        for value, axis in ((series.x, figure.layout.xaxis), (series.y, figure.layout.yaxis)):
            assert all(10 ** axis.range[0] < one < 10 ** axis.range[1] for one in value)


def test_types_that_differ_are_named_beside_a_ratio(comparison: Comparison) -> None:
    sentence = performance.compare_pair(comparison, ("tensor_tf32", "tiled"))
    assert sentence.endswith("But tensor_tf32 multiplies TF32, tiled FP32.")
    assert performance.build_table(comparison)[-1]["Type"] == "TF32"


def test_tensor_cores_have_a_ceiling_where_a_kernel_uses_them(comparison: Comparison) -> None:
    counted = {"global_load_sectors": 1000, "global_store_sectors": 10}
    kernels = tuple(
        dataclasses.replace(kernel, simulated=counted if kernel.source else None)
        for kernel in comparison.kernels
    )
    comparison = dataclasses.replace(comparison, kernels=kernels)
    limits = Limits(BEST, LATENCY)
    sentence = roofline.describe(comparison, limits)
    assert "TF32 measured 300 TFLOP/s" in sentence
    assert "half" not in sentence
    assert "tensor_tf32" in sentence
    without = dataclasses.replace(comparison, kernels=kernels[:-1])
    assert "TF32" not in roofline.describe(without, limits)
    lines = [series for series in roofline.draw_roofline(comparison, limits).data if series.mode]
    assert any(series.name == "TF32 measured 300 TFLOP/s" for series in lines)
