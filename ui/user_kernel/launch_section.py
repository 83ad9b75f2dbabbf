"""The form by which a user kernel is launched."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument
from simulator.verdict.tasks import TASKS
from ui.user_kernel.draft import Draft, with_task
from ui.user_kernel.examine import Examined
from ui.web_page.plain_text import plain_label

NO_TASK = "Something else: nothing is compared"
CONTENTS = {
    Contents.RANDOM: "random digits", Contents.FRACTIONS: "fractions",
    Contents.COUNTING: "1, 2, 3, …", Contents.ZEROS: "zeros", Contents.ONES: "ones",
    Contents.SHUFFLED: "each number once", Contents.RISING: "0, 1, 2, …",
}  # fmt: skip


def draw_launch(draft: Draft, examined: Examined, suggested: LaunchForm | None) -> None:
    """Draw the form of the kernel that is looked at, and keep what is entered in the draft.

    suggested is None where the kernel does not compile.
    """
    if len(examined.kernels) > 1:
        draft.wanted = st.selectbox(
            "Kernel", examined.kernels, examined.kernels.index(examined.kernel),
            key=f"write_kernel:{draft.document.number}:{examined.kernel}",
        )  # fmt: skip
        if draft.wanted != examined.kernel:
            st.rerun()
    if suggested is None:
        st.markdown("A form for the parameters appears as soon as the kernel compiles.")
        return
    _Fields(draft, examined, suggested).draw()


class _Fields:
    """The fields of one kernel's form."""

    def __init__(self, draft: Draft, examined: Examined, suggested: LaunchForm) -> None:
        self._draft = draft
        self._examined = examined
        self._suggested = suggested

    def draw(self) -> None:
        """Draw all of them."""
        st.markdown(
            "A size is a number or an expression, such as `(N + 15) / 16`, of the integer "
            "parameters and the file's macros."
        )
        tasks = ["", *TASKS]
        task = self._choice(
            "It computes", "task", self._suggested.task, tasks,
            {name: one.title for name, one in TASKS.items()} | {"": NO_TASK},
        )  # fmt: skip
        form = with_task(self._suggested, task)
        self._draw_numbers(form.numbers)
        self._draw_sizes("Grid, in blocks", "grid", form.grid)
        self._draw_sizes("Block, in threads", "block", form.block)
        for array in form.arrays:
            self._draw_array(array)
        self._draw_roles(form)
        self._text("Dynamic shared memory, in bytes", "shared", form.shared_bytes)

    def _draw_numbers(self, numbers: Sequence[NumberArgument]) -> None:
        """The scalar parameters, three in a row."""
        for first in range(0, len(numbers), 3):
            for column, number in zip(st.columns(3), numbers[first : first + 3], strict=False):
                with column:
                    ctype = self._ctype(number.name)
                    self._text(f"{ctype} {number.name}", f"{number.name}.value", number.value)

    def _draw_roles(self, form: LaunchForm) -> None:
        """What the task's arrays and sizes are called here."""
        if not form.task:
            return
        task = TASKS[form.task]
        arrays = [one.name for one in form.arrays]
        columns = st.columns(len(form.roles))
        for column, (role, what) in zip(columns, form.roles, strict=True):
            with column:
                if role in task.arrays:
                    self._choice(f"{role} is", f"role.{role}", what, arrays, {})
                else:
                    self._text(f"{role} is", f"role.{role}", what)

    def _draw_sizes(self, label: str, name: str, sizes: Sequence[str]) -> None:
        for axis, column, size in zip("xyz", st.columns(3), sizes, strict=True):
            with column:
                self._text(f"{label}: {axis}", f"{name}.{axis}", size)

    def _draw_array(self, array: ArrayArgument) -> None:
        rows, columns, contents = st.columns(3)
        name = f"{self._ctype(array.name)} {array.name}"
        with rows:
            self._text(f"{name}: rows", f"{array.name}.rows", array.rows)
        with columns:
            self._text(f"{name}: columns", f"{array.name}.columns", array.columns)
        with contents:
            self._choice(
                f"{name}: holds", f"{array.name}.contents", array.contents.value,
                [one.value for one in Contents], {one.value: CONTENTS[one] for one in Contents},
            )  # fmt: skip

    def _text(self, label: str, place: str, suggested: str) -> None:
        value = self._draft.value(self._examined.kernel, place, suggested)
        entered = st.text_input(
            plain_label(label), value, max_chars=200, key=self._key(place, suggested)
        )
        self._enter(place, suggested, entered)

    def _choice(
        self, label: str, place: str, suggested: str, offered: list[str], titles: dict[str, str]
    ) -> str:
        value = self._draft.value(self._examined.kernel, place, suggested)
        if value not in offered:
            value = suggested if suggested in offered else offered[0]
        chosen = st.selectbox(
            plain_label(label), offered, offered.index(value), key=self._key(place, suggested),
            format_func=lambda one: titles.get(one, one),
        )  # fmt: skip
        self._enter(place, suggested, chosen)
        return chosen

    def _enter(self, place: str, suggested: str, value: str) -> None:
        self._draft.enter(self._examined.kernel, place, suggested, value)

    def _key(self, place: str, suggested: str) -> str:
        """The field's key: another suggestion is another field."""
        number = self._draft.document.number
        return f"launch {number} {self._examined.kernel} {place} {suggested}"

    def _ctype(self, name: str) -> str:
        return next((one.ctype for one in self._examined.parameters if one.name == name), "")
