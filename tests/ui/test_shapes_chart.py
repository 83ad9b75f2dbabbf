"""The map of shapes and the waves of one: what is drawn is what was found."""

from __future__ import annotations

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from gpu.shapes.plan import choose
from tests.gpu.fake_shapes import TABLE, shapes_of
from ui.gpu_charts import shapes as chart


def test_each_shape_is_a_mark_of_its_ratio() -> None:
    run = shapes_of(1.05, 0.6, 1.3)
    [marks] = chart.draw_map(run.shapes).data
    assert list(marks.marker.color) == [1.05, 0.6, 1.3]
    assert list(marks.x) == [4096**2, 256**2, 1031 * 2053]
    assert list(marks.y) == [4096, 16384, 515]
    assert "60% of cuBLAS" in marks.text[1]
    assert "at worst 60%, at 256 × 256 × 16,384. Every C is right." in chart.summarize(run.shapes)


def test_shapes_with_few_rows_or_columns_have_a_mean_of_their_own() -> None:
    first, *others = shapes_of(2.0, 0.5, 0.5).shapes
    few = dataclasses.replace(first, size=(4, 4096, 4096))
    sentence = chart.summarize([few, *others])
    assert "**2 shapes drawn at random: 50% of cuBLAS**" in sentence
    assert (
        "**1 shapes with at most 32 rows or columns drawn at random: 200% of cuBLAS**" in sentence
    )
    assert few.gb_per_s == pytest.approx(4 * (2 * 4 * 4096 + 4096**2) / 1e-3 / 1e9)


def test_a_wrong_c_is_told() -> None:
    [right, other] = shapes_of(1.0, 1.0).shapes
    shapes = (right, dataclasses.replace(other, verified=False))
    [marks] = chart.draw_map(shapes).data
    assert list(marks.marker.symbol) == ["circle", "x"]
    assert "C is wrong" in marks.text[1]
    assert chart.summarize(shapes).endswith("1 of their Cs are wrong.")


@pytest.mark.parametrize("size", [(4096, 4096, 4096), (256, 256, 16384), (100, 100, 64)])
def test_waves_hold_every_block_and_all_but_the_last_are_full(size: tuple[int, int, int]) -> None:
    plan = choose(TABLE, size)
    found = chart.waves(plan, TABLE.multiprocessors)
    assert sum(found) == plan.blocks
    assert len(found) == plan.waves
    assert set(found[:-1]) <= {TABLE.multiprocessors * plan.resident}
    taken, places = chart.draw_waves(plan, TABLE.multiprocessors).data
    assert list(taken.x) == found[-chart.MOST_WAVES :]
    assert set(places.x) == {TABLE.multiprocessors * plan.resident}


def draw() -> None:
    from tests.gpu.fake_shapes import TABLE, shapes_of
    from ui.gpu.gpu_results import show_shapes

    show_shapes(shapes_of(1.05, 0.6, 1.3).shapes, TABLE)


def test_the_page_says_why_a_kernel_was_chosen() -> None:
    app = AppTest.from_function(draw, default_timeout=60).run()
    assert not app.exception
    [choice] = app.selectbox
    assert choice.value == "256 × 256 × 16,384", "one whose K is split, at first"
    assert any("pieces makes" in text.value for text in app.markdown)
    choice.set_value("4,096 × 4,096 × 4,096").run()
    assert any("512 tiles of 128 x 256" in text.value for text in app.markdown)
