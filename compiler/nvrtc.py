"""NVRTC by its C interface: a kernel's source to a cubin, without CuPy and without a driver."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compiler.source import FILENAME, CompilerInput
from compiler.toolchain import ToolchainError

# Lines of the text by instruction, and what the assembler says of registers and spills. Neither
# changes the machine code.
READ_BACK = ("-lineinfo", "--ptxas-options=-v")
COMPILATION = 6  # NVRTC_ERROR_COMPILATION of nvrtc.h: the text is wrong


@dataclass(frozen=True, slots=True)
class Cubin:
    """A compiled kernel."""

    symbol: str  # mangled, unless the kernel is extern "C"
    image: bytes  # an ELF file
    log: str  # of the compiler and the assembler
    compiler: str  # "NVRTC 13.0"


def compile_cubin(library: Path, given: CompilerInput) -> Cubin:
    """A kernel's machine code. SourceError carries the compiler's first error and its line."""
    nvrtc = ctypes.CDLL(str(library))
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    with _program(nvrtc, given) as program:
        _check(nvrtc, nvrtc.nvrtcAddNameExpression(program, given.expression.encode()))
        options = [option.encode() for option in (*given.options, *READ_BACK)]
        status = nvrtc.nvrtcCompileProgram(program, len(options), _strings(options))
        log = _bytes_of(nvrtc, program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
        if status == COMPILATION:
            raise given.error(log)
        _check(nvrtc, status)
        symbol = ctypes.c_char_p()
        _check(
            nvrtc,
            nvrtc.nvrtcGetLoweredName(program, given.expression.encode(), ctypes.byref(symbol)),
        )
        image = _bytes_of(nvrtc, program, "CUBIN")
        return Cubin((symbol.value or b"").decode(), image, log, _version(nvrtc))


@contextmanager
def _program(nvrtc: ctypes.CDLL, given: CompilerInput) -> Iterator[ctypes.c_void_p]:
    program = ctypes.c_void_p()
    contents = [content.encode() for content in given.included.values()]
    names = [name.encode() for name in given.included]
    status = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), given.text.encode(), FILENAME.encode(), len(names),
        _strings(contents), _strings(names),
    )  # fmt: skip
    _check(nvrtc, status)
    try:
        yield program
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _strings(texts: Sequence[bytes]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(texts))(*texts)


def _bytes_of(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw


def version(library: Path) -> str:
    """What a library of NVRTC calls itself: "NVRTC 13.0"."""
    return _version(ctypes.CDLL(str(library)))


def _version(nvrtc: ctypes.CDLL) -> str:
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(nvrtc, nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"NVRTC {major.value}.{minor.value}"


def _check(nvrtc: ctypes.CDLL, status: int) -> None:
    if status:
        reason = nvrtc.nvrtcGetErrorString(status).decode(errors="replace")
        raise ToolchainError(f"NVRTC does not compile here: {reason}.")
