"""A per-process LRU cache of results, bounded in bytes."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, TypeVar, TypeVarTuple, cast

import numpy as np
from cachetools import LRUCache

from gpu.trace.trace import Trace
from simulator import Recording, Step
from ui.jobs.process_memory import give_back

LIMIT = 256 * 2**20  # bytes, as bytes_of counts them
# What objects refer to and do not own: a process keeps each recorded trace once. A recording knows
# what its steps take.
COMMON = (type, ModuleType, FunctionType, BuiltinFunctionType, Step, Trace)

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True, slots=True)
class Held:
    """A result, and the memory that it takes beside the results that its subject had before."""

    result: Any
    bytes: int


Results = dict[Hashable, Held]  # of one subject, by function and arguments


class ResultCache:
    """Results of functions, grouped by subject: a recording with what is derived from it.

    Beyond the limit the least recently used subjects are evicted, with all of their results. The
    subject used last stays, whatever its size.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._subjects: LRUCache[Hashable, Results] = LRUCache(limit, self._size)

    def get_or_compute(
        self, subject: Hashable, function: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> Result:
        """The cached result of a function, or the one that it returns now; its errors are raised.

        The arguments are hashable. The function may use the cache itself.
        """
        key = (function, arguments)
        results = self._subjects.get(subject, {})
        if key not in results:
            result = function(*arguments)
            # The function may have added results of this subject, or evicted them.
            others = self._subjects.get(subject, {})
            size = bytes_of(result, [one.result for one in others.values()])
            self._put(subject, others | {key: Held(result, size)})
            return result
        return cast(Result, results[key].result)

    def clear(self) -> None:
        """Evict everything."""
        self._subjects.clear()

    @property
    def bytes(self) -> int:
        """The memory that the results take, as it was counted; the limit at most."""
        return int(self._subjects.currsize)

    def _put(self, subject: Hashable, results: Results) -> None:
        before = set(self._subjects)
        self._subjects[subject] = results
        if before - set(self._subjects):
            del before
            gc.collect()  # what refers to itself
            give_back()

    def _size(self, results: Results) -> int:
        return min(sum(one.bytes for one in results.values()), self._limit)


@functools.cache
def result_cache() -> ResultCache:
    """The cache of this process."""
    return ResultCache()


def bytes_of(root: object, others: Iterable[object] = ()) -> int:
    """The memory that an object takes with all that it refers to, each object once.

    It ends at others, which are counted on their own.
    """
    total = 0
    seen = set(map(id, others))
    level: list[object] = [root]
    while level:  # a scene has a million references: what looks at each of them is written in C
        found = dict(zip(map(id, level), level, strict=True))
        for known in found.keys() & seen:
            del found[known]
        seen |= found.keys()
        kinds = set(map(type, found.values()))
        common = {kind for kind in kinds if issubclass(kind, COMMON)}
        own = [one for one in found.values() if type(one) not in common]
        total += sum(map(sys.getsizeof, own))
        level = gc.get_referents(*own)
        if Recording in kinds:
            total += sum(one.bytes for one in own if isinstance(one, Recording))
        if any(issubclass(kind, np.ndarray) for kind in kinds):
            level += [one.base for one in own if isinstance(one, np.ndarray)]
    return total
