"""The picture and the bars of a product over several GPUs, against the plan and the figures."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from gpu.scale.plan import Plan, make_plan
from gpu.scale.recorded import scalings
from gpu.scale.scaling import ScaleRun, Scaling, Way
from ui.drawing.palette import CHART_INKS, DARK, LIGHT
from ui.gpu_charts import scaling as bars
from ui.gpu_charts.tiles_over_gpus import describe_step, draw_plan

UNIT = (128, 256)
PLANS = [make_plan((4096, 4096, 512), gpus, UNIT) for gpus in (1, 2, 3, 4, 6, 8)]
STEPS = [(plan, step) for plan in PLANS for step in range(len(plan.steps))]


def name(plan: object) -> str:
    return f"{plan.down}x{plan.across}" if isinstance(plan, Plan) else str(plan)


@pytest.mark.parametrize(("plan", "step"), STEPS, ids=name)
def test_the_picture_has_what_the_plan_says(plan: Plan, step: int) -> None:
    figure = draw_plan(plan, step)
    shapes = figure.layout.shapes
    arrows = [one for one in figure.layout.annotations if one.showarrow]
    texts = [one.text for one in figure.layout.annotations if not one.showarrow]
    assert [text for text in texts if "GPU" in text] == [
        f"<b>GPU {gpu}</b>" for gpu in range(plan.gpus)
    ]
    parts = {"now": 0, "done": 0, "later": 0}
    for at, one in enumerate(plan.steps):
        parts["done" if at < step else "now" if at == step else "later"] += len(one.products)
    fills = [shape.fillcolor for shape in shapes]
    assert fills.count(LIGHT.focus_fill) == parts["now"]
    assert fills.count(LIGHT.done) == parts["done"]
    assert fills.count(LIGHT.cell) == parts["later"]
    coming = plan.steps[step].moves
    assert len(arrows) == len(coming)
    assert [shape.line.dash for shape in shapes].count("dash") == len(coming)
    own = 2 * plan.gpus
    arrived = sum(len(one.moves) for one in plan.steps[:step])
    assert sum(fill in LIGHT.tiles for fill in fills) == own + arrived


@pytest.mark.parametrize(("plan", "step"), STEPS, ids=name)
@pytest.mark.sample(3)
def test_an_arrow_goes_from_a_piece_to_its_place_at_another_gpu(plan: Plan, step: int) -> None:
    figure = draw_plan(plan, step)
    dashed = [shape for shape in figure.layout.shapes if shape.line.dash == "dash"]
    filled = [shape for shape in figure.layout.shapes if shape.fillcolor in LIGHT.tiles]
    for arrow in figure.layout.annotations:
        if arrow.showarrow:
            assert sum(touches(shape, arrow.x, arrow.y) for shape in dashed) == 1
            assert sum(touches(shape, arrow.ax, arrow.ay) for shape in filled) == 1


def touches(shape: object, x: float, y: float) -> bool:
    """Whether a point lies in a rectangle or on its edge."""
    x0, y0, x1, y1 = (getattr(shape, side) for side in ("x0", "y0", "x1", "y1"))
    return x0 - 1e-9 <= x <= x1 + 1e-9 and y0 - 1e-9 <= y <= y1 + 1e-9


@pytest.mark.parametrize("plan", PLANS, ids=name)
def test_nothing_is_drawn_over_something_else(plan: Plan) -> None:
    boxes = [(one.x0, one.y0, one.x1, one.y1) for one in draw_plan(plan, 0).layout.shapes]
    for first, second in itertools.combinations(boxes, 2):
        across = min(first[2], second[2]) - max(first[0], second[0])
        down = min(first[3], second[3]) - max(first[1], second[1])
        assert across < 1e-9 or down < 1e-9


def test_the_picture_has_the_colours_of_the_theme() -> None:
    figure = draw_plan(PLANS[1], 0, CHART_INKS["dark"])
    assert DARK.focus_fill in [shape.fillcolor for shape in figure.layout.shapes]


def test_a_step_is_told() -> None:
    plan = make_plan((16384, 16384, 16384), 4, UNIT)
    assert describe_step(plan, 0) == (
        "Step 1 of 2: each GPU computes one part of its tile of C from the pieces that it has, "
        "while 8 pieces, 2.1 GB, go from GPU to GPU for the next step."
    )
    assert describe_step(plan, 1) == (
        "Step 2 of 2: each GPU computes 3 parts of its tile of C. Nothing moves any more."
    )


@pytest.fixture
def scaling() -> Scaling:
    """A run on two GPUs as it was recorded, with times that are easy to count with."""
    times = {
        (1, Way.IN_PLACE): 80.0, (1, Way.CUBLAS): 100.0, (2, Way.PEER): 50.0, (2, Way.NCCL): 64.0,
        (2, Way.IN_PLACE): 40.0, (2, Way.CUBLAS_XT): 160.0,
    }  # fmt: skip
    runs, _ = scalings()
    recorded = next(run.scaling for run in runs if len(run.scaling.devices) >= 2)
    kept = tuple(
        dataclasses.replace(
            one, ms=ms, ms_spread=(ms, ms), speedup=80 / ms, efficiency=80 / ms / one.gpus,
            ideal_ms=80 / one.gpus,
        )
        for one in recorded.runs
        if (ms := times.get((one.gpus, one.way)))
    )  # fmt: skip
    assert len(kept) == len(times)
    return dataclasses.replace(recorded, runs=kept)


def test_bars_stand_in_the_ideal(scaling: Scaling) -> None:
    for of_time, values, ideal in (
        (False, [1.0, 0.8, 1.6, 1.25, 2.0, 0.5], [1, 1, 2, 2, 2, 2]),
        (True, [80, 100, 50, 64, 40, 160], [80, 80, 40, 40, 40, 40]),
    ):
        figure = bars.draw_bars(scaling, of_time)
        assert list(figure.data[0].x) == values
        assert list(figure.data[1].x) == ideal
        assert figure.layout.xaxis.range[1] > max([*values, *ideal])
    names = [one.text for one in figure.layout.annotations]
    assert names[0] == "1 GPU, alone: 80.0 ms, 1.00 ×"
    assert names[2] == "<b>2 GPUs, peer copies</b>: 50.0 ms, 1.60 ×, 80% of ideal"


def test_a_wrong_c_is_hatched_and_said(scaling: Scaling) -> None:
    runs = (*scaling.runs[:-1], dataclasses.replace(scaling.runs[-1], verified=False))
    figure = bars.draw_bars(dataclasses.replace(scaling, runs=runs), False)
    assert figure.data[0].marker.pattern.shape[-1] == "/"
    assert figure.layout.annotations[-1].text.endswith("C is wrong")
    assert bars.build_table(dataclasses.replace(scaling, runs=runs))[-1]["C is right"] == "no"


def test_the_sentences_have_the_fastest_way(scaling: Scaling) -> None:
    assert bars.spread_counts(scaling) == [2]
    sentence = bars.summarize(scaling, 2)
    assert sentence.startswith("**2 GPUs multiply 1.60 times as fast as one**, 80% of what")
    assert "takes 50.0 ms, with peer copies, while 1.1 GB move." in sentence
    assert sentence.endswith("Its C has the same bits as one GPU's.")
    other = [dataclasses.replace(one, same_bits=None) for one in scaling.runs]
    assert "bits" not in bars.summarize(dataclasses.replace(scaling, runs=tuple(other)), 2)


def test_what_is_lost_are_waves_and_moves(scaling: Scaling) -> None:
    blocks = (16384 // 128) * (16384 // 256)
    one, two = -(-blocks // 132), -(-blocks // 2 // 132)
    assert bars.explain_loss(scaling, 2) == (
        f"A GPU runs 132 blocks at a time. One GPU takes {one} waves, each of 2 GPUs {two}: "
        f"counted in waves, the product can be at most {one / two:.2f} times as fast. With every "
        "piece in place from the beginning the product takes 40.0 ms: moving them costs 25%; "
        "a GPU multiplies meanwhile."
    )


def test_the_table_and_the_words_hold_every_run(scaling: Scaling) -> None:
    rows = bars.build_table(scaling)
    assert [row["How"] for row in rows] == [
        "alone", "cuBLAS", "peer copies", "NCCL", "in place", "cuBLASXt",
    ]  # fmt: skip
    assert rows[2]["Of ideal"] == "80%"
    assert [row["Moved, GB"] for row in rows] == ["0.00", "–", "1.07", "1.07", "0.00", "–"]
    described = bars.describe(scaling)
    for run in scaling.runs:
        assert isinstance(run, ScaleRun)
        assert bars.run_label(run) in described
