"""Where NVIDIA's compiler and disassembler are: pip's packages, conda's or a CUDA toolkit."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from pathlib import Path

PACKAGES = "requirements-compiler.txt"


class ToolchainError(Exception):
    """NVRTC or nvdisasm is missing or does not do its work: a sentence for whoever asked for it."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What compiles a kernel, and what reads it back."""

    nvrtc: Path  # a shared library
    nvdisasm: Path  # a program


def find_toolchain() -> Toolchain:
    """The compiler and the disassembler of this machine; ToolchainError where one is missing."""
    library, program = find_nvrtc(), _find_nvdisasm()
    if library is not None and program is not None:
        return Toolchain(library, program)
    missing = [name for name, found in (("NVRTC", library), ("nvdisasm", program)) if found is None]
    if sys.platform == "darwin":
        raise ToolchainError("NVIDIA has no compiler for macOS.")
    raise ToolchainError(
        f"Machine code needs NVIDIA's compiler, but {' and '.join(missing)} "
        f"{'are' if len(missing) > 1 else 'is'} not installed: python -m pip install -r {PACKAGES} "
        f"installs {'them' if len(missing) > 1 else 'it'}."
    )


@functools.cache
def find_nvrtc() -> Path | None:
    """The library of NVRTC that CuPy takes too, None without one."""
    try:
        from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib
    except ImportError:
        return None
    try:
        found = load_nvidia_dynamic_lib("nvrtc").abs_path
    except (DynamicLibNotFoundError, OSError, RuntimeError):
        return None
    return None if found is None else Path(found)


@functools.cache
def _find_nvdisasm() -> Path | None:
    try:
        from cuda.pathfinder import find_nvidia_binary_utility
    except ImportError:  # also of an older version
        return None
    found = find_nvidia_binary_utility("nvdisasm")
    return None if found is None else Path(found)
