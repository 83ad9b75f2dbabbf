"""Which process runs which test: whichever is free, but tests that share something stay together.

pytest-xdist's own groups (`--dist loadgroup`) do nothing under pytest 9.2, silently.
"""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

# How a test's name begins, and what it shares: one browser and one server, or the one GPU, on which
# a kernel is timed while no other runs.
SHARED = {
    "tests/browser/": "browser",
    "tests/ui/test_export.py": "browser",
    "tests/gpu/test_bits.py": "gpu",
    "tests/gpu/test_hardware.py": "gpu",
    "tests/gpu/test_ladder.py": "gpu",
    "tests/gpu/test_limits.py": "gpu",
    "tests/gpu/test_on_device.py": "gpu",
    "tests/gpu/test_program.py": "gpu",
}


def shared(name: str) -> str | None:
    """What the test with this name shares with others, None where nothing."""
    return next((what for begins, what in SHARED.items() if name.startswith(begins)), None)


class Together(LoadScopeScheduling):
    """Tests in the order in which they are collected; those that share something as one."""

    def _split_scope(self, nodeid: str) -> str:
        return shared(nodeid) or nodeid
