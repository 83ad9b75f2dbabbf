"""The stepper's page: whatever its controls and its address say, a scene or a sentence."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1 import AppTest

from simulator import LaunchError, SourceError, catalogue, compile_kernel, simulate
from simulator.language.errors import Diagnostic, Span
from simulator.launch import ravel
from simulator.machine.observer import AccessKind
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.findings import Hazard
from tests.ui.apps import app_at, control, has_scene, visited
from tests.ui.caches import forget
from tests.ui.test_view_url import GARBAGE
from ui.drawing.look import LEVELS, Stage
from ui.run.compute import (
    load_navigation,
    load_pairs,
    load_recording,
    load_report,
    load_sides,
    recording_key,
    step_of_side,
)
from ui.step.controls import STAGE_NAMES
from ui.step.state import KEY, step_state
from ui.view.presets import launch, presets, source
from ui.view.view_url import (
    INPUTS,
    LARGEST,
    SCHEDULES,
    ComparedScene,
    View,
    from_query,
    opening_view,
    to_query,
)
from ui.view.what_if import applicable_edits
from ui.web_page.plain_text import plain_text

SECOND = "A second scene, in lockstep"
WARPS, HOLD, CHIP = "The block's warps run", "A and B hold", "The chip shows"  # controls
SEQUENCES, FEW = 24, 8
PAGE = 16
CHANGES = 2  # of one sequence
SENT = [*[text for text in GARBAGE if len(text) < 10000 and text.isascii()][::2], "½", "💥"]


@pytest.fixture(scope="module", autouse=True)
def _fresh() -> Iterator[None]:
    """Nothing that another test has recorded, and pages short enough to be turned often."""
    forget()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ui.scene.scene.PAGE", PAGE)
        yield
    forget()


@pytest.fixture(scope="module")
def session(_fresh: None) -> AppTest:
    """A session that several tests go on with, each from an address of its own."""
    return opened()


def opened(query: dict[str, str] | None = None) -> AppTest:
    return visited(app_at("step"), query or {})


def shown(app: AppTest) -> View:
    """The view that the page shows, by its address.

    Where a scene begins at its first beat, the stepper itself writes that step into the address.
    """
    view, said = from_query(app.query_params)
    assert said == (), "the page's own address needs no mending"
    told: View = app.session_state[KEY].view
    if "step" not in app.query_params:
        view = dataclasses.replace(view, step=told.step)
    assert view == told
    return view


def hazards(app: AppTest) -> list[str]:
    """The hazards that the page names."""
    return [one.value for one in app.markdown if " times: " in one.value]


def controls(app: AppTest, step: int | None = None) -> View:
    """The view that the page's controls are set to."""
    name = control(app.selectbox, "Kernel").value
    entry = catalogue()[name]
    defines = tuple((m, int(control(app.selectbox, m).value)) for m in entry.defines)
    numbers = {field.label: int(field.value) for field in app.number_input}
    boxes = {box.label: box.value for box in app.checkbox}
    return View(
        name, numbers["M"], numbers["N"], numbers["K"], defines,
        tuple(
            edit.key
            for edit in applicable_edits(entry.source(**dict(defines)))
            if boxes[edit.label]
        ),
        (numbers["Block x"], numbers["Block y"]), (numbers["Thread x"], numbers["Thread y"]),
        shown(app).step if step is None else step,
        control(app.selectbox, WARPS).value, control(app.selectbox, HOLD).value,
        stage=control(app.selectbox, CHIP).value or None,
        comparison=comparison_control(app),
    )  # fmt: skip


def comparison_control(app: AppTest) -> ComparedScene | None:
    """The second scene that the page's controls are set to."""
    name = control(app.selectbox, SECOND).value
    if name not in catalogue():
        return None
    entry, boxes = catalogue()[name], {box.label: box.value for box in app.checkbox}
    defines = {m: int(control(app.selectbox, f"Second scene: {m}").value) for m in entry.defines}
    offered = applicable_edits(entry.source(**defines))
    return ComparedScene(
        name, tuple(defines.items()),
        tuple(edit.key for edit in offered if boxes[f"Second scene: {edit.label}"]),
        control(app.selectbox, "Second scene: the block's warps run").value,
    )  # fmt: skip


