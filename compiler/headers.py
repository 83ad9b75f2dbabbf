"""What NVRTC includes before a kernel's source: names that nvcc knows and NVRTC alone does not."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path

from compiler.toolchain import find_nvrtc
from simulator.frontend.clang import MATH, STANDARD, TYPE_HEADERS
from simulator.frontend.lexer import blank_comments
from simulator.language.number_types import NUMBER_TYPES

TYPES = Path(__file__).with_name("types.cuh")
PIPELINE = Path(__file__).with_name("pipeline.cuh")  # what NVRTC lacks of asynchronous copies
MMA = Path(__file__).with_name("mma.cuh")  # and of tensor cores
NOT_FINITE = """\
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_INF __longlong_as_double(0x7ff0000000000000ll)
"""


def _names_of(header: str) -> str:
    """A pattern of the names that a number type's header declares."""
    return "|".join(one.names for one in NUMBER_TYPES.values() if one.header == header)


STANDARD_NAMES = re.compile(r"\bstd\s*::\s*(?:min|max|clamp|numeric_limits)\b")
# Headers of the toolkit, and the words of source that need them.
TOOLKIT_HEADERS: Mapping[str, re.Pattern[str]] = {
    "cooperative_groups.h": re.compile(r"\bcooperative_groups\b"),
    "cooperative_groups/reduce.h": re.compile(r"\bcooperative_groups\b(?s:.)*\breduce\b"),
    "cooperative_groups/scan.h": re.compile(r"\bcooperative_groups\b(?s:.)*clusive_scan\b"),
    **{
        f"cub/{scope}/{scope}_{what}.cuh": re.compile(rf"\b{scope.title()}{what.title()}\s*<")
        for scope in ("block", "warp")
        for what in ("reduce", "scan")
    },
    "curand_kernel.h": re.compile(r"\bcurand(?:_\w+|State\w*)\b"),
    **{name: re.compile(rf"\b(?:{_names_of(name)})\b") for name in TYPE_HEADERS},
    # `half` is a variable's name, too: then it comes after its type, and before what ends a name.
    "cuda_fp16.h": re.compile(
        r"\b(?:__half\w*|half2|__\w*(?:2|as_)half\w*)\b"
        r"|\A(?!(?s:.)*\w[\s*&]+half\s*[=;,)\[{])(?s:.)*\bhalf\b"
    ),
}


def headers(text: str, macros: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The files to include before a text, by name in their order, and NVRTC's options for them.

    macros come last, so that none of them changes what a header of the toolkit says.
    """
    code = blank_comments(text)
    toolkit = [name for name, words in TOOLKIT_HEADERS.items() if words.search(code)]
    found = {
        "toolkit.cuh": "".join(f"#include <{name}>\n" for name in toolkit),
        TYPES.name: TYPES.read_text(encoding="utf-8"),
        "numbers.cuh": numbers(),
    }
    if STANDARD_NAMES.search(text):
        found[STANDARD.name] = STANDARD.read_text(encoding="utf-8")
    if "__pipeline_" in text:
        found[PIPELINE.name] = PIPELINE.read_text(encoding="utf-8")
    if uses_tensor_cores(text):
        found[MMA.name] = MMA.read_text(encoding="utf-8")
    found["macros.cuh"] = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    options = [f"--pre-include={name}" for name in found]
    if toolkit or MMA.name in found:
        options += (f"--include-path={folder}" for folder in toolkit_folders())
    return found, options


def uses_tensor_cores(text: str) -> bool:
    """Whether a text names nvcuda::wmma, or the instructions of a warpgroup."""
    return re.search(r"\bwg?mma\b", text) is not None


@functools.cache
def numbers() -> str:
    """The macros of <float.h>, <limits.h> and <math.h>, with the simulator's numbers."""
    text = MATH.read_text(encoding="utf-8")
    lines = re.findall(r"^#define ([A-Z]\w*)( [^_\n]+)$", text, re.MULTILINE)
    plain = (f"#ifndef {name}\n#define {name}{value}\n#endif\n" for name, value in lines)
    return "#ifndef NULL\n#define NULL nullptr\n#endif\n" + NOT_FINITE + "".join(plain)


@functools.cache
def toolkit_folders() -> tuple[str, ...]:
    """Where CUDA's headers are, of a toolkit or of pip's packages; none where only a driver is."""
    library = find_nvrtc()
    roots = [Path("/usr/local/cuda")]
    if library is not None:  # in lib, in bin or, on Windows, in bin/x64
        roots = [*library.resolve().parents[1:3], *roots]
    folders = [root / "include" for root in roots]
    packages = importlib.util.find_spec("nvidia")  # nvidia-curand and its kind
    for location in (packages and packages.submodule_search_locations) or ():
        folders += sorted(Path(location).glob("*/include"))
    folders += [folder / "cccl" for folder in folders]  # the C++ library, since CUDA 13
    return tuple(dict.fromkeys(str(folder) for folder in folders if folder.is_dir()))
