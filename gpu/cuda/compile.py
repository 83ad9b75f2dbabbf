"""A kernel's text to machine code through NVRTC, with the compiler's errors as sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpu.cuda.headers import headers, uses_tensor_cores, uses_warp_groups
from simulator.frontend.device_code import SourceFile
from simulator.frontend.directives import check_directives
from simulator.frontend.lexer import blank_comments, in_one_spelling
from simulator.frontend.source import set_defines
from simulator.frontend.template import instantiate, split_arguments
from simulator.guard import Limit, State, limited
from simulator.language.errors import LaunchError, SourceError, Span
from simulator.language.printable import without_folders
from simulator.launch import Dim3

STATIC_SHARED_LIMIT = 48 * 1024  # CUDA C++ Programming Guide: more needs an opt-in launch
ERROR_IN_LOG = re.compile(
    r"^(?P<file>.*)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: *(?P<said>.+)",
    re.MULTILINE,
)
COMPILER_OPTIONS = ("-std=c++17",)  # the simulator's dialect
TENSOR_CORES = 80  # the first architecture whose tensor cores mma.cuh can use, sm_80
# The architecture whose tensor cores a warp group can use, and what NVRTC calls it with them (PTX
# ISA, wgmma: sm_90a alone).
WARP_GROUPS, WITH_WARP_GROUPS = "sm_90", "sm_90a"
# What NVRTC may take for a text, in a process that somebody else's text may end; gpu/worker.py has
# the time that it may take.
LIMIT = Limit(State.COMPILING, 60.0, 2 * 2**30, State.COMPILED_TOO_LONG, State.COMPILED_TOO_LARGE)


@dataclass(frozen=True, slots=True)
class Binary:
    """Machine code of one kernel: its name in the module, and the loadable image."""

    symbol: str  # mangled, unless the kernel is extern "C"
    image: bytes  # a cubin
    log: str  # the compiler's warnings


@dataclass(frozen=True, slots=True)
class Resources:
    """What a compiled kernel takes, and what share of a multiprocessor's threads then fit."""

    registers: int  # of a thread, 32 bits each
    shared_bytes: int  # of a block
    local_bytes: int  # of a thread: spilled registers and local arrays
    blocks_per_multiprocessor: int
    occupancy: float  # resident threads over the most a multiprocessor holds, 0 to 1


@dataclass(frozen=True, slots=True)
class Loaded:
    """A kernel ready to launch: CuPy's module (kept alive) and function, and its resources."""

    module: Any  # cupy.cuda.function.Module
    function: Any  # cupy.cuda.function.Function
    resources: Resources


def check_input(text: str, kernel: str, defines: Mapping[str, str]) -> None:
    """SourceError for a text, a kernel's name or a macro that must not reach a compiler."""
    if not re.fullmatch(r"[A-Za-z_]\w*", kernel, re.ASCII):
        raise SourceError(f"{kernel!r} is no name for a kernel.")
    for name, value in defines.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name.startswith("__"):
            raise SourceError(f"{name!r} is no name for a macro.")
        if not re.fullmatch(r"-?[\w.]*", value, re.ASCII):
            raise SourceError(f"{name}={value}: a macro takes a number or a name here.")
    check_directives(text)


def element_type(text: str, kernel: str) -> str:
    """What the kernel's A, B and C hold: "float32" or "float64".

    SourceError unless its parameters are three pointers to that type, then three integers.
    """
    plain = blank_comments(text)
    alias = r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(float|double)\b"
    macros = dict(re.findall(alias, plain, re.MULTILINE))
    source = SourceFile(text)
    declared = next((one for one in source.kernels if kernel in one.names), None)
    if declared is None:
        raise SourceError(f"The code has no kernel named {kernel}.")
    parameters = split_arguments(source.top.parameters(declared))
    types = set()
    for parameter in parameters[:3]:
        words = [macros.get(word, word) for word in re.findall(r"\w+|\*", parameter)]
        types |= {word for word in words if word in ("float", "double")} if "*" in words else {"?"}
    if (
        len(parameters) != 6
        or any("*" in parameter for parameter in parameters[3:])
        or len(types) != 1
    ):
        types = {"?"}
    names = {"float": "float32", "double": "float64"}
    element = names.get(types.pop())
    if element is None:
        raise SourceError(
            f"Kernel {kernel} must take (const float* A, const float* B, float* C, "
            "int M, int N, int K), or the same with double, to be compared."
        )
    return element


