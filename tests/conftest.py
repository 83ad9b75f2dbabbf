"""What tests of several folders share, and which tests run."""

from __future__ import annotations

import functools
import gc
import os
import sys
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

    from gpu.cuda.device import Status
    from ui.jobs.workers import Workers

# Without compiled modules on disk each process that a test starts would compile all anew, and each
# process of the tests would rewrite all their assertions.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

IN_EACH_SHARE = "tests/test_style.py"  # of the deep tests: types
TOGETHER = ("browser", "gpu")  # marks of tests that one process runs, one after another


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--deep", action="store_true", help="run the tests marked deep too (-m deep: them alone)"
    )
    parser.addoption(
        "--deep-share", default="0/1", metavar="I/N",
        help="of the deep tests only the share number I, from 0, of N shares",
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)  # so that others look only at what is run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    from tests import scheduling

    for mark in TOGETHER:
        names = [item.nodeid for item in items if item.get_closest_marker(mark)]
        apart = [name for name in names if not (scheduling.shared(name) or "").startswith(mark)]
        if apart:
            raise pytest.UsageError(f"{apart[0]} is marked {mark}: name its file in scheduling.py.")
    _mark_deep(items)
    left_out = [item for item in items if not _is_run(item, config)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_run(item, config)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let no garbage collection look at what stays to the end: all tests, and all modules.

    Others are as rare as in the app's processes. Streamlit collects garbage at the end of each run
    of a page, which took longer than the run.
    """
    from ui.jobs.process_memory import COLLECTED

    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(COLLECTED, *gc.get_threshold()[1:])
        gc.enable()


def _mark_deep(items: list[pytest.Item]) -> None:
    """Mark the cases that a sample leaves out."""
    cases: Counter[str] = Counter()
    for item in items:
        if (sample := item.get_closest_marker("sample")) and not item.get_closest_marker("deep"):
            test = item.nodeid.partition("[")[0]
            if cases[test] % sample.args[0]:
                item.add_marker("deep")
            cases[test] += 1


def _is_run(item: pytest.Item, config: pytest.Config) -> bool:
    if not item.get_closest_marker("deep"):
        return True
    number, shares = map(int, config.getoption("--deep-share").split("/"))
    is_in_share = zlib.crc32(item.nodeid.encode()) % shares == number
    return config.getoption("--deep") and (is_in_share or item.nodeid.startswith(IN_EACH_SHARE))


@functools.cache
def gpu_status() -> Status:
    from gpu.cuda.probe import status

    return status()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests marked gpu where no GPU can be used, and say what is missing."""
    if item.get_closest_marker("gpu") and gpu_status().device is None:
        missing = gpu_status().missing
        pytest.skip(missing.sentence if missing else "no GPU")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    from tests.scheduling import Together

    return Together(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process more than there are processors: one that drives a browser mostly waits."""
    from simulator.split.processes import processor_count

    return processor_count() + 1


@pytest.fixture(scope="session", autouse=True)
def _wait_for_processors() -> Iterator[None]:
    """Let no run end because a busy machine gives it no processor; its time is still limited."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("simulator.machine.budget.SLOWEST", 1000.0)
        yield


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    """One for the whole process, which has room for one of Playwright's event loops."""
    from tests.browser import app  # Playwright is not installed where only `gpu` tests run.

    with app.driver() as found:
        yield found


@pytest.fixture(scope="session")
def chromium(driver: Playwright) -> Iterator[Browser]:
    """One browser for the whole process."""
    from tests.browser import app

    with app.browser(driver) as found:
        yield found


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of an app, one for the whole process."""
    from tests.browser import app

    with app.running_app() as found:
        yield found


@pytest.fixture(scope="module", autouse=True)
def _leave_what_stays() -> Iterator[None]:
    """Let no garbage collection look again at what earlier files left, such as kept results."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """One worker process of pages."""
    from ui.jobs.workers import Workers  # only gpu tests run where its packages are missing

    found = Workers(1, lambda function, *_: function)
    yield found
    found.shutdown()


@pytest.fixture
def _time_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine judge all sizes."""
    for place in ("judge.ALL_SECONDS", "judge.OWN_SECONDS", "runs.FIRST_SECONDS"):
        monkeypatch.setattr(f"simulator.verdict.{place}", 60.0)


@pytest.fixture
def _less_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays as large as short kernels need, of which each run makes a copy."""
    monkeypatch.setattr("simulator.verdict.experiment.ROOM", 2**19)


@pytest.fixture
def _no_repairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for no change that mends a kernel, which takes longer than its verdict."""
    monkeypatch.setattr("simulator.verdict.mend.first_that_mends", lambda *_: None)


@pytest.fixture
def _no_toolchain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without NVRTC and nvdisasm."""
    monkeypatch.setattr("compiler.toolchain.find_nvrtc", lambda: None)
    monkeypatch.setattr("compiler.toolchain._find_nvdisasm", lambda: None)
