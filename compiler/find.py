"""The machine code of a text: compiled here, or as it was recorded."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.compile import check_architecture, compile_kernel
from compiler.machine_code import MachineCode
from compiler.recorded import ARCHITECTURES, recorded
from compiler.toolchain import ToolchainError, find_toolchain
from simulator import compile_kernel as compile_for_simulator
from simulator.frontend.lexer import in_one_spelling
from simulator.frontend.source import set_defines
from simulator.language.errors import SourceError
from simulator.language.tree import Kernel

H200 = "sm_90"  # a verdict is about its multiprocessor


def find_machine_code(
    text: str,
    kernel: str | None,
    architecture: str,
    defines: Mapping[str, str] | None = None,
    filename: str = "kernel.cu",
) -> MachineCode:
    """What the compiler makes of a kernel of a text, or of its only one, for "sm_90" for example.

    No compiler sees a text before the simulator has taken it. Where the compiler is not here, and
    for kernels of the catalogue that the simulator does not execute, it is what was recorded.
    Raises SourceError for source that is wrong or not supported, and ToolchainError, a sentence,
    where there is neither a compiler nor a recording.
    """
    check_architecture(architecture)
    with_macros = set_defines(in_one_spelling(text), defines or {})[0]
    known = recorded(with_macros, architecture)
    if known is not None and kernel not in (None, known.kernel):
        known = None  # another kernel of the same source
    try:
        toolchain = find_toolchain()
    except ToolchainError as error:
        if known is not None:
            return known
        raise ToolchainError(
            f"{error} Without it only the catalogue's kernels have machine code, recorded for "
            f"{', '.join(ARCHITECTURES)}, and this is not one of them."
        ) from None
    try:
        taken = compile_for_simulator(text, kernel, defines, filename)
        return compile_kernel(toolchain, taken, architecture, defines)
    except (SourceError, ToolchainError):  # of an older nvdisasm, too
        if known is not None:
            return known
        raise


def find_registers(kernel: Kernel, defines: Mapping[str, str] | None = None) -> int | None:
    """The registers of a thread of a kernel that the simulator has taken, on an H100 or H200.

    None where there is neither a compiler nor a recording, or the compiler does not take it.
    """
    known = recorded(set_defines(kernel.text, defines or {})[0], H200)
    if known is not None and known.kernel == kernel.name:
        return known.registers
    try:
        return compile_kernel(find_toolchain(), kernel, H200, defines).registers
    except (SourceError, ToolchainError):
        return None
