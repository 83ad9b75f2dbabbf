"""The app and its pages without a browser, at an address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120  # that a run of a page may take


def app_at(page: str) -> AppTest:
    """The app at a page, which has not run yet."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    app.switch_page(f"ui/pages/{page}.py")
    return app


def visited(app: AppTest, query: Mapping[str, str]) -> AppTest:
    """The session at another address."""
    app.query_params.clear()
    app.query_params.update(query)
    return app.run()


def page_alone(page: str) -> AppTest:
    """A page without the app around it, which has not run yet."""
    return AppTest.from_file(str(ROOT / f"ui/pages/{page}.py"), default_timeout=SECONDS)


def open_page(page: str, **query: str) -> AppTest:
    """A page without the app around it, at an address."""
    return checked(visited(page_alone(page), query))


def checked(page: AppTest) -> AppTest:
    """A page that shows no exception."""
    assert not page.exception, page.exception
    return page


def control(elements: Any, label: str) -> Any:
    """The one control of a kind that has a label."""
    [found] = [element for element in elements if element.label == label]
    return found


def has_scene(app: AppTest) -> bool:
    """Whether there is a scene."""
    return any(getattr(element, "key", None) == "scene" for element in app.main)
