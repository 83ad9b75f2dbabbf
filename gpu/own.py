"""A matrix product of one's own as a candidate of a comparison."""

from __future__ import annotations

import numpy as np

from gpu.candidate import Candidate, check_grid, check_size
from simulator import Kernel, LaunchError, compile_kernel
from simulator.language.ctype import Pointer, Scalar
from simulator.size_expression import evaluate
from simulator.verdict.form import ArrayArgument, OwnKernel
from simulator.verdict.launches import build_without_arrays, known_values

NAME = "yours"  # of the candidate
ELEMENTS = ("float32", "float64")


def own_candidate(own: OwnKernel, size: tuple[int, int, int]) -> Candidate:
    """The candidate for a kernel of one's own whose task is the product, for M, N, K.

    Raises SourceError, or LaunchError where it cannot be launched so.
    """
    check_size(size)
    kernel = compile_kernel(own.text, own.kernel)
    roles = dict(own.form.roles)
    arrays = {roles.get(role, ""): role for role in "ABC"}
    if own.form.task != "product" or len(arrays) < 3:
        raise LaunchError(
            "Only a product, C = A · B, is timed beside cuBLAS: Launch says what each array is."
        )
    numbers = _numbers(own, kernel, dict(zip("MNK", size, strict=True)))
    launch = build_without_arrays(kernel, own.form, numbers)
    check_grid(own.kernel, launch.grid)
    arguments = []
    for given, parameter in zip(own.form.arguments, kernel.parameters, strict=True):
        if not isinstance(given, ArrayArgument):
            assert isinstance(parameter.ctype, Scalar)
            dtype = parameter.ctype.dtype
            value = launch.arguments[given.name]
            arguments.append(f"{dtype.kind}{8 * dtype.itemsize}={value}")
        elif given.name in arrays:
            arguments.append(arrays[given.name])
        else:
            raise LaunchError(
                f"{given.name} is neither A nor B nor C: a product has no other array."
            )
    return Candidate(
        NAME, own.text, own.kernel, launch.grid, launch.block, {}, _element(kernel, roles),
        tuple(arguments), launch.shared_bytes,
    )  # fmt: skip


def _numbers(own: OwnKernel, kernel: Kernel, size: dict[str, int]) -> dict[str, int]:
    """The numbers that give a product its size, by parameter. LaunchError where none do."""
    names = {parameter.name for parameter in kernel.parameters}
    roles = dict(own.form.roles)
    numbers: dict[str, int] = {}
    for role, value in size.items():
        if roles.get(role) in names and numbers.setdefault(roles[role], value) != value:
            raise LaunchError(f"{roles[role]} is one number here: choose a square size.")
    known = known_values(kernel, own.form, numbers)
    for role, value in size.items():
        fixed = evaluate(roles.get(role, ""), known)
        if fixed != value:
            raise LaunchError(f"{role} is {fixed:,} in this text, and cannot be {value:,}.")
    return numbers


def _element(kernel: Kernel, roles: dict[str, str]) -> str:
    """The element type of A, B and C."""
    types = set()
    for parameter in kernel.parameters:
        if isinstance(parameter.ctype, Pointer) and parameter.name in roles.values():
            target = parameter.ctype.target
            types.add(np.dtype(target.dtype).name if isinstance(target, Scalar) else str(target))
    element = types.pop() if len(types) == 1 else ""
    if element not in ELEMENTS:
        raise LaunchError(
            "On the GPU a product is timed whose A, B and C are all float, or all double."
        )
    return element
