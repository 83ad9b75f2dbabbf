"""A question on a page: the reader commits to an answer before the run's is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from ui.gpu_charts.performance import size_name
from ui.lessons.cell_picture import describe, draw_cells
from ui.lessons.component import draw_cell_picker, draw_picker
from ui.lessons.judge import (
    Answer,
    cells,
    claim_title,
    fill,
    hint,
    judge,
    right_answer,
    words,
    wrong_answer,
)
from ui.lessons.lesson import MORE, OF_L1, Claim, Kind, Measure, Question, QuestionPart, Verdict
from ui.lessons.markup import code_lines, css_on_paper
from ui.lessons.quantities import measure, recorded, recorded_size, rounded
from ui.lessons.visit import Given, Visit
from ui.run.cache import answers
from ui.run.mailbox import open_view
from ui.view import presets
from ui.web_page.browser import picture_look
from ui.web_page.press import press

VERDICTS = {
    Verdict.CONFIRMED: ("green", ":material/check:"),
    Verdict.REFINED: ("orange", ":material/tune:"),
    Verdict.WRONG: ("red", ":material/close:"),
}
GPU_PAGE = "ui/pages/gpu.py"
# Keys of what chooses M, N, K there: of a comparison, and of the run over shapes.
RECORDED_SIZE, SHAPES_SIZE = "recorded_size", "shapes_size"
RIGHT, WRONG = ":material/check_circle:", ":material/cancel:"
HINT = ":material/lightbulb:"


def find_numbers(question: Question | Claim) -> Mapping[str, float]:
    """The numbers of a question or a claim, which workers find."""
    found = {}
    for name, quantity in question.quantities.items():
        if quantity.view is None:
            number = recorded(quantity.measure, quantity.of)
        else:
            number = answers().ask(
                measure, quantity.view, Measure(quantity.measure), quantity.of, is_quiet=True
            )
        found[name] = rounded(quantity, number)
    return found


def draw_question(part: QuestionPart, visit: Visit, number: int, is_teacher: bool) -> None:
    """Draw a question; once it is answered its reason, from the run, and the scene that shows it.

    A first wrong answer gets a hint and a second try. number is its place in the lesson, from 1.
    """
    question = visit.variant(part)
    numbers = find_numbers(question)
    given = visit.given.get(part.name)
    key = f"{part.name} {visit.drawings.get(part.name, 0)}"
    with st.container(border=True, key=f"question {part.name}"):
        sign = f" :gray-badge[{MORE}]" if part.is_more else ""
        st.markdown(f"**Question {number}.**{sign} {fill(question, question.ask, numbers)}")
        is_row = question.kind is Kind.NUMBER  # its field and the button are side by side
        # A form sends what is in the field with the click on the button, and with Enter.
        is_form = is_row and given is None
        place = st.form(f"form {key}", border=False) if is_form else st.container()
        with place, st.container(horizontal=is_row, vertical_alignment="bottom"):
            answer = _draw_answer(question, numbers, given, key)
            if given is None:
                _draw_answer_button(part, visit, question, numbers, answer, key)
        tried = visit.tried.get(part.name)
        if given is None and tried is not None:
            refusal = "Not that order." if question.kind is Kind.ORDER else (
                f"Not {words(question, numbers, tried)}."
            )  # fmt: skip
            st.warning(f"**{refusal}** {hint(question, numbers, tried)} Try once more.", icon=HINT)
        if given is not None:
            _draw_judgement(question, numbers, given)
            _draw_buttons(part, visit, question, given, key)
        if is_teacher:
            _draw_for_teacher(question, numbers)


def draw_claim(claim: Claim) -> None:
    """Draw what notes claim, what runs say of it, and a button that opens the evidence."""
    colour, icon = VERDICTS[claim.verdict]
    with (
        st.container(border=True, key=f"question {claim.name}"),
        st.container(
            horizontal=True, vertical_alignment="center", gap="medium", key=f"beside {claim.name}"
        ),
    ):
        with st.container(width="stretch"):
            st.markdown(f"{claim_title(claim)} :{colour}-badge[{icon} {claim.verdict}]")
            st.markdown(fill(claim, claim.found, find_numbers(claim)))
        with st.container(width="content"):
            _draw_evidence(claim, claim.name)


def _draw_evidence(one: Question | Claim, key: str) -> None:
    """Draw the buttons that open the scene and the recorded run that an answer comes from."""
    if one.view is not None and press(
        st.button, "Show me", f"show {key}", icon=":material/steps:",
        help="Open the scene that shows it.",
    ):  # fmt: skip
        open_view(one.view)
    measured = [
        quantity for quantity in one.quantities.values()
        if quantity.view is None and quantity.measure not in OF_L1
    ]  # fmt: skip
    if measured and press(
        st.button, "Recorded run", f"recorded {key}", icon=":material/speed:",
        help="Open the GPU page, which has the run that the measured numbers are from.",
    ):  # fmt: skip
        for quantity in reversed(measured):  # the first of each kind counts
            size = recorded_size(quantity.of)
            if size and quantity.measure is not Measure.SCALING:
                is_shape = quantity.measure in (Measure.SHAPE, Measure.USUAL_PLAN)
                st.session_state[SHAPES_SIZE if is_shape else RECORDED_SIZE] = size_name(size)
        st.switch_page(GPU_PAGE)


def _draw_answer_button(
    part: QuestionPart, visit: Visit, question: Question, numbers: Mapping[str, float],
    answer: Answer | None, key: str,
) -> None:  # fmt: skip
    name = f"answer {key}"
    if question.kind is Kind.NUMBER:
        is_pressed = press(st.form_submit_button, "Answer", name, type="primary")
        if is_pressed and answer is None:
            st.caption("Enter a number first.")
    else:
        is_pressed = press(st.button, "Answer", name, type="primary", disabled=answer is None)
    if is_pressed and answer is not None:
        visit.answer(part, answer, judge(question, numbers, answer).is_right)
        st.rerun()


def _draw_buttons(
    part: QuestionPart, visit: Visit, question: Question, given: Given, key: str
) -> None:
    """Draw what can be done once a question is answered."""
    with st.container(horizontal=True):
        label = "With other numbers" if len(part.variants) > 1 else "Answer again"
        if len(part.variants) > 1 or not given.is_right:
            st.button(
                label, icon=":material/replay:", key=f"again {key}", on_click=visit.draw_anew,
                args=(part,),
            )  # fmt: skip
        _draw_evidence(question, key)


def _draw_judgement(question: Question, numbers: Mapping[str, float], given: Given) -> None:
    found = judge(question, numbers, given.answer)
    if found.is_right:
        st.success(f"**Right.** {found.because}", icon=RIGHT)
        return
    right = words(question, numbers, right_answer(question, numbers))
    if question.kind is Kind.ORDER:  # the answer is above, with its numbers
        correction = f"You chose a different order. It is: {right}."
    else:
        correction = f"You answered {words(question, numbers, given.answer)}; it is {right}."
    st.error(f"**{correction}** {found.because}", icon=WRONG)


def _draw_for_teacher(question: Question, numbers: Mapping[str, float]) -> None:
    right = right_answer(question, numbers)
    st.info(f"**Answer: {words(question, numbers, right)}.** "
            f"{judge(question, numbers, right).because}", icon=":material/school:")  # fmt: skip
    for reason in question.wrong:
        often = words(question, numbers, wrong_answer(question, reason, numbers))
        st.markdown(f"A frequent answer: **{often}**. {fill(question, reason.because, numbers)}")


def _draw_answer(
    question: Question, numbers: Mapping[str, float], given: Given | None, key: str
) -> Answer | None:
    """Draw what an answer is given by; return the answer that is there."""
    before = None if given is None else given.answer
    is_locked = given is not None
    if question.kind is Kind.NUMBER:
        number = st.number_input(
            "Your number", value=before if isinstance(before, int) else None, step=1,
            disabled=is_locked, key=f"number {key} {is_locked}", width=220,
        )  # fmt: skip
        return None if number is None else int(number)
    if question.kind is Kind.CHOICE:
        texts = [fill(question, option.text, numbers) for option in question.options]
        index = st.radio(
            "Your choice", range(len(texts)), before if isinstance(before, int) else None,
            format_func=texts.__getitem__, disabled=is_locked, key=f"choice {key} {is_locked}",
            label_visibility="collapsed",
        )  # fmt: skip
        return None if index is None else int(index)
    return _draw_picked(question, numbers, before, key)


def _draw_picked(
    question: Question, numbers: Mapping[str, float], before: Answer | None, key: str
) -> Answer | None:
    """Draw a picker; return the cell, line or order that is picked, None where it is not whole."""
    right = None if before is None else right_answer(question, numbers)
    if question.kind is Kind.CELL:
        return _draw_cells(question, numbers, before, right, key)
    if question.kind is Kind.LINE:
        assert question.view is not None
        lines = code_lines(presets.source(question.view))
        first = lines[0][0]
        items = [f"{n:>3}  {line}" for n, line in lines]
        picked = [before - first] if isinstance(before, int) else []
        marked = [right - first] if isinstance(right, int) else None
        found = draw_picker(question.kind, items, marked, picked, f"pick {key}")
        return found[-1] + first if found else None
    items = [fill(question, option.text, numbers).replace("`", "") for option in question.options]
    picked = list(before) if isinstance(before, tuple) else []
    marked = None if right is None else []
    if before is None:
        st.caption("Click them one after another. A second click takes one back.")
    found = draw_picker(question.kind, items, marked, picked, f"pick {key}")
    return tuple(found) if len(found) == len(items) else None


def _draw_cells(
    question: Question, numbers: Mapping[str, float], before: Answer | None, right: Answer | None,
    key: str,
) -> Answer | None:  # fmt: skip
    """Draw the picture whose cells are clicked; return the one that is picked."""
    assert question.picture is not None
    rows, columns = cells(question, numbers)
    look = replace(picture_look(), stage=question.picture.stage)
    picture, printed = (
        answers().ask(
            draw_cells, question.picture, question.array, rows, columns, one, is_quiet=True
        )
        for one in (look, replace(look, theme="light"))
    )
    if look.theme != "light":
        picture += f"<style>{css_on_paper([picture], [printed])}</style>"
    marked, picked = (
        None if one is None else [one[0] * columns + one[1]] if isinstance(one, tuple) else []
        for one in (right, before)
    )
    st.caption(describe(question.picture))
    found = draw_cell_picker(picture, rows, columns, marked, picked or [], f"pick {key}")
    return divmod(found[-1], columns) if found else None
