"""Prints how fast the Write page answers, in headless Chromium.

Run it as `python -m tools.benchmarks.writing`. A mark is from the key that makes a mistake until
its mark is painted in the editor. A verdict is from the click on Check until it is on the page; the
first one is in an app that has just started and has judged nothing.
"""

from __future__ import annotations

import statistics
import time

from playwright.sync_api import Page

from simulator import catalogue
from tests.browser.app import AS_USUAL, browser, driver, running_app

KEYS = 12
VERDICT = "p.next"
MARKED = ".cm-lintRange-error"


def open_page(page: Page, address: str, query: str = "") -> Page:
    page.goto(f"{address}/write{query}")
    page.wait_for_selector(".cm-content")
    page.wait_for_selector("p.launched")
    return page


def time_verdict(page: Page) -> float:
    """Seconds from Check to the verdict."""
    begun = time.perf_counter()
    page.get_by_role("button", name="Check", exact=True).click()
    page.wait_for_selector(VERDICT)
    return time.perf_counter() - begun


def time_marks(page: Page) -> list[float]:
    """Seconds from a key to its mark, for the same mistake made and taken back."""
    found = []
    page.click(".cm-content")
    page.keyboard.press("Control+Home")
    for _ in range(KEYS):
        begun = time.perf_counter()
        page.keyboard.press("x")
        page.wait_for_selector(MARKED)
        found.append(time.perf_counter() - begun)
        page.keyboard.press("Backspace")
        page.wait_for_selector(MARKED, state="detached")
    return found


def main() -> None:
    """Print the figures."""
    with (
        driver() as playwright,
        browser(playwright) as chromium,
        running_app(**AS_USUAL) as address,
    ):
        page = open_page(chromium.new_page(), address)
        print(f"first verdict, of the tiled kernel: {time_verdict(page):.2f} s")
        marks = time_marks(page)
        print(f"mark after a key: {statistics.median(marks):.2f} s, at most {max(marks):.2f} s")
        for name in catalogue():
            seconds = time_verdict(open_page(chromium.new_page(), address, f"?kernel={name}"))
            print(f"verdict, {name}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
