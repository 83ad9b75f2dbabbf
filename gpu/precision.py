"""How a product is computed: what A, B and C hold, and the cuBLAS call that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Precision:
    """What operands are rounded to as they are multiplied, and what holds them."""

    short: str  # as tables show it
    operands: str  # NumPy's name of what A and B hold
    results: str  # and C
    cublas: str  # the name of cuBLAS's result in a comparison


# By the names of the catalogue's `precision`. TF32 operands lie in memory as float32.
PRECISIONS: Mapping[str, Precision] = {
    "float32": Precision("FP32", "float32", "float32", "cublas"),
    "float64": Precision("FP64", "float64", "float64", "cublas-double"),
    "tf32": Precision("TF32", "float32", "float32", "cublas-tf32"),
    "float16": Precision("half", "float16", "float32", "cublas-half"),
}


def short_name(precision: str) -> str:
    """What tables call a precision; its own name where it is not known."""
    return PRECISIONS[precision].short if precision in PRECISIONS else precision
