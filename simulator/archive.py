"""An .npz archive of arrays by name: written so that any name works, read without trusting it."""

from __future__ import annotations

import math
import stat
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError
from simulator.launch import BUDGET_BYTES
from simulator.output_file import opened_output

EXTRA_BYTES = 2**16  # an archive may have so many besides its arrays' cells
MAX_ARRAYS = 1_000  # of an archive: no kernel has so many parameters
SHOWN_NAME = 40  # characters of a name, in a sentence
CHUNK_BYTES = 2**20  # read at once
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
NUMBERS = "biufc"  # kinds of NumPy's types: no text, no records, nothing that is unpickled
# What zipfile and zlib raise, and NumPy as it reads a header, which is a Python literal.
BROKEN = (
    AttributeError, EOFError, LookupError, OverflowError, RuntimeError, SyntaxError, TypeError,
    ValueError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def check_is_file(path: Path) -> None:
    """Raise LaunchError for a folder, a device or a pipe, and OSError for nothing at all."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise LaunchError(
            f"{path} is not a file: a folder, a device or a pipe cannot be read here."
        )


def write_arrays(file: str, arrays: Mapping[str, Array]) -> None:
    """Write an archive of arrays by name; ".npz" is added to `file` where it lacks that.

    np.savez would write the same, except for arrays with the names of its own parameters. Raises
    LaunchError if the file cannot be written; what was there before is then still there.
    """
    whole = file if file.endswith(".npz") else f"{file}.npz"
    with opened_output(whole) as out, zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def read_arrays(file: str) -> dict[str, Array]:
    """The arrays of an archive by name.

    Raises LaunchError if the file cannot be read, is broken, is too large, or holds anything but
    arrays of numbers.
    """
    try:
        check_is_file(Path(file))
        size = Path(file).stat().st_size
        _check_size(file, size)
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ARRAYS:
                raise LaunchError(
                    f"{file} holds {len(entries):,} arrays; the simulator takes {MAX_ARRAYS:,}."
                )
            _check_size(file, sum(entry.file_size for entry in entries))
            arrays: dict[str, Array] = {}
            for entry in entries:
                name = entry.filename.removesuffix(".npy")
                if name in arrays:
                    raise LaunchError(f"{file} holds {format_name(name)} twice.")
                arrays[name] = _read_array(archive, entry)
            return arrays
    except OSError as error:
        raise LaunchError(f"{file} cannot be read: {error.strerror or error}.") from None
    except BROKEN:
        raise LaunchError(f"{file} is not an .npz file of plain arrays.") from None


def format_name(name: str) -> str:
    """A name as a sentence has it: on one line, at most SHOWN_NAME characters, quoted if odd."""
    short = name if len(name) <= SHOWN_NAME else f"{name[:SHOWN_NAME]}…"
    return short if name.isidentifier() else repr(short)


def _check_size(file: str, size: int) -> None:
    """Raise LaunchError if `size` bytes are more than a launch's arrays may take."""
    if size > BUDGET_BYTES + EXTRA_BYTES:
        raise LaunchError(
            f"The arrays of {file} take {size / 2**20:,.0f} MiB; the simulator takes up to "
            f"{BUDGET_BYTES / 2**20:,.0f} MiB."
        )


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Array:
    """One array; its size is its entry's. Raises one of BROKEN if the entry is no array."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("only what np.savez and np.savez_compressed write can be read in bounds")
    with archive.open(entry) as stream:
        shape, fortran_order, dtype = _read_header(stream)
        if dtype.kind not in NUMBERS or any(size < 0 for size in shape):
            raise ValueError("not an array of numbers")
        count = math.prod(shape) * dtype.itemsize
        if stream.tell() + count != entry.file_size:
            raise ValueError("the header asks for more or less than there is")
        data = bytearray(count)
        start = 0
        while chunk := stream.read(min(CHUNK_BYTES, count - start)):
            data[start : start + len(chunk)] = chunk
            start += len(chunk)
        if start < count:
            raise EOFError("the entry is shorter than it says")
    return np.ndarray(shape, dtype, data, order="F" if fortran_order else "C")


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Shape, whether the first index runs fastest (Fortran's order), and type of the elements."""
    version = np.lib.format.read_magic(stream)
    try:
        with warnings.catch_warnings(action="ignore"):  # of Python 2's numbers and odd escapes
            shape, fortran_order, dtype = HEADERS[version](stream)
    except (MemoryError, RecursionError, SystemError):  # the last from Python 3.12, on some bytes
        raise ValueError("the header nests too deep, or is not text") from None
    return shape, fortran_order, dtype
