"""An exercise on a page: its text, its hints one by one, and which requirements are met."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from simulator.broken_file import Broken
from simulator.exercises.check_solution import ExerciseResult
from simulator.exercises.exercise import Exercise, exercises
from ui.lessons.progress import Attempt, Progress
from ui.run.broken_section import list_broken
from ui.user_kernel import verdict_html

SOLVED, OPEN = ":material/check_circle:", ":material/circle:"
LEVELS = {1: "first steps", 2: "practice", 3: "harder"}


def draw_exercise_list(progress: Progress, start: Callable[[Exercise], None]) -> None:
    """Draw a button for each exercise, those that are solved with a mark."""
    st.markdown(f"{progress.solved} of {len(exercises())} solved in this visit.")
    numbered = list(enumerate(exercises().everything.values(), 1))
    half = (len(numbered) + 1) // 2
    for column, listed in zip(st.columns(2), (numbered[:half], numbered[half:]), strict=True):
        with column:
            for number, exercise in listed:
                if isinstance(exercise, Broken):
                    list_broken([exercise])
                else:
                    _draw_start(number, exercise, progress, start)


def _draw_start(
    number: int, exercise: Exercise, progress: Progress, start: Callable[[Exercise], None]
) -> None:
    st.button(
        f"{number}. {exercise.title}", key=f"exercise_{exercise.name}", width="stretch",
        icon=SOLVED if progress.attempt(exercise.name).solved else OPEN,
        help=f"{exercise.teaches} ({LEVELS.get(exercise.level, 'hard')})",
        on_click=start, args=(exercise,),
    )  # fmt: skip


def draw_exercise(exercise: Exercise, attempt: Attempt, open_hint: Callable[[], None]) -> None:
    """Draw what is to be done, the hints that are open, and a button for the next one.

    The solution comes after the last hint, or once the exercise is solved.
    """
    opened = attempt.hints
    st.subheader(exercise.title, anchor=False)
    st.markdown(exercise.text)
    for number, hint in enumerate(exercise.hints[:opened], 1):
        st.markdown(f"**Hint {number}.** {hint}")
    if opened < len(exercise.hints) and not attempt.solved:
        st.button(
            f"Hint {opened + 1} of {len(exercise.hints)}", icon=":material/lightbulb:",
            key=f"hint_{exercise.name}", on_click=open_hint,
        )  # fmt: skip
    if opened >= len(exercise.hints) or attempt.solved:
        with st.expander("A solution", icon=":material/key:"):
            st.code(exercise.solution, language="cpp", line_numbers=True)


def headline(result: ExerciseResult) -> str:
    """The one thing to say of source that was checked as an exercise."""
    if result.solved:
        return "Solved."
    if result.problem:
        return result.problem
    met = sum(one.met for one in result.results)
    first = next(one for one in result.results if not one.met)
    are = "is" if met == 1 else "are"
    return f"{met} of {len(result.results)} requirements {are} met. {first.sentence}"


def draw_exercise_result(
    result: ExerciseResult,
    following: Exercise | None,
    start: Callable[[Exercise], None],
    draw_button: Callable[[], None],
) -> None:
    """Draw which requirements a text meets, and once it is solved the way to the next exercise.

    draw_button draws what opens the scene at a fault; it is called where the text has one.
    """
    shown_text = headline(result)
    state = "right" if result.solved else "wrong"
    st.html(verdict_html.next_step(state, shown_text))
    if result.solved and following is not None:
        st.button(
            f"Next: {following.title}", type="primary", icon=":material/arrow_forward:",
            key="next_exercise", on_click=start, args=(following,),
        )  # fmt: skip
    elif result.solved:
        st.html("<p class='said'>That was the last one.</p>")
    if not result.solved:
        draw_button()
    st.html(verdict_html.requirements(result, shown_text))
