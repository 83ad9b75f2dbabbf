"""What a visitor writes: the text in the editor, and how they launch it. Without Streamlit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from simulator.exercises.check_solution import ExerciseResult
from simulator.exercises.exercise import Exercise, exercises
from simulator.verdict.form import (
    ArrayArgument,
    Contents,
    LaunchForm,
    NumberArgument,
    Sizes3,
    UserKernel,
)
from simulator.verdict.tasks import TASKS
from simulator.verdict.verdict import Named, Verdict
from ui.lessons.progress import Book, Progress
from ui.user_kernel.editor import Document, Edited

BLANK = """\
// C = A * B: A has M rows and K columns, B has K rows and N columns, all stored row by row.
#define TILE 16

extern "C" __global__ void multiply(const float* A, const float* B, float* C,
                                    int M, int N, int K)
{
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;

}
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """A kernel that was judged."""

    user_kernel: UserKernel
    verdict: Verdict


@dataclass(slots=True)
class Draft:
    """Source that is being written."""

    document: Document
    edited: Edited | None = None  # what is in the editor; None until the browser has told it
    wanted: str = ""  # the kernel that was chosen; "" for the first
    exercise: str = ""  # its name; "" for none
    # By kernel and field: what the text suggested there, and what was entered in its place.
    entered: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    is_chosen: bool = False  # whether the address and the popovers do not know yet what is open
    checked: Checked | None = None  # the last verdict on this text or an earlier one
    checks: int = 0  # how many have ended
    wants_check: bool = False  # whether one is asked for that has not ended
    problem: str = ""  # why the last check has none, as a sentence
    form_problem: str = ""  # why the text that compiles has no launch, as a sentence
    seen: set[str] = field(default_factory=set)  # texts that were opened, checked or drawn
    book: Book = field(default_factory=Book)  # with the progress in the exercises
    result: ExerciseResult | None = None  # of the last check, in an exercise

    @property
    def text(self) -> str:
        """What is in the editor, as far as it is known."""
        return self.document.text if self.edited is None else self.edited.text

    def open(self, text: str, name: str, exercise: str = "", wanted: str = "") -> None:
        """Open another text in the editor."""
        self.document = Document(self.document.number + 1, text, name)
        self.edited, self.exercise, self.wanted = None, exercise, wanted
        self.entered.clear()
        self.checked, self.problem, self.result = None, "", None
        self.seen.add(text)

    def open_exercise(self, exercise: Exercise, text: str | None = None) -> None:
        """Open an exercise with a text, else with the visitor's own, else with its start."""
        user_kernel = text or self.book.progress.attempt(exercise.name).text
        self.open(user_kernel or exercise.start, exercise.title, exercise.name)

    def choose(self, text: str, name: str) -> None:
        """Open source that was chosen on the page."""
        self.open(text, name)
        self.is_chosen = True

    def choose_exercise(self, exercise: Exercise) -> None:
        """Open an exercise that was chosen on the page."""
        self.open_exercise(exercise)
        self.is_chosen = True

    def open_progress(self, saved: Progress) -> None:
        """Go on with a progress that was saved; nothing of this visit is lost."""
        is_begun = self.book.progress.attempt(self.exercise).text is not None
        self.book.progress = saved.with_visit(self.book.progress)
        if self.exercise and not is_begun:
            self.open_exercise(exercises()[self.exercise])

    def open_hint(self) -> None:
        """Open the exercise's next hint."""
        self.book.progress = self.book.progress.with_hint(self.exercise)

    def edit(self, edited: Edited) -> None:
        """Keep what is in the editor now."""
        self.edited, self.problem = edited, ""
        if self.exercise:
            with suppress(ValueError):  # source that no kernel has
                self.book.progress = self.book.progress.with_text(self.exercise, edited.text)

    def keep_result(self, user_kernel: UserKernel, result: ExerciseResult) -> None:
        """Keep what was found in the text as an exercise."""
        self.result, self.problem, self.checked = result, "", None
        if result.verdict is not None:
            self.checked = Checked(user_kernel, result.verdict)
        if result.solved:
            self.book.progress = self.book.progress.with_solved(self.exercise)

    def keep_verdict(self, user_kernel: UserKernel, verdict: Verdict) -> None:
        """Keep the verdict on a kernel."""
        self.checked, self.problem = Checked(user_kernel, verdict), ""

    def ask_check(self) -> None:
        """Ask for a check of what is in the editor."""
        self.wants_check = True

    def note_stopped(self) -> None:
        """Say that the visitor has stopped a check."""
        self.problem, self.wants_check = "The check was stopped.", False

    def open_user_kernel(self, user_kernel: UserKernel, name: str, suggested: LaunchForm) -> None:
        """Open a kernel with its launch, which may be another than its text suggests."""
        self.open(user_kernel.text, name, wanted=user_kernel.kernel)
        before = dict(fields(with_task(suggested, user_kernel.form.task)))
        before["task"] = suggested.task
        for place, value in fields(user_kernel.form):
            if place in before:
                self.enter(user_kernel.kernel, place, before[place], value)

    def enter(self, kernel: str, place: str, suggested: str, value: str) -> None:
        """Keep what was entered in a field of the form."""
        if value == suggested:
            self.entered.pop((kernel, place), None)
        else:
            self.entered[kernel, place] = (suggested, value)

    def value(self, kernel: str, place: str, suggested: str) -> str:
        """What a field of the form holds.

        What was entered counts as long as the text suggests what it suggested then.
        """
        before, value = self.entered.get((kernel, place), (suggested, suggested))
        return value if before == suggested else suggested

    def form(self, kernel: str, suggested: LaunchForm) -> LaunchForm:
        """How a kernel is launched, with what was entered."""
        form = with_task(suggested, self.value(kernel, "task", suggested.task))
        return with_fields(
            form, {place: self.value(kernel, place, value) for place, value in fields(form)}
        )


