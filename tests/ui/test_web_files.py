"""What the files of ui/web may not hold, since a browser of visitors drops it or stops there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ui.drawing.canvas import MONO, SANS
from ui.web_page.web_files import FOLDER

CONFIG = FOLDER.parents[1] / ".streamlit" / "config.toml"
STYLES = sorted([*FOLDER.glob("*.css"), *FOLDER.glob("*.html")])
SCRIPTS = sorted(file for file in FOLDER.rglob("*.js") if file.name != "codemirror.js")


@pytest.mark.parametrize("file", STYLES, ids=lambda file: file.name)
def test_a_lines_style_and_thickness_are_properties_of_their_own(file: Path) -> None:
    """WebKit drops the shorthand text-decoration with more than a line."""
    values = re.findall(r"[\s;{]text-decoration:\s*([^;}]*)", file.read_text(encoding="utf-8"))
    assert set(values) <= {"none", "underline"}


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_what_a_browser_may_lack_is_asked_of_the_window(file: Path) -> None:
    """A bare name that is not declared throws, with ?. after it, too."""
    text = file.read_text(encoding="utf-8")
    assert not re.findall(r"(?<!window\.)\brequestIdleCallback\b", text)


@pytest.mark.parametrize("file", STYLES, ids=lambda file: file.name)
def test_letters_are_those_of_text_or_those_of_code(file: Path) -> None:
    text = re.sub(r"\s+", " ", file.read_text(encoding="utf-8"))
    families = [
        found.strip()
        for whole, size in re.findall(r"font(-family)?:([^;}]*)", text)
        for found in [size if whole else re.sub(r"^.*?\d[\w./]*\s*", "", size)]
    ]
    assert set(families) <= {"inherit", SANS, MONO}


def test_streamlits_code_has_the_letters_of_a_scenes() -> None:
    theme = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"]
    assert (theme["font"], theme["codeFont"]) == ("sans-serif", MONO)
