"""The palette's contrast, and its colours as a colour-blind reader sees them, by computation."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

import pytest
from coloraide import Color

from ui.drawing.palette import PALETTES, Palette

TEXT, OUTLINE = 4.5, 3.0  # WCAG 2.2, 1.4.3 and 1.4.11
APART = 15.0  # CIEDE2000: iterations that follow one another, on a projector that washes out
TOLD_APART = 10.0  # CIEDE2000: fills that an outline or a number tells apart as well
VISIONS = (None, "protan", "deutan", "tritan")
THEMES = pytest.mark.parametrize("theme", PALETTES)

CHANGED = ("removed", "added")
# Each text colour, and what it is on. A colour of several is each of them.
GROUNDS = {
    "ink": (
        "paper",
        "far",
        "near",
        "cell",
        "idle",
        "done",
        "tiles",
        "current_line",
        "focus_fill",
        *CHANGED,
    ),
    "faint": ("paper", "far", "near", "cell", "idle", "done", "current_line", "focus_fill"),
    "keyword": ("paper", "cell", "current_line", *CHANGED),
    "number": ("paper", "cell", "current_line", *CHANGED),
    "comment": ("paper", "cell", "current_line", *CHANGED),
    "focus": ("paper", "cell", "idle", "current_line", "focus_fill"),
    "tile_edges": ("paper", "cell"),  # names of tiles, and marks in small maps
}

# Each outline or line, and the fills that it parts from others.
OUTLINES = {
    "focus": ("paper", "cell", "idle", "done", "tiles", "current_line", "focus_fill"),
    "ink": ("paper", "cell", "idle", "done", "tiles", "focus_fill"),  # what a step touches
    "faint": ("paper", "far", "near", "cell", "idle"),  # hatches, warps
    "line": ("paper", "far", "near", "cell"),
    "tile_edges": ("paper", "cell", "idle", "done"),
}


def colours(palette: Palette, name: str) -> list[str]:
    """The colours of a field."""
    field = getattr(palette, name)
    return [field] if isinstance(field, str) else list(field)


def contrast(one: str, other: str) -> float:
    return Color(one).contrast(other, method="wcag21")


def apart(one: str, other: str, vision: str | None) -> float:
    """CIEDE2000 of two colours, as seen with both eyes' cones or without one kind of them.

    Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
    """
    seen = [Color(colour) for colour in (one, other)]
    if vision is not None:
        seen = [
            colour.filter(vision, 1, method="machado", space="srgb-linear").clip("srgb")
            for colour in seen
        ]
    return seen[0].delta_e(seen[1], method="2000")


def too_little(
    palette: Palette, pairs: dict[str, tuple[str, ...]], needed: float
) -> list[tuple[str, str, float]]:
    return [
        (f"{name} {colour}", f"{ground} {fill}", round(ratio, 2))
        for name, grounds in pairs.items()
        for ground in grounds
        for colour, fill in itertools.product(colours(palette, name), colours(palette, ground))
        if (ratio := contrast(colour, fill)) < needed
    ]


def too_near(pairs: list[tuple[str, str]], needed: float) -> list[tuple[str, str, str, float]]:
    return [
        (one, other, vision or "all cones", round(difference, 1))
        for one, other in pairs
        for vision in VISIONS
        if (difference := apart(one, other, vision)) < needed
    ]


@THEMES
def test_every_text_stands_out_from_what_it_stands_on(theme: str) -> None:
    assert too_little(PALETTES[theme], GROUNDS, TEXT) == []


@THEMES
def test_every_outline_stands_out_from_what_it_parts(theme: str) -> None:
    assert too_little(PALETTES[theme], OUTLINES, OUTLINE) == []


@THEMES
def test_a_tile_has_an_outline_that_stands_out_from_it_and_from_those_beside_it(theme: str) -> None:
    palette = PALETTES[theme]
    assert len(palette.tiles) == len(palette.tile_edges)
    for number, edge in enumerate(palette.tile_edges):
        for beside in (number - 1, number, number + 1):
            fill = palette.tiles[beside % len(palette.tiles)]
            assert contrast(edge, fill) >= OUTLINE, (number, beside, edge, fill)


@THEMES
@pytest.mark.parametrize("field", ["tiles", "tile_edges"])
def test_iterations_that_follow_one_another_differ_for_everyone(theme: str, field: str) -> None:
    found = colours(PALETTES[theme], field)
    pairs = [(colour, found[(i + 1) % len(found)]) for i, colour in enumerate(found)]
    assert len(pairs) >= 5
    assert too_near(pairs, APART) == []


@THEMES
@pytest.mark.parametrize("field", ["tiles", "tile_edges"])
def test_no_two_iterations_have_one_colour(theme: str, field: str) -> None:
    for one, other in itertools.combinations(colours(PALETTES[theme], field), 2):
        assert apart(one, other, None) >= TOLD_APART, (one, other)


@THEMES
def test_fills_differ_from_what_is_beneath_them(theme: str) -> None:
    palette = PALETTES[theme]
    pairs = [
        *itertools.product(palette.tiles, (palette.paper, palette.cell, palette.idle)),
        (palette.done, palette.paper), (palette.done, palette.cell), (palette.done, palette.idle),
        (palette.focus_fill, palette.paper), (palette.focus_fill, palette.cell),
        (palette.focus_fill, palette.idle),
        (palette.current_line, palette.paper), (palette.current_line, palette.cell),
    ]  # fmt: skip
    assert too_near(pairs, TOLD_APART) == []


@THEMES
def test_the_focused_threads_colour_is_no_iterations(theme: str) -> None:
    palette = PALETTES[theme]
    for colour in (*palette.tiles, *palette.tile_edges):
        assert apart(palette.focus, colour, None) >= APART, colour


@THEMES
def test_phases_stand_out_from_the_paper_and_a_barrier_from_all(theme: str) -> None:
    palette = PALETTES[theme]
    named = {name: colour for name, colour in palette.phases.items() if name != "other"}
    for name, colour in named.items():
        assert contrast(colour, palette.paper) >= OUTLINE, name
        if name != "barrier":
            assert contrast(colour, palette.phases["barrier"]) >= OUTLINE, name
    # A statement of no phase is as good as an empty column.
    assert contrast(palette.phases["other"], palette.phases["barrier"]) >= OUTLINE
    assert too_near(list(itertools.combinations(palette.phases.values(), 2)), APART) == []


def test_streamlits_theme_has_the_palettes_colours() -> None:
    file = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
    themes = tomllib.loads(file.read_text(encoding="utf-8"))["theme"]
    for theme, palette in PALETTES.items():
        expected = {
            "primaryColor": palette.focus, "backgroundColor": palette.paper,
            "secondaryBackgroundColor": palette.cell, "textColor": palette.ink,
        }  # fmt: skip
        assert themes[theme] == themes[theme] | expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [  # the CIEDE2000 test data of Sharma, Wu and Dalal 2005, pairs 1, 7, 13, 17, 22 and 34
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((50.0, -0.001, 2.49), (50.0, 0.0011, -2.49), 4.7461),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (50.0, 3.2592, 0.335), 1.0),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_ciede2000(
    one: tuple[float, float, float], other: tuple[float, float, float], expected: float
) -> None:
    first, second = Color("lab-d65", one), Color("lab-d65", other)
    assert first.delta_e(second, method="2000") == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("vision", "colour", "expected"),
    [  # columns of Machado's matrices for severity 1: what red, green and blue become
        ("protan", "color(srgb-linear 1 0 0)", (0.152286, 0.114503, -0.003882)),
        ("deutan", "color(srgb-linear 0 1 0)", (0.860646, 0.672501, 0.042940)),
        ("tritan", "color(srgb-linear 0 0 1)", (-0.178779, 0.147602, 0.303900)),
    ],
)
def test_colour_blindness_is_machados(
    vision: str, colour: str, expected: tuple[float, float, float]
) -> None:
    seen = Color(colour).filter(vision, 1, method="machado", space="srgb-linear")
    assert seen.coords() == pytest.approx(expected, abs=1e-5)
