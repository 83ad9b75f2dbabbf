"""How a user kernel is launched: a form, from which launches of several sizes follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

Sizes3 = tuple[str, str, str]  # in x, y, z, each an expression


class Contents(StrEnum):
    """What an array holds before the launch."""

    RANDOM = "random"  # whole numbers from 0 to 9, the same for the same sizes and name
    COUNTING = "counting"  # 1, 2, 3, … row by row
    FRACTIONS = "fractions"  # quarters from -2 to 2; whole numbers from -9 to 9 of a whole type
    ZEROS = "zeros"
    ONES = "ones"
    SHUFFLED = "shuffled"  # each number from 0 on once, in an order that is drawn
    RISING = "rising"  # 0, 1, 2, …


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """The array that a pointer parameter gets."""

    name: str  # the parameter's
    rows: str  # an expression; "1" for an array that is no matrix
    columns: str  # an expression, as rows
    contents: Contents = Contents.RANDOM
    is_seen: bool = False  # whether its size is what the kernel touched, since nothing tells it


@dataclass(frozen=True, slots=True)
class NumberArgument:
    """The number that a scalar parameter gets."""

    name: str  # the parameter's; of a struct's member "struct.member"
    value: str  # a number, or, for a parameter of a whole type, an expression


@dataclass(frozen=True, slots=True)
class LaunchForm:
    """A launch whose sizes are expressions (simulator.size_expression).

    An expression may name the parameters of whole types whose values are numbers, those that come
    before it in the kernel's declaration, and the file's macros that are whole numbers; those of
    the grid, the block and the arrays all of them.
    """

    grid: Sizes3  # blocks
    block: Sizes3  # threads
    shared_bytes: str  # of dynamic shared memory
    arguments: tuple[ArrayArgument | NumberArgument, ...]  # one a parameter, in their order
    task: str = ""  # what it should compute, a name in simulator.verdict.tasks; "" for anything
    # What the task's arrays and sizes are here, such as ("A", "x") and ("M", "height"): a parameter
    # for an array, an expression for a size.
    roles: tuple[tuple[str, str], ...] = ()

    @property
    def arrays(self) -> list[ArrayArgument]:
        """The arguments that are arrays, in the order of the parameters."""
        return [one for one in self.arguments if isinstance(one, ArrayArgument)]

    @property
    def numbers(self) -> list[NumberArgument]:
        """The arguments that are numbers, in the order of the parameters."""
        return [one for one in self.arguments if isinstance(one, NumberArgument)]


def with_arrays(form: LaunchForm, changed: Callable[[ArrayArgument], ArrayArgument]) -> LaunchForm:
    """The form with other arrays."""
    arguments = (changed(one) if isinstance(one, ArrayArgument) else one for one in form.arguments)
    return replace(form, arguments=tuple(arguments))


def with_contents(form: LaunchForm, contents: Contents) -> LaunchForm:
    """The form with other contents instead of random digits."""
    return with_arrays(
        form,
        lambda one: replace(one, contents=contents) if one.contents is Contents.RANDOM else one,
    )


def with_fractions(form: LaunchForm) -> LaunchForm:
    """The form with fractions instead of random digits."""
    return with_contents(form, Contents.FRACTIONS)


def with_numbers(
    arguments: Iterable[ArrayArgument | NumberArgument], values: Mapping[str, object]
) -> tuple[ArrayArgument | NumberArgument, ...]:
    """Arguments in which some numbers have other values, by name of the parameter."""
    return tuple(
        replace(one, value=str(values[one.name]))
        if isinstance(one, NumberArgument) and one.name in values
        else one
        for one in arguments
    )


@dataclass(frozen=True, slots=True)
class UserKernel:
    """A kernel that a visitor wrote, and its launch. Hashable."""

    text: str  # the whole file
    kernel: str  # the __global__ function's name, as compile_kernel takes it
    form: LaunchForm
