"""What source that is being written is: its kernels, how one is launched, what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulator import Kernel, SourceError, compile_kernel
from simulator.frontend.kernel_name import kernel_names
from simulator.guard import COMPILING, limited
from simulator.verdict.form import LaunchForm
from simulator.verdict.guess import guess_form
from ui.jobs.job_progress import say
from ui.jobs.result_cache import result_cache
from ui.jobs.settings import check_may_write
from ui.user_kernel.problems import Problem, find_problems


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel, as a form shows it."""

    name: str
    ctype: str  # as C writes it


@dataclass(frozen=True, slots=True)
class Examined:
    """What is known of a text."""

    kernels: tuple[str, ...]  # in the file's order
    kernel: str  # the one that is looked at; "" without any
    problems: tuple[Problem, ...]
    parameters: tuple[Parameter, ...] = ()
    compiles: bool = False


def examine(text: str, wanted: str) -> Examined:
    """Compile a kernel of a text, the first without one of the wanted name.

    Raises LaunchError where user kernels are switched off.
    """
    check_may_write()
    try:
        with limited(COMPILING):
            kernels = kernel_names(text)
    except SourceError as error:
        return Examined((), "", find_problems(text, error))
    name = wanted if wanted in kernels else next(iter(kernels), "")
    examined = Examined(kernels, name, ())
    try:
        kernel = compile_once(text, name)
    except SourceError as error:
        return replace(examined, problems=find_problems(text, error))
    parameters = tuple(Parameter(one.name, str(one.ctype)) for one in kernel.parameters)
    return replace(examined, parameters=parameters, compiles=True)


def suggest_form(text: str, kernel: str) -> LaunchForm:
    """How a kernel that compiles is launched, as far as its text and its runs tell."""
    say("This shows how it is launched.")
    return guess_form(text, compile_once(text, kernel))


def compile_once(text: str, kernel: str) -> Kernel:
    """Compile a kernel of a text, or its only one without a name.

    Raises SourceError, or LaunchError where user kernels are switched off.
    """
    check_may_write()
    return result_cache().get_or_compute((text, kernel), compile_kernel, text, kernel or None)
