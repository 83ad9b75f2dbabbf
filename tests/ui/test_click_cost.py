"""What a click may take: the estimate, what pages and jobs say of it, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from simulator import LaunchError
from tests.ui.test_learn_page import opened as opened_lesson
from tests.ui.test_step_page import opened, sound
from tests.ui.user_kernels import USER_KERNELS
from ui.drawing.look import Look
from ui.jobs import settings
from ui.jobs.settings import click_seconds
from ui.lessons.export import build_lesson
from ui.lessons.parse import lessons
from ui.run.click_cost import Work, animation, grid
from ui.run.compute import build_animation
from ui.view.view_url import View, from_query

SMALL = View(M=4, N=4, K=4, defines=(("TILE", 2),))
GRID = Path(__file__).with_name("app_with_the_grid.py")
STEPS = 41  # of SMALL
MENDS = "Whoever serves the app can raise TILEWISE_CLICK_SECONDS."


@pytest.fixture
def least(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on which a click may take next to nothing."""
    monkeypatch.setenv(settings.CLICK, "0.01")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, 60.0), ("", 60.0), ("90", 90.0), (" 0.5 ", 0.5), ("0", 60.0), ("-3", 60.0),
     ("nan", 60.0), ("inf", 60.0), ("a minute", 60.0)],
)  # fmt: skip
def test_the_limit_is_a_variable(
    monkeypatch: pytest.MonkeyPatch, value: str | None, expected: float
) -> None:
    monkeypatch.delenv(settings.CLICK, raising=False)
    if value is not None:
        monkeypatch.setenv(settings.CLICK, value)
    assert click_seconds() == expected


def test_the_estimate_grows_with_all_that_makes_an_animation_larger() -> None:
    pair = from_query({"with": "naive"})[0]
    user_kernel = View(user_kernel=next(iter(USER_KERNELS.values())))
    estimate: Callable[..., float] = lambda *given: animation(*given).seconds  # noqa: E731
    usual = estimate(SMALL, 100, 32)
    assert usual < estimate(SMALL, 101, 32)
    assert usual < estimate(SMALL, 100, 64)
    assert usual < estimate(user_kernel, 100, 32)
    assert estimate(pair, 100, 32) == pytest.approx(2 * usual)
    assert estimate(SMALL, 100, 32, [3.0]) == pytest.approx(usual + 3)


def test_what_a_visitor_could_ask_for_at_worst_is_refused() -> None:
    work = animation(View(user_kernel=next(iter(USER_KERNELS.values()))), 12_003, 32)
    assert re.match(
        r"An animation of 12,003 steps would take about \d minutes of proc", work.refusal
    )
    assert "a click is limited to 60 s: choose smaller sizes." in work.refusal
    assert work.refusal.endswith(MENDS)
    assert Work("An animation of", "41 steps", 0.3, "").refusal == ""


def test_the_page_says_what_an_animation_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.run.click_cost.NOTABLE_SECONDS", 0.01)
    app = opened({"M": "4", "N": "4", "K": "4", "TILE": "2"})
    sound(app)
    (said,) = [one.value for one in app.caption if "of work" in one.value]
    assert said.endswith(f" of work: {STEPS} steps.")


@pytest.mark.usefixtures("least")
def test_the_page_and_the_job_refuse_an_animation() -> None:
    app = opened({"M": "4", "N": "4", "K": "4", "TILE": "2"})
    sound(app)
    (button,) = [one for one in app.button if one.label == "Animation, one HTML file"]
    assert button.disabled
    (said,) = [one.value for one in app.caption if MENDS in one.value]
    assert said.startswith(f"An animation of {STEPS} steps would take about 0.")
    with pytest.raises(LaunchError, match=f"An animation of {STEPS} steps would take about 0"):
        build_animation(SMALL, Look())


@pytest.mark.deep
@pytest.mark.usefixtures("least")
def test_the_page_and_the_job_refuse_a_lessons_file() -> None:
    name = next(iter(lessons()))
    page = opened_lesson(lesson=name)
    (button,) = [one for one in page.button if one.label.startswith("This lesson, one HTML file")]
    assert button.disabled
    assert [one.value for one in page.caption if one.value.startswith("A lesson's file with 16 p")]
    with pytest.raises(LaunchError, match=r"A lesson's file with 16 pictures and 1 scenes would"):
        build_lesson(name)


def test_a_grid_is_estimated_by_its_blocks_and_products() -> None:
    blocks, size = 32 * 32, (512, 512, 512)
    usual = grid("rows", blocks, 256, size)
    assert usual.refusal == ""
    assert usual.seconds < grid("rows", blocks // 64, 256, size).seconds, (
        "a thread has more products"
    )
    assert grid("rows", blocks, 256, (512, 512, 1024)).seconds == pytest.approx(2 * usual.seconds)
    assert grid("swizzled", 128 * 128, 256, (2048,) * 3).refusal.startswith(
        "Every block of 2,048 × 2,048 × 2,048 would take about "
    )


def test_the_page_refuses_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    page = AppTest.from_file(GRID, default_timeout=60).run()
    assert not page.button(key="grid_go").disabled
    monkeypatch.setenv(settings.CLICK, "0.01")
    page.run()
    assert page.button(key="grid_go").disabled
    (said,) = [one.value for one in page.caption]
    assert said.startswith("Every block of 512 × 512 × 512 would take about ")
    assert "choose a smaller M, N or K" in said
