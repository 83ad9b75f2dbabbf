"""A stand-in for a GPU that runs traced kernels: NumPy's product, and a clock that a test sets.

It has the few calls of CuPy that gpu/trace/job.py makes. The struct TilewiseRoom comes to it as to
a GPU, by its bytes at a symbol's address, and the reads go through the pointers in it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu.candidate import Candidate
from gpu.cuda.compile import Loaded, Resources
from gpu.cuda.device import Device
from gpu.cuda.timing import Timing
from gpu.trace import job
from gpu.trace.job import EMPTY

BUFFERS = np.dtype(
    [("reads", "u8"), ("ends", "u8"), ("blocks", "u8"), ("whole", "u4"), ("count", "u4"),
     ("capacity", "u4"), ("tile", "i4")]
)  # fmt: skip
READ = 20  # cycles that a read takes
MULTIPROCESSORS = 4
NANOSECONDS = 2  # cycles in one


class Memory(np.ndarray):
    """An array whose address is known."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(
            ptr=self.ctypes.data, memset_async=lambda value, size: self.fill(value)
        )


def memory(shape: Any, dtype: Any = np.float64) -> Memory:
    return np.zeros(shape, dtype).view(Memory)


@dataclass
class FakeClock:
    """Kernels whose warps go through `life`: places with their cycles, tile after tile."""

    life: Sequence[tuple[int, int]]  # number of a place, cycles
    wrong: bool = False  # whether the traced kernel leaves other bits
    early: int = 0  # a place that even warps begin 250 cycles early: their read was moved
    structs: dict[int, bytes] = field(default_factory=dict)  # by a symbol's address
    launched: list[str] = field(default_factory=list)

    def load(self, candidate: Candidate, _device: Device, progress: Any) -> Loaded:
        progress(f"Compiling {candidate.name}", 0.1)
        symbol = 4096 * (1 + len(self.structs))
        self.structs[symbol] = b""

        def launch(grid: Any, block: Any, arguments: Any, shared_mem: int = 0) -> None:
            self.launched.append(candidate.name)
            if candidate.kernel != EMPTY:
                a, b, c = arguments[:3]
                c[...] = np.matmul(a, b)
                if self.wrong and "reads" in candidate.name:
                    c[0, 0] += 1
            if self.structs[symbol]:
                self.write(symbol, int(np.prod(grid)), -(-int(np.prod(block)) // 32), candidate)

        module = SimpleNamespace(get_global_var=lambda name: {"tilewise_buffers": symbol}[name])
        return Loaded(module, launch, Resources(32, 0, 0, 2, 1.0))

    def write(self, symbol: int, blocks: int, warps: int, candidate: Candidate) -> None:
        """Write what a traced kernel would: blocks in turn on the multiprocessors, by waves."""
        (buffers,) = np.frombuffer(self.structs[symbol], BUFFERS)
        life = [(0, 0)] * 200 if candidate.kernel == EMPTY else self.life
        whole, places = int(buffers["whole"]), min(blocks, int(buffers["count"]))
        reads = _at(buffers["reads"], whole * warps * int(buffers["capacity"])).reshape(
            -1, int(buffers["capacity"])
        )
        ends = _at(buffers["ends"], whole * warps * 2).reshape(-1, 2)
        times = _at(buffers["blocks"], places * 6).reshape(-1, 6)
        cycles = np.array([taken + READ for _, taken in life])
        clock = np.concatenate(([0], np.cumsum(cycles)))
        starts = {1}  # a tile begins with this place
        numbers = np.array([number | (number in starts) << 31 for number, _ in life], np.int64)
        for block in range(places):
            multiprocessor, wave = block % MULTIPROCESSORS, block // MULTIPROCESSORS
            zero = 10**9 * (multiprocessor + 1) + wave * (int(clock[-1]) + warps)
            began = 5000 + wave * (int(clock[-1]) + warps) // NANOSECONDS
            times[block] = (
                multiprocessor, began, zero, began + int(clock[-1]) // NANOSECONDS,
                zero + clock[-1], zero + clock[-1] + warps - 1,
            )  # fmt: skip
            for warp in range(warps if block < whole else 0):
                row = block * warps + warp
                is_moved = (numbers & 0xFFF == self.early) & (self.early > 0) & (warp % 2 == 0)
                at = zero + warp + clock - np.append(250 * is_moved, 0)
                most = min(len(numbers), reads.shape[1])
                words = (numbers << 32).astype(np.uint64) | (at[:-1] % 2**32).astype(np.uint64)
                reads[row, :most] = words[:most]
                ends[row] = at[-1], len(numbers)


def _at(address: Any, count: int) -> np.ndarray:
    """The memory at an address."""
    words = (ctypes.c_uint64 * count).from_address(int(address))
    return np.frombuffer(memoryview(words), np.uint64)


def install(patch: pytest.MonkeyPatch, clock: FakeClock, device: Device) -> None:
    """Make `import cupy` give the stand-in, and the job's kernels its own."""
    cupy, cuda = ModuleType("cupy"), ModuleType("cupy.cuda")

    def memcpy(target: int, source: int, size: int, _kind: int) -> None:
        clock.structs[target] = ctypes.string_at(source, size)

    runtime = SimpleNamespace(
        memGetInfo=lambda: (2**36, 2**36), memcpy=memcpy, memcpyHostToDevice=1
    )
    stream = SimpleNamespace(synchronize=lambda: None)
    for name, value in {
        "asarray": lambda array: np.array(array).view(Memory), "empty": memory, "zeros": memory,
        "asnumpy": np.array, "uint8": np.uint8, "uint64": np.uint64, "cuda": cuda,
        "get_default_memory_pool": lambda: SimpleNamespace(free_bytes=lambda: 0),
    }.items():  # fmt: skip
        setattr(cupy, name, value)
    for name, value in {"runtime": runtime, "get_current_stream": lambda: stream}.items():
        setattr(cuda, name, value)
    for name, module in (("cupy", cupy), ("cupy.cuda", cuda)):
        patch.setitem(sys.modules, name, module)

    def measure(launches: Mapping[str, Any], progress: Any) -> dict[str, Timing]:
        for name, launch in launches.items():
            progress(f"Timing {name}", 0.5)
            launch()
        return {name: Timing(1.1 if "reads" in name else 1.0, 0.9, 1.2, 20) for name in launches}

    patch.setattr("gpu.cuda.probe.use", lambda _gpu: device)
    patch.setattr(job, "_load", clock.load)
    patch.setattr(job, "measure", measure)
    patch.setattr(job, "FLUSH_BYTES", 1024)
