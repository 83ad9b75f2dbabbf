"""cuBLASXt: the product that cuBLAS itself spreads over several GPUs of one process."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

NO_TRANSPOSE = 0  # cublasOperation_t
BLOCK = 4096  # rows and columns of the tiles that it hands out


class CublasXtError(Exception):
    """The library or a function of it is missing, or a call failed; a sentence."""


class CublasXt:
    """A handle on some GPUs, for C = A B of matrices that any memory holds."""

    def __init__(self, gpus: Sequence[int]) -> None:
        """CublasXtError where it cannot be had."""
        from cupy.cuda import cublas

        handle = cublas.create()
        major = cublas.getVersion(handle) // 10000
        cublas.destroy(handle)
        name = f"cublas64_{major}.dll" if sys.platform == "win32" else f"libcublas.so.{major}"
        self._handle = ctypes.c_void_p()
        try:
            self._library: Any = ctypes.CDLL(name)  # the one that CuPy has loaded
            self._call("cublasXtCreate", ctypes.byref(self._handle))
        except (OSError, AttributeError) as error:
            raise CublasXtError(f"cuBLASXt cannot be used: {error}.") from None
        numbers = (ctypes.c_int * len(gpus))(*gpus)
        self._call("cublasXtDeviceSelect", self._handle, len(gpus), numbers)
        self._call("cublasXtSetBlockDim", self._handle, BLOCK)

    def multiply(self, _gpu: int, A: Any, B: Any, C: Any, /) -> None:
        """C = A B, float32 and row by row: A [M, K], B [K, N], C [M, N]. Returns when C is there.

        The GPUs are the handle's, whichever is current.
        cuBLAS counts column by column, where the same memory holds the transposes: it is asked
        for B^T A^T, which is C^T.
        """
        (M, K), N = A.shape, B.shape[1]
        one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
        sizes = tuple(map(ctypes.c_size_t, (N, M, K)))
        pointers = [ctypes.c_void_p(array.data.ptr) for array in (B, A, C)]
        leading = [ctypes.c_size_t(extent) for extent in (N, K, N)]
        self._call(
            "cublasXtSgemm", self._handle, NO_TRANSPOSE, NO_TRANSPOSE, *sizes,
            ctypes.byref(one), pointers[0], leading[0], pointers[1], leading[1],
            ctypes.byref(zero), pointers[2], leading[2],
        )  # fmt: skip

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise CublasXtError(f"{name} failed with cublasStatus_t {status}.")
