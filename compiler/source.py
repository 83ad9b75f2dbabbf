"""A kernel's source as NVRTC gets it, on every machine alike, and NVRTC's errors as sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compiler.headers import headers, uses_tensor_cores
from simulator.frontend.device_code import SourceFile
from simulator.frontend.directives import check_directives
from simulator.frontend.lexer import in_one_spelling
from simulator.frontend.source import set_defines
from simulator.frontend.template import instantiate, template_parameters
from simulator.guard import Limit, State
from simulator.language.errors import SourceError, Span
from simulator.language.printable import without_folders
from simulator.language.tree import Kernel

FILENAME = "kernel.cu"  # what NVRTC calls the text, whatever its file is called
STATIC_SHARED_LIMIT = 48 * 1024  # CUDA C++ Programming Guide: more needs an opt-in launch
ERROR_IN_LOG = re.compile(
    r"^(?P<file>.*)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: *(?P<message>.+)",
    re.MULTILINE,
)
COMPILER_OPTIONS = ("-std=c++17",)  # the simulator's dialect
TENSOR_CORES = 80  # the first architecture whose tensor cores mma.cuh can use, sm_80
# The architecture whose tensor cores a warpgroup can use, and what NVRTC calls it with them (PTX
# ISA, wgmma: sm_90a alone).
WARP_GROUPS, WITH_WARP_GROUPS = "sm_90", "sm_90a"
# What NVRTC may take for a text, in a process that somebody else's text may end; gpu/worker.py has
# the time that it may take.
LIMIT = Limit(State.COMPILING, 60.0, 2 * 2**30, State.COMPILED_TOO_LONG, State.COMPILED_TOO_LARGE)


@dataclass(frozen=True, slots=True)
class CompilerInput:
    """All that NVRTC gets for one kernel and one architecture."""

    kernel: str
    text: str  # the kernel and what it uses, with the lines of the whole source
    expression: str  # the kernel's name, with its namespaces and a template's arguments
    included: Mapping[str, str]  # files by name, which come before the text
    options: tuple[str, ...]
    line: Callable[[int], int]  # the file's line of a line of `text`

    def error(self, log: str) -> SourceError:
        """The first error of NVRTC's log as a sentence, with its line if it is the text's."""
        return first_error(log, self.kernel, FILENAME, self.line)


def compiler_input(
    text: str, kernel: str, architecture: str, defines: Mapping[str, str] | None = None
) -> CompilerInput:
    """What NVRTC gets for a kernel of a text and for `architecture` ("sm_90").

    The text gets its macros, and loses its host code, as it does before the simulator parses it.
    Raises SourceError for what must not reach a compiler, and for instructions that the
    architecture does not have.
    """
    text, remaining = set_defines(in_one_spelling(text), defines or {})
    _, parameters, macros = instantiate(text, kernel, remaining)
    source = SourceFile(text, macros)
    scope = next((one.scope for one in source.kernels if kernel in one.names), ())
    values = [value for _, value in parameters]
    expression = "::".join((*scope, kernel)) + (f"<{', '.join(values)}>" if values else "")
    code = source.device_code(kernel, values)
    check_input(code.text, kernel, dict(parameters) | macros)
    architecture = _with_instructions(code.text, kernel, architecture)
    included, include_options = headers(code.text, macros)
    options = (*COMPILER_OPTIONS, f"--gpu-architecture={architecture}", *include_options)
    return CompilerInput(kernel, code.text, expression, included, options, code.line)


def _with_instructions(text: str, kernel: str, architecture: str) -> str:
    """The architecture by the name under which it has a text's instructions, or SourceError."""
    if uses_tensor_cores(text) and int(architecture[3:]) < TENSOR_CORES:
        raise SourceError(
            f"{kernel} multiplies on tensor cores by nvcuda::wmma, which needs a GPU of compute "
            f"capability 8.0 or more; this one has {int(architecture[3:]) / 10}."
        )
    if not re.search(r"\bwgmma\.", text):  # a warpgroup's instructions, in PTX
        return architecture
    if architecture != WARP_GROUPS:
        raise SourceError(
            f"{kernel} multiplies with warpgroup instructions (wgmma), which only GPUs of "
            f"compute capability 9.0 have; this one has {int(architecture[3:]) / 10}."
        )
    return WITH_WARP_GROUPS


def template_values(text: str, kernel: Kernel) -> dict[str, str]:
    """What a template kernel's parameters are, by name; none for a kernel that is no template."""
    source = SourceFile(text)
    (declared, *_) = [one for one in source.kernels if kernel.name in one.names]
    names = [parameter.name for parameter in template_parameters(source, declared)]
    return dict(zip(names, kernel.template, strict=False))


def check_input(text: str, kernel: str, defines: Mapping[str, str]) -> None:
    """SourceError for a text, a kernel's name or a macro that must not reach a compiler."""
    if not re.fullmatch(r"[A-Za-z_]\w*", kernel, re.ASCII):
        raise SourceError(f"{kernel!r} is not a name for a kernel.")
    for name, value in defines.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name.startswith("__"):
            raise SourceError(f"{name!r} is not a name for a macro.")
        if not re.fullmatch(r"-?[\w.]*", value, re.ASCII):
            raise SourceError(f"{name}={value}: a macro takes a number or a name here.")
    check_directives(text)


def first_error(
    log: str, kernel: str, filename: str, original: Callable[[int], int] = int
) -> SourceError:
    """The first error in NVRTC's log as a SourceError, with its line if it is the text's.

    original gives the file's line of a line that NVRTC has read.
    """
    log = log.replace("\0", "")
    if "__nv_name_map" in log.split("error", 1)[0]:
        return SourceError(
            f"The code has no kernel named {kernel} that can be launched as it is."
            if "template" not in log
            else f"{kernel} is a template; a launch needs a plain __global__ function."
        )
    shared = re.search(r"uses too much shared data \(0x([0-9a-f]+) bytes", log)
    if shared:
        return SourceError(
            f"The kernel asks for {int(shared[1], 16):,} bytes of shared memory; a block takes "
            f"up to {STATIC_SHARED_LIMIT:,}. Use smaller tiles."
        )
    found = ERROR_IN_LOG.search(log)
    if found:
        line, message = original(int(found["line"])), without_folders(found["message"].strip())
        if found["file"] == filename:
            return SourceError(f"NVRTC: {message}.", Span(line, 1, line, 1))
        asserted = re.search(r'static assertion failed with "(.*)"', message)
        if asserted:  # in a header of ours: a sentence
            return SourceError(asserted[1])
        return SourceError(f"NVRTC, in {without_folders(found['file'])}: {message}.")
    text = next((line for line in log.splitlines() if line.strip()), "no reason was given")
    return SourceError(f"NVRTC could not compile the kernel: {without_folders(text.strip())}.")
