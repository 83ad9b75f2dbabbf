"""The launches that a verdict rests on: each is compared with what its task says is right."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.functions import ATOMIC_FUNCTIONS
from simulator.language.tree import Kernel
from simulator.language.visit import calls
from simulator.launch import Launch, check, format_cell
from simulator.machine.budget import Progress
from simulator.machine.fragments import TileAlignmentError
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.findings import Hazard
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.report import Report, simulate
from simulator.sentences import verdicts
from simulator.size_expression import evaluate
from simulator.verdict.expected import expected_results
from simulator.verdict.form import LaunchForm, with_fractions
from simulator.verdict.launches import arrays_by_role, build_launch
from simulator.verdict.places import Places, find_places
from simulator.verdict.reference import TERMS, Reference
from simulator.verdict.sizes import TILE_SIDE, Trial
from simulator.verdict.tasks import LARGEST_WORK, PRODUCT_ROLES, Task, wrong_cells
from simulator.verdict.verdict import CheckState, FoundHazard, SizeCheck, WrongCell
from simulator.verdict.wrong_cell_trace import Operands, as_number, trace_wrong_cell

ALL_SECONDS = 3.0  # of a processor, for all sizes beside the form's own together
# Of a processor, until the first blocks are done: an endless loop is reported soon.
FIRST_SECONDS = 1.5
# A second order of a block's warps. Without races and atomics all give the same.
OTHER_ORDER = Schedule.DESCENDING
DROPPED = (HazardKind.OUT_OF_BOUNDS, HazardKind.MISALIGNED)
PLACE = re.compile(r"lines? \d+( and \d+)?: ")  # with which a note on accesses begins
NUMBER = re.compile(r"\d+")
EXPLAINED = 2  # sizes whose first wrong cell is explained


@dataclass(slots=True)
class Runs:
    """The launches that were made, and what they showed."""

    kernel: Kernel
    form: LaunchForm
    task: Task | None
    reference: Reference | None = None  # what is right where there is no task
    checks: list[SizeCheck] = field(default_factory=list)
    # By kind, lines and array.
    hazards: dict[tuple[HazardKind, tuple[int, ...], str | None], FoundHazard] = field(
        default_factory=dict
    )
    # By what is the same at other sizes.
    notes: dict[str, str] = field(default_factory=dict)
    launch: Launch | None = None  # by the form's own sizes
    report: Report | None = None  # of that launch; None where it did not come to its end
    explained: int = 0
    drawn: str = ""  # the sentence about hazards that come from what was drawn; "" without any
    _places: Places | None = None

    @property
    def title(self) -> str | None:
        """What is compared, in words; None where nothing says what is right."""
        if self.task is not None:
            return self.task.title
        return None if self.reference is None else verdicts.of_reference(self.reference.name)

    def skip(self, trial: Trial, seconds: float = 0.0) -> None:
        """Note a size for which no time is left; seconds were spent on it."""
        self._add(trial, CheckState.SKIPPED, seconds, verdicts.not_judged(ALL_SECONDS))

    def run(self, trial: Trial, seconds: float) -> None:
        """Launch the kernel at one size; in two orders of its warps where these may matter."""
        begin = time.thread_time()
        is_own = not self.checks
        try:
            launch = build_launch(self.kernel, self.form, trial.numbers)
            self._check_sizes(launch, trial.sizes)
            check(self.kernel, launch)
            self.launch = launch if is_own else self.launch
            report = simulate(self.kernel, launch, seconds=seconds, on_progress=_end_first_blocks())
        except LaunchError as error:  # the time is over, or the form is for other sizes
            state = CheckState.STOPPED if is_own else CheckState.SKIPPED
            self._add(trial, state, time.thread_time() - begin, str(error))
            return
        except TileAlignmentError as error:
            is_odd = any(size % TILE_SIDE for size in trial.sizes.values())
            state = CheckState.SKIPPED if is_odd and not is_own else CheckState.STOPPED
            before = verdicts.NO_TILE if is_odd and not is_own else ""
            self._add(trial, state, time.thread_time() - begin, f"{before}{error}")
            return
        except SourceError as error:
            spent = time.thread_time() - begin
            if not is_own and spent >= seconds:
                self.skip(trial, spent)
            else:
                self._add(trial, CheckState.STOPPED, spent, str(error))
            return
        self.report = report if is_own else self.report
        self._add_notes(trial, report.notes)
        hazards = self._caused(report.hazards)
        self._add_hazards(trial, hazards)
        wrong = self._compare(trial, launch, report.arrays, Schedule.ASCENDING)
        left = seconds - (time.thread_time() - begin)
        depends = bool(report.hazards) or calls(self.kernel.body, ATOMIC_FUNCTIONS)
        if wrong is None and depends and launch.warps > 1 and left > 0:
            wrong = self._other_order(trial, launch, left)
        spent = time.thread_time() - begin
        if self.title is None or (self.drawn and wrong is not None):
            self._add(trial, CheckState.UNCHECKED, spent, verdicts.RAN)
        elif wrong is None:
            outside = next((one for one in hazards if one.kind in DROPPED), None)
            if outside is None:
                self._add(trial, CheckState.RIGHT, spent, verdicts.right(self.title))
            else:
                reason = verdicts.right_by_luck(self.title, outside.message)
                self._add(trial, CheckState.WRONG, spent, reason)
        else:
            self._add(trial, CheckState.WRONG, spent, wrong.sentence, wrong)

    def run_fractions(self, trial: Trial, seconds: float) -> None:
        """Launch the kernel with fractions of both signs, and note it where the result is wrong.

        With digits alone a sum of whole numbers, or without its sign, is right.
        """
        form, begin = with_fractions(self.form), time.thread_time()
        if form == self.form or (self.task is not None and self.task.counts_numbers):
            return
        try:
            launch = build_launch(self.kernel, form, trial.numbers)
            machine = Machine(self.kernel, launch, [], Schedule.ASCENDING, seconds=seconds)
            machine.run()
        except (LaunchError, SourceError):
            return
        own, self.form = self.form, form
        wrong = self._compare(trial, launch, machine.results(), Schedule.ASCENDING)
        self.form = own
        if wrong is not None:
            sentence = verdicts.with_fractions(wrong.sentence)
            spent = time.thread_time() - begin
            self._add(trial, CheckState.WRONG, spent, sentence, wrong, has_fractions=True)

    def _add(
        self,
        trial: Trial,
        state: CheckState,
        seconds: float,
        sentence: str,
        wrong: WrongCell | None = None,
        has_fractions: bool = False,
    ) -> None:
        self.checks.append(
            SizeCheck(
                sizes=tuple(trial.sizes.items()),
                numbers=tuple(trial.numbers.items()),
                state=state,
                is_ragged=trial.is_ragged,
                seconds=seconds,
                sentence=sentence,
                wrong=wrong,
                has_fractions=has_fractions,
            )
        )

    def _caused(self, hazards: tuple[Hazard, ...]) -> tuple[Hazard, ...]:
        """The hazards that the kernel causes, rather than what was drawn for its arrays.

        A task says what its arrays hold, and all that it gets is right.
        """
        if self.task is not None or not hazards:
            return hazards
        self._places = self._places or find_places(self.kernel)
        sources = self._places.sources(self.form, hazards)
        if sources and not self.drawn:
            first, names = next(iter(sources.items()))
            one = hazards[first]
            self.drawn = verdicts.places_drawn(one.lines[-1], str(one.array), sorted(names))
        return tuple(one for number, one in enumerate(hazards) if number not in sources)

    def _add_notes(self, trial: Trial, notes: tuple[str, ...]) -> None:
        """Keep notes; of those on accesses that other sizes show too, the first, with its size."""
        for note in notes:
            place = PLACE.match(note)
            if place is None:
                self.notes.setdefault(note, note)
            else:
                key = place[0] + NUMBER.sub("", note[place.end() :])
                self.notes.setdefault(key, verdicts.seen_at(note, trial.sizes))

    def _add_hazards(self, trial: Trial, hazards: tuple[Hazard, ...]) -> None:
        sizes, numbers = tuple(trial.sizes.items()), tuple(trial.numbers.items())
        for hazard in hazards:
            key = (hazard.kind, hazard.lines, hazard.array)
            known = self.hazards.get(key, FoundHazard(hazard, sizes, numbers, 0, True))
            self.hazards[key] = replace(
                known,
                launches=known.launches + 1,
                only_ragged=known.only_ragged and trial.is_ragged,
            )

    def _other_order(self, trial: Trial, launch: Launch, seconds: float) -> WrongCell | None:
        machine = Machine(self.kernel, launch, [], OTHER_ORDER, seconds=seconds)
        try:
            machine.run()
        except (LaunchError, SourceError):
            return None
        return self._compare(trial, launch, machine.results(), OTHER_ORDER)

    def _compare(
        self, trial: Trial, launch: Launch, after: Mapping[str, Array], order: Schedule
    ) -> WrongCell | None:
        """The first wrong cell of a launch's results, if the task says what is right."""
        if self.task is None:
            return self._compare_with_reference(launch, after, order)
        names = dict(self.form.roles)
        before = arrays_by_role(self.kernel, self.form, launch, self.task.arrays)
        found = expected_results(self.kernel, self.form, launch, self.task, trial.sizes)
        for role, expected in found.items():
            result = after[names[role]].reshape(-1)[: expected.size].reshape(expected.shape)
            wrong = wrong_cells(result, expected, self.task.count_terms(trial.sizes))
            if not wrong.any():
                continue
            first = _wrong_cell(names[role], result, expected, wrong, order)
            if self.explained >= EXPLAINED:
                return first
            self.explained += 1
            cell = int(np.ravel_multi_index(first.index, expected.shape))
            operands = self._operands(before, trial.sizes, first.index)
            return trace_wrong_cell(self.kernel, launch, first, cell, operands)
        return None

    def _compare_with_reference(
        self, launch: Launch, after: Mapping[str, Array], order: Schedule
    ) -> WrongCell | None:
        """The first cell that is not what the file's own reference computes.

        A reference that takes too long says nothing, of this launch and of others.
        """
        expected = self.reference.expected(launch) if self.reference is not None else {}
        if expected is None:
            self.reference = None
            return None
        for name, cells in expected.items():
            wrong = wrong_cells(after[name], cells, TERMS)
            if wrong.any():
                result = after[name].reshape(cells.shape)
                first = _wrong_cell(name, result, cells, wrong, order)
                cell = int(np.ravel_multi_index(first.index, cells.shape))
                traced = trace_wrong_cell(self.kernel, launch, first, cell, None)
                assert self.reference is not None
                sentence = f"{traced.sentence} {verdicts.as_computed_by(self.reference.name)}"
                return replace(traced, sentence=sentence)
        return None

    def _operands(
        self, arrays: Mapping[str, Array], sizes: Mapping[str, int], index: tuple[int, ...]
    ) -> Operands | None:
        """The factors that a cell of a product needs; None for another task."""
        meant = PRODUCT_ROLES.get(self.task.name) if self.task is not None else None
        if meant is None:
            return None
        names = dict(self.form.roles)
        M, N, K = (sizes[meant[role]] for role in "MNK")
        left, right = (arrays[meant[role]].reshape(-1) for role in "AB")
        row, column = index
        return Operands(
            A=names[meant["A"]],
            B=names[meant["B"]],
            row=row,
            column=column,
            left=left[: M * K].reshape(M, K)[row],
            right=right[: K * N].reshape(K, N)[:, column],
        )

    def _check_sizes(self, launch: Launch, sizes: Mapping[str, int]) -> None:
        """Raise LaunchError where an array is smaller than the task's, or all are too large."""
        if self.task is None:
            return
        names = dict(self.form.roles)
        for role, size in sizes.items():
            if size < 1:
                raise LaunchError(f"{role}, {names[role]!r}, is {size:,}; give 1 or more.")
        for role, shape in self.task.arrays.items():
            needed = math.prod(evaluate(one, sizes) for one in shape)
            given = np.size(launch.arguments[names[role]])
            if given < needed:
                raise LaunchError(
                    f"{names[role]} has {given:,} elements; as {role} of {self.task.title} it "
                    f"needs {needed:,}."
                )
        if math.prod(sizes.values()) > LARGEST_WORK:
            raise LaunchError(
                f"{self.task.title} is compared up to {LARGEST_WORK:,} operations. Choose smaller "
                "sizes."
            )


def _wrong_cell(
    name: str, result: Array, expected: Array, wrong: Array, order: Schedule
) -> WrongCell:
    """The first wrong cell, without what came before."""
    index = tuple(int(one) for one in np.argwhere(wrong)[0])
    count = int(np.count_nonzero(wrong))
    return WrongCell(
        array=name,
        index=index,
        value=as_number(result[index]),
        expected=as_number(expected[index]),
        wrong=count,
        cells=expected.size,
        order=str(order),
        sentence=verdicts.wrong_cell(
            format_cell(name, index), result[index], expected[index], count, expected.size, order
        ),
    )


def _end_first_blocks() -> Callable[[Progress], None]:
    """What ends a launch of which no block is done once FIRST_SECONDS are over."""
    end = time.process_time() + FIRST_SECONDS

    def check(progress: Progress) -> None:
        if not progress.blocks_done and time.process_time() > end:
            asks = "" if progress.line is None else " Does that loop end?"
            raise LaunchError(
                f"After {progress.seconds:.0f} seconds {progress.sentence}.{asks} Choose smaller "
                "sizes."
            )

    return check