def with_task(form: LaunchForm, task: str) -> LaunchForm:
    """The form for another task, its arrays and sizes taken in the order of the parameters."""
    if task == form.task or task not in TASKS:
        return form if task == form.task else replace(form, task="", roles=())
    arrays = [one.name for one in form.arrays]
    numbers = [one.name for one in form.numbers]
    roles: list[tuple[str, str]] = []
    for wanted, found in ((TASKS[task].arrays, arrays), (TASKS[task].sizes, numbers)):
        last = found[-1] if found else "1"
        roles += [(role, found[i] if i < len(found) else last) for i, role in enumerate(wanted)]
    return replace(form, task=task, roles=tuple(roles))


def fields(form: LaunchForm) -> Iterator[tuple[str, str]]:
    """The places of a form, each with what it holds."""
    for name, sizes in (("grid", form.grid), ("block", form.block)):
        for axis, size in zip("xyz", sizes, strict=True):
            yield f"{name}.{axis}", size
    yield "shared", form.shared_bytes
    for argument in form.arguments:
        match argument:
            case ArrayArgument(name, rows, columns, contents):
                yield f"{name}.rows", rows
                yield f"{name}.columns", columns
                yield f"{name}.contents", contents.value
            case NumberArgument(name, value):
                yield f"{name}.value", value
    yield "task", form.task
    for role, what in form.roles:
        yield f"role.{role}", what


def with_fields(form: LaunchForm, values: dict[str, str]) -> LaunchForm:
    """The form with other contents, by place; a place that is missing stays as it is."""

    def sizes(name: str, before: Sizes3) -> Sizes3:
        x, y, z = (
            values.get(f"{name}.{axis}", size) for axis, size in zip("xyz", before, strict=True)
        )
        return x, y, z

    arguments: list[ArrayArgument | NumberArgument] = []
    for argument in form.arguments:
        match argument:
            case ArrayArgument(name, rows, columns, contents):
                sides = (values.get(f"{name}.rows", rows), values.get(f"{name}.columns", columns))
                contents = Contents(values.get(f"{name}.contents", contents))
                is_seen = argument.is_seen and sides == (rows, columns)
                arguments.append(ArrayArgument(name, *sides, contents, is_seen))
            case NumberArgument(name, value):
                arguments.append(NumberArgument(name, values.get(f"{name}.value", value)))
    return replace(
        form, grid=sizes("grid", form.grid), block=sizes("block", form.block),
        shared_bytes=values.get("shared", form.shared_bytes), arguments=tuple(arguments),
        task=values.get("task", form.task),
        roles=tuple((role, values.get(f"role.{role}", what)) for role, what in form.roles),
    )  # fmt: skip


def at_numbers(user_kernel: UserKernel, numbers: Named) -> UserKernel:
    """The kernel launched with other numbers, by parameter."""
    values = {f"{name}.value": str(value) for name, value in numbers}
    return replace(user_kernel, form=with_fields(user_kernel.form, values))
