"""A stand-in for the few calls of CuPy that gpu/scale and gpu/compare make, over NumPy arrays.

What is queued on a stream runs only when something waits for it, and then in a random order that
events and streams allow: code that waits for too little computes with what is not there yet. An
array knows its GPU, and a product of arrays of another GPU than the current one is refused.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest


class FakeArray(np.ndarray):
    """An array in the memory of one GPU."""

    gpu = -1

    def __array_finalize__(self, source: Any) -> None:
        self.gpu = getattr(source, "gpu", -1)

    @property
    def device(self) -> Any:
        return Device(HOSTS[-1], self.gpu)

    @property
    def data(self) -> Any:  # type: ignore[override]
        return Pointer(self)


@dataclass(eq=False)
class Event:
    done: bool = False


@dataclass(eq=False)
class Stream:
    """A queue of events to wait for and functions to call, the oldest first."""

    host: Any
    gpu: int
    queue: list[Event | Callable[[], None]] = field(default_factory=list)

    @property
    def ptr(self) -> int:
        return id(self)

    @property
    def ready(self) -> bool:
        """Whether its next entry can run."""
        return bool(self.queue) and getattr(self.queue[0], "done", True)

    def advance(self) -> None:
        """Run the next entry."""
        entry = self.queue.pop(0)
        if not isinstance(entry, Event):
            entry()

    def wait_event(self, event: Event) -> None:
        self.queue.append(event)

    def record(self) -> Event:
        event = Event()
        self.queue.append(lambda: setattr(event, "done", True))
        return event

    def __enter__(self) -> None:
        assert self.host.current == self.gpu, "a stream of another GPU"
        self.host.stream.append(self)

    def __exit__(self, *_error: object) -> None:
        self.host.stream.pop()


class Pointer:
    """The beginning of an array in memory."""

    def __init__(self, array: FakeArray) -> None:
        self.array = array
        HOSTS[-1].pointers[self.ptr] = array

    @property
    def ptr(self) -> int:
        return int(self.array.ctypes.data)

    def copy_from_device(self, source: Pointer, nbytes: int) -> None:
        assert nbytes == self.array.nbytes == source.array.nbytes
        self.array[...] = source.array

    def copy_from_device_async(
        self, source: Pointer, nbytes: int, stream: Stream | None = None
    ) -> None:
        host = HOSTS[-1]
        stream = stream or host.plain[host.current]
        assert stream.gpu == host.current, "a stream of another GPU"
        host.moved.append((source.array.gpu, self.array.gpu, nbytes))
        stream.queue.append(lambda: self.copy_from_device(source, nbytes))


class Host:
    """A host with so many GPUs; the functions are those of CuPy's modules."""

    def __init__(self, gpus: int, seed: int, nccl: bool = True) -> None:
        self.gpus = gpus
        self.current = 0
        self.rng = np.random.default_rng(seed)
        self.streams: list[Stream] = []
        self.plain = [self.new_stream(gpu) for gpu in range(gpus)]
        self.stream: list[Stream] = []
        self.pointers: dict[int, FakeArray] = {}
        self.moved: list[tuple[int, int, int]] = []  # GPU, GPU, bytes
        self.products: list[tuple[int, tuple[int, ...]]] = []  # GPU, shape of C
        self.group: list[tuple[str, int, int, int, int, int]] | None = None
        self.nccl = nccl

    def new_stream(self, gpu: int) -> Stream:
        self.streams.append(Stream(self, gpu))
        return self.streams[-1]

    def drain(self, gpu: int) -> None:
        """Run entries in a random order until nothing is left on the streams of a GPU."""
        while any(stream.queue for stream in self.streams if stream.gpu == gpu):
            ready = [stream for stream in self.streams if stream.ready]
            assert ready, "streams wait for each other"
            ready[self.rng.integers(len(ready))].advance()

    def array(self, values: Any, dtype: Any = None) -> FakeArray:
        made: FakeArray = np.array(values, dtype=dtype).view(FakeArray)
        made.gpu = self.current
        return made

    def launch(self, grid: Any, block: Any, arguments: Any) -> None:
        """The kernel warptiles: its blocks of 128 x 256 elements must cover C."""
        a, b, c, M, N, K = arguments
        assert (a.shape, b.shape, c.shape) == ((M, K), (K, N), (M, N))
        assert (grid[0] * 256 >= N, grid[1] * 128 >= M, block) == (True, True, (256, 1, 1))
        self.multiply(self.current, a, b, c)

    def multiply(self, gpu: int, a: FakeArray, b: FakeArray, c: FakeArray, /) -> None:
        """Queue C = A B on the current stream."""
        assert {gpu, a.gpu, b.gpu, c.gpu} == {self.current}, "arrays of another GPU"
        assert a.flags.c_contiguous
        assert b.flags.c_contiguous
        self.products.append((gpu, c.shape))
        self.queue(lambda: np.matmul(a, b, out=c))

    def queue(self, work: Callable[[], object]) -> None:
        (self.stream[-1] if self.stream else self.plain[self.current]).queue.append(
            lambda: (work(), None)[1]
        )

    @contextlib.contextmanager
    def on(self, gpu: int) -> Iterator[Any]:
        assert 0 <= gpu < self.gpus, f"there is no GPU {gpu}"
        before, self.current = self.current, gpu
        yield Device(self, gpu)
        self.current = before

    def send(self, call: str, rank: int, ptr: int, count: int, kind: int, peer: int, stream: int):  # type: ignore[no-untyped-def]
        assert self.group is not None, "outside a group, two calls of one thread never meet"
        assert (kind, self.pointers[ptr].size) == (7, count)
        self.group.append((call, rank, peer, ptr, count, stream))

    def end_group(self) -> None:
        """Match each receive with the first send from its peer that is left."""
        group, self.group = self.group or [], None
        sends = [entry for entry in group if entry[0] == "send"]
        by_id = {stream.ptr: stream for stream in self.streams}
        for call, rank, peer, ptr, count, stream in group:
            if call == "recv":
                match = next(one for one in sends if one[1:3] == (peer, rank))
                sends.remove(match)
                assert match[4] == count
                target, source = self.pointers[ptr], self.pointers[match[3]]
                assert (source.gpu, target.gpu, by_id[stream].gpu) == (peer, rank, rank)
                self.moved.append((peer, rank, target.nbytes))
                by_id[stream].queue.append(
                    lambda target=target, source=source: target.__setitem__(..., source)
                )
        assert not sends, "sent and never received"


