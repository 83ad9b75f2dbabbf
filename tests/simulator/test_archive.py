"""Archives for --inputs, broken in every way: one sentence and exit 2, never a traceback."""

from __future__ import annotations

import io
import random
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from simulator import Launch, LaunchError, compile_kernel
from simulator.__main__ import main
from simulator.archive import read_arrays, write_arrays
from simulator.launch import check

TEXT = "__global__ void k(float* x, int n) { x[threadIdx.x] = n; }"
CELLS = np.arange(32, dtype=np.float32)
ROUNDS = 6000
MAGIC = b"\x93NUMPY"


def header(literal: str | bytes, version: tuple[int, int] = (1, 0), length: int = -1) -> bytes:
    """The beginning of a .npy file; its length may lie."""
    text = literal.encode("latin1") if isinstance(literal, str) else literal
    size = len(text) if length < 0 else length
    packed = struct.pack("<H" if version == (1, 0) else "<I", size)
    return MAGIC + bytes(version) + packed + text


def described(shape: str = "(32,)", descr: str = "'<f4'", order: str = "False") -> bytes:
    literal = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    return header(literal) + CELLS.tobytes()


def npy(array: object, pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=pickle)
    return file.getvalue()


def packed(*entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


def patched(data: bytes, signature: bytes, at: int, value: bytes) -> bytes:
    """The bytes `at` beyond each header of the archive with this signature replaced."""
    found = -1
    while (found := data.find(signature, found + 1)) >= 0:
        data = data[: found + at] + value + data[found + at + len(value) :]
    return data


LOCAL, CENTRAL = b"PK\3\4", b"PK\1\2"
GOOD = npy(CELLS)
BROKEN = {
    "no archive": b"x",
    "nothing": b"",
    "an array alone": GOOD,
    "no magic": packed(("x.npy", b"NUMPY" + GOOD[5:])),
    "nothing within": packed(("x.npy", b"")),
    "half a magic": packed(("x.npy", GOOD[:4])),
    "half a header": packed(("x.npy", GOOD[:40])),
    "half an array": packed(("x.npy", GOOD[:-40])),
    "more than an array": packed(("x.npy", GOOD + b"more")),
    "a version to come": packed(("x.npy", MAGIC + b"\x09\x00" + GOOD[8:])),
    "version 3": packed(("x.npy", header(GOOD[10:128], (3, 0)) + CELLS.tobytes())),
    "a header that lies": packed(("x.npy", header(GOOD[10:128], length=60000))),
    "a header too long": packed(("x.npy", header(b" " * 60000))),
    "a header of gigabytes": packed(("x.npy", header(b"{}", (2, 0), 2**32 - 1))),
    "a header not in latin1": packed(("x.npy", header(bytes(range(128, 256))))),
    "a header of zeros": packed(("x.npy", header(bytes(118)))),
    "a header nested deep": packed(("x.npy", header("(" * 5000))),
    "a header of signs": packed(("x.npy", header("-" * 9000 + "1"))),
    "a header that ends early": packed(("x.npy", header("{'descr': '''"))),
    "a header badly indented": packed(("x.npy", header("  {\n 1\n  2"))),
    "a header of a call": packed(("x.npy", header("__import__('os').getcwd()"))),
    "a header that is a list": packed(("x.npy", header("[1, 2]"))),
    "keys that are lists": packed(("x.npy", header("{[]: 1}"))),
    "keys of two types": packed(("x.npy", header("{1: 1, 'descr': 2, None: 3}"))),
    "keys too many": packed(("x.npy", described(order="False, 'more': 1"))),
    "no such type": packed(("x.npy", described(descr="'nonsense'"))),
    "a type that is a number": packed(("x.npy", described(descr="4"))),
    "a type of tuples": packed(("x.npy", described(descr="[('a',)]"))),
    "a huge subarray": packed(("x.npy", described(descr="('<f4', (1099511627776,))"))),
    "records": packed(("x.npy", described(descr="[('a', '<f4')]"))),
    "text": packed(("x.npy", npy(["abc"] * 32))),
    "dates": packed(("x.npy", described("(16,)", "'<M8[s]'"))),
    "empty cells": packed(("x.npy", described("(1099511627776,)", "'|V0'")[:-128])),
    "objects": packed(("x.npy", npy(np.array([{}, None], dtype=object), pickle=True))),
    "a shape of strings": packed(("x.npy", described("('32',)"))),
    "a shape that is a number": packed(("x.npy", described("32"))),
    "a negative shape": packed(("x.npy", described("(-32,)"))),
    "two negative sizes": packed(("x.npy", described("(-4, -8)"))),
    "a huge shape": packed(("x.npy", described("(4611686018427387904,)"))),
    "a shape beyond numbers": packed(("x.npy", described(f"({10**50},)"))),
    "a huge empty shape": packed(("x.npy", described(f"(0, {10**50})")[:-128])),
    "a hundred dimensions": packed(("x.npy", described("(32" + ", 1" * 100 + ")"))),
    "an order that is a string": packed(("x.npy", described(order="'no'"))),
    "a bad CRC": patched(patched(packed(("x.npy", GOOD)), CENTRAL, 16, b"bad!"), LOCAL, 14,
                         b"bad!"),
    "encrypted": patched(patched(packed(("x.npy", GOOD)), CENTRAL, 8, b"\1\0"), LOCAL, 6, b"\1\0"),
    "strongly encrypted": patched(patched(packed(("x.npy", GOOD)), CENTRAL, 8, b"\x41\0"), LOCAL,
                                  6, b"\x41\0"),
    "no such compression": patched(patched(packed(("x.npy", GOOD)), CENTRAL, 10, b"\x63\0"), LOCAL,
                                   8, b"\x63\0"),
    "not compressed at all": patched(patched(packed(("x.npy", GOOD)), CENTRAL, 10, b"\x08\0"),
                                     LOCAL, 8, b"\x08\0"),
    "bzip2": packed(("x.npy", GOOD), method=zipfile.ZIP_BZIP2),
    "a version of zip to come": patched(packed(("x.npy", GOOD)), CENTRAL, 6, b"\xff\0"),
    "a name not in UTF-8": patched(patched(packed(("ÿ.npy", GOOD)), CENTRAL, 46, b"\xff\xff"),
                                   LOCAL, 30, b"\xff\xff"),
    "smaller than it says": patched(packed(("x.npy", GOOD)), CENTRAL, 24, b"\xff\xff\xff\x0f"),
    "larger than it says": patched(packed(("x.npy", bytes(2**24)), method=zipfile.ZIP_DEFLATED),
                                   CENTRAL, 24, b"\x80\0\0\0"),
    "a folder": packed(("x.npy/", b"")),
}  # fmt: skip
# Other sentences than that it is no archive of plain arrays.
TOLD = {
    "two of one name": (packed(("x.npy", GOOD), ("y.npy", GOOD)).replace(b"y.npy", b"x.npy"),
                        "holds x twice."),
    "more arrays than a kernel has": (
        packed(*((f"{n}.npy", GOOD) for n in range(1001))), "holds 1,001 arrays; the simulator"
    ),
    "one name, two ways": (packed(("x.npy", GOOD), ("x", GOOD)), "holds x twice."),
    "a name in folders": (packed(("a/x.npy", GOOD)), "holds 'a/x', which is not a parameter of k"),
    "a name above": (packed(("../x.npy", GOOD)), "holds '../x', which is not a parameter of k"),
    "a name of two lines": (packed(("a\nb.npy", GOOD)), r"holds 'a\nb', which is not a parameter"),
    "a name too long": (packed(("y" * 60000 + ".npy", GOOD)), "not a parameter of k"),
    "no name": (packed((".npy", GOOD)), "holds '', which is not a parameter of k"),
    "another type": (packed(("x.npy", npy(CELLS.astype(np.complex64)))), "must hold float32"),
    "another byte order": (packed(("x.npy", npy(CELLS.astype(">f4")))), "must hold float32"),
}  # fmt: skip


def outcome(folder: Path, data: bytes) -> int:
    file, archive = folder / "k.cu", folder / "in.npz"
    file.write_text(TEXT, encoding="utf-8")
    archive.write_bytes(data)
    command = [str(file), "--kernel", "k", "--grid", "1", "--block", "32"]
    return main([*command, "--inputs", str(archive), "f32:32", "i32=1"])


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.sample(3)
def test_broken_archive(case: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert outcome(tmp_path, BROKEN[case]) == 2
    out, error = capfd.readouterr()
    assert out == ""
    assert error == f"{tmp_path / 'in.npz'} is not an .npz file of plain arrays.\n"


@pytest.mark.parametrize("case", TOLD)
def test_archive_that_does_not_fit(
    case: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    is_told(*TOLD[case], tmp_path, capfd)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("arrays", "cells"), [(1, 300 * 2**20), (300, 2**20)])
def test_archive_that_unpacks_to_much_more(
    arrays: int, cells: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    entries = [(f"x{i}.npy", bytes(cells)) for i in range(arrays)]
    data = packed(*entries, method=zipfile.ZIP_DEFLATED)
    is_told(data, "take 300 MiB", tmp_path, capfd)


def is_told(data: bytes, part: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is refused in one line, of which this is a part."""
    assert outcome(folder, data) == 2
    out, error = capfd.readouterr()
    assert out == ""
    assert part in error
    assert error.count("\n") == 1
    assert len(error) < 1000


@pytest.mark.parametrize(
    "array",
    [
        CELLS,
        CELLS.reshape(4, 8),
        np.asfortranarray(CELLS.reshape(4, 8)),
        CELLS[:0].reshape(0, 3),
        np.array(7, dtype=np.int64),
        np.arange(6).reshape(1, 2, 3) + 1j,
        np.array([True, False]),
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_array_is_read_as_it_was_saved(
    array: np.ndarray, save: Callable[..., None], tmp_path: Path
) -> None:
    save(tmp_path / "in.npz", x=array, y=array)
    found = read_arrays(str(tmp_path / "in.npz"))
    assert sorted(found) == ["x", "y"]
    for one in found.values():
        assert one.dtype == array.dtype
        assert one.shape == array.shape
        assert np.array_equal(one, array)
        assert one.flags.f_contiguous == array.flags.f_contiguous


def test_headers_of_every_version_that_holds_numbers(tmp_path: Path) -> None:
    file = tmp_path / "in.npz"
    for version in ((1, 0), (2, 0)):
        data = header(GOOD[10:128], version) + CELLS.tobytes()
        file.write_bytes(packed(("x.npy", data)))
        assert np.array_equal(read_arrays(str(file))["x"], CELLS)
    python_2 = described("(32L,)")
    file.write_bytes(packed(("x.npy", python_2)))
    assert np.array_equal(read_arrays(str(file))["x"], CELLS)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to four places changed, cut out, repeated or cut off."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((1, 1, 2, 4, 8, 40)))
        piece = data[start:end]
        match rng.randrange(7):
            case 0:
                piece = bytes(byte ^ (1 << rng.randrange(8)) for byte in piece)
            case 1:
                piece = rng.randbytes(len(piece))
            case 2:
                piece = rng.choice((b"\0", b"\xff", b"(", b"-", b"'", b"9", b"\n")) * len(piece)
            case 3:
                piece = b""
            case 4:
                piece *= 2
            case 5:
                piece = rng.choice((LOCAL, CENTRAL, b"PK\5\6", b"PK\6\6", MAGIC, b"<U9", b"|O"))
            case _ if rng.random() < 0.3:
                end = len(data)
        data = data[:start] + piece + data[end:]
    return data


@pytest.mark.deep
def test_damage_of_any_kind_is_told_or_does_no_harm(tmp_path: Path) -> None:
    """Bytes of the archive, or of an array's header within a sound archive, are changed."""
    kernel = compile_kernel(TEXT, "k")
    rng, file = random.Random(11), tmp_path / "in.npz"  # noqa: S311  # no secret
    wholes = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        wholes.append(packed(("x.npy", GOOD), ("n.npy", npy(np.int32(3))), method=method))
    refused: list[str] = []
    taken = 0
    with file.open("wb") as out:  # kept open: to open one of its own each time takes far longer
        for i in range(ROUNDS):
            if i % 2:
                data = damaged(rng.choice(wholes), rng)
            else:
                data = packed(("x.npy", damaged(GOOD[:100], rng) + GOOD[100:]))
            out.seek(0)
            out.write(data)
            out.truncate()
            out.flush()
            try:
                arrays = {"x": CELLS, "n": 3} | read_arrays(str(file))
                check(kernel, Launch((1, 1, 1), (32, 1, 1), arrays))
                taken += 1
            except LaunchError as error:
                refused.append(str(error))
    assert not [error for error in refused if "\n" in error]
    assert len(refused) > ROUNDS / 2
    assert taken > ROUNDS / 100


@contextmanager
def little_room() -> Iterator[None]:
    """No file of this process may have more than 4 KB, as on a full disk."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(sys.platform == "win32", reason="limits a file's size")
def test_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    file = tmp_path / "out.npz"
    write_arrays(str(file), {"x": CELLS})
    with little_room(), pytest.raises(LaunchError, match=r"out\.npz cannot be written: File too"):
        write_arrays(str(file), {"x": np.zeros(4096)})
    assert read_arrays(str(file))["x"].tolist() == CELLS.tolist()
    assert list(tmp_path.iterdir()) == [file]
    write_arrays(str(file), {"x": np.ones(2)})
    assert read_arrays(str(file))["x"].tolist() == [1, 1]
