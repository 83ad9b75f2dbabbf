"""What the files of ui/web may not hold, since a browser of visitors drops it or stops there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ui.web_files import FOLDER

STYLES = sorted([*FOLDER.glob("*.css"), *FOLDER.glob("*.html")])
SCRIPTS = sorted(file for file in FOLDER.glob("*.js") if file.name != "codemirror.js")


@pytest.mark.parametrize("file", STYLES, ids=lambda file: file.name)
def test_a_lines_style_and_thickness_are_properties_of_their_own(file: Path) -> None:
    """WebKit drops the shorthand text-decoration with more than a line."""
    values = re.findall(r"[\s;{]text-decoration:\s*([^;}]*)", file.read_text(encoding="utf-8"))
    assert set(values) <= {"none", "underline"}


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_what_a_browser_may_lack_is_asked_of_the_window(file: Path) -> None:
    """A bare name that is not declared throws, with ?. behind it, too."""
    text = file.read_text(encoding="utf-8")
    assert not re.findall(r"(?<!window\.)\brequestIdleCallback\b", text)
