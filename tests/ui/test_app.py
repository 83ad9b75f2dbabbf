"""app.py: the door opens, and so does every page behind it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[2] / "app.py"
FILES = sorted((APP.parent / "ui" / "pages").glob("*.py"))
# Others hold what a page draws.
PAGES = [path.name for path in FILES if path.read_text(encoding="utf-8").endswith("draw_page()\n")]


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_file(str(APP), default_timeout=60)


@pytest.mark.parametrize("page", PAGES)
def test_a_worker_process_that_imports_a_page_draws_nothing(page: str) -> None:
    last = ast.parse((APP.parent / "ui/pages" / page).read_text(encoding="utf-8")).body[-1]
    assert isinstance(last, ast.If)
    assert ast.unparse(last.test) == "__name__ == '__main__'"


def test_every_page_has_its_entry() -> None:
    assert PAGES
    assert sorted(re.findall(r'st\.Page\(PAGES / "(\w+\.py)"', APP.read_text())) == PAGES


def test_the_door_says_what_this_is_and_offers_every_page(app: AppTest) -> None:
    app.run()
    assert not app.exception
    assert any("<h1>Tilewise</h1>" in element.proto.body for element in app.get("html"))


@pytest.mark.sample(5)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_from_the_door_with_its_style(app: AppTest, page: str) -> None:
    """Streamlit draws what is outside of the page's own place late."""
    app.run().switch_page(f"ui/pages/{page}").run()
    assert not app.exception
    assert not app.error
    styles = ["<style>" in element.proto.body for element in app.get("html")]
    assert sum(styles) >= 2  # the navigation's, and the page's
    assert sum("<style>" in element.proto.body for element in app.main.get("html")) == sum(styles)
