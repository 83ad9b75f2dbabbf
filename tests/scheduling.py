"""Which process runs which test: whichever is free, but tests that share something stay together.

pytest-xdist's own groups (`--dist loadgroup`) do nothing under pytest 9.2, silently.
"""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

# How a test's name begins, and what it shares: a server and mostly a browser, a Dask cluster, or
# the one GPU, on which a kernel is timed while no other runs. The browser's tests wait at times:
# two processes have half of them each, beside one that only computes.
SHARED = {
    "tests/browser/test_hasty_clicks.py": "browser, first half",
    "tests/browser/test_learn.py": "browser, first half",
    "tests/browser/test_legibility.py": "browser, first half",
    "tests/browser/test_publish.py": "browser, first half",
    "tests/browser/test_stepper.py": "browser, first half",
    "tests/browser/test_views.py": "browser, first half",
    "tests/ui/test_export.py": "browser, first half",
    "tests/ui/test_notebook.py": "browser, first half",
    "tests/browser/": "browser, second half",
    "tests/ui/test_popover.py": "browser, second half",
    "tests/ui/test_press.py": "browser, second half",
    "tests/ui/test_reported.py": "browser, second half",
    "tests/ui/test_cluster.py": "cluster",
    "tests/ui/test_gpu_cluster.py": "cluster",
    "tests/gpu/test_bits.py": "gpu",
    "tests/gpu/test_cluster_on_device.py": "gpu",
    "tests/gpu/test_hardware_counters.py": "gpu",
    "tests/gpu/test_ladder.py": "gpu",
    "tests/gpu/test_limits.py": "gpu",
    "tests/gpu/test_on_device.py": "gpu",
    "tests/gpu/test_programs.py": "gpu",
    "tests/gpu/test_scale_on_gpus.py": "gpu",
    "tests/gpu/test_tensor_core.py": "gpu",
    "tests/gpu/test_user_kernel.py": "gpu",
    "tests/gpu/trace/test_trace_on_device.py": "gpu",
    "tests/tools/test_program.py": "gpu",
}


def shared(name: str) -> str | None:
    """What the test with this name shares with others, None where nothing."""
    return next((what for begins, what in SHARED.items() if name.startswith(begins)), None)


class Together(LoadScopeScheduling):
    """Tests in the order in which they are collected; those that share something as one.

    Those of a file share what they compile, record and start.
    """

    def _split_scope(self, nodeid: str) -> str:
        return shared(nodeid) or nodeid.partition("::")[0]
