"""What a GPU's clock said, on the Step page: the strip, every warp, two kernels at one scale."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from gpu.trace.phases import compare
from gpu.trace.recorded import traces_of_one_gpu_first
from tests.browser.conftest import Open
from tests.browser.scene import ready, until

pytestmark = pytest.mark.browser
ADDRESS = "/step?kernel=transposed&step=15"


def stage(page: Page) -> list[str]:
    """The stage that the address holds."""
    return parse_qs(urlsplit(page.url).query).get("stage", [])


def test_the_strip_follows_the_steps_and_c_opens_every_warp(visit: Open) -> None:
    page = ready(visit(ADDRESS))
    texts = page.locator(".st-key-scene text")
    expect(texts.filter(has_text="traced")).to_have_count(1)
    expect(texts.filter(has_text="Measured: warp 0, inner loop: ")).to_have_count(1)
    page.keyboard.press("b")
    expect(texts.filter(has_text="Measured: warp 0, wait: ")).to_have_count(1)
    button = page.locator(".stepper [data-do=clock]")
    expect(button).to_have_attribute("title", "The GPU's clock: every warp of a block in measured "
                                              "cycles (C)")  # fmt: skip
    page.keyboard.press("c")
    page.wait_for_url("**stage=clock**")
    expect(texts.filter(has_text="One tile of block")).to_have_count(1)
    expect(texts.filter(has_text="wavefronts").first).to_be_visible()
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    page.wait_for_function("() => !location.search.includes('stage=')")
    expect(texts.filter(has_text="One tile of block")).to_have_count(0)
    assert stage(page) == []


@pytest.mark.deep
def test_two_kernels_have_the_sentence_that_tells_them_apart(visit: Open) -> None:
    run = traces_of_one_gpu_first()[0]
    slow, fast = (
        run.find(name, (2048, 2048, 2048)) for name in ("transposed:TILE=32", "padded:TILE=32")
    )
    assert slow is not None
    assert fast is not None
    page = ready(visit(f"{ADDRESS}&with=padded"))
    until(page, "Step 15 of")
    texts = page.locator(".st-key-scene text")
    expect(texts.filter(has_text=compare(slow, fast))).to_have_count(1)
    expect(texts.filter(has_text="32 wavefronts instead of 1 for each read of Bs")).to_have_count(1)
    expect(page.locator(".stepper [data-do=clock]")).to_be_visible()
