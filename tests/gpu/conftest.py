"""Tests marked gpu run where a GPU can be used and say elsewhere what is missing."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from gpu.device import Status
from gpu.worker import Worker


@functools.cache
def found() -> Status:
    from gpu.probe import status

    return status()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and found().device is None:
        missing = found().missing
        pytest.skip(missing.sentence if missing else "no GPU")


@pytest.fixture
def nvrtc() -> None:
    """Skip where CuPy or NVRTC is not installed; a GPU is not needed."""
    pytest.importorskip("cupy")
    from gpu.probe import take_probe

    if take_probe().nvrtc is None:
        pytest.skip("NVRTC is not installed")


@pytest.fixture
def fake() -> Iterator[Worker]:
    """A worker whose process takes the jobs of fake_worker.py."""
    import sys

    worker = Worker((sys.executable, "-m", "tests.gpu.fake_worker"))
    yield worker
    worker.close()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """The real worker."""
    worker = Worker()
    yield worker
    worker.close()
