"""A link with a user kernel, in a browser: its steps and a click."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import pytest

from tests.browser.conftest import Open
from tests.browser.scene import click, ready, settled, spot, until, where
from tests.ui.user_kernels import REDUCTION
from ui.drawing.hit import Hit
from ui.drawing.look import Stage
from ui.view.view_url import View, to_query

pytestmark = [pytest.mark.browser, pytest.mark.deep]


def test_a_reduction_is_stepped_and_clicked(visit: Open) -> None:
    view = View(user_kernel=REDUCTION, stage=Stage.THREADS)
    query = to_query(view)
    page = ready(visit(f"/step?{urlencode(query)}"))
    until(page, "Step 1 of 38")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    until(page, "Step 5 of 38")
    page.keyboard.press("ArrowUp")
    until(page, "Step 4 of 38")
    settled(page, step="4")
    click(page, *spot(page, replace(view, step=3), Hit("thread", 21)))
    settled(page, tx="21", step="4", own=query["own"])
    assert "reduce" in page.locator(".st-key-scene").inner_text()
    assert where(page) == (4, 38)
