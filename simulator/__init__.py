"""Simulates CUDA C kernels over NumPy, a warp at a time.

compile_kernel turns a text into a Kernel, simulate runs a Launch of it and reports counters and
hazards, record returns every step of one block. Only compile_kernel needs libclang.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.catalogue import catalogue
from simulator.guard import COMPILING, limited
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.recording.recorder import record
from simulator.recording.recording import Recording, Step
from simulator.report import Report, simulate
from simulator.sentences import narrate

__all__ = [
    "Kernel",
    "Launch",
    "LaunchError",
    "Recording",
    "Report",
    "SourceError",
    "Step",
    "catalogue",
    "compile_kernel",
    "narrate",
    "record",
    "simulate",
]


def compile_kernel(
    text: str,
    name: str | None = None,
    defines: Mapping[str, str] | None = None,
    filename: str = "kernel.cu",
) -> Kernel:
    """Compile the __global__ function `name` of a CUDA C text, or its only one.

    The text is a whole file: its host code and its #includes are skipped, which Kernel.notes say.
    The name may give a template's arguments, "scale<float, 16>", or the parameters' types.
    defines gives macros their values: in the text's own #define lines where it has them, so that
    Kernel.text is what runs, else as the compiler's -D. filename is the text's name in messages.
    Raises SourceError for source that is wrong or not supported.

    >>> kernel = compile_kernel("__global__ void fill(float* x) { x[threadIdx.x] = 1; }", "fill")
    >>> [f"{parameter.ctype} {parameter.name}" for parameter in kernel.parameters]
    ['float* x']
    """
    # Imported late: `import simulator` must work without libclang.
    from simulator.frontend.kernel import compile_kernel as compile_with_clang

    with limited(COMPILING):
        return compile_with_clang(text, name, defines, filename)
