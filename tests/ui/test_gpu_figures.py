"""The roofline, predicted beside measured, and latencies: figures made from numbers."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpu.compare import with_simulated
from gpu.comparison import Comparison, KernelResult, comparison_from
from gpu.cuda.microbenchmarks.ceilings import Ceilings
from gpu.cuda.microbenchmarks.latency import Latency
from gpu.cuda.microbenchmarks.limits import Limits
from gpu.predicted_counters import RETRIES
from gpu.recorded import newest
from simulator.observers.counters import FIELDS
from ui.gpu_charts import counters, latency, performance, roofline
from ui.gpu_charts.label_placement import GAP, LabelPosition, View, place_labels
from ui.run.compute import predict_compiled_counters

CANNED = Path(__file__).parent.parent / "gpu" / "comparison.json"
PROFILE = Path(__file__).parent.parent / "simulator" / "h200_profile.json"
LIMITS = Limits(Ceilings(0.9, 50.0, 150.0), Latency(4.0, 29.0, 39.0, 288.0, 686.0))
ROOM = (0.0, 0.0, 1000.0, 500.0)


@pytest.fixture
def comparison() -> Comparison:
    """512 cubed, tiled with the transactions that follow from its tiles."""
    whole = comparison_from(json.loads(CANNED.read_text(encoding="utf-8")))
    sectors = dict.fromkeys(FIELDS, 0) | {
        "global_load_sectors": 2 * 512**3 // 16 // 8, "global_store_sectors": 512 * 512 // 8,
    }  # fmt: skip
    naive, tiled, cublas = whole.kernels
    tiled = dataclasses.replace(tiled, simulated=sectors)
    return dataclasses.replace(whole, kernels=(naive, tiled, cublas))


def test_a_product_with_few_rows_is_a_point_below_the_slope_of_memory() -> None:
    run = newest()
    [found] = [one for one in run.comparisons if one.size == (4, 4096, 4096)]
    points = {point.kernel.name: point for point in roofline.find_points(found)}
    [memory] = [roof for roof in roofline.find_roofs(run.device, run.limits) if "DRAM" in roof.name]
    few = points["few_rows"]
    assert few.intensity < 2  # operations a byte: two for each of four values of A
    assert 0.6 < (few.kernel.tflops or 0) / memory.tflops_at(few.intensity) < 1
    assert (few.kernel.tflops or 0) > 2 * max(
        point.kernel.tflops or 0 for name, point in points.items() if name != "few_rows"
    )


def test_a_point_lies_at_its_operations_a_byte(comparison: Comparison) -> None:
    (point,) = roofline.find_points(comparison)
    floats_read = 2 * 512**3 / 16 + 512 * 512
    assert point.intensity == pytest.approx(2 * 512**3 / (4 * floats_read))
    drawn = [trace for trace in roofline.draw_roofline(comparison).data if trace.mode == "markers"]
    assert [trace.name for trace in drawn] == ["tiled, TILE 16"]
    assert drawn[0].x[0] == point.intensity
    assert drawn[0].y[0] == comparison.kernels[1].tflops


def test_double_precision_is_not_under_a_float32_ceiling(comparison: Comparison) -> None:
    double = dataclasses.replace(comparison.kernels[1], element="float64")
    assert not roofline.find_points(dataclasses.replace(comparison, kernels=(double,)))


@pytest.mark.parametrize("limits", [None, LIMITS])
def test_ceilings_meet_where_bytes_no_longer_limit(
    comparison: Comparison, limits: Limits | None
) -> None:
    lines = [
        trace for trace in roofline.draw_roofline(comparison, limits).data if trace.mode == "lines"
    ]
    names = [trace.name for trace in lines]
    if limits:
        assert names == [
            "FP32 measured 0.9 TFLOP/s",
            "DRAM measured 50 GB/s",
            "L2 measured 150 GB/s",
        ]
    else:
        assert names == ["FP32 peak 1.0 TFLOP/s", "DRAM peak 64 GB/s"]
    flat = lines[0].y[0]
    assert lines[0].y[1] == flat
    for line in lines[1:]:
        assert line.y[1] == pytest.approx(flat)
        assert line.y[1] / line.x[1] == pytest.approx(line.y[0] / line.x[0])


def test_a_device_without_known_ceilings_has_points_alone(comparison: Comparison) -> None:
    device = dataclasses.replace(comparison.device, peak_fp32_tflops=None, peak_gb_s=None)
    figure = roofline.draw_roofline(dataclasses.replace(comparison, device=device))
    assert [trace.mode for trace in figure.data] == ["markers"]
    empty = dataclasses.replace(comparison, device=device, kernels=comparison.kernels[2:])
    assert not roofline.draw_roofline(empty).data


def test_every_point_has_its_name(comparison: Comparison) -> None:
    figure = roofline.draw_roofline(comparison, LIMITS)
    (name,) = figure.layout.annotations
    assert name.text == "tiled, TILE 16"
    assert name.x == pytest.approx(math.log10(roofline.find_points(comparison)[0].intensity))
    assert "tiled, TILE 16: 3.94 operations a byte" in roofline.describe(comparison, LIMITS)
    assert "DRAM measured 50 GB/s" in roofline.describe(comparison, LIMITS)


def test_a_wrong_c_is_hollow(comparison: Comparison) -> None:
    wrong = dataclasses.replace(comparison.kernels[1], verified=False)
    figure = roofline.draw_roofline(dataclasses.replace(comparison, kernels=(wrong,)))
    assert figure.data[-1].marker.symbol.endswith("-open")


def covered(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    found: Sequence[LabelPosition | None],
) -> int:
    """How many pairs of names lie on one another."""
    boxes = []
    for (x, y), width, one in zip(points, widths, found, strict=True):
        assert one is not None
        left = x + one.x - {"left": 0, "center": width / 2, "right": width}[one.side]
        boxes.append((left, y + one.y - 10, left + width, y + one.y + 10))
    return sum(
        a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
        for number, a in enumerate(boxes)
        for b in boxes[:number]
    )


@pytest.mark.parametrize(
    "points",
    [
        [(500.0, 250.0)],
        [(500.0, 250.0), (502.0, 252.0), (498.0, 249.0), (500.0, 251.0)],
        [(500.0 + 70 * n, 250.0 - n) for n in range(6)],
        [(950.0, 20.0), (950.0, 30.0), (20.0, 480.0)],
    ],
)
def test_names_do_not_lie_on_one_another(points: list[tuple[float, float]]) -> None:
    widths = (120.0,) * len(points)
    found = place_labels((View(tuple(points), ROOM),), widths, 20)
    assert covered(points, widths, found) == 0


def test_a_name_without_room_is_left_out() -> None:
    narrow = (0.0, 0.0, 130.0, 60.0)
    assert place_labels((View(((60.0, 30.0),), narrow),), (140.0,), 20) == (None,)
    points = ((60.0, 30.0),) * 4
    found = place_labels((View(points, narrow),), (110.0,) * 4, 20)
    assert found[0] is not None
    assert None in found


def test_a_name_has_room_at_every_width() -> None:
    wide = View(((500.0, 250.0),), ROOM)
    narrow = View(((140.0, 250.0),), (0.0, 0.0, 280.0, 500.0))
    (alone,) = place_labels((wide,), (150.0,), 20)
    (both,) = place_labels((wide, narrow), (150.0,), 20)
    assert alone is not None
    assert both is not None
    assert (alone.side, both.side) == ("left", "center")


def test_a_name_alone_is_at_its_points_right_and_keeps_off_lines() -> None:
    point = ((500.0, 250.0),)
    right, left = LabelPosition(GAP, 0, "left"), LabelPosition(-GAP, 0, "right")
    assert place_labels((View(point, ROOM),), (100.0,), 20) == (right,)
    line = tuple((500.0 + 5 * n, 250.0) for n in range(40))
    assert place_labels((View(point, ROOM, line),), (100.0,), 20) == (left,)


def test_a_name_without_room_chooses_first_in_the_next_attempt() -> None:
    """The short name would take the only place that the long one has: right of the points."""
    room = (0.0, 0.0, 200.0, 24.0)
    points = ((60.0, 12.0), (66.0, 12.0))
    short, long = place_labels((View(points, room),), (30.0, 110.0), 20)
    assert long == LabelPosition(GAP, 0, "left")
    assert short == LabelPosition(-GAP, 0, "right")


@pytest.mark.parametrize("seed", range(8))
def test_no_name_lies_on_the_line_to_another(seed: int) -> None:
    """Ten points near one another in a room in which not every name is beside its point."""
    places = np.random.default_rng(seed).uniform((110, 150), (170, 250), (10, 2))
    points = tuple((float(x), float(y)) for x, y in places)
    found = place_labels((View(points, (0.0, 0.0, 280.0, 400.0)),), (100.0,) * 10, 20)
    named = [(point, one) for point, one in zip(points, found, strict=True) if one]
    assert any(one.far for _, one in named)
    for (x, y), one in named:
        for (at_x, at_y), other in named:
            left = at_x + other.x - {"left": 0, "center": 50, "right": 100}[other.side]
            top = at_y + other.y - 10
            on_line = [
                (left <= x + one.x * share <= left + 100 and top <= y + one.y * share <= top + 20)
                for share in (0.2, 0.4, 0.6, 0.8)
            ]
            assert one is other or not one.far or not any(on_line)


@pytest.fixture
def profiled(comparison: Comparison) -> Comparison:
    """Two kernels as an H200's counters saw them."""
    cases = json.loads(PROFILE.read_text(encoding="utf-8"))["cases"]
    by_name = {case["name"]: case for case in cases}
    kernels = [
        dataclasses.replace(
            kernel, simulated=by_name[name]["simulated"], counters=by_name[name]["measured"]
        )
        for kernel, name in zip(
            comparison.kernels, ("naive, 96x64x80", "tiled TILE=16, 96x64x80"), strict=False
        )
    ]
    return dataclasses.replace(comparison, kernels=(*kernels, comparison.kernels[2]))


