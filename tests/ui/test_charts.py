"""Figures and sentences of a comparison, made from its numbers."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from gpu.result import Comparison, comparison_from
from simulator.observers.counters import FIELDS
from ui.gpu_charts import performance

CANNED = Path(__file__).parent.parent / "gpu" / "comparison.json"


@pytest.fixture
def comparison() -> Comparison:
    return comparison_from(json.loads(CANNED.read_text(encoding="utf-8")))


@pytest.fixture
def failed(comparison: Comparison) -> Comparison:
    """The same with a kernel that did not compile."""
    broken = dataclasses.replace(
        comparison.kernels[0], ms=None, ms_spread=None, tflops=None, cublas_ratio=None,
        error="line 3: no.", verdict="line 3: no.",
    )  # fmt: skip
    return dataclasses.replace(comparison, kernels=(broken, *comparison.kernels[1:]))


def test_times_are_bars_with_their_spread(comparison: Comparison) -> None:
    bars = performance.draw_times(comparison).data[0]
    assert list(bars.x) == [4.0, 2.0, 0.5]
    assert list(bars.customdata) == ["naive", "tiled, TILE 16", "cuBLAS"]
    assert [round(value, 3) for value in bars.error_x.array] == [0.2, 0.1, 0.025]
    assert [round(value, 3) for value in bars.error_x.arrayminus] == [0.08, 0.04, 0.01]
    assert bars.text[1] == "2.00 ms"
    shown = performance.draw_times(comparison).data[1]
    assert list(shown.x) == [4.2, 2.1, 0.525]
    assert [text.strip() for text in shown.text] == list(bars.text)


def test_a_wrong_c_is_written_and_hatched_not_only_coloured(comparison: Comparison) -> None:
    bars = performance.draw_throughput(comparison).data[0]
    assert "C is wrong" in bars.text[0]
    assert "C is wrong" not in bars.text[1]
    assert list(bars.marker.pattern.shape) == ["/", "", ""]


def test_throughput_spreads_lie_around_the_median(comparison: Comparison) -> None:
    bars = performance.draw_throughput(comparison).data[0]
    tiled = comparison.kernels[1]
    assert bars.x[1] == tiled.tflops
    assert bars.x[1] + bars.error_x.array[1] == pytest.approx(bars.x[1] / 0.98)
    assert bars.x[1] - bars.error_x.arrayminus[1] == pytest.approx(bars.x[1] / 1.05)


def test_the_peak_is_a_labelled_line(comparison: Comparison) -> None:
    figure = performance.draw_throughput(comparison)
    assert figure.layout.shapes[0].x0 == 1.024
    assert figure.layout.annotations[0].text == "FP32 peak 1.0"
    unknown = dataclasses.replace(
        comparison, device=dataclasses.replace(comparison.device, peak_fp32_tflops=None)
    )
    assert not performance.draw_throughput(unknown).layout.shapes


def test_shares_are_percent_of_cublas(comparison: Comparison) -> None:
    figure = performance.draw_cublas_share(comparison)
    assert list(figure.data[0].x) == [12.5, 25.0, 100.0]
    assert figure.layout.shapes[0].x0 == 100


def test_a_kernel_that_did_not_run_has_a_row_and_no_bar(failed: Comparison) -> None:
    assert list(performance.draw_times(failed).data[0].customdata) == ["tiled, TILE 16", "cuBLAS"]
    row = performance.build_table(failed)[0]
    assert (row["Kernel"], row["C is right"], row["Time, ms"]) == ("naive", "no", "–")


def test_the_table_holds_the_figures(comparison: Comparison) -> None:
    rows = performance.build_table(comparison)
    assert rows[1]["Of cuBLAS"] == "25.0%"
    assert rows[0]["Error, largest"] == "0.4"
    assert rows[0]["Error, norm"] == "4e-07"


def test_resources_hold_the_simulated_transactions(comparison: Comparison) -> None:
    counted = dict.fromkeys(FIELDS, 1000) | {"global_store_sectors": 5}
    naive, tiled, cublas = (
        dataclasses.replace(kernel, source=kernel.source if kernel.name == "cublas" else "text")
        for kernel in comparison.kernels
    )
    tiled = dataclasses.replace(tiled, simulated=counted)
    rows = performance.build_resource_table(
        dataclasses.replace(comparison, kernels=(naive, tiled, cublas))
    )
    assert [row["Kernel"] for row in rows] == ["naive", "tiled, TILE 16"]
    assert rows[1]["Shared, bytes"] == "2,048"
    assert (rows[1]["Global sectors"], rows[1]["Shared wavefronts"]) == ("1,005", "2,000")
    assert rows[0]["Global sectors"] == "not predicted"


def test_the_summary_names_the_fastest_right_kernel(comparison: Comparison) -> None:
    told = performance.summarize(comparison)
    assert told.startswith("**tiled, TILE 16** multiplies 512 × 512 by 512 × 512 in **2.00 ms**")
    assert "**25%** of cuBLAS's speed" in told
    assert "Every C agrees" not in told
    right = dataclasses.replace(comparison, kernels=comparison.kernels[1:])
    assert "Every C agrees" in performance.summarize(right)
    assert (
        performance.summarize(dataclasses.replace(comparison, kernels=comparison.kernels[:1])) == ""
    )


def test_speed_against_size_takes_squares_in_order(comparison: Comparison) -> None:
    sizes = [(1024, 1024, 1024), (256, 256, 256), (512, 256, 128)]
    figure = performance.draw_against_size(
        [dataclasses.replace(comparison, size=one) for one in sizes]
    )
    assert [trace.name for trace in figure.data] == ["naive", "tiled, TILE 16", "cuBLAS"]
    assert list(figure.data[0].x) == [256, 1024]
    assert len({trace.marker.symbol for trace in figure.data}) == 3
    of_time = performance.draw_against_size(
        [dataclasses.replace(comparison, size=one) for one in sizes], of_time=True
    )
    assert list(of_time.data[1].y) == [2.0, 2.0]
    assert of_time.layout.yaxis.title.text == "ms"


def test_no_two_of_many_kernels_look_alike(comparison: Comparison) -> None:
    kernel = comparison.kernels[0]
    looks = {
        (performance.colour_of(kernel, place), performance.marker_of(place)) for place in range(36)
    }
    assert len(looks) == 36


def test_colours_are_told_apart(comparison: Comparison) -> None:
    colours = performance.draw_times(comparison).data[0].marker.color
    assert len(set(colours)) == len(comparison.kernels)


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0.01234, "0.0123 ms"), (0.5, "0.500 ms"), (5.614, "5.61 ms"), (50.83, "50.8 ms"),
     (1210.4, "1,210 ms")],
)  # fmt: skip
def test_times_have_three_digits_that_count(ms: float, text: str) -> None:
    assert performance.format_milliseconds(ms) == text
