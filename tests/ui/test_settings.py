"""What whoever serves the app may switch off, and that what is off does not run."""

from __future__ import annotations

import sys

import pytest

from gpu.worker import WorkerError
from simulator import LaunchError
from tests.ui.own_kernels import OWN
from tests.ui.test_compare_page import opened
from ui import gpu_jobs, settings
from ui.compute import open_view
from ui.view_url import View
from ui.workers import Workers

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


def test_a_worker_refuses_a_kernel_of_ones_own_and_runs_the_catalogues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(settings.WRITE, "off")
    workers = Workers(1, lambda function, *_: function)
    own = View(own=next(iter(OWN.values())))
    with pytest.raises(LaunchError, match=settings.WRITE_IS_OFF):
        workers.submit(open_view, own).result(60)
    assert workers.submit(open_view, View()).result(60).reports
    workers.shutdown()


def test_the_gpu_page_says_that_it_is_off_and_shows_the_recorded_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(settings.GPU, "off")
    page = opened(monkeypatch, GPU_THAT_FAILS)
    assert settings.GPU_IS_OFF in [info.value for info in page.info]
    assert not [one for one in page.expander if one.label.startswith("Missing")]
    assert not [one for one in page.button if one.label == "Run beside cuBLAS"]
    assert len(page.tabs) > 3, "the recorded run's"
    with pytest.raises(WorkerError, match=settings.GPU_IS_OFF):
        gpu_jobs.gpus(())
