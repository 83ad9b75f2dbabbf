"""A link with a user kernel, in a browser: its steps, a click, and the link once more."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import pytest

from tests.browser.conftest import Open
from tests.browser.scene import alike, click, picture, ready, settled, spot, until, where
from tests.ui.user_kernels import REDUCTION
from ui.drawing.hit import Hit
from ui.drawing.look import Stage
from ui.view.view_url import View, to_query

pytestmark = pytest.mark.browser


def test_a_reduction_is_stepped_clicked_and_opened_again(visit: Open) -> None:
    view = View(user_kernel=REDUCTION, stage=Stage.THREADS)
    query = to_query(view)
    page = ready(visit(f"/step?{urlencode(query)}"))
    until(page, "Step 1 of 38")
    for step in range(2, 6):
        page.keyboard.press("ArrowDown")
        until(page, f"Step {step} of 38")
    page.keyboard.press("ArrowUp")
    until(page, "Step 4 of 38")
    settled(page, step="4")
    click(page, *spot(page, replace(view, step=3), Hit("thread", 21)))
    settled(page, tx="21", step="4", own=query["own"])
    before = picture(page)
    assert "reduce" in page.locator(".st-key-scene").inner_text()
    page.reload()
    ready(page)
    until(page, "Step 4 of 38")
    settled(page, tx="21", step="4", own=query["own"])
    assert where(page) == (4, 38)
    assert alike(picture(page), before)
