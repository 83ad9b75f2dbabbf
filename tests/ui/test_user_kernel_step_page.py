"""The Step page with a user kernel: its address, its controls, and what goes wrong."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from simulator import Recording, Step
from simulator.machine.schedule import Schedule
from simulator.verdict.form import UserKernel
from tests.ui.apps import ROOT, app_at, control, has_scene, visited
from tests.ui.test_user_kernel_link import HOSTILE
from tests.ui.user_kernels import (
    RACE,
    REDUCTION,
    SAXPY,
    TENSOR_PRODUCT,
    USER_KERNELS,
    array,
    user_kernel,
)
from ui.drawing.look import Look, Stage
from ui.run.compute import (
    load_drawing,
    load_pairs,
    load_recording,
    load_sides,
    open_view,
    recording_key,
)
from ui.run.displayed_hazard import hazardous_view, select_hazard
from ui.run.follow_click import follow_click
from ui.step.state import KEY
from ui.view import user_kernel_link
from ui.view.presets import source
from ui.view.view_url import ComparedScene, View, from_query, opening_view, to_query

OUTSIDE_ABOVE = user_kernel(
    "__global__ void f(int* v) { if (blockIdx.z * threadIdx.z) v[99] = 1; }", "1,1,2", "2,2,2",
    array("v", "8"),
)  # fmt: skip


def opened(query: dict[str, str]) -> AppTest:
    """The app at an address."""
    return visited(app_at("step"), query)


def sound(app: AppTest) -> View:
    """The view, where the page shows a scene and nothing went wrong."""
    assert not app.exception
    assert not app.error
    assert has_scene(app)
    return app.session_state[KEY].view  # type: ignore[no-any-return]


def sentence(app: AppTest) -> str:
    """All that the page says in its alerts."""
    return " ".join(one.value for one in (*app.warning, *app.error))


def long_kernel() -> UserKernel:
    """A kernel whose text no link holds."""
    chosen = random.Random(3)  # noqa: S311  # no secret
    noise = "".join(chosen.choice("abcdefghijklmnop") for _ in range(20_000))
    return replace(SAXPY, text=f"// {noise}\n{SAXPY.text}")


@pytest.fixture(scope="module")
def session() -> AppTest:
    """A session that several tests go on with, each from an address of its own."""
    return opened(to_query(View(user_kernel=REDUCTION)))


def test_a_view_of_ones_own_comes_back_from_its_address() -> None:
    for view in (
        View(user_kernel=REDUCTION),
        View(user_kernel=REDUCTION, block=(1, 0), thread=(5, 0), step=7,
             schedule=Schedule.DESCENDING, stage=Stage.THREADS, edits=("first-barrier",)),
        View(
            user_kernel=REDUCTION,
            comparison=ComparedScene("own", (), ("first-barrier",), Schedule.ASCENDING),
        ),
    ):  # fmt: skip
        query = to_query(view)
        assert from_query(query) == (view, ())
        assert not {"kernel", "M", "TILE", "inputs"} & set(query)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_address_is_the_usual_view_and_a_sentence(name: str) -> None:
    view, notices = from_query({"own": HOSTILE[name], "bx": "3", "edits": "double"})
    assert view == opening_view("tiled")
    assert len(notices) == 1
    assert notices[0].endswith(".")


def test_odd_values_beside_a_kernel_are_mended() -> None:
    query = to_query(View(user_kernel=SAXPY)) | {
        "bx": "-7", "tx": "many", "step": "0", "edits": "double.nonsense", "M": "8",
        "with": "naive",
    }  # fmt: skip
    view, notices = from_query(query)
    beside = ComparedScene("own", (), (), Schedule.LOCKSTEP)
    assert view == View(user_kernel=SAXPY, edits=("double",), comparison=beside)
    assert len(notices) == 4
    assert from_query(to_query(view)) == (view, ())


def test_a_link_opens_ones_own_kernel(session: AppTest) -> None:
    app = visited(
        session, to_query(View(user_kernel=REDUCTION, block=(1, 0), thread=(9, 0), step=4))
    )
    assert sound(app).user_kernel == REDUCTION
    assert not app.warning
    chosen = control(app.selectbox, "Kernel")
    assert chosen.options[0] == "User kernel: reduce"
    labels = {one.label for one in (*app.selectbox, *app.number_input)}
    assert not labels & {"M", "N", "K", "TILE", "A and B hold"}
    control(app.number_input, "Block x").set_value(0).run()
    assert sound(app).block == (0, 0)
    control(app.selectbox, "The block's warps run").set_value("ascending").run()
    assert sound(app).schedule is Schedule.ASCENDING
    assert from_query(app.query_params)[0].user_kernel == REDUCTION


def test_a_kernel_for_tensor_cores_opens_at_its_product(session: AppTest) -> None:
    recording = load_recording(View(user_kernel=TENSOR_PRODUCT))
    product = next(step for step in recording.steps if "mma_sync" in line_of(recording, step))
    view = View(user_kernel=TENSOR_PRODUCT, thread=(5, 0), step=product.number)
    assert sound(visited(session, to_query(view))).step == product.number


def line_of(recording: Recording, step: Step) -> str:
    """The line of the text that a step is of."""
    return recording.kernel.text.split("\n")[step.line - 1]


def test_a_kernel_of_the_catalogue_and_a_preset_leave_it(session: AppTest) -> None:
    app = visited(session, to_query(View(user_kernel=REDUCTION, stage=Stage.THREADS)))
    control(app.selectbox, "Kernel").set_value("padded").run()
    assert sound(app) == replace(opening_view("padded"), stage=Stage.THREADS)
    assert "own" not in app.query_params
    assert "User kernel: reduce" not in control(app.selectbox, "Kernel").options
    app = visited(session, to_query(View(user_kernel=REDUCTION, step=1)))
    assert sound(app).user_kernel == REDUCTION
    next(one for one in app.button if str(one.key).startswith("preset_")).click().run()
    assert sound(app).user_kernel is None


def test_a_block_and_a_thread_beyond_the_launch_are_mended(session: AppTest) -> None:
    app = visited(session, to_query(View(user_kernel=REDUCTION, block=(9, 0), thread=(64, 3))))
    view = sound(app)
    assert (view.block, view.thread) == ((1, 0), (63, 0))


def test_blocks_and_threads_of_three_dimensions_can_be_watched(session: AppTest) -> None:
    deep = View(user_kernel=USER_KERNELS["three loops"], thread=(1, 2), z=(0, 1))
    assert from_query(to_query(deep)) == (deep, ())
    app = visited(session, to_query(deep))
    assert sound(app) == deep
    control(app.number_input, "Thread z").set_value(0).run()
    assert sound(app) == replace(deep, z=(0, 0))
    app = visited(session, to_query(replace(deep, z=(4, 4))))
    assert sound(app).z == (0, 1)
    app = visited(session, to_query(View(user_kernel=OUTSIDE_ABOVE)))
    app.button(key="show_hazard").click().run()
    view = sound(app)
    assert (view.block_index, view.thread_index) == ((0, 0, 1), (0, 0, 1))


def test_a_hazard_of_ones_own_can_be_shown(session: AppTest) -> None:
    app = visited(session, to_query(View(user_kernel=RACE)))
    sound(app)
    app.button(key="show_hazard").click().run()
    view = sound(app)
    assert view.user_kernel == RACE
    assert view.step > 0


def test_what_ifs_are_offered_where_their_pattern_is_found(session: AppTest) -> None:
    text = source(opening_view("tiled"))
    plain = user_kernel(
        text, "2,2", "TILE,TILE", array("A", "64"), array("B", "64"), array("C", "64"),
        ("M", "8"), ("N", "8"), ("K", "8"), roles="A=A B=B C=C M=M N=N K=K",
    )  # fmt: skip
    app = visited(session, to_query(View(user_kernel=plain)))
    sound(app)
    control(app.checkbox, "Remove the first barrier").set_value(True).run()
    assert sound(app).edits == ("first-barrier",)
    assert any(" times: " in one.value for one in app.markdown), "its race is reported"
    app = visited(session, to_query(View(user_kernel=SAXPY, edits=("first-barrier",))))
    sound(app)
    assert "Remove the first barrier" not in {one.label for one in app.checkbox}


def test_a_kernel_that_is_too_long_for_a_link_stays_in_its_session() -> None:
    query = {"own": user_kernel_link.IN_SESSION}
    app = opened(query)
    assert sound(app) == opening_view("tiled")
    assert "open its file on the Write page" in sentence(app)
    app.session_state[user_kernel_link.SESSION_KEY] = long_kernel()
    app = visited(app, {**query, "tx": "3"})
    assert sound(app) == View(user_kernel=long_kernel(), thread=(3, 0))
    assert app.query_params["own"] == user_kernel_link.IN_SESSION
    control(app.number_input, "Thread x").set_value(4).run()
    assert sound(app) == View(user_kernel=long_kernel(), thread=(4, 0))


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (replace(SAXPY, text="__global__ void saxpy(int n) { int x = ; }"), "line 1"),
        (replace(SAXPY, text="int main() {}"), "kernel"),
        (replace(SAXPY, kernel="another"), "another"),
        (replace(SAXPY, text=""), "kernel"),
        (replace(SAXPY, text="#include </etc/passwd>\n" + SAXPY.text, kernel="x" * 90), "xxx"),
        (replace(SAXPY, form=replace(SAXPY.form, grid=("0", "1", "1"))), "grid"),
        (replace(SAXPY, form=replace(SAXPY.form, block=("9 ** 9", "1", "1"))), "block"),
        (replace(SAXPY, form=replace(SAXPY.form, block=("2048", "1", "1"))), "1,024"),
        (replace(SAXPY, form=replace(SAXPY.form, arguments=())), "n"),
        (
            user_kernel(
                "__global__ void k(int* x) { while (1) x[0] += 1; }", "1", "32", array("x", "9")
            ),
            "loop",
        ),
        (
            user_kernel(
                "__global__ void k(float* x) { x[0] = 1; }", "1", "1", array("x", "100000")
            ),
            "smaller sizes",
        ),
    ],
)
def test_what_cannot_run_is_a_sentence(session: AppTest, kernel: UserKernel, said: str) -> None:
    app = visited(session, to_query(View(user_kernel=kernel)))
    assert not app.exception
    assert said in sentence(app)
    assert str(ROOT) not in sentence(app)
    assert "/etc" not in sentence(app)
    chosen = control(app.selectbox, "Kernel")
    assert chosen.value == "own"


def test_a_kernel_of_ones_own_has_itself_beside_it() -> None:
    session = opened(to_query(View(user_kernel=REDUCTION)))
    sound(session)
    second = control(session.selectbox, "A second scene, in lockstep")
    assert second.options == ["None", "User kernel: reduce"]
    second.set_value("own").run()
    view = sound(session)
    assert view.comparison == ComparedScene("own", (), (), Schedule.LOCKSTEP)
    assert len(load_pairs(view)) == len(load_recording(recording_key(view)).steps)
    control(session.checkbox, "Second scene: Remove the first barrier").check().run()
    control(session.selectbox, "Second scene: the block's warps run").set_value(
        Schedule.DESCENDING
    ).run()
    view = sound(session)
    assert view.comparison == ComparedScene("own", (), ("first-barrier",), Schedule.DESCENDING)
    assert view.edits == ()
    left, right = load_sides(view)
    assert source(left) == REDUCTION.text != source(right)
    control(session.selectbox, "A second scene, in lockstep").set_value("None").run()
    assert sound(session).comparison is None


@pytest.mark.parametrize(
    ("query", "comparison", "notice"),
    [
        ("tiled", ComparedScene("own", (), (), Schedule.LOCKSTEP), "tiled"),
        ("own,TILE:4,edits:nonsense", ComparedScene("own", (), (), Schedule.LOCKSTEP), "TILE"),
        ("own,schedule:ascending", ComparedScene("own", (), (), Schedule.ASCENDING), ""),
    ],
)
def test_what_an_address_may_set_beside_ones_own(
    query: str, comparison: ComparedScene, notice: str
) -> None:
    view, notices = from_query({**to_query(View(user_kernel=SAXPY)), "with": query})
    assert view.comparison == comparison
    assert notice in " ".join(notices)
    assert bool(notices) == bool(notice)


def test_a_text_that_is_too_long_to_compare_has_nothing_beside_it(session: AppTest) -> None:
    text = SAXPY.text + "// again\n" * 2000
    view = View(
        user_kernel=replace(SAXPY, text=text),
        comparison=ComparedScene("own", (), (), Schedule.ASCENDING),
    )
    visited(session, to_query(view))
    assert not session.exception
    assert "too long for two scenes" in sentence(session)
    control(session.selectbox, "A second scene, in lockstep").set_value("None").run()
    assert sound(session).comparison is None


@pytest.mark.sample(4)
@pytest.mark.parametrize("look", [Look(), Look(width=374, height=700)])
@pytest.mark.parametrize("name", ["race", "reduction", "structs", "a hasty product", "printf"])
def test_two_scenes_of_one_kernel_draw_alike(name: str, look: Look) -> None:
    comparison = ComparedScene("own", (), ("first-barrier",), Schedule.DESCENDING)
    view = View(user_kernel=USER_KERNELS[name], comparison=comparison)
    drawn, counts = load_drawing(view, look), set()
    for pair in drawn.steps[:: max(1, len(drawn.steps) // 20)]:
        counts.add((len(drawn.changing(pair)), len(drawn.shapes(pair))))
        for x in range(50, 1250, 150):
            after = follow_click(replace(view, step=pair.number), look, x, x / 2)
            assert after.comparison == comparison
            assert after.user_kernel == view.user_kernel
    assert len(counts) == 1, "a frame has the same traces and shapes at each step"


def test_the_hazard_of_the_scene_beside_is_shown_in_both() -> None:
    view = View(
        user_kernel=REDUCTION,
        comparison=ComparedScene("own", (), ("first-barrier",), Schedule.LOCKSTEP),
    )
    displayed = select_hazard(open_view(view).reports)
    assert displayed is not None
    assert displayed.side == 1
    shown = hazardous_view(view, displayed)
    assert shown.user_kernel == REDUCTION
    left, right = load_sides(shown)
    assert (left.block, left.thread) == (right.block, right.thread)
    step = load_pairs(shown)[shown.step].sides[1]
    assert step.line in displayed.hazard.lines
