"""The headers of a file that is read from a disk: those in the folders of -I, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from simulator.frontend.diagnostics import KNOWN_HEADERS
from simulator.language.files import parts_of, with_included
from simulator.terminal.options import UsageError, read_source


def with_headers(text: str, file: str, folders: Sequence[str]) -> str:
    """A file's text, and after it what it includes, as far as it is in one of the folders.

    A path that leads out of its folder is not followed. Raises UsageError.
    """
    roots = [Path(folder).resolve() for folder in folders]
    for folder, root in zip(folders, roots, strict=True):
        if not root.is_dir():
            raise UsageError(f"-I {folder}: there is no such folder.")

    def find(asked: str, beside: str) -> tuple[str, str] | None:
        parts = parts_of(asked[1:-1])
        tried = [(*parts_of(beside)[:-1], *parts), parts]
        tried += [parts[-1:]] if asked[0] == '"' else []
        for root in roots:
            for one in filter(None, tried):
                with suppress(OSError, ValueError):  # a name that no file can have
                    path = root.joinpath(*one).resolve()
                    if path.is_relative_to(root) and path.is_file():
                        return path.relative_to(root).as_posix(), read_source(path)
        return None

    try:
        return with_included(text, Path(file).name, find, KNOWN_HEADERS)
    except ValueError as error:
        raise UsageError(str(error)) from None
