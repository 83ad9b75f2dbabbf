"""How much memory a process of the tests has had."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def peak_bytes() -> int:
    """The most memory that this process has had; 0 where the system does not tell.

    Linux counts in a process's resource usage what the process that started it had until then,
    so there the peak of the address space itself is read.
    """
    if sys.platform == "win32":
        return 0
    if sys.platform == "linux":
        found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
        return int(found[1]) * 1024 if found else 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
