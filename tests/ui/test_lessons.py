"""Lessons: every directive is right, every stop draws, every question has one answer."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpu.recorded import newest
from gpu.scale.recorded import widest
from gpu.trace import recorded as trace_files
from simulator.broken_file import BrokenFileError
from tests.ui.traced_kernels import RUN
from ui.drawing.look import Look
from ui.drawing.viewport import PHONE, USUAL
from ui.gpu_charts.rows import INK
from ui.lessons import charts
from ui.lessons.__main__ import main
from ui.lessons.charts import describe, draw_chart, limits_of, source
from ui.lessons.judge import (
    Answer,
    check_texts,
    fill,
    hint,
    judge,
    right_answer,
    value,
    words,
    wrong_answer,
)
from ui.lessons.lesson import (
    SESSIONS,
    Chart,
    Claim,
    Kind,
    Lesson,
    Measure,
    Quantity,
    Question,
    QuestionPart,
    ScenePart,
    Stops,
)
from ui.lessons.markup import COLOUR, css_on_paper
from ui.lessons.parse import FOLDER, lessons, parse_lesson
from ui.lessons.picture import draw_stop, draw_stops
from ui.lessons.played_scene import count_steps, draw_scene
from ui.lessons.quantities import find
from ui.run.standalone import parse_address

HEAD = '```lesson\ntitle = "T"\nminutes = 1\nidea = "I."\n```\n'
VIEW = "kernel=tiled&M=4&N=4&K=4&TILE=2"
RULE = re.compile(r':is\(\.shot, \.picker\) \[(fill|stroke)="(#\w+)"\] \{ \1: (#\w+) \}')
QUESTIONS = [part for lesson in lessons().values() for part in lesson.questions]
VARIANTS = [question for part in QUESTIONS for question in part.variants]
SEQUENCES = [
    part for lesson in lessons().values() for part in lesson.parts if isinstance(part, Stops)
]


@functools.cache
def numbers_of(index: int) -> Mapping[str, float]:
    return {name: find(quantity) for name, quantity in VARIANTS[index].quantities.items()}


def name_of(question: Question) -> str:
    drawn = "-".join(f"{name}{number}" for name, number in question.fresh.items())
    return f"{question.name}-{drawn}"


def others(question: Question, numbers: Mapping[str, float], right: Answer) -> list[Answer]:
    """Answers that are wrong."""
    match question.kind:
        case Kind.CHOICE:
            return [i for i in range(len(question.options)) if i != right]
        case Kind.ORDER:
            assert isinstance(right, tuple)
            return [one for one in itertools.permutations(right) if one != right]
        case Kind.CELL:
            assert isinstance(right, tuple)
            return [(right[0], right[1] + 1), (right[0] + 1, right[1])]
        case _:
            assert isinstance(right, int)
            return [right - 1, right + 1, 2 * right + 1]


@pytest.mark.sample(12)
@pytest.mark.parametrize("index", range(len(VARIANTS)), ids=map(name_of, VARIANTS))
def test_a_question_has_one_answer_and_a_reason_for_every_other(index: int) -> None:
    question, numbers = VARIANTS[index], numbers_of(index)
    right = right_answer(question, numbers)
    found = judge(question, numbers, right)
    assert found.is_right
    assert found.because
    assert words(question, numbers, right)
    for answer in others(question, numbers, right):
        found = judge(question, numbers, answer)
        assert not found.is_right
        assert found.because
    for text in check_texts(question, numbers):
        assert "{" not in text


@pytest.mark.parametrize("part", QUESTIONS, ids=lambda part: part.name)
def test_an_answer_rests_on_a_run(part: QuestionPart) -> None:
    question = part.variants[0]
    asked = " ".join([question.answer, *(option.value for option in question.options)])
    assert set(re.findall(r"\w+", asked)) & set(question.quantities)


@pytest.mark.parametrize("index", range(len(VARIANTS)), ids=map(name_of, VARIANTS))
@pytest.mark.sample(8)
def test_what_students_say_is_wrong(index: int) -> None:
    question, numbers = VARIANTS[index], numbers_of(index)
    right = right_answer(question, numbers)
    for reason in question.wrong:
        parts = tuple(value(question, part, numbers) for part in reason.answer.split(","))
        said = parts if isinstance(right, tuple) else parts[0]
        assert said != right, reason.because


@pytest.mark.parametrize("part", QUESTIONS, ids=lambda part: part.name)
@pytest.mark.sample(8)
def test_every_reason_is_given_in_some_draw(part: QuestionPart) -> None:
    given = set[int]()
    for question in part.variants:
        numbers = numbers_of(VARIANTS.index(question))
        answers = [wrong_answer(question, reason, numbers) for reason in question.wrong]
        given |= {answers.index(answer) for answer in answers}
    assert given == set(range(len(part.variants[0].wrong)))


@pytest.mark.sample(9)
@pytest.mark.parametrize("part", SEQUENCES, ids=lambda part: part.stops[0].text[:30])
def test_every_stop_shows_its_place_in_both_viewports(part: Stops) -> None:
    for stop, viewport in itertools.product(part.stops, (USUAL, PHONE)):
        look = Look(stage=stop.view.stage, width=viewport.width, height=viewport.height)
        picture = draw_stop(stop.view, look, stop.mark)
        assert picture.startswith("<svg")
        assert 'class="mark"' in picture
        assert stop.text.endswith((".", "?", "!", ":", "…")), stop.text


@pytest.mark.sample(36)
@pytest.mark.parametrize("part", SEQUENCES, ids=lambda part: part.stops[0].text[:30])
def test_stops_of_a_dark_page_are_printed_as_those_of_a_light_one(part: Stops) -> None:
    dark, light = (
        draw_stops(part.stops[0].view, part.stops, replace(USUAL, theme=theme))
        for theme in ("dark", "light")
    )
    rules = {
        (name, shown): printed for name, shown, printed in RULE.findall(css_on_paper(dark, light))
    }
    for one, other in zip(dark, light, strict=True):
        assert COLOUR.sub(lambda found: f'{found[1]}="{rules[found[1], found[2]]}"', one) == other


SCENES = [
    part for lesson in lessons().values() for part in lesson.parts if isinstance(part, ScenePart)
]


@pytest.mark.sample(12)
@pytest.mark.parametrize("part", SCENES, ids=lambda part: part.text[:30])
def test_every_scene_is_sent_with_all_its_steps_and_a_picture_for_paper(part: ScenePart) -> None:
    steps = count_steps(part)
    assert part.text.endswith(("?", "."))
    orders = set()
    for viewport in (USUAL, PHONE):
        content = draw_scene(part.view, part.text, viewport)
        header, figure = (json.loads(one) for one in content.split(b"\n", 1))
        assert header["stops"]["steps"] == header["end"] == steps
        assert header["start"] == part.view.step
        assert "<svg" in header["html"]
        assert len(figure["frames"]["steps"]) == steps
        assert figure["layout"]["width"] == viewport.width
        orders.add(header["order"])
    assert len(orders) == 1, "in another viewport it is the same scene"


def test_each_lesson_of_a_class_has_a_scene_and_two_have_two_beside_each_other() -> None:
    shows = [one for one in lessons().values() if any(isinstance(p, Stops) for p in one.parts)]
    assert all(any(isinstance(part, ScenePart) for part in one.parts) for one in shows)
    assert sum(part.view.comparison is not None for part in SCENES) >= 2


CLAIMS = [part for lesson in lessons().values() for part in lesson.parts if isinstance(part, Claim)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claims_verdict_follows_from_runs(claim: Claim) -> None:
    numbers = {name: find(quantity) for name, quantity in claim.quantities.items()}
    assert numbers
    assert value(claim, claim.holds, numbers) > 0
    found = fill(claim, claim.found, numbers)
    assert "{" not in found
    assert found != claim.found, "it has numbers of the run"


def test_a_first_wrong_answer_has_a_hint() -> None:
    for question in VARIANTS:
        numbers = dict.fromkeys(question.quantities, 1)
        assert question.hint.endswith((".", "?", "!")), question.name
        assert hint(replace(question, wrong=()), numbers, -1)


@pytest.mark.parametrize("session", [1, 2])
def test_a_class_of_ninety_minutes_has_room_for_its_core(session: int) -> None:
    """At 20 seconds a stop and 75 a question it takes half of the class."""
    held = [one for one in lessons().values() if one.session == session]
    parts = [part for one in held for part in one.parts]
    stops = sum(len(part.stops) for part in parts if isinstance(part, Stops) and not part.is_more)
    asked = sum(isinstance(part, QuestionPart) and not part.is_more for part in parts)
    assert sum(one.minutes for one in held) <= 90
    assert 30 <= stops <= 60
    assert 12 <= asked <= 24


def test_the_classes_come_first_and_in_order() -> None:
    held = [one.session for one in lessons().values()]
    assert set(held) == set(SESSIONS)
    assert held == sorted(held, key=lambda session: session or len(SESSIONS))


def test_a_claim_says_whose_it_is() -> None:
    assert all(claim.notes and set(claim.notes) <= {1, 2, 3, 4, 5} for claim in CLAIMS)


def test_names_of_questions_are_unique() -> None:
    names = [part.name for part in QUESTIONS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("lesson", lessons().values(), ids=lambda lesson: lesson.name)
def test_a_lesson_asks_and_shows_or_holds_claims_against_runs(lesson: Lesson) -> None:
    claims = [part for part in lesson.parts if isinstance(part, Claim)]
    assert any(isinstance(part, Stops) for part in lesson.parts) or len(claims) >= 12
    assert len(lesson.questions) >= 2
    assert len({question.variants[0].kind for question in lesson.questions}) >= 2
    assert any(len(question.variants) > 1 for question in lesson.questions)
    assert lesson.idea.endswith(".")


def test_the_ladder_is_no_higher_than_a_window() -> None:
    assert draw_chart(Chart.LADDER, INK).layout.height <= 620


@pytest.mark.parametrize(
    ("chart", "said"),
    [
        (Chart.BOUNDS, "tiled, TILE 16: 15.5 ms, measured 16.9 ms"),
        (Chart.PREDICTIONS, "registers: 3.25 ms;"),
        (Chart.INSTRUCTIONS, "tiled, TILE 16: 27% FFMA, 17% allowed, 12% measured"),
        (
            Chart.RESIDENCY,
            "A multiprocessor (H100, H200) holds 2 blocks at once; places for warps: 16 of 64;",
        ),
        (Chart.INNER_LOOP, "60 instructions, 16 of them FFMA: 16 LDS, 16 FFMA"),
        (Chart.MULTIPROCESSOR, "All share one port to L1 and shared memory"),
        (Chart.NEAR_AND_FAR, "In the warehouse, DRAM: "),
        (Chart.LOAD_LIFE, "Meanwhile warps 1 to 7 issue"),
        (Chart.WITHOUT_L1, "without L1"),
        (Chart.WAVES, "5,120 × 2,560 × 1,280: 132, 132, 132, 4 of 132 places"),
        (Chart.SHAPES, "256 × 256 × 16,384, 106%"),
        (Chart.ACCURACY, "tensor_half: error 4.9e-06, 408 TFLOP/s"),
    ],
)
def test_a_chart_says_what_was_recorded(chart: Chart, said: str) -> None:
    assert said in describe(chart)
    assert draw_chart(chart, INK).data


def test_only_the_naive_kernel_takes_longer_without_l1() -> None:
    """What the lesson on memory says of tiles and a cache."""
    for name in ("naive", "tiled", "registers"):
        longer = found(Measure.L1_TIME, f"{name} past") / found(Measure.L1_TIME, name)
        assert longer > 1.4 if name == "naive" else longer == pytest.approx(1, abs=0.03)


def test_places_are_on_the_road_as_far_away_as_their_memories_are() -> None:
    figure, latency = draw_chart(Chart.NEAR_AND_FAR, INK), limits_of(newest()).latency
    assert [shape.xanchor for shape in figure.layout.shapes] == pytest.approx(
        [cycles / latency.dram for cycles in (latency.shared, latency.l2, latency.dram)]
    )


def test_a_quarter_issues_in_every_cycle_of_a_loads_life() -> None:
    """The last row has no gap, and warp 0 goes on with the first turn after its value is there."""
    figure, latency = draw_chart(Chart.LOAD_LIFE, INK), limits_of(newest()).latency
    last = len(figure.layout.yaxis.ticktext) - 1
    bars = {(round(line.y[0] + line.y[2]) // 2, line.x[0], line.x[1])
            for line in figure.data if len(line.x) == 5}  # fmt: skip
    issued = sorted(bar[1:] for bar in bars if bar[0] == last)
    assert issued == [(start, start + 100) for start in range(0, issued[-1][1], 100)]
    own = sorted(bar[1:] for bar in bars if bar[0] == 0)
    assert own == [issued[0], issued[-1]]
    assert 0 <= own[1][0] - (own[0][1] + latency.dram) < 100


def found(measure: Measure, of: str, view: str = "") -> float:
    return find(Quantity(measure, parse_address(view) if view else None, of, 3))


def test_waves_are_those_of_the_table() -> None:
    held = found(Measure.SHAPE, "plan.resident 5120 2560 1280")
    chosen = "anyshape:DEPTH=8:STAGES=4"  # as the lesson says
    full, one = (found(Measure.WAVE_TIME, f"{chosen} {blocks:.0f} 1280") for blocks in (held, 1))
    waves = found(Measure.SHAPE, "plan.blocks 5120 2560 1280") // (held * 132)
    spent = found(Measure.SHAPE, "plan.predicted_ms 5120 2560 1280")
    assert 1e-3 * (waves * full + one) == pytest.approx(spent, rel=0.02)  # and the launch's own
    assert found(Measure.USUAL_PLAN, "blocks 5120 2560 1280") == 20 * 20


def test_a_product_over_gpus_is_that_of_the_run_over_the_most() -> None:
    scaling = widest().scaling
    fastest = min(run.ms for run in scaling.runs if run.gpus == 4 and run.bytes_moved and run.plan)
    assert found(Measure.SCALING, "ms 4") == pytest.approx(fastest, abs=5e-4)
    assert found(Measure.SCALING, "speedup 4") == pytest.approx(
        scaling.runs[0].ms / fastest, abs=5e-4
    )


def test_numbers_of_traces_are_those_of_the_compared_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    when = datetime(2026, 3, 4, tzinfo=UTC)
    other = replace(RUN.device, name="Another GPU")
    slow = replace(RUN, traces=(replace(RUN.traces[0], ratio=9.0),), device=other, when=when)
    monkeypatch.setattr(trace_files, "recorded_traces", lambda: (slow, RUN))
    monkeypatch.setattr(charts, "TRACED_AT", (512, 512, 512))
    assert found(Measure.TRACE, "transposed:TILE=32 512 cycles inner loop") == 9011
    assert found(Measure.TRACE, "transposed:TILE=32 512 cycles wait") == 7 + 171
    assert found(Measure.TRACE, "transposed:TILE=32 512 share inner loop") == pytest.approx(
        100 * 9011 * 16 / (16 * 10036 + 100), abs=1e-3
    )
    assert found(Measure.TRACE, "tiled 512 least copy") == pytest.approx(0.9 * 702)
    assert found(Measure.TRACE, "tiled 512 ratio") == 1.06
    assert found(Measure.TRACE, "tiled 512 blocks") == 2
    assert describe(Chart.PHASES).startswith("tiled, TILE 16: copying 46%, inner loop 48%")
    assert source(Chart.PHASES) == "Recorded on NVIDIA H200, 4 March 2026, at 512 × 512 × 512."
    assert draw_chart(Chart.PHASES, INK).data
    for lacking in ("tiled 77 ratio", "tiled 512 cycles sleep", "tiled 512 colour", "naive"):
        with pytest.raises(ValueError, match=r"^No trace was recorded for "):
            found(Measure.TRACE, lacking)


def test_two_pieces_may_be_added_in_any_order_and_more_may_not() -> None:
    view = "kernel=anyshape&M=16&N=32&K=16&inputs=fractions"
    assert found(Measure.ORDER_CELLS, "", f"{view}&PIECES=2") == 0
    assert found(Measure.ORDER_CELLS, "", f"{view}&PIECES=4") > 0
    assert found(Measure.ORDER_CELLS, "", view) == 0


def test_each_lane_holds_the_sum_that_its_step_tells() -> None:
    view = "kernel=tensor_half&M=16&N=16&K=32&step=183"
    assert found(Measure.LANE, "1 4", view) == 6  # whose sentence names row 1 and column 4
    held = [found(Measure.LANE, f"{i} {j}", view) for i in range(16) for j in range(16)]
    assert [held.count(lane) for lane in range(32)] == [8] * 32


@pytest.mark.parametrize(
    ("measure", "of", "view"),
    [
        (Measure.SHAPE, "plan.blocks 7 7 7", ""),
        (Measure.SHAPE, "nothing 512", ""),
        (Measure.USUAL_PLAN, "blocks 4095 4097 1023", ""),
        (Measure.WAVE_TIME, "warptiles 2 512", ""),
        (Measure.SCALING, "speedup 3", ""),
        (Measure.MACHINE_CODE, "nothing loads", ""),
        (Measure.MACHINE_CODE, "tiled nothing", ""),
        (Measure.MACHINE_CODE, "tiled:TILE=5 loads", ""),
        (Measure.MACHINE_CODE, "tiled unroll-2 loads", ""),
        (Measure.LANE, "16 0", "kernel=tensor_half&M=16&N=16&K=32&step=183"),
        (Measure.LANE, "0 0", "kernel=tensor_half&M=16&N=16&K=32&step=1"),
    ],
)
def test_a_number_that_there_is_not_is_told(measure: Measure, of: str, view: str) -> None:
    with pytest.raises(ValueError, match=r"^No"):
        found(measure, of, view)


def stops(count: int, mark: str = "stage", view: str = VIEW) -> str:
    stop = f'[[stop]]\nstep = 2\nmark = "{mark}"\ntext = "Look."\n'
    return f'{HEAD}```stops\nview = "{view}"\n{stop * count}```\n'


def scene(view: str = VIEW, more: str = "") -> str:
    return f'{HEAD}```scene\nview = "{view}"\ntext = "How many?"\n{more}```\n'


def question(**changed: str) -> str:
    lines = {
        "name": '"n"', "kind": '"number"', "ask": '"How many?"', "answer": '"t"',
        "because": '"{t}."', "numbers.t": f'{{ measure = "threads", view = "{VIEW}" }}',
    } | changed  # fmt: skip
    body = "\n".join(f"{name} = {text}" for name, text in lines.items())
    return f"{HEAD}```question\n{body}\n```\n"


BROKEN = {
    "no lesson": ("Prose.\n", 1, "begins with a block"),
    "no end": (f"{HEAD}\n```stops\n", 7, "has no end"),
    "unknown block": (f"{HEAD}```scenery\n```\n", 6, "no block 'scenery'"),
    "no TOML": (f'{HEAD}```chart\nchart = "ladder"\ntext = no\n```\n', 8, "not TOML"),
    "unknown key": (f'{HEAD}```chart\nchart = "ladder"\ntexts = "a"\n```\n', 7, "texts"),
    "unknown chart": (f'{HEAD}```chart\nchart = "pie"\ntext = "a"\n```\n', 7, "pie"),
    "unknown exercise": (f'{HEAD}```exercise\nname = "none"\ntext = "a"\n```\n', 7, "no exercise"),
    "too few stops": (stops(3), 7, "3 stops"),
    "too many stops": (stops(9), 7, "9 stops"),
    "no such view": (stops(4, view="kernel=tyled"), 7, "is not a view"),
    "no such mark": (stops(4, "ceiling"), 7, "ceiling"),
    "a mark of two scenes": (stops(4, "left"), 7, "not a place of one scene"),
    "a scene without a task": (f'{HEAD}```scene\nview = "{VIEW}"\n```\n', 7, "text"),
    "a scene of no view": (scene("kernel=tyled"), 7, "is not a view"),
    "a scene with a stop": (scene(more="step = 2\n"), 7, "step"),
    "an unknown measure": (question(**{"numbers.t": '{ measure = "luck" }'}), 7, "luck"),
    "a measure without its view": (
        question(**{"numbers.t": '{ measure = "threads" }'}), 7, "needs a view",
    ),
    "a choice without options": (question(kind='"choice"'), 7, "two or more options"),
    "a cell without rows": (question(kind='"cell"'), 7, "rows, columns, array"),
    "a line without its source": (question(kind='"line"'), 7, "has a view"),
    "a number that is not drawn": (
        question(**{"numbers.t": '{ measure = "threads", view = "kernel=tiled&M={M}" }'}),
        7, "not drawn",
    ),
    "one name twice": (question() + question()[len(HEAD):], 15, "Two questions"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_directive_is_an_error_with_file_and_line(case: str) -> None:
    text, line, said = BROKEN[case]
    with pytest.raises(BrokenFileError) as caught:
        parse_lesson(text, "01_test.md")
    assert str(caught.value).startswith(f"01_test.md, line {line}: ")
    assert said in str(caught.value)


def test_the_examples_that_are_broken_above_are_right_before() -> None:
    assert parse_lesson(stops(4) + question()[len(HEAD) :], "01_test.md").questions
    [part] = parse_lesson(question(fresh="{ K = [4, 8] }"), "01_test.md").parts
    assert isinstance(part, QuestionPart)
    assert [one.fresh for one in part.variants] == [{"K": 4}, {"K": 8}]


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (f"{VIEW}&step=42", "begins at step 42 and has only 41"),
        ("kernel=pipelined&M=8&N=8&K=8&TILE=8&DEPTH=4&EACH=4", "862 steps, a lesson's at most 400"),
    ],
)
def test_a_scene_that_cannot_be_played_is_an_error_with_file_and_line(view: str, said: str) -> None:
    [part] = parse_lesson(scene(view), "01_test.md").parts
    assert isinstance(part, ScenePart)
    with pytest.raises(BrokenFileError, match=f"01_test.md, line 7: .*{said}"):
        count_steps(part)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("missing.md", "missing.md cannot be read: No such file or directory."),
        (".", "cannot be read: Is a directory."),
        ("01_latin.md", "01_latin.md is not UTF-8 text: save it as UTF-8."),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(
    file: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "01_latin.md").write_bytes("# Speicher für alle".encode("latin-1"))
    assert main([str(tmp_path / file)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {tmp_path}")
    assert error.endswith(f"{said}\n")


def test_a_file_beside_export_is_refused_for_all_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(FOLDER / "01_memory.md"), "--export", str(tmp_path)])
    assert "writes all lessons: give no files" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
