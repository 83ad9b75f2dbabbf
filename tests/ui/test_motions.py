"""What moves when a step is played, against the step's own accesses and values."""

from __future__ import annotations

import itertools

import pytest

from simulator import Step
from simulator.language.tree import Barrier, MemorySpace
from simulator.machine.observer import AccessKind
from simulator.recording.requests import requests
from tests.ui.lecture.lectures import Lecture, of_query, of_size
from tests.ui.scene_models import EACH
from ui.drawing.canvas import number
from ui.drawing.look import Look
from ui.drawing.motions import Flight, Light, Motion, Wall
from ui.scene import scene
from ui.scene.packed_frames import pack_frames

CONFLICT = {"kernel": "transposed", "M": 16, "N": 16, "K": 16, "TILE": 8}


def motions(lecture: Lecture, step: Step) -> list[Motion]:
    return lecture.sheet.motions(step)


def flights(lecture: Lecture, step: Step) -> list[Flight]:
    return [one for one in motions(lecture, step) if isinstance(one, Flight)]


@pytest.mark.sample(2)
@EACH
def test_a_number_flies_between_cells_that_show_it(number: int) -> None:
    lecture = of_size(number)
    areas = lecture.sheet.areas
    places = [one for one in (areas.far or areas.maps, areas.stage, areas.warps) if one is not None]
    flying = {step.number: flights(lecture, step) for step in lecture.steps}
    assert any(flying.values())
    for step in lecture.steps:
        traces, _ = lecture.drawn(step) if flying[step.number] else ([], [])
        shown = {
            (round(x, 1), round(y, 1)): text
            for trace in traces
            if trace.get("meta") in ("numbers", "far numbers")
            for x, y, text in zip(trace["x"], trace["y"], trace["text"], strict=True)
            if text.strip("\xa0")
        }
        for one in flying[step.number]:
            left, top, right, bottom = one.cell
            assert left < one.end[0] < right
            assert top < one.end[1] < bottom
            assert any(place.contains(*one.start) for place in places)
            start = tuple(round(pixel, 1) for pixel in one.start)
            assert shown.get(start, one.text) == one.text


@pytest.mark.parametrize(("fragment", "source"), [("As[ty][tx] =", "A"), ("Bs[ty][tx] =", "B")])
def test_a_warps_copy_flies_from_global_to_shared_memory(fragment: str, source: str) -> None:
    lecture = of_query(kernel="tiled")
    areas = lecture.sheet.areas
    for step in lecture.steps_of(fragment):
        [load] = [a for a in step.accesses if a.name == source and a.kind is AccessKind.LOAD]
        found = flights(lecture, step)
        assert [one.text for one in found] == [number(value) for value in load.values]
        assert len({one.start for one in found}) == len({one.end for one in found}) == len(found)
        assert all(areas.maps.contains(*one.start) for one in found)
        assert all(areas.stage.contains(*one.end) for one in found)


def test_both_factors_fly_into_the_sum() -> None:
    lecture = of_query(kernel="tiled")
    thread = lecture.model.thread
    for step in lecture.steps_of("acc +="):
        read = [a for a in step.accesses if a.space is MemorySpace.SHARED]
        left, top = flights(lecture, step)
        assert [left.text, top.text] == [number(access.values[thread]) for access in read]
        assert left.end == top.end
        assert left.start != top.start


def test_a_warps_sums_fly_into_c() -> None:
    lecture = of_query(kernel="tiled")
    [step] = lecture.steps_of("C[row * N + col] =")
    [store] = [a for a in step.accesses if a.name == "C"]
    found, areas = flights(lecture, step), lecture.sheet.areas
    assert [one.text for one in found] == [number(value) for value in store.values]
    assert all(areas.stage.contains(*one.start) for one in found)
    assert all(areas.maps.contains(*one.end) for one in found)


def test_threads_that_are_not_active_send_nothing() -> None:
    lecture = of_query(kernel="tiled", M=5, N=5, K=5, TILE=4, bx=1, by=1, tx=3, ty=3)
    seen = set()
    for step in lecture.steps_of("C[row * N + col] ="):
        [store] = step.accesses[-1:]
        assert len(flights(lecture, step)) == int((store.active & store.in_bounds).sum()) == 1
        seen.add(bool(step.active[lecture.model.thread]))
    assert seen == {False}


def test_a_conflicts_wavefronts_light_up_one_after_another() -> None:
    lecture = of_query(**CONFLICT)
    for step in lecture.steps_of("acc +="):
        lights = [one for one in motions(lecture, step) if isinstance(one, Light)]
        worst = max(
            requests(lecture.recording, step, lecture.model.thread // 32), key=lambda r: r.degree
        )
        assert len(lights) == worst.wavefront_count > 1
        assert [(one.turn, one.turns) for one in lights] == [
            (i, len(lights)) for i in range(len(lights))
        ]
        for one, after in itertools.pairwise(lights):
            assert one.box[3] == pytest.approx(after.box[1])


def test_a_barrier_closes_and_opens_with_the_last_who_comes() -> None:
    lecture = of_query(kernel="tiled", M=16, N=16, K=16, TILE=8, schedule="ascending")
    seen = []
    for step in lecture.steps:
        walls = [one for one in motions(lecture, step) if isinstance(one, Wall)]
        assert bool(walls) is isinstance(step.statement, Barrier)
        seen += [one.opens for one in walls]
    assert seen == [False, True] * (len(seen) // 2)
    assert seen


def test_frames_carry_the_motions_of_their_steps() -> None:
    lecture = of_query(kernel="tiled")
    drawing = scene.arrange(lecture.model, Look())
    figure = drawing.plain()
    for step, frame in zip(lecture.steps, figure["frames"], strict=True):
        sent = frame["layout"]["meta"]["motions"]
        assert sent == [one.plain() for one in drawing.sheet.motions(step)]
    assert '["fly",' in pack_frames(figure["frames"])
