"""Whether a key is for the scene or for the control that has the focus."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, expect

from simulator import catalogue
from tests.browser.conftest import Open
from tests.browser.scene import at_rest, next_beat, opened, ready, setting, settled, until, where
from ui.view.presets import presets
from ui.view.view_url import to_query

pytestmark = pytest.mark.browser

PRESET = next(preset for preset in presets() if preset.view.step)


def switch(page: Page) -> None:
    page.get_by_role("button", name="What if").click()
    page.get_by_text("Remove the second barrier").click()
    settled(page, edits="first-barrier.second-barrier")


def kernel(page: Page) -> None:
    page.get_by_role("combobox", name="Kernel").click()
    page.get_by_role("option").filter(has_text="padded").click()
    settled(page, kernel="padded", edits="first-barrier")


def macro(page: Page) -> None:
    opened(page, "More", "TILE")
    page.get_by_role("combobox", name="TILE").click()
    page.get_by_role("option", name="2", exact=True).click()
    settled(page, TILE="2")


def preset(page: Page) -> None:
    page.get_by_role("button", name="Presets").click()
    page.get_by_role("button", name=PRESET.name, exact=True).click()
    settled(page, **to_query(PRESET.view))


def number(page: Page) -> None:
    setting(page, "Thread x").dblclick()
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    settled(page, tx="2")


def download(page: Page) -> None:
    with page.expect_download():
        page.get_by_role("button", name="More").click()
        page.get_by_role("button", name="Counters by line, CSV").click()


def what_changed(page: Page) -> None:
    page.get_by_role("button", name="What if").click()
    page.get_by_text("What the edit changed").click()
    expect(page.get_by_test_id("stCode")).to_be_visible()


def hazards(page: Page) -> None:
    page.locator(".st-key-hazards button").click()
    expect(page.get_by_text("read-after-write").first).to_be_visible()


def help_text(page: Page) -> None:
    setting(page, "M")
    page.get_by_role("button", name="Help for M").click()


def way_back(page: Page) -> None:
    setting(page, "M")
    page.get_by_text("What the compiler made of it").click()  # in the menu, which stays open
    page.get_by_role("heading", name="What the compiler made of it").first.wait_for()
    page.get_by_role("link", name="GPU").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=30_000)
    page.get_by_role("link", name="Step").click()
    settled(ready(page), edits="first-barrier")


def toolbar(page: Page) -> None:
    page.get_by_role("button", name="Statement forward").click()


def shown(page: Page) -> dict[str, str]:
    """The view in the address, but for its step."""
    query = dict(parse_qsl(urlsplit(page.url).query))
    return {name: text for name, text in query.items() if name != "step"}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "use",
    [
        kernel, number,
        *(pytest.param(use, marks=pytest.mark.deep)
          for use in (switch, preset, macro, download, what_changed, hazards, help_text, way_back,
                      toolbar)),
    ],
)  # fmt: skip
def test_after_a_click_on_a_control_keys_are_the_scenes(
    visit: Open, use: Callable[[Page], None]
) -> None:
    page = ready(visit("/step?edits=first-barrier"))
    use(page)
    ready(page)
    here, last = where(page)
    before = shown(page)
    beat = next_beat(page)
    for key, step in (
        ("ArrowDown", here + 1), ("ArrowUp", here), ("ArrowRight", beat), ("End", last),
        ("Home", 1),
    ):  # fmt: skip
        page.keyboard.press(key)
        until(page, f"Step {step} of")
    play = page.get_by_role("button", name="Play or pause")
    page.keyboard.press("Space")
    expect(play).to_have_text("Pause")
    until(page, f"Step {next_beat(page)} of")
    page.keyboard.press("Space")
    expect(play).to_have_text("Play")
    at_rest(page)  # the address tells the step
    assert shown(page) == before, "no key has used the control again"


def test_an_open_list_and_a_field_that_is_typed_into_have_their_keys(visit: Open) -> None:
    page = ready(visit("/step?step=9"))
    box = page.get_by_role("combobox", name="Kernel")
    box.click()
    for key in ("ArrowDown", "ArrowRight", "Home", "ArrowDown", "Escape"):
        expect(box).to_have_attribute("aria-expanded", "true")
        page.keyboard.press(key)
    expect(box).to_have_attribute("aria-expanded", "false")
    assert where(page)[0] == 9
    field = setting(page, "K")
    field.click()
    for key in ("End", "ArrowLeft", "Home", "1", "ArrowRight", "b"):
        page.keyboard.press(key)
    assert field.input_value() == "18"
    assert where(page)[0] == 9
    page.keyboard.press("ArrowUp")  # Streamlit takes this one at once
    assert field.input_value() == "19"
    page.keyboard.press("Enter")
    settled(page, K="19")
    until(page, "Step 10 of")
    page.keyboard.press("ArrowDown")
    until(page, "Step 11 of")


@pytest.mark.deep
def test_a_kernel_is_chosen_by_keys(visit: Open) -> None:
    page = ready(visit("/step?step=9"))
    box = page.get_by_role("combobox", name="Kernel")
    box.click()
    for key in ("ArrowDown", "ArrowRight", "Home", "ArrowDown"):
        expect(box).to_have_attribute("aria-expanded", "true")
        page.keyboard.press(key)
    assert where(page)[0] == 9
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "kernel=" in address)
    [name] = [text for key, text in parse_qsl(urlsplit(page.url).query) if key == "kernel"]
    until(page, f"Step {catalogue()[name].opens['step']} of")


@pytest.mark.deep
def test_after_a_pace_is_chosen_by_mouse_keys_are_the_scenes_where_open_is_unknown(
    visit: Open,
) -> None:
    """As in WebKit, whose lists take the keys while they are open."""
    page = visit("/step?step=9")
    page.add_init_script(
        "const known = CSS.supports.bind(CSS);"
        "CSS.supports = (...asked) => asked[0] !== 'selector(:open)' && known(...asked)"
    )
    page.reload()
    ready(page)
    pace = page.get_by_label("Beats a second")
    for choose in (True, False):  # or the list is closed without a choice
        pace.dispatch_event("pointerdown")
        pace.focus()
        if choose:
            pace.select_option("4")
            expect(pace).not_to_be_focused()
        page.keyboard.press("ArrowDown")
        until(page, f"Step {10 if choose else 11} of")
    expect(pace).to_have_value("4")
    page.close()


@pytest.mark.deep
def test_a_control_that_was_tabbed_to_has_space_and_the_scene_the_arrows(visit: Open) -> None:
    page = ready(visit("/step?step=1"))
    switch = page.get_by_role("checkbox", name="Remove the first barrier")
    page.get_by_role("button", name="What if").click()
    switch.wait_for()
    page.keyboard.press("Tab")
    expect(switch).to_be_focused()
    page.keyboard.press("Space")
    settled(page, edits="first-barrier")
    expect(switch).to_be_hidden()
    assert where(page)[0] == 1
    expect(page.locator("#scene")).to_be_focused()
    page.keyboard.press("ArrowDown")
    until(page, "Step 2 of")
    button = page.get_by_role("button", name="What if")
    button.focus()
    page.keyboard.press("Space")
    expect(switch).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    until(page, "Step 3 of")
    expect(switch).to_be_focused()
    page.keyboard.press("Space")
    settled(page, edits="")


@pytest.mark.deep
def test_all_keys_are_listed_where_asked_for(visit: Open) -> None:
    page = ready(visit("/step?step=9"))
    keys = page.get_by_role("dialog", name="Keys")
    for close in ("Escape", "?"):
        page.keyboard.press("?")
        expect(keys).to_contain_text("next barrier")
        page.keyboard.press("ArrowDown")
        assert where(page)[0] == 9, "a list that is open has its keys"
        page.keyboard.press(close)
        expect(keys).to_be_hidden()
    page.keyboard.press("p")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("?")
    page.keyboard.press("ArrowDown")
    until(page, "Step 10 of")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keys", exact=True).click()
    keys.get_by_role("button", name="Close").click()
    expect(keys).to_be_hidden()
    page.keyboard.press("ArrowUp")
    until(page, "Step 9 of")


PRESS_AT_CLICK = """(keys) => document.body.addEventListener('click', () => {
  for (const key of keys) {
    const pressed = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(pressed);
  }
}, { once: true })"""  # before React has closed the list that was chosen from


def test_keys_during_a_load_are_for_the_scene_that_comes(visit: Open) -> None:
    page = ready(visit("/step?kernel=naive&step=5"))
    page.keyboard.press("ArrowDown")
    page.get_by_role("button", name="Presets").click()
    page.get_by_role("button", name=PRESET.name, exact=True).click()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    settled(page, **to_query(PRESET.view) | {"step": str(PRESET.view.step + 3)})
    until(page, f"Step {PRESET.view.step + 3} of")
    page.get_by_role("combobox", name="Kernel").click()
    page.evaluate(PRESS_AT_CLICK, ["End", "ArrowUp"])
    page.get_by_role("option").filter(has_text="Padded").click()
    settled(page, kernel="padded")
    number, last = where(page)
    assert number == last - 1
    page.keyboard.press("s")
    settled(page, stage="registers")
    assert where(page)[0] == last - 1, "a key is done again in another scene alone"


PUT_ANEW = """() => {
  let at = document.querySelector('.stepper');
  while (!at.__tilewise) at = at.parentNode;
  at.__tilewise.close();
  delete at.__tilewise;
  document.querySelector('.stepper').classList.remove('presenting');
  document.querySelector('.stepper .picture').replaceChildren();
}"""  # as Streamlit does under load


@pytest.mark.deep
def test_a_scene_that_is_put_there_anew_goes_on_at_its_step(visit: Open) -> None:
    page = ready(visit("/step?kernel=padded&M=16&N=12&K=16&bx=1&tx=3&ty=2"))
    settled(page)
    for key in ("PageDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    number, last = where(page)
    assert number > 3
    page.evaluate(PUT_ANEW)  # before Python has heard of the step
    field = setting(page, "Thread y")
    field.fill("5")
    field.blur()  # at Enter a player would let go of it, which may not be there again
    settled(page, ty="5", step=str(number))
    assert where(page) == (number, last)
    page.keyboard.press("ArrowDown")
    until(page, f"Step {number + 1} of")


@pytest.mark.deep
def test_a_scene_that_is_put_there_anew_is_still_presented(visit: Open) -> None:
    page = ready(visit("/step?step=2"))
    settled(page, step="2")
    page.keyboard.press("p")
    header = page.locator(".stAppHeader")
    expect(header).to_be_hidden()
    settled(page, step="2")
    page.evaluate(PUT_ANEW)
    expect(header).to_be_visible()
    field = setting(page, "Thread y")
    field.fill("1")
    field.blur()
    settled(page, ty="1", step="2")
    expect(header).to_be_hidden()
    page.keyboard.press("Escape")
    expect(header).to_be_visible()
