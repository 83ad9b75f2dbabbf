"""Workers and a compiler for tests on a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu.worker import Worker
from tests.gpu.jobs import FAKE


@pytest.fixture
def nvrtc() -> None:
    """Skip where CuPy or NVRTC is not installed; a GPU is not needed."""
    pytest.importorskip("cupy")
    from gpu.cuda.probe import take_probe

    if take_probe().nvrtc is None:
        pytest.skip("NVRTC is not installed")


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers whose processes take the jobs of fake_worker.py, on whatever machine."""
    monkeypatch.setattr("gpu.worker.COMMAND", FAKE)


@pytest.fixture(scope="module")
def fake() -> Iterator[Worker]:
    """A worker whose process takes the jobs of fake_worker.py."""
    worker = Worker(FAKE)
    yield worker
    worker.close()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """The real worker."""
    worker = Worker()
    yield worker
    worker.close()
