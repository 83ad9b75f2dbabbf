"""Bit for bit: the C that the simulator computes beside the C that a GPU computes."""

from __future__ import annotations

import base64
import dataclasses
import io
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu.candidate import Candidate, check_size
from gpu.cuda.compile import compile_text, load
from gpu.json_data import decode
from gpu.precision import PRECISIONS
from gpu.progress import Progress
from simulator.language.ctype import Array
from simulator.language.errors import LaunchError
from simulator.machine.budget import Progress as SimulatorProgress

SIMULATOR_SECONDS = 20.0
SIMULATED_CELLS = 1024 * 1024  # of C at most: larger ones take the simulator minutes


@dataclass(frozen=True, slots=True)
class Difference:
    """One element of C that differs. Values are text, because JSON has neither NaN nor infinity."""

    row: int
    column: int
    simulated: str  # the simulator's value, decimal
    real: str  # the GPU's value, decimal
    simulated_bits: str  # the simulator's bits, hexadecimal: "0x40a00000"
    real_bits: str  # the GPU's bits, hexadecimal


@dataclass(frozen=True, slots=True)
class BitVerdict:
    """The comparison of a kernel's two Cs."""

    name: str  # of the candidate: "tiled:TILE=32"
    size: tuple[int, int, int]  # M, N, K
    differing: int  # elements of C whose bits differ
    first: Difference | None  # the first of them in row-major order

    @property
    def identical(self) -> bool:
        """Whether every bit of C is the same."""
        return self.differing == 0

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        cells = self.size[0] * self.size[1]
        first = self.first
        if first is None:
            return f"Identical: all {cells:,} elements of C have the same bits."
        return (
            f"{self.differing:,} of {cells:,} elements differ, the first in row {first.row}, "
            f"column {first.column}: the simulator has {first.simulated} "
            f"({first.simulated_bits}), the GPU {first.real} ({first.real_bits})."
        )


def compare_bits(
    name: str, size: tuple[int, int, int], simulated: Array, real: Array
) -> BitVerdict:
    """Compare two Cs [M, N] of one type bit by bit; the first difference in row-major order.

    ValueError where they differ in shape or type. A NaN equals a NaN of the same bits.
    """
    if simulated.shape != real.shape or simulated.dtype != real.dtype:
        raise ValueError(
            f"One C is {simulated.dtype} {list(simulated.shape)}, the other "
            f"{real.dtype} {list(real.shape)}."
        )
    kind = np.dtype(f"u{simulated.dtype.itemsize}")
    simulated_bits, real_bits = (np.ascontiguousarray(C).view(kind) for C in (simulated, real))
    differ = np.argwhere(simulated_bits != real_bits)
    if not differ.size:
        return BitVerdict(name, size, 0, None)
    row, column = (int(index) for index in differ[0])
    digits = 2 * kind.itemsize + 2
    first = Difference(
        row, column, str(simulated[row, column]), str(real[row, column]),
        f"{int(simulated_bits[row, column]):#0{digits}x}",
        f"{int(real_bits[row, column]):#0{digits}x}",
    )  # fmt: skip
    return BitVerdict(name, size, len(differ), first)


def inputs(seed: int, size: tuple[int, int, int], element: str) -> tuple[Array, Array]:
    """A [M, K] and B [K, N], the same for the same seed in every process of this machine.

    Their magnitudes cover seven powers of ten, so that sums round in many different digits.
    """
    M, N, K = size
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> Array:
        values = rng.standard_normal((rows, columns))
        values *= 10.0 ** rng.integers(-3, 4, (rows, columns))
        return values.astype(element)

    return matrix(M, K), matrix(K, N)


def fresh_seed() -> int:
    """A fresh random seed of 53 bits, which JSON holds exactly."""
    return secrets.randbits(53)


@dataclass(frozen=True, slots=True)
class ProductJob:
    """The worker's job for one product, as JSON."""

    size: tuple[int, int, int]  # M, N, K
    seed: int  # of the inputs
    kernel: Candidate
    gpu: int = 0  # the GPU's number


