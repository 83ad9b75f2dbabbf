"""Colours between two of a palette, as strong as the text upon them allows."""

from __future__ import annotations

import functools

from ui.drawing.palette import Palette

LEAST_CONTRAST = 4.6  # of text; the Web Content Accessibility Guidelines ask for 4.5
STRONGEST = 0.45  # of the second colour
STEPS = 15


def lit(palette: Palette, iteration: int) -> str:
    """The fill of a tile's cells that stand out, on which the text is still read."""
    i = iteration % len(palette.tiles)
    return _readable_mix(palette.tiles[i], palette.tile_edges[i], palette.ink)


def fading(palette: Palette, share: float) -> str:
    """The fill of a sum on its way into C: from a cell's, at 0, half-way to what is stored."""
    return mix(palette.cell, palette.done, 0.15 + 0.45 * share)


@functools.lru_cache(maxsize=256)
def _readable_mix(first: str, second: str, ink: str) -> str:
    shares = [STRONGEST * i / STEPS for i in range(STEPS, -1, -1)]
    mixes = (mix(first, second, share) for share in shares)
    return next((colour for colour in mixes if contrast(colour, ink) >= LEAST_CONTRAST), first)


@functools.lru_cache(maxsize=1024)
def mix(first: str, second: str, share: float) -> str:
    """A colour between two, `share` of the second.

    >>> mix("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def contrast(first: str, second: str) -> float:
    """The contrast of two colours, from 1 to 21, as WCAG 2.2 defines it.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue
