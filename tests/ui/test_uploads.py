"""What visitors upload: files, ZIPs, and what is to do harm."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress

import pytest

from simulator import compile_kernel
from simulator.language.files import MAX_FILE_BYTES, files_of
from ui.user_kernel.uploads import UploadError, openable, read_files, zipped

KERNEL = '#include "inc/a.h"\n__global__ void k(float* x) { x[0] = A; }\n'
HEADER = "#define A 3\n"


def packed(files: dict[str, str | bytes], **options: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


@pytest.mark.parametrize(
    "uploaded",
    [
        [("k.cu", KERNEL.encode()), ("a.h", HEADER.encode())],
        [("all.zip", packed({"p/k.cu": KERNEL, "p/inc/a.h": HEADER, "p/a.out": b"\0\xff"}))],
        [("all.ZIP", packed({"../k.cu": KERNEL, "/etc/inc/a.h": HEADER}))],
    ],
    ids=["two files", "a ZIP", "a ZIP whose names lead elsewhere"],
)
def test_a_kernel_is_opened_with_its_header(uploaded: list[tuple[str, bytes]]) -> None:
    ((name, text),) = openable(read_files(uploaded)).items()
    assert name.endswith("k.cu")
    assert compile_kernel(text).name == "k"
    again = openable(read_files([("saved.zip", zipped(text, "k.cu"))]))
    assert again == {"k.cu": text}


def test_every_main_file_with_a_kernel_may_be_meant() -> None:
    files = {"a.cu": KERNEL, "b.cu": KERNEL, "c.cu": "int i;\n", "inc/a.h": HEADER}
    found = openable(read_files([("all.zip", packed(dict(files)))]))
    assert list(found) == ["a.cu", "b.cu"]
    assert [file.name for file in files_of(found["b.cu"])] == ["", "inc/a.h"]


def test_one_file_is_opened_whatever_it_is() -> None:
    assert openable(read_files([("notes.txt", b"none\n")])) == {"notes.txt": "none\n"}


HOSTILE = {
    "a bomb": ([("a.zip", packed({"a.cu": b" " * 2**24}))], "more than 262,144 bytes"),
    "many full files": (
        [("a.zip", packed({f"{n}.h": b" " * MAX_FILE_BYTES for n in range(9)}))], "too many files",
    ),
    "many files": ([("a.zip", packed({f"{n}.h": "" for n in range(101)}))], "too many files"),
    "thousands": ([("a.zip", packed({f"{n}": "" for n in range(2001)}))], "has 2,001 files; at"),
    "no ZIP": ([("a.zip", b"PK\3\4 and no more")], "cannot be read as a ZIP"),
    "half a ZIP": ([("a.zip", packed({"a.cu": KERNEL})[:-30])], "cannot be read as a ZIP"),
    "a ZIP in a ZIP": ([("a.zip", packed({"b.zip": packed({"a.cu": KERNEL})}))], "None of these"),
    "no UTF-8": ([("a.cu", b"\xff\xfe")], "is not UTF-8 text"),
    "a line in a name": ([("a.zip", packed({"a\n#import b.h": ""}))], "is not a name for a file"),
    "no name": ([("a.zip", packed({"../.h": "", "..": ""})), ("..", b"")], "not a name for a file"),
    "no kernel": ([("a.h", b"int i;\n"), ("b.h", b"int j;\n")], "None of these files has a kernel"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_to_do_harm_gets_a_sentence(name: str) -> None:
    uploaded, said = HOSTILE[name]
    with pytest.raises(UploadError, match=said):
        openable(read_files(uploaded))


def test_a_zip_that_is_damaged_at_any_byte_gets_a_sentence() -> None:
    whole = packed({"a.cu": KERNEL, "inc/a.h": HEADER})
    for place in range(0, len(whole), 3):
        damaged = whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        with suppress(UploadError):  # nothing else is raised
            openable(read_files([("a.zip", damaged)]))
