"""The Write page without a browser: what it says of a text, its form, its exercises, its files."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from simulator import catalogue, compile_kernel
from simulator.exercises.exercise import exercises
from simulator.verdict.form import NumberArgument, UserKernel
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from tests.ui.apps import checked, open_page, page_alone
from tests.until import until
from ui.lessons.progress import Progress
from ui.user_kernel.draft import Draft, with_fields
from ui.user_kernel.editor import Edited
from ui.view import user_kernel_link
from ui.view.small_kernels import small_kernels

pytestmark = pytest.mark.usefixtures("_no_repairs")
SCALE = """\
__global__ void scale(float* x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = factor * x[i];
}
int main() { scale<<<2, 32>>>(x, 3.0f, 60); }
"""


def opened(**query: str) -> AppTest:
    return open_page("write", **query)


def linked(text: str, name: str, **fields: str) -> str:
    """The address's part for a kernel, launched as its text lets guess, but for some fields."""
    form = guess_form(text, compile_kernel(text, name))
    found = user_kernel_link.encode(UserKernel(text, name, with_fields(form, fields)))
    assert found is not None
    return found


def draft(page: AppTest) -> Draft:
    found: Draft = page.session_state["write_draft"]
    return found


def told(page: AppTest) -> str:
    return "\n".join(str(one.proto.body) for one in page.get("html"))


def press(page: AppTest, key: str) -> AppTest:
    return checked(page.button(key=key).click().run())


def test_a_first_visit_begins_with_the_kernel_of_the_scene() -> None:
    page = opened(kernel="padded")
    assert "Bs[TILE][TILE + 1]" in draft(page).text
    assert "padded&lt;&lt;&lt;" in told(page)


def test_a_kernel_of_the_catalogue_is_right() -> None:
    page = press(opened(), "write_check")
    assert "next right" in told(page)
    assert page.query_params["own"]


def test_another_signature_is_launched_as_its_file_does_it() -> None:
    page = opened(own=linked(SCALE, "scale"))
    assert "scale&lt;&lt;&lt;2, 32&gt;&gt;&gt;(x, 3.0, 60)" in told(page).replace("3,", "3.0,")
    page = press(page, "write_check")
    assert draft(page).checked is not None
    assert "next unchecked" in told(page)


def test_a_kernel_that_is_too_long_for_a_link_goes_along_to_other_pages() -> None:
    chosen = random.Random(5)  # noqa: S311  # no secret
    noise = "".join(chosen.choice("abcdefghijklmnop") for _ in range(20_000))
    text = f"// {noise}\n{SCALE}"
    own = UserKernel(text, "scale", guess_form(text, compile_kernel(text, "scale")))
    page = page_alone("write")
    page.query_params["own"] = user_kernel_link.IN_SESSION
    page.session_state[user_kernel_link.SESSION_KEY] = own  # as the Step page leaves it
    checked(page.run())
    assert draft(page).text == text
    del page.session_state[user_kernel_link.SESSION_KEY]
    press(page, "write_check")
    assert page.query_params["own"] == user_kernel_link.IN_SESSION
    assert page.session_state[user_kernel_link.SESSION_KEY].text == text


def test_a_link_brings_its_launch() -> None:
    page = opened(own=linked(SCALE, "scale", **{"n.value": "17", "block.x": "64"}))
    assert "scale&lt;&lt;&lt;2, 64&gt;&gt;&gt;" in told(page)
    own = draft(press(page, "write_check")).checked.user_kernel  # type: ignore[union-attr]
    assert NumberArgument("n", "17") in own.form.arguments


def test_a_kernel_of_the_glossary_takes_the_place_of_no_text() -> None:
    page = opened(own=linked(SCALE, "scale"))
    link = user_kernel_link.encode(small_kernels()["atomic"])
    assert link is not None
    page.query_params["own"] = link  # as the Step page's, when the visitor comes back from it
    checked(page.run())
    assert draft(page).text == SCALE
    assert "atomicAdd" in draft(opened(own=link)).text


@pytest.mark.parametrize("link", ["", "file", "x", "!!!", "A" * 9000])
def test_a_link_that_holds_nothing_is_no_fault(link: str) -> None:
    assert draft(opened(own=link)).text


def test_an_exercise_that_there_is_not_is_named() -> None:
    page = opened(exercise="03_coalesce")
    assert draft(page).text
    assert not draft(page).exercise
    assert "exercise “03\\_coalesce”" in page.warning[0].value
    assert "“coalesce” is similar" in page.warning[0].value


def test_a_text_that_does_not_compile_has_no_verdict() -> None:
    page = opened(own=linked(SCALE, "scale"))
    draft(page).open("__global__ void f() { oops }", "")
    page = press(checked(page.run()), "write_check")
    assert "does not compile" in page.error[0].value
    draft(page).edit(Edited(1, 1, SCALE))
    assert not checked(page.run()).error
    draft(page).open("__global__ void f() { oops }", "")
    page.run()
    assert page.button(key="write_step").disabled


def drawn_verdict() -> None:
    import streamlit as st

    from ui.user_kernel.verdict_section import draw_verdict

    draw_verdict(st.session_state["own"], st.session_state["verdict"], lambda *_: None)


