"""What whoever serves the app may switch off, and that what is off does not run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from gpu.worker import WorkerError
from simulator import LaunchError
from simulator.exercises.exercise import exercises
from tests.ui.test_gpu_page import opened
from tests.ui.user_kernels import USER_KERNELS
from ui.gpu import gpu_jobs
from ui.jobs import settings
from ui.jobs.workers import Workers
from ui.run.compute import open_view
from ui.user_kernel.examine import examine, suggest_form
from ui.user_kernel.judged import check_exercise, judge_user_kernel, product_candidate
from ui.view.view_url import View

WRITE_PAGE = str(Path(__file__).resolve().parents[2] / "ui" / "pages" / "write.py")
GPU_THAT_FAILS = (sys.executable, "-c", "raise SystemExit('nobody may start this')")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, True), ("", True), ("on", True), (" On ", True), ("1", True), ("true", True),
        ("off", False), ("OFF", False), ("0", False), ("no", False), ("fo", False),
    ],
)  # fmt: skip
def test_a_variable_is_on_or_off(
    monkeypatch: pytest.MonkeyPatch, value: str | None, expected: bool
) -> None:
    for name, reads in ((settings.WRITE, settings.may_write), (settings.GPU, settings.may_use_gpu)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
        assert reads() == expected


USER_KERNEL = next(iter(USER_KERNELS.values()))


@pytest.fixture(scope="module")
def off() -> Iterator[Workers]:
    """A worker of an app whose visitors write no kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(settings.WRITE, "off")
        found = Workers(1, lambda function, *_: function)
        assert found.submit(os.getpid).result(60)
    yield found
    found.shutdown()


@pytest.mark.parametrize(
    ("job", "arguments"),
    [
        (open_view, (View(user_kernel=USER_KERNEL),)),
        (examine, (USER_KERNEL.text, USER_KERNEL.kernel)),
        (suggest_form, (USER_KERNEL.text, USER_KERNEL.kernel)),
        (judge_user_kernel, (USER_KERNEL,)),
        (check_exercise, (next(iter(exercises())), USER_KERNEL.text)),
        (product_candidate, (USER_KERNEL, (64, 64, 64))),
    ],
)
@pytest.mark.sample(3)
def test_a_worker_refuses_a_kernel_of_ones_own(
    off: Workers, job: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    with pytest.raises(LaunchError, match=settings.WRITE_IS_OFF):
        off.submit(job, *arguments).result(60)


def test_a_worker_runs_the_catalogues_kernels(off: Workers) -> None:
    assert off.submit(open_view, View()).result(60).reports


def test_the_write_page_says_that_it_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.WRITE, "off")
    page = AppTest.from_file(WRITE_PAGE, default_timeout=60).run()
    assert not page.exception
    assert [info.value for info in page.info] == [settings.WRITE_IS_OFF]
    assert not page.button


def test_the_gpu_page_says_that_it_is_off_and_shows_the_recorded_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(settings.GPU, "off")
    page = opened(monkeypatch, GPU_THAT_FAILS)
    assert settings.GPU_IS_OFF in [info.value for info in page.info]
    assert not [one for one in page.expander if one.label.startswith("Missing")]
    assert not [one for one in page.button if one.label == "Compare with cuBLAS"]
    assert len(page.tabs) > 3, "the recorded run's"
    with pytest.raises(WorkerError, match=settings.GPU_IS_OFF):
        gpu_jobs.gpus(())
