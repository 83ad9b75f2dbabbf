"""Kernels that a file's text becomes with a change: compiled within the limits of any text."""

from __future__ import annotations

from simulator.guard import COMPILING, limited
from simulator.language.tree import Kernel


def compile_variant(text: str, name: str) -> Kernel:
    """Compile a kernel of a changed text. Raises SourceError."""
    # Imported late: a form can be launched on a GPU without libclang.
    from simulator.frontend.kernel import compile_kernel

    with limited(COMPILING):
        return compile_kernel(text, name)
