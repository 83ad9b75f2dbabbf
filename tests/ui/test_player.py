"""The player's modules without a page, with the Node that comes with Playwright."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from ui.web_page.web_files import read_script

NODE, _ = compute_driver_executable()
COMPONENTS = ("stepper.js", "stops_page.js", "lesson_scene_page.js")
SCRIPTS = ("animation.js", "published.js", "lesson_file.js")  # of files, which are no modules


def run_node(*arguments: str | Path) -> None:
    done = subprocess.run([NODE, *arguments], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_modules_do_what_their_tests_say() -> None:
    run_node("--test", Path(__file__).with_name("player.test.mjs"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, "mjs") for name in COMPONENTS), *((name, "cjs") for name in SCRIPTS)],
)
def test_modules_are_joined_to_one_script(name: str, kind: str, tmp_path: Path) -> None:
    """Two of a name, or an import or export that is left, are errors of syntax."""
    script = tmp_path / f"script.{kind}"
    script.write_text(read_script(name), encoding="utf-8")
    run_node("--check", script)
    assert "\nimport " not in script.read_text(encoding="utf-8")
