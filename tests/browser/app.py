"""The app as a visitor meets it: `streamlit run` on a free port, and a headless Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from ui.run.executor import VARIABLE

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60_000  # milliseconds until what is awaited in a page has failed to come
STEPPER = ".st-key-scene .js-plotly-plot[data-ready]"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
AS_USUAL: dict[str, Any] = {VARIABLE: ""}  # as many workers as an app has where nobody says
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--process-per-site", "--js-flags=--no-opt",  # a page is too short for it to pay
)  # fmt: skip


def chromium() -> str:
    """An installed Chromium or Chrome; without one the test is skipped, except in CI."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("No Chromium is installed, and in CI the browser tests must run.")
        pytest.skip("No Chromium or Chrome is installed.")
    return found


@contextmanager
def driver() -> Iterator[Playwright]:
    """What starts browsers; a process has room for one."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        yield playwright


@contextmanager
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A headless Chromium."""
    launched = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
    yield launched
    launched.close()


@dataclass(frozen=True, slots=True)
class App:
    """An app that answers."""

    address: str
    process: subprocess.Popen[bytes]
    log: BinaryIO  # what it writes

    def stop(self, seconds: float = 10.0) -> None:
        """End it. Raises subprocess.TimeoutExpired if it has not ended in some seconds."""
        self.process.terminate()
        self.process.wait(seconds)


@contextmanager
def started_app(
    script: Path = ROOT / "app.py", files: int | None = None, **variables: str
) -> Iterator[App]:
    """An app, once it answers; variables are its environment's, beside ours.

    It has two workers, which start sooner than those of AS_USUAL.
    files is how many its process, and each that it starts, may have open at once, where a system
    can limit that.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    ours = dict(os.environ) | {VARIABLE: "2"}
    log = tempfile.TemporaryFile()  # noqa: SIM115  # open for as long as the app runs
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port),
               "--server.address", "127.0.0.1", "--server.headless", "true"]  # fmt: skip
    if files is not None:  # of the app alone: this process may need more
        command = ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", *command]
    process = subprocess.Popen(command, cwd=ROOT, env=ours | variables, stdout=log, stderr=log)
    app = App(address, process, log)
    with log:
        try:
            for _ in range(1200):
                try:
                    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):  # noqa: S310  # our own app
                        break
                except OSError:
                    time.sleep(0.1)
            else:
                pytest.fail("The app did not answer within two minutes.")
            yield app
        finally:
            app.stop()


@contextmanager
def running_app(script: Path = ROOT / "app.py", **variables: str) -> Iterator[str]:
    """The address of an app, as started_app."""
    with started_app(script, None, **variables) as app:
        try:
            yield app.address
        finally:
            app.stop()
            app.log.seek(0)
            print(app.log.read().decode(errors="replace"), file=sys.stderr)  # of a test that fails
