"""The conversions of cuda_fp8.h between floats and 8 bits, of a type that an argument says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import HALF, convert
from simulator.language.encodings import Encoding
from simulator.language.number_types import FP8_ENCODINGS

Function = Callable[..., Any]


def _of_each_type(function: Callable[..., Any]) -> Function:
    """A function of a type's encoding and more, by the number of the type after the first."""

    def chosen(value: Any, *more: Any) -> Any:
        *rest, number = more
        found = [function(encoding, value, *rest) for encoding in FP8_ENCODINGS]
        return np.choose(np.asarray(number, np.int64), found, mode="clip")[()]

    return chosen


def _to_bits(encoding: Encoding, value: Any, saturates: Any) -> Any:
    """A float or double as a cell; saturates is __NV_NOSAT, 0, or __NV_SATFINITE, 1."""
    cells = [encoding.cells(encoding.round(value, saturates=each)) for each in (False, True)]
    return np.where(np.asarray(saturates) == 0, *cells)


def _to_half(encoding: Encoding, cell: Any) -> Any:
    """A cell as a half, which all numbers of the types are."""
    return convert(encoding.decode(cell), HALF)


FP8_CONVERSIONS: Mapping[str, Function] = {
    "__nv_cvt_float_to_fp8": _of_each_type(_to_bits),
    "__nv_cvt_double_to_fp8": _of_each_type(_to_bits),
    "__nv_cvt_fp8_to_half": _of_each_type(_to_half),
}
