"""How a process uses memory: what it keeps of what was freed, and when it looks for garbage."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress

ARENA_MAX, MMAP_THRESHOLD = -8, -3  # of mallopt, from malloc.h
# New objects before each garbage collection. A recording has 100,000 objects, which live long: with
# Python's own 700, looking through them again and again takes a quarter of the time to a picture.
COLLECTED = 20_000


def rarely_collect_garbage() -> None:
    """Leave what there is out of garbage collections, and make them rarer."""
    gc.collect()
    gc.freeze()  # what was imported lives as long as the process
    gc.set_threshold(COLLECTED, *gc.get_threshold()[1:])


def limit_fragments() -> None:
    """Let a process of many threads return more of what it frees.

    The C library keeps freed memory apart for each thread, and large blocks too, by and by.
    """
    with suppress(OSError, AttributeError, TypeError):  # glibc has it, on Linux
        library = ctypes.CDLL(None)
        library.mallopt(ARENA_MAX, 2)
        library.mallopt(MMAP_THRESHOLD, 2**16)


def give_back() -> None:
    """Return freed memory to the system, which the C library keeps otherwise."""
    with suppress(OSError, AttributeError, TypeError):  # glibc has it, on Linux
        ctypes.CDLL(None).malloc_trim(0)
