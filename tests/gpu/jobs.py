"""Jobs of tests that must not succeed, and the command of a process that only says what it does."""

from __future__ import annotations

import sys

import pytest

from gpu.worker import Job, WorkerError

FAKE = (sys.executable, "-m", "tests.gpu.fake_worker")


def failure(job: Job) -> str:
    """The sentence of a job that must not succeed."""
    with pytest.raises(WorkerError) as caught:
        job.wait()
    return str(caught.value)
