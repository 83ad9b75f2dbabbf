"""cuBLAS's product in each precision, for arrays that lie row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# cublasComputeType_t, cudaDataType and cublasGemmAlgo_t in NVIDIA's headers.
COMPUTE_32F, COMPUTE_32F_FAST_TF32 = 68, 77
DATA_TYPES = {"float32": 0, "float16": 2}
DEFAULT_ALGORITHM = -1


def product(A: Any, B: Any, C: Any, precision: str) -> Callable[[], object]:
    """What queues C = A B on the current stream, A [M, K], B [K, N], C [M, N] of CuPy.

    precision is a name of gpu.precision. Its types are the arrays'.
    """
    import cupy

    if precision in ("float32", "float64"):
        return lambda: cupy.matmul(A, B, out=C)
    from cupy.cuda import cublas, device

    handle = device.get_cublas_handle()
    one, zero = np.array(1, np.float32), np.array(0, np.float32)
    compute = COMPUTE_32F_FAST_TF32 if precision == "tf32" else COMPUTE_32F
    (M, K), N = A.shape, B.shape[1]

    def launch() -> None:
        # cuBLAS counts columns first: what it sees are the transposes, and their product is C's.
        cublas.gemmEx(
            handle, cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_N, N, M, K, one.ctypes.data,
            B.data.ptr, DATA_TYPES[str(B.dtype)], N, A.data.ptr, DATA_TYPES[str(A.dtype)], K,
            zero.ctypes.data, C.data.ptr, DATA_TYPES[str(C.dtype)], N, compute, DEFAULT_ALGORITHM,
        )  # fmt: skip

    return launch
