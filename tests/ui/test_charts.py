"""Figures and sentences of a comparison, made from its numbers."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import plotly.graph_objects as go
import pytest
from coloraide import Color

from gpu.comparison import Comparison, comparison_from
from simulator.observers.counters import FIELDS
from ui.drawing.palette import BASE_COLOUR, COMPARED_COLOUR, DARK, LIGHT, REFERENCE_COLOUR
from ui.gpu_charts import performance, rows
from ui.gpu_charts.gpu_page_charts import ChartData, ComparisonChart, draw_chart

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
    assert [name.text for name in performance.draw_times(comparison).layout.annotations] == [
        "naive: 4.00 ms, C is wrong", "tiled, TILE 16: 2.00 ms", "cuBLAS: 0.500 ms",
    ]  # fmt: skip


def test_a_chart_is_drawn_once_for_the_same_numbers(comparison: Comparison) -> None:
    drawn = []
    chart = ComparisonChart("Times", lambda data: drawn.append(data) or go.Figure(), str)
    slower = dataclasses.replace(comparison.kernels[0], counters={"loads": 1})
    other = dataclasses.replace(comparison, kernels=(slower, *comparison.kernels[1:]))
    for one in (comparison, dataclasses.replace(comparison), other):
        draw_chart(chart, ChartData(one, (), None, ("naive", "tiled"), DARK.ink))
    assert [data.comparison for data in drawn] == [comparison, other]


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


def test_the_peak_is_a_hollow_bar_with_its_name(comparison: Comparison) -> None:
    figure = performance.draw_throughput(comparison)
    assert list(figure.data[1].x) == [1.024]
    assert figure.layout.annotations[-1].text == "FP32 peak of this GPU: 1.0 TFLOP/s"
    unknown = dataclasses.replace(
        comparison, device=dataclasses.replace(comparison.device, peak_fp32_tflops=None)
    )
    assert len(performance.draw_throughput(unknown).data) == 1


def test_shares_are_percent_of_cublas(comparison: Comparison) -> None:
    figure = performance.draw_cublas_share(comparison)
    assert list(figure.data[0].x) == [12.5, 25.0, 100.0]


def test_names_stand_above_their_rows_and_no_line_is_drawn_through_them(
    comparison: Comparison,
) -> None:
    figure = performance.draw_throughput(comparison)
    assert not figure.layout.shapes
    assert not figure.layout.xaxis.showgrid
    for row, name in enumerate(figure.layout.annotations):
        assert (name.y, name.yanchor, name.x, name.xref) == (row, "bottom", 0, "paper")
        assert name.yshift > rows.ROW_HEIGHT * rows.THICKNESS / 2
    assert rows.ROW_HEIGHT * (1 - rows.THICKNESS / 2) > rows.ABOVE + rows.LABEL_SIZE * 1.3


def test_only_the_compared_kernels_have_a_colour(comparison: Comparison) -> None:
    pair = ("tiled", "naive")
    figure = performance.draw_times(comparison, pair=pair)
    assert list(figure.data[0].marker.color) == [BASE_COLOUR, COMPARED_COLOUR, REFERENCE_COLOUR]
    assert [name.text.startswith("<b>") for name in figure.layout.annotations] == [
        True, True, False,
    ]  # fmt: skip
    assert set(performance.draw_times(comparison).data[0].marker.color) == {REFERENCE_COLOUR}


@pytest.mark.parametrize("paper", [LIGHT.paper, DARK.paper])
@pytest.mark.parametrize("colour", [BASE_COLOUR, COMPARED_COLOUR, REFERENCE_COLOUR])
def test_colours_are_visible_on_both_papers(colour: str, paper: str) -> None:
    assert Color(colour).contrast(paper, method="wcag21") >= 3


@pytest.mark.parametrize(
    ("pair", "text"),
    [
        (("tiled", "cublas"), "**tiled runs at 0.25 × the speed of cuBLAS**: it takes 2.00 ms, "
         "cuBLAS 0.500 ms."),
        (("cublas", "tiled"), "**cuBLAS runs at 4.00 × the speed of tiled**: it takes 0.500 ms, "
         "tiled 2.00 ms."),
        (("tiled", "naive"), "naive is not compared. C is wrong"),
        (("tiled", "tiled"), "Choose two different kernels to compare them."),
        (("tiled", "of another run"), ""),
    ],
)  # fmt: skip
def test_a_sentence_compares_two_kernels(
    comparison: Comparison, pair: tuple[str, str], text: str
) -> None:
    assert performance.compare_pair(comparison, pair).startswith(text)


def test_a_setting_is_part_of_a_sentence(comparison: Comparison) -> None:
    tiled = dataclasses.replace(comparison.kernels[1], name="tiled:TILE=32")
    assert performance.phrase(tiled) == "tiled (TILE 32)"


def test_chosen_kernels_keep_their_order_and_none_means_all(comparison: Comparison) -> None:
    chosen = performance.choose_kernels(comparison, ["cublas", "naive"])
    assert [kernel.name for kernel in chosen.kernels] == ["naive", "cublas"]
    assert performance.choose_kernels(comparison, []) == comparison


def test_a_kernel_that_did_not_run_has_a_row_and_no_bar(failed: Comparison) -> None:
    assert list(performance.draw_times(failed).data[0].customdata) == ["tiled, TILE 16", "cuBLAS"]
    row = performance.build_table(failed)[0]
    assert (row["Kernel"], row["C is right"], row["Time, ms"]) == ("naive", "no", "–")


def test_the_table_holds_the_figures(comparison: Comparison) -> None:
    rows = performance.build_table(comparison)
    assert rows[1]["Of cuBLAS"] == "25.0%"
    assert rows[0]["Error, largest"] == "0.4"
    assert rows[0]["Error"] == "4e-07"
    assert rows[0]["Type"] == "FP32"


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
    sentence = performance.summarize(comparison)
    assert sentence.startswith(
        "**tiled, TILE 16** multiplies 512 × 512 by 512 × 512 in **2.00 ms**"
    )
    assert "**25%** of cuBLAS's speed" in sentence
    assert "Every C agrees" not in sentence
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


def test_each_line_has_its_name_at_its_end(comparison: Comparison) -> None:
    sizes = [(256, 256, 256), (1024, 1024, 1024)]
    figure = performance.draw_against_size(
        [dataclasses.replace(comparison, size=one) for one in sizes], pair=("tiled", "naive")
    )
    names = figure.layout.annotations
    assert [name.text for name in names] == ["<b>naive</b>", "<b>tiled, TILE 16</b>", "cuBLAS"]
    assert {name.x for name in names} == {math.log10(1024)}
    assert not figure.layout.showlegend


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0.01234, "0.0123 ms"), (0.5, "0.500 ms"), (5.614, "5.61 ms"), (50.83, "50.8 ms"),
     (1210.4, "1,210 ms")],
)  # fmt: skip
def test_times_have_three_digits_that_count(ms: float, text: str) -> None:
    assert performance.format_milliseconds(ms) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(1.0, "1.00"), (0.5, "0.50"), (0.028, "0.028"), (0.02, "0.020")]
)
def test_a_ratio_keeps_its_last_zero(ratio: float, text: str) -> None:
    assert performance.format_ratio(ratio) == text