def test_predicted_and_measured_lie_on_one_another_where_they_agree(profiled: Comparison) -> None:
    measured, predicted = counters.draw_counts(profiled, "Global sectors").data
    assert (measured.name, predicted.name) == (
        "measured by the hardware", "predicted for the source",
    )  # fmt: skip
    assert list(measured.x) == list(predicted.x)
    ring = predicted.marker.size - 2 * predicted.marker.line.width
    assert predicted.marker.symbol == "circle-open"
    assert ring > measured.marker.size + measured.marker.line.width, "both are seen"
    assert list(measured.customdata) == ["naive", "tiled, TILE 16"]
    shared = counters.draw_counts(profiled, "Shared wavefronts").data[0]
    assert list(shared.customdata) == ["tiled, TILE 16"]


def test_the_table_of_counters_has_both_and_their_ratio(profiled: Comparison) -> None:
    rows = counters.build_table(profiled)
    assert [row["Kernel"] for row in rows] == ["naive", "tiled, TILE 16"]
    assert rows[0]["Global sectors, predicted"] == f"{76800 + 768:,}"
    assert rows[0]["Global sectors, measured over predicted"] == "100.0%"
    assert rows[0]["Shared wavefronts, measured over predicted"] == "–"
    assert "naive: 77,568 predicted, 77,568 measured" in counters.describe(
        profiled, "Global sectors"
    )


