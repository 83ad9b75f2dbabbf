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
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from ui.executor import VARIABLE

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60_000  # milliseconds until what is awaited in a page has failed to come
STEPPER = ".st-key-scene .js-plotly-plot[data-ready]"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
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
def browser() -> Iterator[Browser]:
    """A headless browser."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield launched
        launched.close()


def find_app(address: str) -> psutil.Process:
    """The process of the app at an address, without its workers."""
    port = str(urlsplit(address).port)
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if "streamlit" in command and port in command:
            return process
    raise LookupError(address)


@contextmanager
def running_app(script: Path = ROOT / "app.py", **variables: str) -> Iterator[str]:
    """The address of an app, once it answers; variables are its environment's, beside ours."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    ours = {name: value for name, value in os.environ.items() if name != VARIABLE}
    log = tempfile.TemporaryFile()  # noqa: SIM115  # open for as long as the app runs
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port),
         "--server.address", "127.0.0.1", "--server.headless", "true"],
        cwd=ROOT, env=ours | variables, stdout=log, stderr=log,
    )  # fmt: skip
    try:
        for _ in range(1200):
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):  # noqa: S310  # our own app
                    break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail("The app did not answer within two minutes.")
        yield address
    finally:
        process.terminate()
        process.wait(10)
        with log:
            log.seek(0)
            print(log.read().decode(errors="replace"), file=sys.stderr)  # of a test that fails