@dataclass(frozen=True, slots=True)
class Product:
    """The result of a ProductJob, as JSON."""

    C: str  # NumPy's file format in base64, of an array [M, N]


def request(candidate: Candidate, size: Sequence[int], seed: int, gpu: int = 0) -> dict[str, Any]:
    """The worker's job for one product on GPU number `gpu`, as JSON takes it.

    LaunchError where C has more than SIMULATED_CELLS elements.
    """
    check_size(size)
    if size[0] * size[1] > SIMULATED_CELLS:
        raise LaunchError(
            f"C would have {size[0] * size[1]:,} elements; to compare bits, the simulator "
            f"computes up to {SIMULATED_CELLS:,}. Choose a smaller M or N."
        )
    return {
        "job": "product", "gpu": gpu, "size": list(size), "seed": seed,
        "kernel": dataclasses.asdict(candidate),
    }  # fmt: skip


def product(job: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the job that `request` describes on this process's GPU: {"C": NumPy's file, base64}."""
    import cupy

    from gpu.cuda.probe import use

    progress("Looking at the GPU", 0.0)
    product_job = decode(ProductJob, job, "The job")
    device = use(product_job.gpu)
    candidate = product_job.kernel
    M, N, K = product_job.size
    types = PRECISIONS[candidate.multiplies()]
    progress(f"Compiling {candidate.name}", 0.2)
    binary = compile_text(candidate.text, candidate.kernel, device.architecture, candidate.defines)
    loaded = load(
        binary, candidate.block, device.threads_per_multiprocessor, candidate.shared_bytes
    )
    progress(f"Running {candidate.name} for its C", 0.5)
    random = inputs(product_job.seed, product_job.size, types.operands)
    A, B = (cupy.asarray(matrix) for matrix in random)
    C = cupy.full((M, N), np.nan, dtype=types.results)
    numbers = (np.int32(M), np.int32(N), np.int32(K))
    loaded.function(
        candidate.grid, candidate.block, (A, B, C, *numbers), shared_mem=candidate.shared_bytes
    )
    return {"C": encode_array(cupy.asnumpy(C))}


def encode_array(array: Array) -> str:
    """An array as text that JSON takes: NumPy's file format in base64."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode("ascii")


def decode_array(text: str) -> Array:
    """The array that `encode_array` encoded.

    >>> decode_array(encode_array(np.arange(3)))
    array([0, 1, 2])
    """
    array: Array = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
    return array


def simulated_product(
    candidate: Candidate,
    size: tuple[int, int, int],
    seed: int,
    on_progress: Callable[[SimulatorProgress], None] | None = None,
) -> Array:
    """C [M, N] as the simulator computes it from the same inputs; on_progress is simulate's.

    Raises SourceError or LaunchError, also where it takes longer than SIMULATOR_SECONDS.
    """
    from simulator import Launch, compile_kernel, simulate

    M, N, K = size
    types = PRECISIONS[candidate.multiplies()]
    A, B = inputs(seed, size, types.operands)
    C = np.full((M, N), np.nan, dtype=types.results)
    kernel = compile_kernel(candidate.text, candidate.kernel, candidate.defines)
    arguments = {"A": A, "B": B, "C": C, "M": M, "N": N, "K": K}
    launch = Launch(candidate.grid, candidate.block, arguments, candidate.shared_bytes)
    report = simulate(kernel, launch, seconds=SIMULATOR_SECONDS, on_progress=on_progress)
    result: Array = report.arrays["C"].reshape(M, N)
    return result


def judge(
    job: Mapping[str, Any],
    found: Mapping[str, Any],
    on_progress: Callable[[SimulatorProgress], None] | None = None,
) -> BitVerdict:
    """Compare the result of `product` for a job with the simulator's C of the same inputs.

    on_progress is simulate's. Raises what simulated_product does.
    """
    product_job = decode(ProductJob, job, "The job")
    asked = product_job.kernel, product_job.size, product_job.seed
    simulated = simulated_product(*asked, on_progress)
    real = decode(Product, found, "The product")
    return compare_bits(product_job.kernel.name, product_job.size, simulated, decode_array(real.C))