def test_the_scene_of_a_wrong_cell_is_offered_once() -> None:
    text = (
        "__global__ void k(const float* x, const float* y, float* z, int n)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = x[i] + y[i] + 1; }"
    )
    kernel = compile_kernel(text)
    own = UserKernel(text, "k", guess_form(text, kernel, "sum"))
    verdict = judge(own, kernel)
    page = AppTest.from_function(drawn_verdict)
    page.session_state["own"] = own
    for next_step in (verdict.next_step, "Guard line 1."):
        page.session_state["verdict"] = replace(verdict, next_step=next_step)
        assert [button.key for button in checked(page.run()).button] == ["verdict_wrong"]


def test_an_exercise_is_checked_and_its_hints_open_one_by_one() -> None:
    page = opened(exercise="barriers")
    exercise = exercises()["barriers"]
    assert draft(page).text == exercise.start
    page = press(page, "write_check")
    assert "next wrong" in told(page)
    assert "the last one" not in told(page)
    for number, hint in enumerate(exercise.hints, 1):
        assert not any(hint in one.value for one in page.markdown)
        page = press(page, "hint_barriers")
        assert any(f"**Hint {number}.** {hint}" == one.value for one in page.markdown)
    assert any(exercise.solution.strip() == one.value.strip() for one in page.code)
    assert "hint_barriers" not in [button.key for button in page.button]
    draft(page).open(exercise.solution, "", "barriers")
    page = press(checked(page.run()), "write_check")
    assert "Solved." in told(page)
    assert draft(page).book.progress.attempt("barriers").solved
    page = press(page, "next_exercise")
    assert draft(page).exercise != "barriers"
    assert page.query_params["exercise"] == draft(page).exercise
    assert "own" not in page.query_params


def test_a_draft_of_another_exercise_is_kept() -> None:
    page = opened(exercise="barriers")
    written: Any = draft(page)
    written.edit(type("Edited", (), {"text": "// mine"})())
    written.open_exercise(exercises()["one_element"])
    written.open_exercise(exercises()["barriers"])
    assert written.text == "// mine"


def test_a_right_kernel_runs_on_a_gpu_beside_the_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    st.cache_resource.clear()
    st.cache_data.clear()
    monkeypatch.setattr("gpu.worker.COMMAND", (sys.executable, "-m", "tests.gpu.fake_worker"))
    page = opened(own=linked(catalogue()["naive"].source().replace("A", "left"), "naive"))
    assert not [one for one in page.button if one.key == "write_gpu_start"]
    page = press(press(page, "write_check"), "write_gpu_start")
    until(lambda: checked(page.run()).session_state["write_job"] is None)
    assert page.table[0].value["Kernel"].iloc[0] == "yours"
    verdict = draft(page).checked.verdict  # type: ignore[union-attr]
    assert verdict.occupancy.registers > 0
    assert verdict.occupancy.sentence in told(page)


def test_what_has_a_hazard_gets_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    st.cache_resource.clear()
    st.cache_data.clear()
    monkeypatch.setattr("gpu.worker.COMMAND", (sys.executable, "-m", "tests.gpu.fake_worker"))
    text = catalogue()["tiled"].source().replace("__syncthreads();", "", 1)
    page = press(opened(own=linked(text, "tiled")), "write_check")
    assert "next hazard" in told(page)
    assert not [one for one in page.button if one.key == "write_gpu_start"]


def test_a_hazard_in_a_header_is_named_with_its_file() -> None:
    text = """#include "move<.cuh"
__global__ void k(float* x) { move(x); }
int main() { k<<<1, 32>>>(x); }
// ==== file: move<.cuh ====
__device__ void move(float* x) {
    x[threadIdx.x] = x[(threadIdx.x + 1) % 32];
}
"""
    page = press(opened(own=linked(text, "k")), "write_check")
    assert "line 6 (line 2 of move&lt;.cuh): thread" in told(page)


def test_back_to_an_exercise_shows_what_was_written_last() -> None:
    page = press(opened(exercise="one_element"), "write_check")
    address = dict(page.query_params)
    draft(page).edit(Edited(1, 2, "// not checked"))
    page = press(checked(page.run()), "exercise_barriers")
    page.query_params.clear()
    page.query_params.update(address)
    page = checked(page.run())
    assert draft(page).exercise == "one_element"
    assert draft(page).text == "// not checked"


def test_a_saved_progress_opens_its_text_where_nothing_is_written_yet() -> None:
    written = draft(opened(exercise="barriers"))
    saved = Progress().with_text("barriers", "// saved")
    written.open_progress(saved)
    assert written.text == "// saved"
    written.edit(Edited(2, 1, "// new"))
    written.open_progress(saved)
    assert written.text == written.book.progress.attempt("barriers").text == "// new"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("__global__ void f(float*, int n) {}", "Parameter 1 of f has no name"),
        ("__global__ void f(float* x) {}" + " " * 2**17, "does not compile"),
    ],
)
def test_a_text_without_a_launch_says_why_until_it_is_mended(text: str, sentence: str) -> None:
    page = opened(own=linked(SCALE, "scale"))
    draft(page).edit(Edited(1, 2, text))
    page = press(checked(page.run()), "write_check")
    assert sentence in page.error[0].value.replace("\\", "")
    draft(page).edit(Edited(1, 3, SCALE))
    assert not checked(page.run()).error


def test_a_draft_keeps_no_text_of_every_pause_in_typing() -> None:
    written = draft(opened())
    before = len(written.seen)
    for version in range(99):
        written.edit(Edited(1, version, "/" * version))
    assert len(written.seen) == before