def sound(app: AppTest) -> View:
    """The view, where the page shows a scene, its controls agree and nothing went wrong."""
    assert not app.exception
    assert not app.error
    assert has_scene(app)
    assert controls(app) == shown(app)
    return shown(app)


def test_the_first_view_is_the_usual_one() -> None:
    app = opened()
    assert sound(app) == opening_view("tiled")
    assert not app.warning
    assert not app.query_params


@pytest.mark.parametrize("name", catalogue())
@pytest.mark.sample(10)
def test_every_kernel_can_be_chosen(name: str) -> None:
    app = opened()
    control(app.selectbox, "Kernel").set_value(name).run()
    view = sound(app)
    assert view.kernel == name
    assert dict(view.defines) == dict(catalogue()[name].teaching[0])


@pytest.mark.parametrize(("name", "stays"), [("padded", True), ("naive", False)])
@pytest.mark.sample(2)
def test_another_kernel_keeps_a_what_if_that_applies_to_it(name: str, stays: bool) -> None:
    app = opened({"edits": "first-barrier"})
    control(app.selectbox, "Kernel").set_value(name).run()
    view, usual = sound(app), opening_view(name)
    assert view.edits == (("first-barrier",) if stays else ())
    assert view.step == usual.step - stays, "one barrier less is before it"


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.deep)])
def test_every_preset_opens_by_its_button(every: int) -> None:
    app = opened()
    for preset in presets()[::every]:
        app.button(key=f"preset_{preset.name}").click().run()
        assert sound(app) == preset.view, preset.name
        assert not app.warning
        edits = [
            *preset.view.edits,
            *(preset.view.comparison.edits if preset.view.comparison else ()),
        ]
        is_broken = any("barrier" in edit for edit in edits) and "inner-barrier" not in edits
        assert bool(hazards(app)) == is_broken, preset.name


def test_a_second_scene_keeps_the_place_and_goes_again() -> None:
    app = opened({"kernel": "tiled", "step": "18"})
    control(app.selectbox, SECOND).set_value("naive").run()
    view = sound(app)
    assert view.comparison == ComparedScene("naive", (), (), Schedule.LOCKSTEP)
    assert app.query_params["with"] == "naive"
    assert load_pairs(view)[view.step].sides[0].number == 17
    control(app.selectbox, SECOND).set_value("padded").run()
    control(app.checkbox, "Second scene: Remove the first barrier").set_value(True).run()
    control(app.selectbox, "Second scene: TILE").set_value(8).run()
    control(app.selectbox, "Second scene: the block's warps run").set_value("ascending").run()
    view = sound(app)
    assert view.comparison == ComparedScene(
        "padded", (("TILE", 8),), ("first-barrier",), Schedule.ASCENDING
    )
    assert load_pairs(view)[view.step].sides[0].number == 17
    assert hazards(app)
    control(app.selectbox, SECOND).set_value("None").run()
    assert sound(app) == dataclasses.replace(opening_view("tiled"), step=17)
    assert not hazards(app)


def test_another_kernel_keeps_the_second_scene() -> None:
    app = opened({"with": "naive"})
    control(app.selectbox, "Kernel").set_value("padded").run()
    view = sound(app)
    assert (view.kernel, view.comparison) == (
        "padded",
        ComparedScene("naive", (), (), Schedule.LOCKSTEP),
    )
    opens = opening_view("padded")
    assert load_pairs(view)[view.step].sides[0].number == opens.step