class Device:
    """cupy.cuda.Device."""

    compute_capability = "90"

    def __init__(self, host: Host, gpu: int) -> None:
        self.host, self.gpu = host, gpu

    def __enter__(self) -> Device:
        self._entered = self.host.on(self.gpu)
        self._entered.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.__exit__(*error)

    def synchronize(self) -> None:
        self.host.drain(self.gpu)


HOSTS: list[Host] = []


class Communicator:
    """cupy.cuda.nccl.NcclCommunicator."""

    def __init__(self, host: Host, rank: int) -> None:
        self.host, self.rank = host, rank

    def send(self, *arguments: int) -> None:
        self.host.send("send", self.rank, *arguments)

    def recv(self, *arguments: int) -> None:
        self.host.send("recv", self.rank, *arguments)


def install(patch: pytest.MonkeyPatch, gpus: int, seed: int, nccl: bool = True) -> Host:
    """Make `import cupy` give a host with so many GPUs."""
    host = Host(gpus, seed, nccl)
    HOSTS[:] = [host]
    cupy, cuda = ModuleType("cupy"), ModuleType("cupy.cuda")

    def empty(shape: Any, dtype: Any = np.float64) -> FakeArray:
        return host.array(np.zeros(shape, dtype))  # zeros: what is not written looks written

    def full(shape: Any, value: Any, dtype: Any) -> FakeArray:
        return host.array(np.full(shape, value, dtype))

    def matmul(a: FakeArray, b: FakeArray, out: FakeArray) -> None:
        assert {one.gpu for one in (a, b, out)} == {host.current}
        host.queue(lambda: np.matmul(a, b, out=out))

    for name, value in {
        "empty": empty, "zeros": empty, "full": full, "matmul": matmul, "asarray": host.array,
        "ascontiguousarray": lambda array: host.array(np.ascontiguousarray(array)),
        "concatenate": np.concatenate, "isnan": np.isnan, "abs": np.abs, "square": np.square,
        "float64": np.float64, "uint32": np.uint32, "uint8": np.uint8, "cuda": cuda,
        "get_default_memory_pool": lambda: SimpleNamespace(free_bytes=lambda: 0),
    }.items():  # fmt: skip
        setattr(cupy, name, value)
    for name, value in {
        "Device": lambda gpu=0: Device(host, gpu),
        "Stream": lambda **_options: host.new_stream(host.current),
        "get_current_stream": lambda: Device(host, host.current),
        "runtime": SimpleNamespace(memGetInfo=lambda: (2**36, 2**36)),
        "nccl": SimpleNamespace(
            available=nccl, NCCL_FLOAT32=7, groupStart=lambda: setattr(host, "group", []),
            groupEnd=host.end_group,
            NcclCommunicator=SimpleNamespace(
                initAll=lambda ranks: [Communicator(host, rank) for rank in ranks]
            ),
        ),
    }.items():  # fmt: skip
        setattr(cuda, name, value)
    for name, module in (("cupy", cupy), ("cupy.cuda", cuda)):
        patch.setitem(sys.modules, name, module)
    return host
