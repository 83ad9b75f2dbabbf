"""A kernel to machine code, by NVRTC and nvdisasm, once the simulator has taken its code."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import replace

from compiler.machine_code import MachineCode
from compiler.nvdisasm import read_cubin
from compiler.nvrtc import compile_cubin
from compiler.source import COMPILER_OPTIONS, compiler_input, template_values
from compiler.toolchain import Toolchain, ToolchainError
from simulator.frontend.source import set_defines
from simulator.guard import Limit, State, limited
from simulator.language.errors import SourceError
from simulator.language.tree import Kernel

# GPUs whose machine code is read: since compute capability 7.5, as nvdisasm 13 knows them.
ARCHITECTURES = (
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120",
    "sm_121",
)  # fmt: skip
# Somebody looks at a page meanwhile; the largest kernel of the catalogue takes about a second.
LIMIT = Limit(State.COMPILING, 15.0, 2**30, State.COMPILED_TOO_LONG, State.COMPILED_TOO_LARGE)
KEPT = 16  # of a process, such as those that a page sets beside each other
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
PROPERTIES = re.compile(
    r"Function properties for (?P<symbol>\S+)\s+.*?(?P<stack>\d+) bytes stack frame, "
    r"(?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)


def check_architecture(architecture: str) -> None:
    """SourceError for a name that is none of ARCHITECTURES."""
    if architecture not in ARCHITECTURES:
        raise SourceError(
            f"{architecture} is not a known architecture: choose one of {', '.join(ARCHITECTURES)}."
        )


def compile_kernel(
    toolchain: Toolchain,
    kernel: Kernel,
    architecture: str,
    defines: Mapping[str, str] | None = None,
) -> MachineCode:
    """The machine code of a kernel that the simulator has compiled, for "sm_90" for example.

    defines are those that the simulator got. A process that a visitor's code may reach runs it
    under limits: past one it ends. Raises SourceError for code that NVRTC does not take, and
    ToolchainError where the tools fail.
    """
    remaining = set_defines(kernel.text, defines or {})[1]
    values = template_values(kernel.text, kernel) | remaining
    return compile_text(toolchain, kernel.text, kernel.name, architecture, values)


def compile_text(
    toolchain: Toolchain,
    text: str,
    kernel: str,
    architecture: str,
    defines: Mapping[str, str] | None = None,
) -> MachineCode:
    """The machine code of a kernel of source that is known to do no harm, such as the catalogue's.

    See compile_kernel.
    """
    check_architecture(architecture)
    return _compiled(toolchain, text, kernel, architecture, tuple((defines or {}).items()))


@functools.lru_cache(maxsize=KEPT)
def _compiled(
    toolchain: Toolchain,
    text: str,
    kernel: str,
    architecture: str,
    defines: tuple[tuple[str, str], ...],
) -> MachineCode:
    given = compiler_input(text, kernel, architecture, dict(defines))
    with limited(LIMIT):
        cubin = compile_cubin(toolchain.nvrtc, given)
        code, padding, live = read_cubin(toolchain.nvdisasm, cubin.image, cubin.symbol)
    compiled = [one for one in PROPERTIES.finditer(cubin.log) if one["symbol"] == cubin.symbol]
    used = USED.search(cubin.log)
    if not compiled or used is None:
        raise ToolchainError(f"The assembler does not say how many registers {kernel} takes.")
    shared = SHARED.search(cubin.log)
    target = next(one for one in given.options if one.startswith("--gpu-architecture="))
    return MachineCode(
        kernel=kernel,
        architecture=architecture,
        compiler=cubin.compiler,
        options=(*COMPILER_OPTIONS, target),
        instructions=tuple(
            one if one.line is None else replace(one, line=given.line(one.line)) for one in code
        ),
        padding=padding,
        registers=int(used[1]),
        shared_bytes=int(shared[1]) if shared else 0,
        stack_bytes=int(compiled[0]["stack"]),
        spill_stores=int(compiled[0]["stores"]),
        spill_loads=int(compiled[0]["loads"]),
        live=live,
    )
