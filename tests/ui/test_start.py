"""What the app needs of its system at the start: enough is asked for, too little is reported."""

from __future__ import annotations

import errno
import http.client
import subprocess
import sys
import threading
from concurrent.futures import Future
from multiprocessing.synchronize import SemLock
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.browser.app import ROOT, started_app
from ui import health
from ui.serving import hosts, start
from ui.serving.start import StartError

resource = pytest.importorskip("resource", reason="Windows has no such limits.")


FEW = 256  # open files, as a process of macOS has until it asks for more; here it gets no more
VISITS = 85  # which leave more than that
UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "streamlit",
}  # fmt: skip
HOSTS = {
    "class.example.org": True, "CLASS.example.org:8501": True, "a.example.net": True,
    "localhost:8501": True, "[::1]:8501": True, "evil.example.com": False, "example.org": False,
    "class.example.org.example.com": False,
}  # fmt: skip


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
    limits = Limits(64, 128, 128)
    monkeypatch.setattr(resource, "getrlimit", limits.getrlimit)
    monkeypatch.setattr(resource, "setrlimit", limits.setrlimit)
    with pytest.raises(StartError, match=r"may open 128 files at once and needs 256"):
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
        start.check_worker(start.start_worker())


@pytest.mark.parametrize("name", ["https://class.example.org", "class.example.org:8501", "a*.org"])
def test_what_is_no_name_of_a_host_is_told(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(hosts.VARIABLE, f"other.example.org,{name}")
    with pytest.raises(StartError) as caught:
        hosts.middleware()
    assert f"{hosts.VARIABLE} has {name}." in str(caught.value)


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


def status(address: str, host: str, path: str, headers: dict[str, str]) -> int:
    """What a request that names a host is answered."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("GET", path, headers={"Host": host, **headers})
    with connection.getresponse() as answer:
        return answer.status


def test_the_app_outlives_many_visits_and_refuses_other_hosts() -> None:
    names = {hosts.VARIABLE: "class.example.org,*.example.net"}
    with started_app(files=FEW, **names) as app:
        stream = app.address.replace("http", "ws", 1) + "/_stcore/stream"
        for _ in range(VISITS):
            with connect(stream, subprotocols=[Subprotocol("streamlit")]):
                pass
        health.check(app.address, 60)
        for host, allowed in HOSTS.items():
            socket, page = (101, 200) if allowed else (400, 400)
            assert status(app.address, host, "/_stcore/stream", UPGRADE) == socket
            assert status(app.address, host, "/step", {}) == page