def with_counters(kernel: KernelResult, **shares: float) -> KernelResult:
    """The kernel with simulated counters, and hardware counters that are shares of them."""
    simulated = dict.fromkeys(FIELDS, 1000)
    measured = {name: round(1000 * shares.get(name, 1)) for name in FIELDS}
    return dataclasses.replace(kernel, simulated=simulated, counters=measured)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({}, "agree within 2% for every kernel"),
        ({"shared_load_wavefronts": 0.26, "shared_load_requests": 0.25},
         "tiled shows 63% of the predicted shared wavefronts: **optimised code reads shared memory "
         "in wider words**"),
        ({"shared_load_wavefronts": 0.26, "shared_load_requests": 0.25}, "tiled executes 25."),
        ({"shared_store_wavefronts": 0, "shared_store_requests": 0.04}, "It counted only 4% of"),
        ({"shared_store_wavefronts": 0, "shared_store_requests": 0, "shared_load_requests": 0.1},
         "an asynchronous copy from global to shared memory passes through no register"),
        ({"shared_load_wavefronts": 1.5}, "tiled shows 125% of the predicted shared wavefronts: "
         "the recorded counters do not say why"),
    ],
)  # fmt: skip
def test_a_difference_has_its_reason_from_the_counters(
    comparison: Comparison, shares: dict[str, float], expected: str
) -> None:
    kernels = (with_counters(comparison.kernels[1], **shares),)
    found = counters.explain(dataclasses.replace(comparison, kernels=kernels), "Shared wavefronts")
    assert len(found) == 1
    assert expected in found[0]
    assert counters.explain(dataclasses.replace(comparison, kernels=kernels), "Global sectors") == [
        "Measured and predicted agree within 2% for every kernel shown."
    ]


