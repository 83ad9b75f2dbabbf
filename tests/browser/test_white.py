"""How much of a presentation is white: a projector's screen is to be used for what is taught."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser

from ui.drawing.look import Look
from ui.drawing.palette import PALETTES
from ui.drawing.svg import draw_svg
from ui.run.compute import load_drawing, load_navigation
from ui.view.presets import Preset, presets

pytestmark = pytest.mark.browser

SQUARES = 40  # in the picture's height
BEATS = 4  # of each preset, its first and its last among them
MOST = 0.25


def white_share(picture: Image.Image, grounds: tuple[str, ...]) -> float:
    """The share of the picture's squares that hold nothing but one of some colours, "#rrggbb"."""
    pixels = np.asarray(picture.convert("RGB"))
    is_ground = np.zeros(pixels.shape[:2], np.bool_)
    for colour in grounds:
        is_ground |= (pixels == [int(colour[i : i + 2], 16) for i in (1, 3, 5)]).all(axis=2)
    side = pixels.shape[0] // SQUARES
    down, across = (size // side for size in pixels.shape[:2])
    squares = is_ground[: down * side, : across * side].reshape(down, side, across, side)
    return float(squares.all(axis=(1, 3)).mean())


def test_a_square_is_white_if_nothing_is_in_it() -> None:
    picture = Image.new("RGB", (80, 40), "#ffffff")
    assert white_share(picture, ("#ffffff",)) == 1
    picture.paste("#eeeeee", (0, 0, 40, 40))
    picture.putpixel((60, 20), (0, 0, 0))
    assert white_share(picture, ("#ffffff",)) == 0.5 - 1 / 3200
    assert white_share(picture, ("#ffffff", "#eeeeee")) == 1 - 1 / 3200


@pytest.mark.sample(18)
@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.name)
def test_no_beat_of_a_preset_leaves_more_than_a_quarter_white(
    chromium: Browser, preset: Preset, request: pytest.FixtureRequest
) -> None:
    view, look = preset.view, Look(stage=preset.view.stage, presenting=True)
    palette = PALETTES[look.theme]
    drawing, beats = load_drawing(view, look), load_navigation(view)["beat"]
    if not request.config.getoption("--deep"):
        beats = [beats[i] for i in np.linspace(0, len(beats) - 1, BEATS).astype(int)]
    page = chromium.new_page(viewport={"width": look.width, "height": look.height})
    shares = {}
    for beat in {*beats, view.step}:
        figure = drawing.plain(range(beat, beat + 1))
        page.set_content(f"<style>body {{ margin: 0 }}</style>{draw_svg(figure)}")
        picture = Image.open(io.BytesIO(page.screenshot()))
        shares[beat + 1] = white_share(picture, (palette.paper, palette.far, palette.near))
    page.close()
    assert {step: share for step, share in shares.items() if share > MOST} == {}