def test_a_preset_opens_once_more_from_any_step() -> None:
    app = opened()
    preset = presets()[2]
    assert preset.view.step > 0
    button = f"preset_{preset.name}"
    app.button(key=button).click().run()
    app.query_params["step"] = "2"  # the stepper writes its step into the address
    app.run()
    assert shown(app).step == 1
    order = app.session_state[KEY].order
    app.button(key=button).click().run()
    assert app.session_state[KEY].view == controls(app, preset.view.step) == preset.view
    assert app.session_state[KEY].order > order, "which tells the stepper to begin there"


@pytest.mark.parametrize(
    ("field", "value", "keeps"),
    [
        ("Thread x", 3, True),
        ("Thread y", 1, True),
        ("Block x", 1, False),
        ("K", 5, False),
        ("M", 7, False),
    ],
)
@pytest.mark.sample(2)
def test_a_thread_keeps_the_step_and_another_run_begins_anew(
    field: str, value: int, keeps: bool
) -> None:
    app = opened({"step": "18"})
    control(app.number_input, field).set_value(value).run()
    view = sound(app)
    assert view.step == (17 if keeps else load_navigation(view)["beat"][0])


def test_smaller_matrices_take_the_focus_along() -> None:
    app = opened({"M": "64", "N": "64", "bx": "15", "by": "7", "tx": "2", "ty": "3"})
    assert sound(app).block == (15, 7)
    control(app.number_input, "N").set_value(9).run()
    assert sound(app).block == (2, 7)
    control(app.selectbox, "TILE").set_value(2).run()
    view = sound(app)
    assert (view.block, view.thread) == ((2, 7), (1, 1))
    assert not app.warning, "nobody asked for more"


@pytest.mark.parametrize("edit", ["first-barrier", "second-barrier"])
@pytest.mark.sample(2)
def test_a_races_witness_is_shown_in_its_sentence(edit: str) -> None:
    """The block has two warps, without whose order a race gives no wrong value."""
    view = View(M=8, N=8, K=16, defines=(("TILE", 8),), edits=(edit,))
    entry = catalogue()[view.kernel]
    report = simulate(compile_kernel(source(view), entry.kernel), launch(view))
    sentences = [race.witness.sentence for race in report.hazards if race.witness is not None]
    assert sentences
    assert all("instead of" in sentence for sentence in sentences)
    app = opened(to_query(view))
    sound(app)
    assert [caption.value for caption in app.caption] == [plain_text(one) for one in sentences]


@pytest.mark.parametrize("edit", ["first-barrier", "second-barrier"])
@pytest.mark.sample(2)
def test_a_witness_opens_its_order_at_the_read_that_it_names(edit: str) -> None:
    app = opened({"M": "16", "N": "16", "K": "16", "TILE": "8", "edits": edit})
    said = sentence(app)
    pattern = r"thread \((\d), (\d)\) reads (\d+) from \S+ instead of (\d+) on line (\d+)"
    found = re.search(pattern, said)
    assert found
    app.button(key="show_hazard").click().run()
    view = sound(app)
    assert view.schedule == "ascending"
    assert view.thread == (int(found[1]), int(found[2]))
    recording = load_recording(recording_key(view))
    step = recording.steps[view.step]
    thread = view.thread[0] + 8 * view.thread[1]
    assert step.line == int(found[5])
    read = [float(a.values[thread]) for a in step.accesses if a.kind is AccessKind.LOAD]
    assert float(found[3]) in read
    assert sentence(app) == said