def compile_text(
    text: str,
    kernel: str,
    architecture: str,
    defines: Mapping[str, str] | None = None,
    filename: str = "kernel.cu",
) -> Binary:
    """Machine code for `architecture` ("sm_90"). Needs NVRTC, but no GPU.

    The text gets its macros, and loses its host code, as it does before the simulator parses it.
    SourceError carries the compiler's first error and its line.
    """
    from cupy.cuda import nvrtc

    text, remaining = set_defines(in_one_spelling(text), defines or {})
    _, parameters, macros = instantiate(text, kernel, remaining)
    source = SourceFile(text, macros)
    scope = next((one.scope for one in source.kernels if kernel in one.names), ())
    values = [value for _, value in parameters]
    expression = "::".join((*scope, kernel)) + (f"<{', '.join(values)}>" if values else "")
    code = source.device_code(kernel, values)
    text = code.text
    check_input(text, kernel, dict(parameters) | macros)
    if uses_tensor_cores(text) and int(architecture[3:]) < TENSOR_CORES:
        raise SourceError(
            f"{kernel} multiplies on tensor cores by nvcuda::wmma, which takes a GPU of compute "
            f"capability 8.0 or more; this one has {int(architecture[3:]) / 10}."
        )
    if uses_warp_groups(text):
        if architecture != WARP_GROUPS:
            raise SourceError(
                f"{kernel} multiplies by instructions of four warps (wgmma), which only GPUs of "
                f"compute capability 9.0 have; this one has {int(architecture[3:]) / 10}."
            )
        architecture = WITH_WARP_GROUPS
    included, include_options = headers(text, macros)
    options = (*COMPILER_OPTIONS, f"--gpu-architecture={architecture}", *include_options)
    program = nvrtc.createProgram(
        text,
        filename,
        tuple(content.encode() for content in included.values()),
        tuple(name.encode() for name in included),
    )
    try:
        nvrtc.addNameExpression(program, expression)
        try:
            with limited(LIMIT):
                nvrtc.compileProgram(program, options)
        except nvrtc.NVRTCError:
            raise first_error(nvrtc.getProgramLog(program), kernel, filename, code.line) from None
        symbol = nvrtc.getLoweredName(program, expression)
        # CuPy hands the image over without its last byte.
        image = bytes(nvrtc.getCUBIN(program)) + b"\0"
        return Binary(symbol, image, nvrtc.getProgramLog(program))
    finally:
        nvrtc.destroyProgram(program)


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
        line, said = original(int(found["line"])), without_folders(found["said"].strip())
        if found["file"] == filename:
            return SourceError(f"NVRTC: {said}.", Span(line, 1, line, 1))
        asserted = re.search(r'static assertion failed with "(.*)"', said)
        if asserted:  # in a header of ours: a sentence
            return SourceError(asserted[1])
        return SourceError(f"NVRTC, in {without_folders(found['file'])}: {said}.")
    text = next((line for line in log.splitlines() if line.strip()), "no reason was given")
    return SourceError(f"NVRTC could not compile the kernel: {without_folders(text.strip())}.")


def check_shared(wanted: int, most: int) -> None:
    """LaunchError where a block asks for more bytes of shared memory than a GPU gives one."""
    if wanted > most:
        raise LaunchError(
            f"A block asks for {wanted:,} bytes of shared memory, and this GPU gives one up to "
            f"{most:,}. Make its tiles smaller."
        )


def load(
    binary: Binary, block: Dim3, threads_per_multiprocessor: int, shared_bytes: int = 0
) -> Loaded:
    """The binary on the current device, for launches with so much dynamic shared memory.

    LaunchError where the block, or its shared memory, is too large for it.
    """
    from cupy.cuda import Device, driver, function

    module = function.Module()
    module.load(binary.image)
    entry = module.get_function(binary.symbol)

    def attribute(name: str) -> int:
        return int(driver.funcGetAttribute(getattr(driver, f"CU_FUNC_ATTRIBUTE_{name}"), entry.ptr))

    threads = block[0] * block[1] * block[2]
    most = attribute("MAX_THREADS_PER_BLOCK")
    if threads > most:
        raise LaunchError(
            f"A block of {threads:,} threads does not fit: the kernel's registers leave room for "
            f"{most:,}. Make the block smaller."
        )
    if shared_bytes:
        attributes = Device().attributes
        check_shared(
            attribute("SHARED_SIZE_BYTES") + shared_bytes,
            attributes["MaxSharedMemoryPerBlockOptin"],
        )
        dynamic = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        driver.funcSetAttribute(entry.ptr, dynamic, shared_bytes)
    blocks = int(driver.occupancyMaxActiveBlocksPerMultiprocessor(entry.ptr, threads, shared_bytes))
    resources = Resources(
        registers=attribute("NUM_REGS"),
        shared_bytes=attribute("SHARED_SIZE_BYTES") + shared_bytes,
        local_bytes=attribute("LOCAL_SIZE_BYTES"),
        blocks_per_multiprocessor=blocks,
        occupancy=blocks * threads / threads_per_multiprocessor,
    )
    return Loaded(module, entry, resources)
