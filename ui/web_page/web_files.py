"""The HTML, CSS and JavaScript of ui/web."""

from __future__ import annotations

import functools
import re
from pathlib import Path

FOLDER = Path(__file__).parent.with_name("web")
IMPORT = re.compile(r'^import \{[^}]*\} from "(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


@functools.cache
def read_web(*names: str) -> str:
    """The text of some files of ui/web, one after the other."""
    return "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in names)


@functools.cache
def read_script(name: str) -> str:
    """A module of ui/web as one script, after all that it imports.

    A component of Streamlit has a single script, and a file without a server cannot import another.
    The modules share their scope: what they declare has names of its own, and is imported under
    them, with a line `import { one, other } from "./file.js";`. A default export stays.
    """
    texts: dict[Path, str] = {}

    def add(file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        for imported in IMPORT.findall(text):
            if (other := (file.parent / imported).resolve()) not in texts:
                add(other)
        texts[file] = EXPORT.sub("", IMPORT.sub("", text))

    add((FOLDER / name).resolve())
    return "\n".join(texts.values())