def test_what_is_predicted_of_the_machine_code_is_what_was_measured() -> None:
    """Of two kernels that an H200 counted; of one of them the copies are not known."""
    whole = next(one for one in newest().comparisons if one.size == (1024, 1024, 1024))
    chosen = performance.choose_kernels(whole, {"transposed:TILE=32", "anyshape"})
    shown = with_simulated(chosen, lambda *_: None)
    found = {
        one.name: predict_compiled_counters(
            one.name, one.source or "", tuple(one.defines.items()), shown.size, "sm_90"
        )
        for one in shown.kernels
    }
    builds = {name: one for name, one in found.items() if one is not None}
    transposed = next(one for one in shown.kernels if one.name == "transposed:TILE=32")
    count = "Shared wavefronts"
    made = counters.build_count(transposed, count, builds)
    source = counters.predicted_count(transposed, count)
    measured = counters.measured_count(transposed, count)
    assert made is not None
    assert source is not None
    assert measured is not None
    assert made.is_least
    assert made.value <= measured < 1.01 * made.value < 0.3 * source
    figure = counters.draw_counts(shown, count, builds=builds)
    assert [one.name for one in figure.data] == [
        "measured by the hardware", "predicted for the machine code", "predicted for the source",
    ]  # fmt: skip
    assert list(figure.data[1].x)[:1] == [made.value]
    text = f"at least {performance.format_count(made.value)}"
    assert f"{text} predicted for the machine code" in counters.describe(shown, count, builds)
    rows = {row["Kernel"]: row for row in counters.build_table(shown, builds)}
    column = f"{count}, predicted for the machine code"
    names = ("transposed, TILE 32", "anyshape")
    assert [rows[name][column] for name in names] == [text, "unknown"]
    counted, retried, unknown = counters.explain_builds(shown, count, builds)
    assert "The hardware counted 100.1% of what" in counted
    assert retried.startswith(RETRIES)
    assert unknown.startswith("Nothing is predicted for the machine code of anyshape")
    assert counters.explain_builds(shown, count, {}) == []


def test_without_counters_nothing_is_explained(comparison: Comparison) -> None:
    assert counters.explain(comparison, "Shared wavefronts") == []


def test_latencies_stand_beside_what_notes_say() -> None:
    figure = latency.draw_latencies(LIMITS.latency)
    measured = next(trace for trace in figure.data if trace.name == "measured here")
    assert list(measured.x) == [4.0, 29.0, 39.0, 288.0, 686.0]
    assert [name.text for name in figure.layout.annotations] == [
        "Register: 4 cycles", "Shared memory: 29 cycles, tutorials say 1 to 10",
        "L1: 39 cycles, tutorials say 1 to 5", "L2: 288 cycles, tutorials say 10 to 20",
        "DRAM: 686 cycles, tutorials say 200 to 500",
    ]  # fmt: skip
    assert "24 times as long" in latency.summarize(LIMITS.latency)
    claims = [trace for trace in figure.data if trace.mode == "lines"]
    assert [tuple(trace.x) for trace in claims] == list(latency.CLAIMS.values())
    told = latency.describe(LIMITS.latency)
    assert told.startswith("Register: 4.0 cycles measured; Shared memory: 29.0 cycles measured, ")
    assert "L2: 288.0 cycles measured, tutorials say 10 to 20" in told
