"""What a visitor uploads: a file, several, or a ZIP, as texts that an editor opens.

All of it is read in memory: a name is only ever compared with other names.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence

from simulator.frontend.conditions import KERNEL_WORD
from simulator.frontend.diagnostics import KNOWN_HEADERS
from simulator.language.errors import shorten
from simulator.language.files import (
    INCLUDE,
    LONGEST_NAME,
    MAX_BYTES,
    MAX_FILE_BYTES,
    MAX_FILES,
    files_of,
    find_file,
    parts_of,
    with_included,
)

ENDINGS = ("cu", "cuh", "h", "hpp", "hh", "inl", "cpp", "cc", "c", "txt")  # of texts
ZIP = "zip"
MAX_ENTRIES = 2000  # of a ZIP, those that are no texts counted
DAMAGES = (
    zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError, ValueError
)  # fmt: skip
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may take much memory


class UploadError(ValueError):
    """Why what was uploaded cannot be opened, as a sentence."""


def read_files(uploaded: Sequence[tuple[str, bytes]]) -> dict[str, str]:
    """The texts that were uploaded, by name with folders; those of a ZIP among them.

    Raises UploadError.
    """
    found: dict[str, str] = {}
    size = 0
    for name, content in _contents(uploaded):
        parts = parts_of(name)
        if not parts or len(name) > LONGEST_NAME or not name.isprintable():
            raise UploadError(f"{shorten(name[:LONGEST_NAME])} is not a name for a file.")
        if len(content) > MAX_FILE_BYTES:
            raise UploadError(f"{shorten(name)} has more than {MAX_FILE_BYTES:,} bytes (256 KB).")
        size += len(content)
        if size > MAX_BYTES or len(found) >= MAX_FILES:
            raise UploadError(
                f"There are too many files: up to {MAX_FILES} with {MAX_BYTES:,} bytes (1 MB) in "
                "all are accepted. Leave out those that the kernel does not need."
            )
        try:
            found["/".join(parts)] = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UploadError(
                f"{shorten(name)} is not UTF-8 text: save it as UTF-8 and open it again."
            ) from None
    if not found:
        raise UploadError(
            f"None of these is a code file: the names of code files end in {', '.join(ENDINGS)}."
        )
    return found


def _contents(uploaded: Sequence[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The names and bytes of what was uploaded, a ZIP replaced by its texts."""
    for name, content in uploaded:
        if not name.lower().endswith(f".{ZIP}"):
            yield name, content
            continue
        try:
            yield from _unzipped(content)
        except UploadError:
            raise
        except DAMAGES:
            raise UploadError(
                f"{shorten(name)} cannot be read as a ZIP: is it whole, and without a password?"
            ) from None


def _unzipped(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The texts of a ZIP; each is unpacked up to the first byte that is too many."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        entries = packed.infolist()
        if len(entries) > MAX_ENTRIES:
            raise UploadError(
                f"The ZIP has {len(entries):,} files; at most {MAX_ENTRIES:,} are allowed."
            )
        for entry in entries:
            ending = entry.filename.rpartition(".")[2].lower()
            if entry.compress_type not in COMPRESSIONS:
                raise zipfile.BadZipFile
            if ending in ENDINGS and not entry.is_dir() and "__MACOSX/" not in entry.filename:
                with packed.open(entry) as file:
                    yield entry.filename, file.read(MAX_FILE_BYTES + 1)


def openable(files: Mapping[str, str]) -> dict[str, str]:
    """The texts that an editor may open: main files, by name, with what each includes after it.

    A main file is one that no other includes, from which a kernel is reached; a single file is one
    in any case. Raises UploadError without any.
    """
    included = {
        found
        for name, text in files.items()
        for asked in set(INCLUDE.findall(text))
        if (found := find_file(asked, name, [one for one in files if one != name]))
    }

    def find(asked: str, beside: str) -> tuple[str, str] | None:
        found = find_file(asked, beside, files)
        return None if found is None else (found, files[found])

    built: dict[str, str] = {}
    for name, text in files.items():
        if name in included:
            continue
        try:
            built[name] = with_included(text, name, find, KNOWN_HEADERS)
        except ValueError as error:
            raise UploadError(shorten(str(error))) from None
    if len(files) > 1:
        built = {name: text for name, text in built.items() if KERNEL_WORD in text}
    if not built:
        raise UploadError("None of these files has a kernel: no __global__ function is in them.")
    return built


def zipped(text: str, name: str) -> bytes:
    """A text's files as a ZIP, its main file under a name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files_of(text):
            archive.writestr(file.name or name, text[file.start : file.end])
    return packed.getvalue()
