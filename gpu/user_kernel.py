"""A user kernel that computes a matrix product, as a candidate of a comparison."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from compiler.source import template_values
from gpu.candidate import Candidate, check_grid, check_size
from gpu.precision import PRECISIONS
from simulator import Kernel, LaunchError, compile_kernel
from simulator.language.ctype import Pointer, Scalar
from simulator.language.functions import FRAGMENT_FUNCTIONS
from simulator.language.visit import calls_of
from simulator.language.waiting import waits_for_grid
from simulator.size_expression import evaluate
from simulator.verdict.form import ArrayArgument, Contents, UserKernel
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.launches import build_without_arrays, known_values
from simulator.verdict.tasks import ALPHA, BETA, PRODUCT_ROLES, START
from simulator.verdict.verdict import State

NAME = "yours"  # of the candidate
PLAIN = {ALPHA: 1.0, BETA: 0.0}  # the factors with which alpha A B + beta C is A B
TF32 = "tf32"  # of gpu.precision, and in the names of such fragments


def user_candidate(user_kernel: UserKernel, size: tuple[int, int, int]) -> Candidate:
    """The candidate for a user kernel whose task is the product, for M, N, K.

    The factors alpha and beta are 1 and 0 there: cuBLAS computes A B.
    Raises SourceError, or LaunchError where it cannot be launched so.
    """
    check_size(size)
    kernel = compile_kernel(user_kernel.text, user_kernel.kernel)
    if waits_for_grid(kernel.body):
        raise LaunchError(
            f"{user_kernel.kernel} waits for its whole grid, which needs a cooperative launch; "
            "here only plain launches are timed."
        )
    meant = PRODUCT_ROLES.get(user_kernel.form.task, {})
    given_roles = dict(user_kernel.form.roles)
    roles = {role: given_roles.get(meant.get(role, ""), "") for role in "ABCMNK"}
    arrays = {roles[role]: role for role in "ABC"}
    if len(arrays) < 3:
        raise LaunchError(
            "Only a product, C = A · B, is compared with cuBLAS: say under Launch what each array "
            "is."
        )
    numbers: dict[str, float] = {
        name: PLAIN[role] for role, name in given_roles.items() if role in PLAIN
    }
    numbers |= _numbers(user_kernel, kernel, roles, dict(zip("MNK", size, strict=True)))
    launch = build_without_arrays(kernel, user_kernel.form, numbers)
    check_grid(user_kernel.kernel, launch.grid)
    arguments, holds_zeros = [], False
    for given, parameter in zip(user_kernel.form.arguments, kernel.parameters, strict=True):
        if not isinstance(given, ArrayArgument):
            assert isinstance(parameter.ctype, Scalar)
            dtype = parameter.ctype.dtype
            value = launch.arguments[given.name]
            arguments.append(f"{dtype.kind}{8 * dtype.itemsize}={value}")
        elif given.name in arrays:
            arguments.append(arrays[given.name])
            holds_zeros |= given.name == roles["C"] and given.contents is Contents.ZEROS
        elif given.name == given_roles.get(START):  # beta leaves it out
            arguments.append("C")
        else:
            raise LaunchError(
                f"{given.name} is neither A nor B nor C: a product has no other array."
            )
    return Candidate(
        NAME, user_kernel.text, user_kernel.kernel, launch.grid, launch.block,
        template_values(user_kernel.text, kernel),
        _precision(kernel, roles), tuple(arguments), launch.shared_bytes,
        holds_zeros or BETA in given_roles,
    )  # fmt: skip


def clean_candidate(text: str, size: tuple[int, int, int]) -> Candidate:
    """The candidate for a text's only kernel, launched as it is guessed, after a clean run.

    Raises SourceError, or LaunchError where the simulator does not find it right at several sizes.
    """
    kernel = compile_kernel(text)
    user_kernel = UserKernel(kernel.text, kernel.name, guess_form(kernel.text, kernel))
    verdict = judge(user_kernel, kernel)
    if verdict.state is not State.RIGHT:
        raise LaunchError(
            f"{kernel.name} runs on a GPU once the simulator finds it right. {verdict.next_step}"
        )
    return user_candidate(user_kernel, size)


def _numbers(
    user_kernel: UserKernel, kernel: Kernel, roles: Mapping[str, str], size: Mapping[str, int]
) -> dict[str, int]:
    """The numbers that give a product its size, by parameter. LaunchError where none do."""
    names = {parameter.name for parameter in kernel.parameters}
    numbers: dict[str, int] = {}
    for role, value in size.items():
        if roles[role] in names and numbers.setdefault(roles[role], value) != value:
            raise LaunchError(f"{roles[role]} is one number here: choose a square size.")
    known = known_values(kernel, user_kernel.form, numbers)
    for role, value in size.items():
        fixed = evaluate(roles[role], known)
        if fixed != value:
            raise LaunchError(f"{role} is {fixed:,} in this code, and cannot be {value:,}.")
    return numbers


def _precision(kernel: Kernel, roles: Mapping[str, str]) -> str:
    """The precision by which a product is compared, from what A, B and C hold."""
    held = {}
    for parameter in kernel.parameters:
        if isinstance(parameter.ctype, Pointer):
            target = parameter.ctype.target
            name = np.dtype(target.dtype).name if isinstance(target, Scalar) else str(target)
            held[parameter.name] = name
    A, B, C = (held[roles[role]] for role in "ABC")
    is_tf32 = any(TF32 in call.texts[0] for call in calls_of(kernel.body, FRAGMENT_FUNCTIONS))
    for name, precision in PRECISIONS.items():
        if (precision.operands,) * 2 + (precision.results,) == (A, B, C):
            return TF32 if is_tf32 and name == "float32" else name
    raise LaunchError(
        "The GPU page times products whose A, B and C are all float or all double, or whose A and "
        "B are half and C is float."
    )
