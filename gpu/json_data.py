"""The decoder of all JSON that is read back: recordings, job files, the worker's messages."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

Data = TypeVar("Data")

# The text of a msgspec.ValidationError: the fault, and the path of the faulty value if it is not
# the whole object: "Expected `int`, got `str` - at `$.kernels[0].registers`".
MESSAGE = re.compile(r"(?P<fault>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
MISSING_FIELD = re.compile(r"Object missing required field `(\w+)`")


def decode(kind: type[Data], found: Any, what: str) -> Data:
    """An instance of the dataclass `kind` from the object that json.loads made of its JSON text.

    Fields may be dataclasses themselves; a JSON array becomes a tuple, a whole number fits where a
    float is due, and unknown keys are ignored. Nothing else is converted. Raises ValueError whose
    text is a sentence that begins with `what` and names the faulty field.

    >>> from gpu.cuda.microbenchmarks.ceilings import Ceilings
    >>> decode(Ceilings, {"fp32_tflops": 60, "dram_gb_s": 4e3, "l2_gb_s": 9e3}, "The file").l2_gb_s
    9000.0
    >>> decode(Ceilings, {"fp32_tflops": "fast"}, "The file")
    Traceback (most recent call last):
    ValueError: The file's fp32_tflops is wrong: expected float, got str.
    """
    try:
        return msgspec.convert(found, type=kind, strict=True)
    except msgspec.ValidationError as error:
        raise ValueError(_sentence(str(error), what)) from None


def _sentence(message: str, what: str) -> str:
    """A validation error's text as a sentence about `what`."""
    found = MESSAGE.fullmatch(message)
    fault, path = (found["fault"], found["path"]) if found else (message, None)
    subject = f"{what}'s {path}" if path else what
    missing = MISSING_FIELD.fullmatch(fault)
    if missing:
        return f"{subject} lacks {missing[1]}."
    plain = fault.replace("`", "")
    return f"{subject} is wrong: {plain[:1].lower()}{plain[1:]}."
