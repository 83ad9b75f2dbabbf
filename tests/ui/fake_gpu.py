"""For `dask worker --preload`: the worker's GPU process is a stand-in."""

from __future__ import annotations

import sys

import gpu.worker

gpu.worker.COMMAND = (sys.executable, "-m", "tests.gpu.fake_worker")
