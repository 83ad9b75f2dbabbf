"""The Write page in a browser: typing, marks, buttons, keys, a reload, and the way to the scene."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.scene import ready

EDITOR = ".cm-content"
PROBLEMS = ".problems:not(.stale) li"
VERDICT = "p.next"

# C = A * B for one tile; `wait` is what is between the copies and the products.
TILED = """\
#define T 4
__global__ void product(const float* x, const float* y, float* z, int m, int n, int k) {
    __shared__ float a[T][T], b[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    for (int t = 0; t < (k + T - 1) / T; ++t) {
        a[ty][tx] = row < m && t * T + tx < k ? x[row * k + t * T + tx] : 0;
        b[ty][tx] = col < n && t * T + ty < k ? y[(t * T + ty) * n + col] : 0;
        wait
        for (int i = 0; i < T; ++i) sum += a[ty][i] * b[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) z[row * n + col] = sum;
}"""
RIGHT = TILED.replace("wait", "__syncthreads();")
RACE = TILED.replace("        wait\n", "")

# Texts that are too small for a room.
SMALL = """() => [...document.querySelectorAll(".stApp *")].filter((one) =>
  parseFloat(getComputedStyle(one).fontSize) < 14 && one.checkVisibility()
  && one.getBoundingClientRect().width > 1 && !one.closest(".for-screen-readers, input")
  && [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
  .map((one) => one.textContent)"""

Visit = Callable[..., Page]


def text_of(page: Page) -> str:
    """The text of a short document: the editor has no lines of a long one that are out of sight."""
    lines: list[str] = page.eval_on_selector_all(
        f"{EDITOR} .cm-line", "(lines) => lines.map((line) => line.textContent)"
    )
    return "\n".join(lines)


def write(page: Page, text: str) -> Page:
    """Replace all that the editor holds by a text, as a paste does."""
    page.wait_for_selector(EDITOR)
    page.click(EDITOR)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    return page


def test_a_mistake_is_marked_while_one_types_and_its_fix_is_a_button(visit: Visit) -> None:
    page = write(visit("/write"), "")
    typed = "__global__ void f(float* x) { x[0] = y; }"
    for letter in typed:
        page.keyboard.press("Space" if letter == " " else letter, delay=40)
        if letter == "{":
            page.keyboard.press("Delete")  # the bracket that the editor closes by itself
        if letter in "([":
            page.keyboard.press("Delete")
    expect(page.locator(PROBLEMS).first).to_contain_text("undeclared identifier")
    assert text_of(page) == typed
    assert page.locator(".cm-lintRange-error").first.text_content() == "y"
    write(page, "__global__ void f(float* x) { x[0] = 1 }")
    page.locator(".problems .fix").first.click()
    expect(page.locator(PROBLEMS)).to_have_count(0)
    assert text_of(page) == "__global__ void f(float* x) { x[0] = 1; }"


def test_a_text_that_was_not_checked_and_open_hints_outlive_a_reload(visit: Visit) -> None:
    """And another address in the same tab opens its own text."""
    page = write(visit("/write"), "__global__ void unfinished(")
    expect(page.locator(PROBLEMS).first).to_be_visible()
    page.reload()
    expect(page.locator(EDITOR)).to_contain_text("unfinished")
    page.goto(f"{page.url.partition('?')[0]}?exercise=barriers")
    expect(page.locator(".cm-line").first).to_have_text("#define TILE 16")
    page.get_by_role("button", name="Hint 1 of").click()
    expect(page.get_by_text("Hint 1.")).to_be_visible()
    page.wait_for_function("sessionStorage.getItem('tilewise_progress')")
    assert page.evaluate(SMALL) == []
    page.reload()
    expect(page.get_by_text("Hint 1.")).to_be_visible()


def test_a_text_is_heard_where_the_browser_keeps_nothing_or_what_is_no_text(visit: Visit) -> None:
    page = visit("/write")
    page.wait_for_selector(EDITOR)
    page.evaluate("sessionStorage.setItem('tilewise_text', JSON.stringify({text: 5}))")
    page.reload()
    page.wait_for_selector(EDITOR)
    assert "__global__" in text_of(page)
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    write(page, "__global__ void f(float* x) { x[0] = y; }")
    expect(page.locator(PROBLEMS).first).to_contain_text("undeclared identifier")


def test_a_file_is_opened_together_with_its_header(visit: Visit) -> None:
    page = visit("/write")
    page.wait_for_selector(EDITOR)
    page.get_by_role("button", name="File and link").click()
    kernel = b'#include "size.h"\n__global__ void k(float* x) { x[size()] = 1; }\n'
    header = b"#pragma once\n__device__ int size() { return z; }\n"
    page.locator("input[type=file]").set_input_files(
        [
            {"name": "k.cu", "mimeType": "text/plain", "buffer": kernel},
            {"name": "size.h", "mimeType": "text/plain", "buffer": header},
        ]
    )
    expect(page.locator(".cm-line").nth(2)).to_have_text("// ==== file: size.h ====")
    expect(page.locator(PROBLEMS)).to_contain_text(["size.h, line 2"])


def test_a_hazard_opens_the_scene_and_the_text_is_there_again_to_be_mended(visit: Visit) -> None:
    page = write(visit("/write"), RACE)
    page.keyboard.press("Control+Enter")
    expect(page.locator(VERDICT)).to_have_class("next hazard")
    expect(page.locator(".cm-lintRange-warning")).not_to_have_count(0)
    page.get_by_role("button", name="Show it").first.click()
    ready(page)
    title = page.locator(".st-key-scene .gtitle").text_content() or ""
    assert not title.startswith("Step 1 of"), title
    page.get_by_role("link", name="Write").click()
    page.wait_for_selector(EDITOR)
    assert text_of(page) == RACE
    write(page, RIGHT).keyboard.press("Control+Enter")
    expect(page.locator(VERDICT)).to_have_class("next right")
    assert page.locator(".checks .right").count() > 4
    assert page.evaluate(SMALL) == []
    assert "own=" in page.url
    page.reload()
    expect(page.locator(".cm-line").first).to_have_text("#define T 4")
    assert text_of(page) == RIGHT
