"""Pages in tests compute in the test's own process, so that a test can put in what it likes."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

from tests.ui.dask_cluster import running_cluster
from ui.run import executor


def _in_this_process(*_: object, **__: object) -> Executor:
    return ThreadPoolExecutor(1, "compute")


vars(executor)["Workers"] = _in_this_process
# Each page of AppTest reads the metadata of all packages that are installed, which stay the same.
_scan = functools.cache(manifest_scanner.scan_component_manifests)
vars(manifest_scanner)["scan_component_manifests"] = _scan
_require = local_script_runner.require_widgets_deltas


def _wait_for_run(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for a page's thread; AppTest looks a thousand times a second whether it has ended."""
    if runner._script_thread is not None:
        runner._script_thread.join(timeout)
    if not runner.script_stopped():
        _require(runner, 0)  # which says so


vars(local_script_runner)["require_widgets_deltas"] = _wait_for_run


@pytest.fixture(autouse=True)
def _draw_closed_popovers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw what popovers hold though they are closed, so that a test finds every control."""
    monkeypatch.setattr("ui.web_page.popover.CLOSING_SECONDS", math.inf)


@pytest.fixture(autouse=True)
def _keep_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back the main module, in whose place AppTest leaves a page: a worker process runs it."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(scope="session")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler with two workers of a thread and a GPU's stand-in each."""
    fake_gpu = ("--resources", "GPU=1", "--preload", "tests.ui.fake_gpu")
    with running_cluster(tmp_path_factory.mktemp("dask"), [fake_gpu, fake_gpu]) as address:
        yield address
