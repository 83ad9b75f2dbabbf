"""Usual arguments for a template kernel of which nothing in a file says any.

They are those with which such kernels are most often launched: float, and sizes by a parameter's
name. A launch with them teaches what the kernel does; a note says that they were chosen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from simulator.frontend.device_code import SourceFile
from simulator.frontend.template import TemplateParameter, split_arguments
from simulator.frontend.toplevel import Declaration

WHOLE_TYPES = frozenset(
    {"int", "unsigned", "unsigned int", "size_t", "std :: size_t", "uint", "uint32_t", "int32_t",
     "long", "short", "const int", "const unsigned", "const unsigned int", "const uint",
     "const size_t", "unsigned long", "int64_t", "uint64_t", "auto"}
)  # fmt: skip
INDEX_TYPE = re.compile(r"(?i).*(?:ind(?:ex|ices)|idx|int|offset|count|size).*")
FUNCTION_TYPE = re.compile(r"(?i).*(?:op|operator|func\w*|functor|fn|lambda|callable|pred\w*|f)")
# A thread block's sizes: as long as a row, or, where threads have a y, as wide as a tile.
BLOCK = re.compile(r"(?i).*(?:block|thread|cta|tpb|bdim|nt).*")
NUMBERS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?i){names}"), number)
    for names, number in (
        (r"bm|bn", "64"), (r"bk|tm|tn", "8"), (r"wm|wn", "32"),  # of a product's blocking
        (r".*(?:per_?thread|items|coarse\w*|unroll|vec|ilp|stages?|num_?warps|n_?warps).*", "4"),
        (r".*(?:radius|halo)", "2"),
        (r".*(?:warp|lane).*", "32"),
    )
)  # fmt: skip
TILE, ROW = "16", "256"


def usual_argument(
    source: SourceFile, kernel: Declaration, parameter: TemplateParameter
) -> str | None:
    """The usual argument for a parameter of a kernel's template; None for one without any.

    A function gets the file's first struct with an operator() for the device.
    """
    tokens = source.top.tokens[kernel.first : kernel.last]
    name = parameter.name
    kind = _kind(source, kernel, name)
    if parameter.is_pack or kind.startswith("template"):
        return None
    if parameter.is_type:
        parameters = pairwise(source.top.parameters(kernel))
        passed = {after.text for before, after in parameters if before.text == name}
        called = {before.text for before, after in pairwise(tokens) if after.text == "("}
        if FUNCTION_TYPE.fullmatch(name) or passed & called:
            return _function_object(source)
        return "int" if INDEX_TYPE.fullmatch(name) else "float"
    if kind == "bool":
        return "true"
    if kind not in WHOLE_TYPES:
        return None
    number = next((number for names, number in NUMBERS if names.fullmatch(name)), None)
    if number is not None:
        return number
    has_rows = any(
        [one.text for one in tokens[index : index + 3]] == ["threadIdx", ".", "y"]
        for index in range(len(tokens))
    )
    return ROW if BLOCK.fullmatch(name) and not has_rows else TILE


def _kind(source: SourceFile, kernel: Declaration, name: str) -> str:
    """What comes before a name among a template's parameters, such as a number's type."""
    after = source.top.after_template(kernel.first)
    for text in split_arguments(source.top.tokens[kernel.first + 2 : after - 1]):
        words = text.split(" = ")[0].split()
        if words[-1] == name:
            return " ".join(words[:-1])
    return ""


def _function_object(source: SourceFile) -> str | None:
    """The file's first class with an operator() for the device that is no template."""
    for one in source.declarations:
        texts: Sequence[str] = [t.text for t in source.top.tokens[one.first : one.last]]
        is_plain = one.is_type and texts[0] in ("struct", "class") and "__device__" in texts
        if is_plain and any(
            texts[index : index + 3] == ["operator", "(", ")"] for index in range(len(texts))
        ):
            return "::".join((*one.scope, one.name))
    return None
