"""For `dask worker --preload`: the worker's GPU process is one that stands in."""

from __future__ import annotations

import sys

import gpu.worker

gpu.worker.COMMAND = (sys.executable, "-m", "tests.gpu.fake_worker")
