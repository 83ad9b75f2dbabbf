"""A published folder as a student opens it: on a phone and on a projector, without a server."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import legibility
from tests.browser.conftest import note_errors
from tests.browser.legibility import READ, FigurePage, figure_page
from tests.browser.scene import SHADE, swipe
from tests.browser.test_accessibility import violations
from tests.ui.test_publish import LARGEST
from ui.drawing.look import Look
from ui.drawing.palette import PALETTES
from ui.publish import VIEWPORTS, list_pages, picture_svg, publish
from ui.run.standalone import run_view

pytestmark = pytest.mark.browser

PAGES = {page.name: page for page in list_pages([])}
SINGLE, PAIR = "4 × 4 in tiles of 2 × 2", "Uncoalesced | naive"
PHONE, PROJECTOR = (390, 844), (1280, 720)
QUICK = ((PAIR, PROJECTOR, "dark"),)  # read without --deep
READ_BY = "test_a_published_scene_can_be_read_and_is_not_too_large_for_a_phone"
ROOM_OF = {PHONE: "phone", PROJECTOR: "wide"}


# On a busy machine a value may have landed before somebody looks.
WATCH_MOTIONS = """() => new MutationObserver(() => {
  window.hasFlown ||= document.querySelector(".motions .flying") !== null;
}).observe(document, {subtree: true, childList: true})"""


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two presets, and those that tests of this run read."""
    made = tmp_path_factory.mktemp("published") / "pages"
    read = {SINGLE, PAIR} | {
        item.callspec.params["name"] for item in request.session.items
        if isinstance(item, pytest.Function) and item.originalname == READ_BY
        and item.path == request.path
    }  # fmt: skip
    list(publish(made, [page for page in PAGES.values() if page.name in read]))
    return made


Windows = dict[tuple[int, int], BrowserContext]


@pytest.fixture(scope="module")
def windows(chromium: Browser) -> Iterator[Windows]:
    """A phone's and a projector's, in which a tab stays open, as in Screens."""
    made = {
        (width, height): chromium.new_context(
            viewport={"width": width, "height": height},
            has_touch=is_phone, is_mobile=is_phone,
        )
        for width, height in (PHONE, PROJECTOR)
        for is_phone in [(width, height) == PHONE]
    }  # fmt: skip
    for context in made.values():
        context.new_page()
    yield made
    for context in made.values():
        context.close()


@contextmanager
def opened(windows: Windows, size: tuple[int, int], scheme: str, home: str) -> Iterator[Page]:
    """The index in a window; its pages ask for nothing outside the folder and write no error."""
    page = windows[size].new_page()
    page.emulate_media(color_scheme=scheme)
    errors = note_errors(page)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((f"{home}/", "data:"))
        else errors.append(asked.url),
    )  # fmt: skip
    page.goto(f"{home}/index.html")
    yield page
    page.close()
    assert errors == []


def ready(page: Page) -> Page:
    page.wait_for_selector(".plot[data-ready]")
    return page


def step(page: Page) -> int:
    title = page.locator(".gtitle").text_content() or ""
    found = re.match(r"Step (\d+) of \d+", title)
    assert found, title
    return int(found[1])