@pytest.mark.parametrize(
    ("edits", "query"),
    [
        ("bounds", {"M": "6", "N": "6", "K": "6", "TILE": "4"}),
        ("zero-fill", {"M": "6", "N": "6", "K": "6", "TILE": "4"}),
        ("first-barrier", {"M": "16", "N": "16", "K": "16", "TILE": "8"}),
    ],
)
@pytest.mark.sample(2)
def test_each_hazard_opens_at_the_access_that_it_names(edits: str, query: dict[str, str]) -> None:
    kinds = set()
    count = len(hazards_of(opened({**query, "edits": edits})))
    for number in range(count):
        app = opened({**query, "edits": edits})
        hazard = hazards_of(app)[number]
        kinds.add(hazard.kind)
        app.button(key=f"show_hazard_{number}").click().run()
        view = app.session_state[KEY].view  # the stepper itself writes a step into the address
        recording = load_recording(recording_key(view))
        step = recording.steps[view.step]
        thread = ravel((*view.thread, 0), recording.launch.block)
        assert view.block == hazard.example.block[:2]
        assert step.line in hazard.lines
        assert step.active[thread]
        mine = [a for a in step.accesses if a.active[thread] and a.name == hazard.array]
        assert mine
        if hazard.kind == "out-of-bounds":
            assert view.thread == hazard.example.thread[:2]
            assert any(not access.in_bounds[thread] for access in mine)
    assert kinds


@pytest.mark.parametrize(
    ("edits", "query"),
    [
        ("bounds", {"M": "6", "N": "6", "K": "6", "TILE": "4"}),
        ("second-barrier", {"M": "16", "N": "16", "K": "16", "TILE": "8"}),
    ],
)
@pytest.mark.sample(2)
def test_a_hazard_of_the_right_scene_opens_there(edits: str, query: dict[str, str]) -> None:
    app = opened({**query, "with": f"tiled,edits:{edits}"})
    before = sound(app)
    reports = [load_report(side) for side in load_sides(before)]
    assert not reports[0].hazards
    for number, hazard in enumerate(reports[1].hazards):
        app = opened({**query, "with": f"tiled,edits:{edits}"})
        assert ">Second scene: " in sentence(app)
        app.button(key=f"show_hazard_{number}").click().run()
        view = app.session_state[KEY].view
        assert view.edits == before.edits
        witness, right = hazard.witness, load_sides(view)[1]
        assert view.schedule == right.schedule, "as they were the same before"
        recording = load_recording(recording_key(right))
        step = recording.steps[step_of_side(view, 1)]
        thread = ravel((*right.thread, 0), recording.launch.block)
        named = hazard.example.thread
        if witness is not None and witness.thread is not None:
            named = witness.thread
            assert right.schedule == witness.order
        assert (right.block, right.thread) == (hazard.example.block[:2], named[:2])
        assert step.line in hazard.lines
        assert step.active[thread]


def test_the_right_scene_follows_the_left_ones_macros_and_order_until_it_has_its_own() -> None:
    app = opened({"M": "8", "N": "8", "K": "8", "TILE": "2", "with": "padded"})
    control(app.selectbox, "TILE").set_value(4).run()
    control(app.selectbox, "The block's warps run").set_value("ascending").run()
    view = sound(app)
    assert view.comparison == ComparedScene("padded", (("TILE", 4),), (), Schedule.ASCENDING)
    control(app.selectbox, "Second scene: TILE").set_value(2).run()
    control(app.selectbox, "TILE").set_value(8).run()
    view = sound(app)
    assert (view.defines, view.comparison.defines) == ((("TILE", 8),), (("TILE", 2),))  # type: ignore[union-attr]
    app = opened(to_query(view))
    assert sound(app).comparison == view.comparison


def hazards_of(app: AppTest) -> tuple[Hazard, ...]:
    return load_report(sound(app)).hazards


