"""A file's own reference: a function of its host code that computes what the kernel is to compute.

It is run by the simulator as a kernel of one thread, on the arrays and numbers of a launch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.frontend.device_code import SourceFile
from simulator.language.ctype import Array, CType, Pointer, Scalar
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel, Variable
from simulator.launch import Launch
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.observers.written_parameters import written_parameters
from simulator.verdict.parameters import bare_name, is_whole
from simulator.verdict.variants import compile_variant

NAME = re.compile(r"cpu|host|ref|gold|serial|sequential|expected", re.IGNORECASE)
WITHOUT_RESULT = "void"
SECONDS = 1.0  # of a processor, for one run
TERMS = 1024  # the most of a sum: a reference adds in another order than a kernel


@dataclass(frozen=True, slots=True)
class Reference:
    """A function of the host code, as a kernel of one thread."""

    name: str
    kernel: Kernel
    arguments: Mapping[str, str]  # the kernel's parameter for each of its own
    results: tuple[str, ...]  # the kernel's parameters that both write

    def expected(self, launch: Launch) -> Mapping[str, Array] | None:
        """What the results should be after a launch, by parameter; None where that takes long."""
        given: dict[str, Any] = {
            own: launch.arguments[theirs] for own, theirs in self.arguments.items()
        }
        alone = replace(launch, grid=(1, 1, 1), block=(1, 1, 1), arguments=given, shared_bytes=0)
        machine = Machine(self.kernel, alone, [], Schedule.LOCKSTEP, seconds=SECONDS)
        try:
            machine.run()
        except (LaunchError, SourceError):
            return None
        after = machine.results()
        return {
            theirs: np.asarray(after[own], np.float64)
            for own, theirs in self.arguments.items()
            if theirs in self.results
        }


def find_reference(kernel: Kernel) -> Reference | None:
    """The function of a file's host code that computes what a kernel should; None without one.

    It says so by its name, has the kernel's parameters, and writes to the same arrays.
    """
    for name, text in _as_kernels(kernel.text):
        try:
            found = compile_variant(text, name)
        except SourceError:
            continue  # it is of C++, or calls what a kernel does not
        meant = _pairs(found.parameters, kernel.parameters)
        if meant is None:
            continue
        written = {meant[one] for one in written_parameters(found) if one in meant}
        if written and written == written_parameters(kernel):
            return Reference(name, found, meant, tuple(sorted(written)))
    return None


def _as_kernels(text: str) -> Iterator[tuple[str, str]]:
    """The functions of host code that may be a reference, each with the text that makes it one."""
    source = SourceFile(text)
    tokens = source.top.tokens
    for one in source.declarations:
        is_of_host = one.is_function and not (one.is_kernel or one.is_device)
        if not (is_of_host and one.body is not None and NAME.search(one.name)):
            continue
        result = next(
            (at for at in tokens[one.first : one.parenthesis] if at.text == WITHOUT_RESULT), None
        )
        if result is not None:
            yield one.name, f"{text[: result.start]}__global__ {text[result.start :]}"


def _pairs(own: Sequence[Variable], theirs: Sequence[Variable]) -> dict[str, str] | None:
    """The kernel's parameter for each of a reference's: that of its name, else the next alike."""
    if len(own) > len(theirs):
        return None
    left = list(theirs)
    found: dict[str, str] = {}
    for by_name in (True, False):
        for one in own:
            alike = (
                other for other in left
                if _kind(one.ctype) == _kind(other.ctype)
                and (not by_name or bare_name(one.name) == bare_name(other.name))
            )  # fmt: skip
            other = next(alike, None) if one.name not in found else None
            if other is not None:
                found[one.name] = other.name
                left.remove(other)
    arrays_left = any(isinstance(one.ctype, Pointer) for one in left)
    return found if len(found) == len(own) and not arrays_left else None


def _kind(ctype: CType) -> object:
    """What must be the same of two parameters: a pointer's target, else whether it is whole."""
    if isinstance(ctype, Pointer):
        return ctype.target
    return is_whole(ctype) if isinstance(ctype, Scalar) else ctype