def layout(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("document.querySelector('.plot').layout")
    return found


@pytest.mark.parametrize(
    ("size", "scheme"),
    [(PHONE, "light"),
     pytest.param(PROJECTOR, "dark", marks=pytest.mark.deep),
     pytest.param(PHONE, "dark", marks=pytest.mark.deep),
     pytest.param(PROJECTOR, "light", marks=pytest.mark.deep)],
)  # fmt: skip
def test_a_folder_is_read_from_its_files(
    windows: Windows, folder: Path, size: tuple[int, int], scheme: str
) -> None:
    assert len([*folder.rglob("*plotly*")]) == 1
    with opened(windows, size, scheme, folder.as_uri()) as page:
        for picture in page.locator("img").all():
            picture.scroll_into_view_if_needed()
            expect(picture).to_have_js_property("complete", True)
            expect(picture).to_have_js_property("naturalWidth", 1240)
        source = page.locator("img").first.evaluate("(one) => one.currentSrc")
        assert source.endswith(f"-{scheme}.svg")
        page.get_by_role("link", name=SINGLE).click()
        ready(page)
        assert page.title() == f"{SINGLE} · Tilewise"
        expect(page.get_by_role("heading", level=1)).to_have_text(SINGLE)
        expect(page.get_by_text(PAGES[SINGLE].text)).to_be_visible()
        drawn = layout(page)
        room = VIEWPORTS[ROOM_OF[size]]
        assert drawn["width"] == room.width
        paper = {"light": "rgb(255, 255, 255)", "dark": "rgb(14, 20, 32)"}[scheme]
        body = page.evaluate("getComputedStyle(document.body).backgroundColor")
        picture = page.evaluate("getComputedStyle(document.querySelector('.main-svg')).background")
        assert body == paper
        assert picture.startswith(paper)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert step(page) == PAGES[SINGLE].view.step + 1
        page.keyboard.press("ArrowDown")
        assert step(page) == PAGES[SINGLE].view.step + 2
        page.keyboard.press("Home")
        if size == PHONE:
            for across, there in ((-90, 10), (-90, 11), (90, 10)):
                swipe(page, across)
                page.wait_for_function(
                    "(title) => document.querySelector('.gtitle')?.textContent.startsWith(title)",
                    arg=f"Step {there} of",
                )
        else:
            assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
            page.get_by_role("button", name="Statement forward").click()
            assert step(page) == 2
        timeline = page.get_by_role("slider", name="Step")
        box = timeline.bounding_box()
        assert box is not None
        timeline.click(position={"x": box["width"] - 2, "y": 5})
        assert step(page) == 41
        page.get_by_role("link", name="All scenes").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Tilewise")
        page.get_by_role("link", name=PAIR).click()
        assert step(ready(page)) == PAGES[PAIR].view.step + 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.go_back()
        expect(page.get_by_role("link", name=PAIR)).to_be_visible()


@pytest.mark.deep
def test_what_moves_is_seen_and_the_window_and_colours_may_change(
    windows: Windows, folder: Path
) -> None:
    with opened(windows, PROJECTOR, "light", folder.as_uri()) as page:
        page.get_by_role("link", name=SINGLE).click()
        ready(page)
        page.keyboard.press("Home")
        page.evaluate(WATCH_MOTIONS)
        page.keyboard.press(" ")
        page.wait_for_function("window.hasFlown")
        page.keyboard.press(" ")
        there = step(page)
        assert there > 1
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        page.wait_for_function("document.querySelector('.plot')?.layout?.width === 370")
        page.emulate_media(color_scheme="dark")
        dark = "document.querySelector('.plot')?.layout?.paper_bgcolor === '#0e1420'"
        page.wait_for_function(dark)
        assert page.locator(".plot").count() == 1
        assert step(page) == there


@pytest.mark.deep
@pytest.mark.parametrize(
    ("size", "scheme"), [(PROJECTOR, "dark"), pytest.param(PHONE, "light", marks=pytest.mark.deep)]
)
def test_any_web_server_may_have_it_and_axe_finds_nothing_serious(
    windows: Windows, folder: Path, size: tuple[int, int], scheme: str
) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = partial(Quiet, directory=str(folder.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        home = f"http://127.0.0.1:{server.server_port}/{folder.name}"
        with opened(windows, size, scheme, home) as page:
            found = violations(page)
            page.get_by_role("link", name=PAIR).click()
            assert step(ready(page)) == PAGES[PAIR].view.step + 1
            found += violations(page)
        server.shutdown()
        thread.join()
    assert found == []


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "theme"),
    [
        pytest.param(
            name, theme,
            marks=[] if (name, theme) == (PAIR, "dark") else pytest.mark.deep,
        )
        for number, name in enumerate(PAGES)
        for theme in (PALETTES if name in (SINGLE, PAIR) else [list(PALETTES)[number % 2]])
    ],
)  # fmt: skip
def test_a_picture_is_what_plotly_draws(
    chromium: Browser, tmp_path: Path, name: str, theme: str
) -> None:
    page = PAGES[name]
    look = replace(VIEWPORTS["wide"], theme=theme, stage=page.view.stage)
    step, run = page.view.step, run_view(page.view)
    picture = tmp_path / "picture.svg"
    picture.write_text("".join(picture_svg(page, run, theme)), encoding="utf-8")
    figure = run.draw(look).plain(range(step, step + 1))
    with figure_page(chromium) as drawn:
        drawn.draw(figure, look)
        drawn.show(step)
        expected = drawn.picture().astype(int)
        drawn.page.goto(picture.as_uri())
        legibility.load_fonts(drawn.page)
        data = drawn.page.screenshot()
    shown = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    assert shown.shape == expected.shape
    apart = np.abs(shown - expected).max(axis=2) > SHADE
    assert apart.mean() < 0.02  # where letters and lines are between two pixels
    blocks = apart[:600, :1240].reshape(30, 20, 62, 20).mean(axis=(1, 3))
    assert blocks.max() < 0.4, "no letter is elsewhere, no cell of another colour"


class PublishedPage(FigurePage):
    """A published page, read as a figure of its own is."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.add_script_tag(content=READ.read_text(encoding="utf-8"))
        page.add_style_tag(content=".no-texts svg text { visibility: hidden !important; }")
        page.evaluate("() => { shown = player.scene.plot; }")
        left, top, right, bottom = page.evaluate(
            "() => { const box = shown.getBoundingClientRect();"
            " return [box.left, box.top, box.right, box.bottom]; }"
        )
        self.room = (left, top, right, bottom)

    def draw(self, *_: Any) -> None:
        """It is drawn."""

    def show(self, step: int) -> None:
        """Show one of its steps."""
        self.page.evaluate("(n) => player.show(n)", step)


@pytest.mark.parametrize(
    ("name", "size", "scheme"),
    [
        pytest.param(
            *one, marks=[] if one in QUICK else pytest.mark.deep,
        )
        for number, name in enumerate(PAGES)
        for place, screen in enumerate(product((PHONE, PROJECTOR), ("light", "dark")))
        if (one := (name, *screen)) in QUICK or number % 4 == place
    ],
)  # fmt: skip
def test_a_published_scene_can_be_read_and_is_not_too_large_for_a_phone(
    windows: Windows, folder: Path, name: str, size: tuple[int, int], scheme: str
) -> None:
    assert (folder / PAGES[name].file).stat().st_size <= LARGEST
    with opened(windows, size, scheme, folder.as_uri()) as page:
        page.goto((folder / PAGES[name].file).as_uri())
        ready(page)
        whole = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": size[0], "height": max(size[1], whole)})
        look = Look(width=size[0], height=size[1])
        last = page.evaluate("navigation.steps") - 1
        steps = sorted({0, PAGES[name].view.step, last // 2, last})
        faults = legibility.find_faults(
            {}, look, PublishedPage(page), steps, is_pair=PAGES[name].view.comparison is not None
        )
        assert [str(fault) for fault in faults] == []