@pytest.mark.parametrize("button", ["show_hazard", "preset_Both barriers"])
def test_a_click_is_kept_whose_callback_streamlit_ends(
    button: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does so at any use of the session state, where another run has been asked for."""
    query = {"M": "16", "N": "16", "K": "16", "TILE": "8", "edits": "second-barrier"}
    app, undisturbed = opened(query), opened(query)
    undisturbed.button(key=button).click().run()
    called = []

    def end(*_: object) -> None:
        raise RerunException(RerunData())

    call = SessionState._call_callbacks

    def call_and_end(self: SessionState, **arguments: Any) -> None:
        with monkeypatch.context() as patched:
            for name in ("__getitem__", "__setitem__", "__contains__"):
                patched.setattr(SafeSessionState, name, end)
            with pytest.raises(RerunException):
                step_state()  # as a callback that uses the session state
            call(self, **arguments)
        called.append(arguments)

    monkeypatch.setattr(SessionState, "_call_callbacks", call_and_end)
    app.button(key=button).click().run()
    assert sound(app) == sound(undisturbed)
    assert sound(app).schedule == "ascending"
    assert called, "without being ended"


def sentence(app: AppTest) -> str:
    """What is above the scene."""
    [text] = [
        element.proto.body for element in app.get("html") if "<p class=" in element.proto.body
    ]
    return str(text)


def test_an_edit_is_shown_and_its_hazard_told() -> None:
    app = opened({"M": "16", "N": "16", "K": "16", "TILE": "8"})
    assert not app.expander
    control(app.checkbox, "Remove the second barrier").check().run()
    assert sound(app).edits == ("second-barrier",)
    [changed] = app.expander
    assert "write-after-read" in "".join(hazards(app))
    assert changed.label == "What the edit changed"
    [code] = changed.code
    assert "- " in code.value
    assert "// __syncthreads(); removed" in code.value
    control(app.checkbox, "Remove the second barrier").uncheck().run()
    assert sound(app).edits == ()
    assert not app.expander


@pytest.mark.parametrize("at", range(len(SENT)))
@pytest.mark.sample(3)
def test_garbage_in_an_address_gives_a_sentence(session: AppTest, at: int) -> None:
    names = ("M", "TILE", "bx", "step", "edits", "schedule", "kernel")
    name, text = names[at % len(names)], SENT[at]
    view, said = from_query({name: text})
    app = visited(session, {name: text})
    found = sound(app)
    told = " ".join(one.value for one in app.warning)
    assert all(sentence in told for sentence in said), name
    beyond = "The recording has " in told
    assert bool(told) == (bool(said) or beyond)
    assert found == (dataclasses.replace(view, step=found.step) if beyond else view)


def test_what_was_wrong_is_said_until_something_else_is_chosen() -> None:
    app = opened({"M": "900", "step": "10000000"})
    view = sound(app)
    assert view.M == 64
    [said] = app.warning
    assert "M = 900 is more than 64" in said.value
    assert "the scene shows the last of them" in said.value
    app.run()
    assert [one.value for one in app.warning] == [said.value]
    control(app.number_input, "Thread x").set_value(1).run()
    assert not app.warning
    assert sound(app).step == view.step


def test_a_block_that_no_gpu_takes_becomes_the_nearest() -> None:
    app = opened({"kernel": "registers"})
    control(app.selectbox, "TILE").set_value(128).run()
    view = sound(app)
    assert dict(view.defines) == {"TILE": 128, "DEPTH": 4, "EACH": 4}
    assert "more than the 1,024 threads" in app.warning[0].value


@pytest.mark.parametrize(
    "error",
    [
        LaunchError("The recording takes more than 256 MiB; choose smaller sizes."),
        SourceError("The block takes more than 20,000 steps; choose smaller sizes."),
        SourceError.of(
            [Diagnostic("Write __device__ first.", Span(1, 2, 1, 3)), Diagnostic("[b]")]
        ),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("at_first", [True, False])
@pytest.mark.sample(5)
def test_what_cannot_be_recorded_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, error: Exception, at_first: bool
) -> None:
    tries = []

    def fails(*asked: object, **_: object) -> None:
        tries.append(asked)
        raise error

    forget()
    app = opened()
    with monkeypatch.context() as broken:
        broken.setattr("ui.run.compute.record", fails)
        if at_first:
            app = opened({"K": "31"})
        else:
            control(app.number_input, "K").set_value(31).run()
        assert not app.exception
        [said] = app.error
        assert (
            re.sub(r"\\(?=\W|_)", "", said.value).split() == f"This cannot be run: {error}".split()
        )
        assert said.value.count("  \n") == str(error).count("\n") * 2
        assert not has_scene(app)
        assert controls(app).K == 31
        app.run()
        assert len(tries) == 1, "what failed is not tried again at each run"
    forget()
    control(app.number_input, "K").set_value(7).run()
    assert sound(app).K == 7


def test_what_a_worker_cannot_run_anew_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise LaunchError("This took too long.")

    monkeypatch.setattr("ui.step.scene_section.load_picture", fails)
    app = opened({"K": "29"})
    assert not app.exception
    [said] = app.error
    assert said.value == "This cannot be run: This took too long."


def test_the_view_is_kept_while_another_page_is_read() -> None:
    asked = View("padded", 12, 16, 20, (("TILE", 8),), ("double",), (1, 0), (3, 5), 30, "ascending",
                 "counting")  # fmt: skip
    app = opened(to_query(asked))
    assert sound(app) == asked
    app.switch_page("ui/pages/gpu.py").run()
    assert not app.exception
    app.switch_page("ui/pages/step.py").run()
    assert sound(app) == asked
    control(app.selectbox, "Kernel").set_value("naive").run()
    assert sound(app).kernel == "naive"


def test_the_navigations_links_which_have_no_query_keep_the_view() -> None:
    asked = View("padded", 12, 16, 20, (("TILE", 8),), ("double",), (1, 0), (3, 5), 30)
    app = visited(app_at("step"), to_query(asked))
    for page in ("gpu.py", "step.py", "step.py"):
        app.query_params.clear()
        app.switch_page(f"ui/pages/{page}").run()
        assert not app.exception
        assert from_query(app.query_params) == (asked, ())
    assert sound(app) == asked


def change(app: AppTest, choose: random.Random) -> str:
    """Set one control to something, and say which."""
    view = controls(app)
    entry = catalogue()[view.kernel]
    match choose.choice(("kernel", "size", "size", "macro", "focus", "edit", "word", "second")):
        case "second":
            name = choose.choice(["None", *catalogue()])
            control(app.selectbox, SECOND).set_value(name)
            return f"second {name}"
        case "kernel":
            name = choose.choice(list(catalogue()))
            control(app.selectbox, "Kernel").set_value(name)
            return name
        case "size":
            name, value = choose.choice("MNK"), choose.choice((1, 2, 3, 7, 16, 33, LARGEST))
            control(app.number_input, name).set_value(value)
            return f"{name} = {value}"
        case "macro" if entry.defines:
            name = choose.choice(list(entry.defines))
            value = choose.choice(entry.defines[name])
            control(app.selectbox, name).set_value(value)
            return f"{name} = {value}"
        case "focus":
            field = choose.choice([f for f in app.number_input if not f.disabled])
            field.set_value(choose.randint(int(field.min), int(field.max)))
            return f"{field.label} = {field.value}"
        case "edit" if list(app.checkbox):
            box = choose.choice(list(app.checkbox))
            box.set_value(not box.value)
            return f"{box.label} = {box.value}"
        case _:
            name, words = choose.choice(((WARPS, SCHEDULES), (HOLD, INPUTS), (CHIP, tuple(Stage))))
            control(app.selectbox, name).set_value(choose.choice(words))
            return f"{name} = {control(app.selectbox, name).value}"


def test_each_stage_has_a_name_in_the_menu() -> None:
    assert set(STAGE_NAMES) == {"", *Stage, *LEVELS}


@pytest.mark.parametrize(
    "seed",
    [*range(FEW), *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(FEW, SEQUENCES))],
)
@pytest.mark.sample(6)
def test_no_choice_of_the_controls_goes_wrong(session: AppTest, seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311  # for a table, not for secrets
    app, done = visited(session, {"kernel": list(catalogue())[seed % len(catalogue())]}), []
    for _ in range(CHANGES):
        done.append(change(app, choose))
        app.run()
        assert not app.exception, (done, app.exception)
        assert has_scene(app) != bool(app.error), done
        assert controls(app) == shown(app), done
        assert all(one.value.endswith(".") for one in [*app.error, *app.warning]), done
