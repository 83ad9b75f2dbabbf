"""A plan carried out with CuPy: the pieces in the GPUs' memories, copies and products on streams.

One thread queues everything. A GPU's copies have a stream, each of its products another, which
waits for the pieces that it needs and for nothing else: the next pieces arrive while a GPU
multiplies the ones it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gpu.scale.plan import Move, Piece, Plan, Product
from gpu.scale.scaling import Way
from gpu.verify import MARGIN


class Multiply(Protocol):
    """Queues C = A B on the current GPU's current stream: A [M, K], B [K, N], C [M, N]."""

    def __call__(self, gpu: int, a: Any, b: Any, c: Any, /) -> None:
        """The arrays are cupy.ndarray of GPU number `gpu`."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of C on its GPU, with cells before and after it that a kernel must leave alone."""

    product: Product
    padded: Any  # cupy.ndarray [rows * columns + 2 * MARGIN]
    c: Any  # cupy.ndarray [rows, columns], a view of it
    stream: Any  # cupy.cuda.Stream


class Placement:
    """The matrices of one plan on its GPUs, which multiply them."""

    def __init__(self, plan: Plan, A: Any, B: Any) -> None:
        """A [M, K] and B [K, N] are on GPU 0. Room for the pieces that move is filled with NaN."""
        import cupy

        self.plan = plan
        self._held: dict[tuple[int, Piece], Any] = {}  # a GPU's copy of a piece
        self._moving: dict[int, Any] = {}  # a GPU's stream for copies
        self._communicators: Sequence[Any] = ()
        self._parts: list[Part] = []
        for gpu in range(plan.gpus):
            with cupy.cuda.Device(gpu):
                # Above the products, so that NCCL's blocks need not wait until theirs are through.
                self._moving[gpu] = cupy.cuda.Stream(non_blocking=True, priority=-1)
        for product in plan.products():
            for piece in (product.a, product.b):
                if (piece.owner, piece) not in self._held:
                    band = slice(piece.band.begin, piece.band.end)
                    whole = A[band] if piece.matrix == "A" else B[:, band]
                    contiguous = cupy.ascontiguousarray(whole)
                    self._held[piece.owner, piece] = copy_to(piece.owner, contiguous)
        for move in plan.moves():
            own = self._held[move.piece.owner, move.piece]
            with cupy.cuda.Device(move.target):
                self._held[move.target, move.piece] = cupy.empty(own.shape, own.dtype)
        for product in plan.products():
            rows, columns = product.a.band.extent, product.b.band.extent
            with cupy.cuda.Device(product.gpu):
                padded = cupy.empty(rows * columns + 2 * MARGIN, dtype=A.dtype)
                c = padded[MARGIN : MARGIN + rows * columns].reshape(rows, columns)
                stream = cupy.cuda.Stream(non_blocking=True)
            self._parts.append(Part(product, padded, c, stream))
        self.clear()

    def queue(self, way: Way, multiply: Multiply) -> None:
        """Queue the products, and the moves if `way` is one of moving; `wait` waits for them."""
        import cupy

        move = {Way.PEER: self._copy, Way.NCCL: self._send}.get(way)
        arrived: dict[tuple[int, Piece], Any] = {}  # events
        parts = iter(self._parts)
        for step in self.plan.steps:
            for product in step.products:
                part = next(parts)
                with cupy.cuda.Device(product.gpu), part.stream:
                    for piece in (product.a, product.b):
                        if (product.gpu, piece) in arrived:
                            part.stream.wait_event(arrived[product.gpu, piece])
                    a, b = (self._held[product.gpu, piece] for piece in (product.a, product.b))
                    multiply(product.gpu, a, b, part.c)
            if move and step.moves:
                arrived |= move(step.moves)

    def wait(self) -> None:
        """Wait until all GPUs of the plan have ended what was queued."""
        import cupy

        for gpu in range(self.plan.gpus):
            cupy.cuda.Device(gpu).synchronize()

    def fetch(self) -> None:
        """Bring every piece where it is needed, and wait."""
        for step in self.plan.steps:
            if step.moves:
                self._copy(step.moves)
        self.wait()

    def clear(self) -> None:
        """Overwrite with NaN what a run must write: C, and the pieces that come from elsewhere."""
        import cupy

        for part in self._parts:
            with cupy.cuda.Device(part.product.gpu):
                part.padded.fill(math.nan)
        for move in self.plan.moves():
            with cupy.cuda.Device(move.target):
                self._held[move.target, move.piece].fill(math.nan)
        self.wait()

    def gather(self) -> tuple[Any, bool]:
        """C [M, N] on GPU 0, NaN where no part of it is, and whether a cell outside was written."""
        import cupy

        wrote_outside = False
        with cupy.cuda.Device(0):
            C = cupy.full(self.plan.size[:2], math.nan, dtype=self._parts[0].c.dtype)
            for part in self._parts:
                padded = copy_to(0, part.padded)
                edges = cupy.concatenate((padded[:MARGIN], padded[-MARGIN:]))
                wrote_outside |= not bool(cupy.isnan(edges).all())
                rows, columns = part.product.a.band, part.product.b.band
                inner = padded[MARGIN:-MARGIN].reshape(part.c.shape)
                C[rows.begin : rows.end, columns.begin : columns.end] = inner
        return C, wrote_outside

    def _copy(self, moves: Sequence[Move]) -> Mapping[tuple[int, Piece], Any]:
        """Queue the moves as copies that the targets' copy engines make; an event for each."""
        import cupy

        arrived = {}
        for move in moves:
            source = self._held[move.piece.owner, move.piece]
            target = self._held[move.target, move.piece]
            stream = self._moving[move.target]
            with cupy.cuda.Device(move.target):
                target.data.copy_from_device_async(source.data, source.nbytes, stream)
                arrived[move.target, move.piece] = stream.record()
        return arrived

    def _send(self, moves: Sequence[Move]) -> Mapping[tuple[int, Piece], Any]:
        """Queue the moves as one group of NCCL's sends and receives; an event for each."""
        import cupy
        from cupy.cuda import nccl

        if not self._communicators:
            gpus = list(range(self.plan.gpus))
            self._communicators = nccl.NcclCommunicator.initAll(gpus)
        nccl.groupStart()
        for move in moves:
            source = self._held[move.piece.owner, move.piece]
            target = self._held[move.target, move.piece]
            for gpu, peer, array, call in (
                (move.piece.owner, move.target, source, "send"),
                (move.target, move.piece.owner, target, "recv"),
            ):
                queue: Callable[..., None] = getattr(self._communicators[gpu], call)
                stream = self._moving[gpu].ptr
                queue(array.data.ptr, array.size, nccl.NCCL_FLOAT32, peer, stream)
        nccl.groupEnd()
        arrived = {}
        for move in moves:
            with cupy.cuda.Device(move.target):
                arrived[move.target, move.piece] = self._moving[move.target].record()
        return arrived


def copy_to(gpu: int, array: Any) -> Any:
    """A copy of a contiguous array of any GPU in the memory of GPU number `gpu`."""
    import cupy

    array.device.synchronize()  # what computes the array may still run
    with cupy.cuda.Device(gpu) as device:
        copy = cupy.empty(array.shape, array.dtype)
        copy.data.copy_from_device(array.data, array.nbytes)
        device.synchronize()
    return copy
