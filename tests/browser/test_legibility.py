"""Every text of the scene can be read: for each kernel, preset and shape, in each room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser

from simulator.catalogue import catalogue
from tests.browser import legibility
from tests.browser.legibility import FigurePage, Kind, choose_steps, draw_steps, figure_page
from tests.ui.user_kernels import USER_KERNELS
from ui.drawing.canvas import MONO
from ui.drawing.look import Held, Level, Look, Stage
from ui.view.presets import presets
from ui.view.view_url import View, from_query

pytestmark = pytest.mark.browser

LOOKS = {
    "classroom": Look(width=1280, height=720, presenting=True),
    "classroom, dark": Look(theme="dark", width=1280, height=720, presenting=True),
    "page": Look(width=1240, height=560),
    "wall": Look(width=1920, height=1080, presenting=True),
    "phone": Look(width=374, height=700),
}
WITH_CONTRAST = ("classroom", "classroom, dark")  # the others have the same colours

FOUR_DIGITS = "inputs=counting"
SHAPES = {  # views as an address has them
    "ragged": "M=5&N=7&K=3&bx=1&by=1",
    "one cell": "M=1&N=1&K=1&TILE=2",
    "one column": "M=64&N=1&K=64&TILE=8&by=7",
    "tile of 32": "M=32&N=32&K=32&TILE=32&tx=31&ty=31",
    "tile of 32 in 64": "M=64&N=64&K=64&TILE=32&bx=1&by=1",
    "tile of 2 in 64": "M=64&N=64&K=64&TILE=2&bx=31&by=31",
    "four digits": f"M=8&N=8&K=8&{FOUR_DIGITS}",
    "six digits": f"M=32&N=32&K=32&TILE=16&{FOUR_DIGITS}",
    "double, tile of 32": "kernel=tiled_double&M=40&N=33&K=36&TILE=32",
    "double, four digits": f"kernel=tiled_double&M=8&N=8&K=8&TILE=8&{FOUR_DIGITS}",
    "double by an edit": "edits=double",
    "padded by an edit": "TILE=8&edits=pad",
    "no first barrier": "M=16&N=16&K=16&TILE=8&schedule=ascending&edits=first-barrier",
    "no bounds check": "M=6&N=6&K=6&edits=bounds&bx=1&by=1&tx=2&ty=2",
    "no zero fill": "M=6&N=7&K=5&edits=zero-fill&by=1&ty=2",
    "warps in turn": "M=16&N=16&K=16&TILE=16&schedule=descending&ty=9",
    "naive, one row": "kernel=naive&M=1&N=64&K=64&bx=1",
    "naive, 64": f"kernel=naive&M=64&N=64&K=64&{FOUR_DIGITS}",
    "uncoalesced, 64": "kernel=uncoalesced&M=64&N=64&K=64&ty=7&tx=31",
    "transposed, ragged": "kernel=transposed&M=37&N=41&K=35&TILE=32&bx=1&by=1",
    "swizzled, 32": "kernel=swizzled&M=32&N=32&K=32&TILE=32",
    "rows, 64": "kernel=rows&M=64&N=64&K=64&TILE=64&DEPTH=8&EACH=8",
    "registers, four digits": f"kernel=registers&DEPTH=4&EACH=4&{FOUR_DIGITS}",
    "registers, long": "kernel=registers&M=16&N=16&K=64&TILE=16&DEPTH=4&EACH=4",
    "registers, 64 sums": f"kernel=registers&M=16&N=16&K=8&TILE=16&DEPTH=8&EACH=8&{FOUR_DIGITS}",
    "vectors, ragged": "kernel=vectors&M=9&N=10&K=7&bx=1&by=1",
    "pipelined, four digits": f"kernel=pipelined&M=16&N=16&K=16&TILE=16&{FOUR_DIGITS}",
    "pipelined, 64": "kernel=pipelined&M=64&N=64&K=64&TILE=16&DEPTH=8&EACH=4",
    "warptiles, 64": "kernel=warptiles&M=64&N=64&K=64&WARPS_DOWN=2&WARPS_ACROSS=2&ROWS=4",
    "warptiles, four digits": f"kernel=warptiles&M=16&N=32&K=8&tx=21&{FOUR_DIGITS}",
}
PAIRS = {  # two scenes beside each other
    "naive, tiled": "kernel=naive&K=16&with=tiled,TILE:8",
    "tiled, warptiles": f"M=16&N=32&K=8&TILE=8&{FOUR_DIGITS}&with=warptiles",
    "registers, vectors": "kernel=registers&M=16&N=16&K=16&with=vectors",
    "double, pipelined": f"kernel=tiled_double&M=32&N=32&K=32&TILE=32&{FOUR_DIGITS}&with=pipelined",
    "long names": "M=16&N=16&K=16&TILE=8&schedule=ascending&edits=first-barrier.pad"
    "&with=tiled,TILE:16,edits:second-barrier.double,schedule:descending",
    "ragged beside": "kernel=swizzled&M=5&N=7&K=3&bx=1&by=1&TILE=4&with=rows",
    "swapped": "TILE=8&M=9&N=9&edits=bounds.swap&bx=1&by=1&with=uncoalesced,edits:bounds",
}
CUT = ("many arrays",)  # whose names have no room
QUICK = {  # what the default run looks at; the deep one at every view
    ("tiled", "classroom, dark"), ("tiled", "phone"), ("tile of 32", "wall"),
    ("naive, tiled", "page"), ("own: reduction", "classroom"),
}  # fmt: skip
STEPS, QUICK_STEPS = 5, 4
EVERYWHERE = "classroom"  # the look in which every view is looked at
IN_TURN = ("page", "phone", "wall", "classroom, dark")  # of these most views have one, in turn
OF_PAIRS = "page"  # in which every pair is looked at


def parsed(query: dict[str, str] | str) -> View:
    """The view of an address, which has nothing that a view does not have."""
    pairs = dict(p.split("=") for p in query.split("&")) if isinstance(query, str) else query
    view, notices = from_query(pairs)
    assert not notices, notices
    return view


def views() -> dict[str, View]:
    """Every kernel with every setting for a screen, every preset, and the shapes."""
    found = {}
    for name, entry in catalogue().items():
        for number, setting in enumerate(entry.teaching):
            values = {macro: str(value) for macro, value in setting.items()}
            title = f"{name}, setting {number + 1}" if number else name
            found[title] = parsed({"kernel": name, **values})
    found |= {preset.name: preset.view for preset in presets()}
    found |= {
        f"own: {name}": View(user_kernel=one)
        for name, one in USER_KERNELS.items()
        if name not in CUT
    }
    return found | {name: parsed(query) for name, query in (SHAPES | PAIRS).items()}


VIEWS = views()


@pytest.fixture(scope="module")
def figures(chromium: Browser) -> Iterator[FigurePage]:
    with figure_page(chromium) as page:
        yield page


@pytest.mark.parametrize(
    ("view", "look"),
    [
        pytest.param(view, look, marks=[] if (view, look) in QUICK else [pytest.mark.deep])
        for number, view in enumerate(VIEWS)
        for look in LOOKS
        if look in (EVERYWHERE, IN_TURN[number % len(IN_TURN)] if number % 3 else EVERYWHERE)
        or (view, look) in QUICK
        or (look == OF_PAIRS and VIEWS[view].comparison is not None)
    ],
)
def test_a_scene_can_be_read(
    figures: FigurePage, request: pytest.FixtureRequest, view: str, look: str
) -> None:
    most = STEPS if request.config.getoption("--deep") else QUICK_STEPS
    assert faults(figures, VIEWS[view], LOOKS[look], most, contrast=look in WITH_CONTRAST) == []


@pytest.mark.deep
@pytest.mark.parametrize("stage", [*Stage, *Level])
@pytest.mark.parametrize(
    "view", ["tiled", "tile of 32", "naive", "registers, four digits", "warptiles", "pipelined"]
)
def test_what_is_held_can_be_read(figures: FigurePage, view: str, stage: Held) -> None:
    pinned = replace(LOOKS["classroom"], stage=stage)
    assert faults(figures, VIEWS[view], pinned, 6, contrast=False) == []


def test_every_quick_case_is_a_case() -> None:
    assert {view for view, _ in QUICK} <= set(VIEWS)
    assert {look for _, look in QUICK} <= set(LOOKS)
    assert len(VIEWS) == len({*VIEWS.values()}), "no view twice"


def faults(page: FigurePage, view: View, look: Look, most: int, contrast: bool) -> list[str]:
    """Every fault of at most so many steps as text, those of several steps once."""
    first: dict[str, str] = {}
    figure = draw_steps(view, look, choose_steps(view, most))
    for fault in legibility.find_faults(
        figure, look, page, contrast=contrast, is_pair=view.comparison is not None
    ):
        first.setdefault(str(fault), fault.step)
    return [f"step {int(step) + 1}, {text}" for text, step in first.items()]


# The check itself, on figures with one fault each

ROOM = Look(width=600, height=300, presenting=True)
INK, PAPER = "#1a2433", "#ffffff"


def words(text: str, x: float, y: float, **changed: Any) -> dict[str, Any]:
    """A text of 20 px, its left end at x and its middle at y."""
    font = {"size": 20, "color": INK, "family": MONO} | changed.pop("font", {})
    return {
        "type": "scatter", "mode": "text", "x": [x], "y": [y], "text": [text], "textfont": font,
        "textposition": "middle right", "cliponaxis": False,
    } | changed  # fmt: skip


def box(left: float, top: float, right: float, bottom: float, colour: str) -> dict[str, Any]:
    path = f"M{left},{top}H{right}V{bottom}H{left}Z"
    return {"type": "path", "path": path, "fillcolor": colour, "layer": "below",
            "line": {"width": 0}}  # fmt: skip


def drawn(*traces: dict[str, Any], shapes: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    """A figure as large as ROOM, with one frame that shows what is drawn."""
    axis = {"visible": False, "fixedrange": True}
    layout = {
        "width": ROOM.width, "height": ROOM.height, "margin": dict.fromkeys("lrtb", 0),
        "xaxis": {**axis, "range": [0, ROOM.width]}, "yaxis": {**axis, "range": [ROOM.height, 0]},
        "paper_bgcolor": PAPER, "plot_bgcolor": PAPER, "showlegend": False, "shapes": list(shapes),
        "title": {"text": ""},
    }  # fmt: skip
    frame = {
        "name": "0", "traces": list(range(len(traces))),
        "data": [{"type": "scatter", "text": trace["text"]} for trace in traces],
        "layout": {"title": {"text": ""}, "shapes": list(shapes)},
    }  # fmt: skip
    return {"data": list(traces), "layout": layout, "frames": [frame]}


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (drawn(words("fine", 50, 50)), []),
        (drawn(words("12", 50, 50, font={"size": 12.9})), [Kind.SMALL]),
        (drawn(words("12", 50, 50, font={"size": 13})), []),
        (drawn(words("12", 50, 50, font={"size": 19.9}, meta="numbers")), [Kind.SMALL]),
        (drawn(words("12", 50, 50, font={"size": 16.9}, meta="source")), [Kind.SMALL]),
        (drawn(words("12", 50, 50, font={"size": 17}, meta="source")), []),
        (drawn(words("12", 50, 50, meta="sentence")), [Kind.SMALL]),
        (drawn(words("A<sub>1</sub>", 50, 50, font={"size": 18})), [Kind.SMALL]),
        (drawn(words("A<sub>1</sub>", 50, 50)), []),
        (drawn(words("\u00a0", 50, 50, font={"size": 5, "color": PAPER})), []),
        (drawn(words("left", -4, 50)), [Kind.CLIPPED]),
        (drawn(words("right", 550, 50)), [Kind.CLIPPED]),
        (drawn(words("top", 50, 1)), [Kind.CLIPPED]),
        (drawn(words("bottom", 50, 299)), [Kind.CLIPPED]),
        (drawn(words("the first of …", 50, 50)), [Kind.CLIPPED]),
        (drawn(words("0…3", 50, 50)), []),
        (drawn(words("one", 50, 50), words("two", 70, 55)), [Kind.OVERLAP]),
        (drawn(words("one", 50, 50), words("two", 50, 66)), []),
        (drawn(words("one", 50, 50), words("two", 50, 62)), [Kind.OVERLAP]),
        (drawn(words("one", 50, 50), words("\u00a0\u00a0\u00a0\u00a0two", 50, 50)), []),
        (drawn(words("one", 50, 50, meta="source"), words("one", 50, 50, meta="source")), []),
        (
            drawn(words("one  four", 50, 50, meta="source"),
                  words("    =", 50, 50, meta="source"), words("9×", 110, 50)),
            [Kind.OVERLAP],
        ),
        (drawn(words("grey", 50, 50, font={"color": "#777777"})), [Kind.CONTRAST]),
        (drawn(words("grey", 50, 50, font={"color": "#767676"})), []),
        (drawn(words("■", 50, 50, font={"color": "#777777"})), []),
        (drawn(words("ink", 50, 50, opacity=0.4)), [Kind.CONTRAST]),
        (drawn(words("a <span style='color:#ffe08a'>b</span>", 50, 50)), [Kind.CONTRAST]),
        (drawn(words("ink", 50, 50), shapes=(box(40, 30, 100, 70, "#5a4a10"),)), [Kind.CONTRAST]),
        (drawn(words("half", 50, 50), shapes=(box(40, 30, 65, 70, "#1a2433"),)), [Kind.CONTRAST]),
    ],
)  # fmt: skip
def test_the_check_finds_what_cannot_be_read(
    figures: FigurePage, figure: dict[str, Any], expected: list[Kind]
) -> None:
    found = legibility.find_faults(figure, ROOM, figures, is_whole=False)
    assert [fault.kind for fault in found] == expected, found


def test_a_text_is_read_where_and_as_it_is_painted(figures: FigurePage) -> None:
    figures.draw(drawn(words(" for (", 50, 50, meta="source", font={"color": "#7a3e9d"})), ROOM)
    figures.show(0)
    (line,) = figures.lines()
    assert (line.text, line.role, line.trace) == ("for (", "source", 0)
    assert line.runs[0].size == 20
    assert line.runs[0].colour == (0x7A, 0x3E, 0x9D, 1)
    painted = (figures.picture() != 255).any(axis=2).nonzero()
    left, top, right, bottom = line.box
    assert abs(left - painted[1].min()) < 4
    assert abs(right - painted[1].max()) < 5
    assert top <= painted[0].min() + 1 < bottom
    assert painted[0].max() <= bottom + 3, "a bracket goes below a line"
    assert (figures.picture(texts=False) == 255).all()


def test_a_figure_larger_than_the_room_is_measured_as_it_is_shown(figures: FigurePage) -> None:
    half = Look(width=300, height=300, presenting=True)
    found = legibility.find_faults(drawn(words("small", 50, 50)), half, figures, is_whole=False)
    assert [fault.sentence for fault in found if fault.kind is Kind.SMALL] == [
        "“small” (trace 0): 10 px where 11 are needed"
    ]


def test_a_frame_is_shown_with_all_that_changed_before_it(figures: FigurePage) -> None:
    figure = drawn(words("first", 50, 50), words("other", 50, 100))
    layout = figure["frames"][0]["layout"]
    for number, (trace, text) in enumerate([(0, "second"), (1, "third")], 1):
        figure["frames"].append(
            {"name": str(number), "traces": [trace], "layout": layout,
             "data": [{"type": "scatter", "text": [text]}]}
        )  # fmt: skip
    figures.draw(figure, ROOM, [0, 2])
    for step, expected in ((2, ["second", "third"]), (0, ["first", "other"])):
        figures.show(step)
        assert [line.text for line in figures.lines()] == expected


def test_a_lecture_without_a_source_or_a_sentence_fails(figures: FigurePage) -> None:
    lecture = Look(width=600, height=300, presenting=True)
    figure = drawn(words("acc = 0", 50, 50, meta="source"))
    found = legibility.find_faults(figure, lecture, figures)
    assert [fault.kind for fault in found] == [Kind.MISSING]
    assert "sentence" in found[0].sentence


def test_sizes_grow_with_the_room() -> None:
    assert legibility.minima(LOOKS["wall"]).numbers == 30
    assert legibility.minima(LOOKS["wall"]).other == 19.5
    assert legibility.minima(LOOKS["classroom"]).of("source") == 17
    assert legibility.minima(LOOKS["page"]).of("sentence") == 17
    assert legibility.minima(LOOKS["page"]).of("As") == 12
    assert legibility.minima(LOOKS["phone"]).of("sentence") == 11


@pytest.mark.parametrize("look", ["classroom", "page"])
def test_two_scenes_are_as_large_as_a_class_needs(look: str) -> None:
    least = legibility.minima(LOOKS[look], is_pair=True)
    assert least.source >= 13
    assert least.numbers >= 16
    assert least.sentence >= 16
