"""Where a lecture's areas are, how large its letters, in rooms of all kinds."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest

from tests.ui.lecture.lectures import of_query, of_size, spread
from tests.ui.scene_models import SIZES
from ui.drawing.canvas import Shape
from ui.drawing.look import Look, Stage
from ui.drawing.sheet import Rectangle
from ui.lecture.layout import Areas, areas_for
from ui.lecture.letters import TALL_WIDTH, Letters, letters_for

WIDTHS = (320, 360, 390, 540, 699, 700, 768, 820, 1024, 1240, 1280, 1366, 1536, 1920, 2560, 3840)
HEIGHTS = (500, 560, 600, 720, 844, 900, 1080, 1440, 2160)
ROOMS = [*itertools.product(WIDTHS, HEIGHTS)]
FIELDS = ("heading", "source", "values", "number", "name", "sentence", "small")
NAMED = ("source", "stage", "sentence", "ledger", "timeline")


def named(areas: Areas) -> dict[str, Rectangle]:
    return {name: getattr(areas, name) for name in NAMED}


def is_within(inner: Rectangle, outer: Rectangle) -> bool:
    return (
        outer.left <= inner.left < inner.right <= outer.right
        and outer.top <= inner.top < inner.bottom <= outer.bottom
    )


@pytest.mark.parametrize("presenting", [False, True])
@pytest.mark.parametrize("room", ROOMS, ids=lambda room: "x".join(map(str, room)))
def test_areas_lie_on_the_sheet_apart_from_one_another(
    room: tuple[int, int], presenting: bool
) -> None:
    look = Look(width=room[0], height=room[1], presenting=presenting)
    areas, letters = areas_for(look), letters_for(look)
    assert areas.width == room[0]
    assert areas.tall == (room[0] < TALL_WIDTH)
    if not areas.tall:
        assert areas.height == room[1]
    for name, area in named(areas).items():
        assert 0 <= area.left < area.right <= areas.width, name
        assert 0 <= area.top < area.bottom <= areas.height, name
    for (one, first), (two, second) in itertools.combinations(named(areas).items(), 2):
        apart = (
            first.right <= second.left or second.right <= first.left
            or first.bottom <= second.top or second.bottom <= first.top
        )  # fmt: skip
        assert apart, (one, two)
    assert areas.far is not None
    assert areas.chip is not None
    assert is_within(areas.maps, areas.far)
    assert is_within(areas.stage, areas.chip)
    if areas.tall:
        assert areas.sentence.bottom < areas.far.top
        assert areas.far.bottom < areas.chip.top
        assert areas.chip.bottom < areas.ledger.top
    else:
        assert areas.source.right < areas.far.left
        assert areas.far.right < areas.chip.left
    x, middle = areas.heading
    assert 0 <= x < areas.width
    assert 0.5 * letters.heading <= middle
    highest = min(area.top for area in named(areas).values())
    assert middle + 0.5 * letters.heading <= highest


@pytest.mark.parametrize("height", [560, 720, 1080])
@pytest.mark.parametrize("width", [700, 1024, 1280, 1920])
def test_every_area_has_room_for_its_lines(width: int, height: int) -> None:
    look = Look(width=width, height=height)
    areas, letters = areas_for(look), letters_for(look)
    assert areas.source.height >= 5 * letters.source
    assert areas.stage.height >= 5 * letters.number
    assert areas.sentence.height >= 3 * letters.sentence + 2 * letters.small
    assert areas.ledger.height >= 3 * letters.small


# The room, whether it is presented, and the least source, number, sentence, and any letter.
@pytest.mark.parametrize(
    ("width", "height", "presenting", "source", "number", "sentence", "least"),
    [
        (1280, 720, True, 17, 20, 22, 13),
        (1920, 1080, True, 25.5, 30, 33, 19.5),
        (2560, 1440, True, 34, 40, 44, 26),
        (1240, 560, False, 14, 0, 17, 12),
        (1280, 720, False, 14, 0, 17, 12),
        (1366, 600, False, 14, 0, 17, 12),
        (820, 1180, False, 14, 0, 17, 12),
        (390, 844, False, 11, 11, 11, 11),
        (390, 844, True, 11, 11, 11, 11),
        (320, 500, False, 11, 11, 11, 11),
    ],
)
def test_letters_are_as_large_as_they_must_be(
    width: int, height: int, presenting: bool, source: float, number: float, sentence: float,
    least: float,
) -> None:  # fmt: skip
    letters = letters_for(Look(width=width, height=height, presenting=presenting))
    assert letters.source >= source
    assert letters.number >= number
    assert letters.sentence >= sentence
    assert min(getattr(letters, name) for name in FIELDS) >= least


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: "x".join(map(str, room)))
def test_no_room_has_smaller_letters_than_the_least(room: tuple[int, int]) -> None:
    for presenting in (False, True):
        letters = letters_for(Look(width=room[0], height=room[1], presenting=presenting))
        floor = 11 if room[0] < TALL_WIDTH else 13 if presenting else 12
        assert min(getattr(letters, name) for name in FIELDS) >= floor
        if room[0] >= TALL_WIDTH:
            assert letters.source >= (17 if presenting else 14)
            assert letters.sentence >= (22 if presenting else 17)


@pytest.mark.parametrize("factor", [1.5, 2, 3])
@pytest.mark.parametrize(("presenting", "width", "height"), [(True, 1280, 720), (False, 1240, 560)])
def test_letters_and_areas_grow_in_proportion(
    presenting: bool, width: int, height: int, factor: float
) -> None:
    small = Look(width=width, height=height, presenting=presenting)
    large = Look(width=int(width * factor), height=int(height * factor), presenting=presenting)
    first, second = letters_for(small), letters_for(large)
    assert [getattr(second, name) for name in FIELDS] == pytest.approx(
        [getattr(first, name) * factor for name in FIELDS], abs=0.01
    )
    corners = ("left", "top", "right", "bottom")
    for one, other in zip(
        named(areas_for(small)).values(), named(areas_for(large)).values(), strict=True
    ):
        assert [getattr(other, name) for name in corners] == pytest.approx(
            [getattr(one, name) * factor for name in corners], abs=1
        )


def test_the_letters_of_a_presentation_are_larger_than_the_pages() -> None:
    page, shown = (letters_for(Look(presenting=p)) for p in (False, True))
    assert all(getattr(shown, name) > getattr(page, name) for name in FIELDS)
    assert isinstance(page, Letters)


PATH = re.compile(r"([MLHV])(-?[\d.]+)(?:,(-?[\d.]+))?")
RECTANGLE = re.compile(r"M([\d.]+),([\d.]+)H([\d.]+)V([\d.]+)H\1Z")
SMALL = (0, 3, 6, 10)
SHOWN = [
    pytest.param(number, marks=() if number in SMALL else pytest.mark.deep)
    for number in range(len(SIZES))
]


@pytest.mark.parametrize("number", SHOWN)
@pytest.mark.parametrize(
    ("width", "height", "presenting"),
    [(1280, 720, True), (1240, 560, False), (1920, 1080, True), (820, 600, False),
     (390, 844, False), (700, 900, True)],
)  # fmt: skip
def test_everything_is_drawn_on_the_sheet(
    number: int, width: int, height: int, presenting: bool
) -> None:
    lecture = of_size(number, Look(width=width, height=height, presenting=presenting))
    across, down = lecture.sheet.size
    assert across == width
    for step in spread(lecture.steps, 9):
        traces, shapes = lecture.drawn(step)
        for trace in traces:
            if trace["type"] == "scatter":
                texts = zip(trace["x"], trace["y"], trace["text"], strict=True)
                shown = [(x, y) for x, y, text in texts if text.strip("\xa0")]
                assert all(0 <= x <= across and 0 <= y <= down for x, y in shown), trace["text"]
        for shape in shapes:
            for letter, first, second in PATH.findall(shape["path"]):
                x = float(first) if letter in "MLH" else 0
                y = float(second or 0) if letter in "ML" else float(first) if letter == "V" else 0
                assert -1 <= x <= across + 1, shape["path"][:80]
                assert -1 <= y <= down + 1, shape["path"][:80]


CROWDED = [(320, 500, False), (390, 844, False), (700, 500, True), (1024, 500, True),
           (1240, 560, False), (1280, 720, True), (3840, 500, False)]  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize(
    "number", [n if n in (3, 13) else pytest.param(n, marks=pytest.mark.deep) for n in range(16)]
)
def test_what_a_stage_draws_stays_within_it(number: int, stage: Stage) -> None:
    for width, height, presenting in CROWDED:
        look = Look(stage=stage, width=width, height=height, presenting=presenting)
        lecture, texts = of_size(number, look), 0
        area, chip = lecture.sheet.areas.whole_stage, lecture.sheet.areas.chip
        if chip is not None:  # which a tensor core's bits fill
            area = replace(area, left=chip.left, right=chip.right)
        for step in spread(lecture.steps, 4):
            traces, shapes = lecture.drawn_stage(step)
            for trace in traces:
                for x, y, text in zip(trace["x"], trace["y"], trace["text"], strict=True):
                    if text.strip("\xa0"):
                        texts += 1
                        assert area.left - 0.1 <= x <= area.right + 0.1, text
                        assert area.top - 0.1 <= y <= area.bottom + 0.1, text
            for shape in shapes:
                for left, top, right, bottom in rectangles(shape):
                    assert area.left - 1 <= left <= right <= area.right + 1, shape
                    assert area.top - 1 <= top <= bottom <= area.bottom + 1, shape
        assert texts or stage is Stage.TENSOR  # whose sentence may have no room


def rectangles(shape: Shape) -> list[tuple[float, ...]]:
    return [tuple(map(float, found)) for found in RECTANGLE.findall(shape["path"])]


@pytest.mark.parametrize("width", [320, 390, 540])
def test_a_phones_sheet_is_as_tall_as_its_areas_need(width: int) -> None:
    lecture = of_query(Look(width=width, height=500), kernel="tiled")
    assert lecture.sheet.tall
    assert lecture.sheet.size[0] == width
    assert lecture.sheet.size[1] > 500
    order = ["sentence", "stage", "ledger", "source", "timeline"]
    tops = [getattr(lecture.sheet.areas, name).top for name in order]
    assert tops == sorted(tops)


@pytest.mark.parametrize("height", [200, 240, 320, 420])
@pytest.mark.parametrize("width", [700, 840, 1280])
@pytest.mark.sample(3)
def test_a_low_window_has_a_scene(width: int, height: int) -> None:
    """Such as one of 853 x 480: a browser at 150 percent."""
    for query in ({"kernel": "tiled"}, {"kernel": "naive"}, {"kernel": "transposed", "TILE": 8}):
        lecture = of_query(Look(width=width, height=height), **query)
        traces, shapes = lecture.drawn(lecture.steps[len(lecture.steps) // 2])
        texts = [text for trace in traces if trace.get("meta") for text in trace["text"]]
        assert any(text.strip("\xa0") for text in texts)
        assert any(shape["path"] != "M0,0Z" for shape in shapes)
