"""What the app needs of its system at the start: enough is asked for, too little is told."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
from concurrent.futures import Future
from multiprocessing.synchronize import SemLock
from typing import Any

import pytest

from tests.browser.app import ROOT
from ui import start
from ui.start import StartError

resource = pytest.importorskip("resource", reason="Windows has no such limits.")


class Limits:
    """A system's limit of open files, as `resource` reads and sets it."""

    def __init__(self, soft: int, hard: int, most: int) -> None:
        self.soft, self.hard, self.most = soft, hard, most

    def getrlimit(self, _: int) -> tuple[int, int]:
        return self.soft, self.hard

    def setrlimit(self, _: int, limits: tuple[int, int]) -> None:
        if limits[0] > self.most:
            raise ValueError("current limit exceeds maximum limit")
        self.soft, self.hard = limits


@pytest.mark.parametrize(
    ("soft", "hard", "most", "raised"),
    [
        (256, 20_000, 20_000, 20_000),
        (256, 2**30, 2**30, 65_536),
        (256, resource.RLIM_INFINITY, 10_240, 10_240),  # macOS, whose kernel gives no more
        (2**20, 2**20, 2**20, 2**20),
    ],
)
def test_open_files_are_raised(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, most: int, raised: int
) -> None:
    limits = Limits(soft, hard, most)
    monkeypatch.setattr(resource, "getrlimit", limits.getrlimit)
    monkeypatch.setattr(resource, "setrlimit", limits.setrlimit)
    start._raise_file_limit()
    assert (limits.soft, limits.hard) == (raised, hard)


def test_too_few_open_files_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(256, 512, 512)
    monkeypatch.setattr(resource, "getrlimit", limits.getrlimit)
    monkeypatch.setattr(resource, "setrlimit", limits.setrlimit)
    with pytest.raises(StartError, match=r"may open 512 files at once and needs 1024"):
        start._raise_file_limit()


def test_too_few_threads_are_told_and_those_of_the_check_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, begin = threading.active_count(), threading.Thread.start

    def begin_some(thread: threading.Thread) -> None:
        if threading.active_count() >= before + 5:
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", begin_some)
    with pytest.raises(StartError, match=r"may start 5 more threads and needs 72"):
        start._check_threads(72)
    assert threading.active_count() == before


def test_a_full_shm_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(SemLock, "__init__", no_room)
    with pytest.raises(StartError, match=r"\(No space left on device\).*/dev/shm, which must be"):
        start._check_semaphores(16)


class Broken:
    """An executor whose process says nothing, or has ended."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    def submit(self, *_: object) -> Future[int]:
        future: Future[int] = Future()
        if self.error is not None:
            future.set_exception(self.error)
        return future


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (None, "No worker process has answered within 0 seconds"),
        (MemoryError("It has ended."), "No worker process can be started: It has ended."),
    ],
)
def test_a_worker_that_does_not_start_is_told(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None, sentence: str
) -> None:
    monkeypatch.setattr(start, "executor", lambda: Broken(error))
    monkeypatch.setattr(start, "PATIENCE", 0.0)
    with pytest.raises(StartError, match=sentence):
        start.check_worker()


@pytest.mark.skipif(sys.platform != "linux", reason="The limit is Linux's.")
def test_the_app_does_not_start_where_it_would_fail_later() -> None:
    little = 1_500_000 * 1024  # bytes, as `ulimit -v 1500000`
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    ended = subprocess.run(
        [*command, "--server.address=127.0.0.1", "--server.port=0"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (little, little)),
    )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    assert "error: The app may have 1.4 GB of address space and needs 4 GB" in ended.stderr
    assert "Traceback" not in ended.stderr
