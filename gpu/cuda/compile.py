"""A kernel's source to machine code through NVRTC, with the compiler's errors as sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.source import FILENAME, LIMIT, compiler_input
from simulator.frontend.device_code import SourceFile
from simulator.frontend.lexer import blank_comments
from simulator.frontend.template import split_arguments
from simulator.guard import limited
from simulator.language.errors import LaunchError, SourceError
from simulator.launch import Dim3


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
    options: Sequence[str] = (),
) -> Binary:
    """Machine code for `architecture` ("sm_90"), with NVRTC's options. Needs NVRTC, but no GPU.

    SourceError carries the compiler's first error and its line.
    """
    from cupy.cuda import nvrtc

    given = compiler_input(text, kernel, architecture, defines)
    program = nvrtc.createProgram(
        given.text,
        FILENAME,
        tuple(content.encode() for content in given.included.values()),
        tuple(name.encode() for name in given.included),
    )
    try:
        nvrtc.addNameExpression(program, given.expression)
        try:
            with limited(LIMIT):
                nvrtc.compileProgram(program, (*given.options, *options))
        except nvrtc.NVRTCError:
            raise given.error(nvrtc.getProgramLog(program)) from None
        symbol = nvrtc.getLoweredName(program, given.expression)
        # CuPy hands the image over without its last byte.
        image = bytes(nvrtc.getCUBIN(program)) + b"\0"
        return Binary(symbol, image, nvrtc.getProgramLog(program))
    finally:
        nvrtc.destroyProgram(program)


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
