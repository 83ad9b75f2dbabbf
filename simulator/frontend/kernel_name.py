"""Which kernel of a file is asked for, and with which template arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from simulator.frontend.device_code import SourceFile
from simulator.frontend.directives import check_length
from simulator.frontend.host.launch_mistakes import unmarked_kernel
from simulator.frontend.template import TemplateParameter, template_parameters, template_span
from simulator.frontend.toplevel import Declaration
from simulator.frontend.unset_macros import skipped_kernel
from simulator.frontend.usual_arguments import usual_argument
from simulator.language.errors import SourceError, list_names

MAX_EXAMPLES = 4  # launches that a sentence lists
NAME = re.compile(r"\s*(?:::)?((?:\w+::)*)(\w+)\s*(<.*>)?\s*(\(.*\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class KernelName:
    """A kernel as a command line names it: `scale`, `ns::scale<float, 16>` or `scale(float*)`."""

    name: str
    scope: tuple[str, ...] = ()  # its namespaces, the last ones at least
    arguments: tuple[str, ...] = ()  # of its template
    parameters: str | None = None  # their types, without spaces; None where not given


def parse_name(text: str) -> KernelName:
    """The parts of a kernel's name. Raises SourceError for what is no name.

    >>> parse_name("a::scale<float, 16>")
    KernelName(name='scale', scope=('a',), arguments=('float', '16'), parameters=None)
    """
    found = NAME.fullmatch(text)
    if found is None:
        raise SourceError(
            f"{text[:60]!r} is not a kernel's name: write one like scale, ns::scale, 'scale<float, "
            "16>' or 'scale(float*, int)'."
        )
    scope = tuple(part for part in found[1].split("::") if part)
    arguments = _split(found[3][1:-1]) if found[3] else ()
    parameters = None if found[4] is None else plain_types(found[4])
    return KernelName(found[2], scope, arguments, parameters)


def plain_types(parameters: str) -> str:
    """A list of parameters' types in parentheses without spaces that mean nothing.

    >>> plain_types("(const float *, unsigned int)")
    '(const float*,unsigned int)'
    """
    return re.sub(r"\s*([*&,()<>])\s*", r"\1", parameters.strip())


def _split(text: str) -> tuple[str, ...]:
    """A template's arguments, split at the commas that are in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts)


def kernel_names(text: str) -> tuple[str, ...]:
    """The kernels of a file, each with the namespaces around it, in the file's order.

    Raises SourceError for source that cannot be read.

    >>> kernel_names("__global__ void a() {} namespace n { __global__ void b() {} }")
    ('a', 'n::b')
    """
    check_length(text)
    return SourceFile(text.removeprefix("\ufeff")).kernel_names


def choose_kernel(source: SourceFile, asked: str | None, filename: str) -> KernelName:
    """The kernel that is asked for, or the file's only one. Raises SourceError without it."""
    known = source.kernel_names
    if asked is not None:
        return parse_name(asked)
    if not known:
        raise no_kernel(source, None, filename)
    if len(known) > 1:
        raise SourceError(
            f"{filename} has {len(known)} kernels: {list_names(known)}. Choose one by its name "
            f"(--kernel {known[0]})."
        )
    return parse_name(known[0])


def no_kernel(source: SourceFile, name: str | None, filename: str) -> SourceError:
    """Why a file has no kernel of a name, or none at all without one."""
    known = source.kernel_names
    if name is None:
        sentence = f"{filename} has no kernel: no __global__ function is in it."
    else:
        has = f"it has {list_names(known)}" if known else "it has no __global__ function"
        sentence = f"There is no kernel named {name} in {filename}; {has}."
    return (
        unmarked_kernel(source, name)
        or skipped_kernel(source, name)
        or _declared_kernel(source, name)
        or SourceError(sentence)
    )


def _declared_kernel(source: SourceFile, name: str | None) -> SourceError | None:
    """The error about a kernel that is declared, and defined in another file; None without one."""
    for one in source.declarations:
        if one.is_kernel and source.is_prototype(one) and name in (None, *one.names):
            return SourceError(
                f"{one.name} is only declared here: its body, the {{ … }}, is in another file.",
                source.span(source.top.tokens[one.first]),
            )
    return None


def candidates(source: SourceFile, asked: KernelName) -> list[Declaration]:
    """The file's kernels of a name, and of its namespaces where they are given."""
    return [
        one for one in source.kernels
        if asked.name in one.names and one.scope[len(one.scope) - len(asked.scope):] == asked.scope
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TemplateValues:
    """The values of a template kernel's parameters; none of a kernel that is no template."""

    arguments: tuple[str, ...]  # one a parameter, in order
    macros: Mapping[str, str]  # what is left of the macros: those that are no parameters
    # Where some are usual ones, of which nothing says any: what to raise if they do not fit.
    doubt: SourceError | None = None
    note: str = ""  # what a reader should know; "" for nothing


def template_values(
    source: SourceFile,
    asked: KernelName,
    macros: Mapping[str, str],
    launched: Sequence[tuple[str, ...]],
) -> TemplateValues:
    """The values of a template kernel's parameters.

    They come from the name that is asked for, else from the macros, else from the file's own
    launches if these agree (`launched` has the arguments that they name), else from the
    template's defaults; where no launch says any, usual ones are taken. Raises SourceError for a
    parameter without a value.
    """
    remaining = dict(macros)
    for kernel in candidates(source, asked):
        parameters = template_parameters(source, kernel)
        if not parameters:
            continue
        given = dict(zip((p.name for p in parameters), asked.arguments, strict=False))
        if len(asked.arguments) > len(parameters) and parameters[-1].is_pack:
            raise SourceError(
                f"{asked.name} takes any number of parameters ({parameters[-1].name}...), and "
                "only one is supported here; write a kernel with each of them.",
                template_span(source, kernel),
            )
        if len(asked.arguments) > len(parameters):
            raise SourceError(
                f"{asked.name} has {len(parameters)} template parameters; "
                f"{len(asked.arguments)} arguments are given.",
                template_span(source, kernel),
            )
        own = {p.name: remaining.pop(p.name) for p in parameters if p.name in remaining}
        distinct = list(dict.fromkeys(launched))
        if not given and not own and len(distinct) == 1:
            given = dict(zip((p.name for p in parameters), distinct[0], strict=False))
        values = {p.name: p.default for p in parameters} | own | given
        missing = [p for p in parameters if not values[p.name]]
        if not missing:
            return TemplateValues(tuple(values.values()), remaining)
        error = _missing(source, kernel, parameters, values, distinct)
        usual = {p.name: usual_argument(source, kernel, p) for p in missing}
        if distinct or not all(usual.values()):
            raise error
        arguments = tuple(values[p.name] or usual[p.name] or "" for p in parameters)
        note = (
            f"This code does not say what {list_names(list(usual))} of {kernel.name} "
            f"{'are' if len(usual) > 1 else 'is'}: {kernel.name}<{', '.join(arguments)}> is "
            f"assumed. A launch in host code, {kernel.name}<…><<<grid, block>>>(…), would say it."
        )
        return TemplateValues(arguments, remaining, error, note)
    if asked.arguments and candidates(source, asked):
        raise SourceError(
            f"{asked.name} is not a template: leave out <{', '.join(asked.arguments)}>."
        )
    return TemplateValues((), remaining)


def _missing(
    source: SourceFile,
    kernel: Declaration,
    parameters: Sequence[TemplateParameter],
    values: Mapping[str, str],
    launched: Sequence[tuple[str, ...]],
) -> SourceError:
    """The error for template parameters without a value: what to write."""
    missing = [name for name, value in values.items() if not value]
    examples = launched[:MAX_EXAMPLES] or [
        tuple(values[p.name] or ("float" if p.is_type else "16") for p in parameters)
    ]
    written = " or ".join(f"--kernel '{kernel.name}<{', '.join(one)}>'" for one in examples)
    verb = "have" if len(missing) > 1 else "has"
    why = "as the file launches it" if launched else "for example"
    lambdas = (
        " A lambda of host code has no name: make it a struct with an operator(), and name that."
        if _has_device_lambda(source)
        else ""
    )
    return SourceError(
        f"The template parameter{'s' if len(missing) > 1 else ''} {list_names(missing)} of "
        f"{kernel.name} {verb} no value: name it, {why}: {written}; or give "
        f"{' '.join(f'-D {one}=…' for one in missing)}.{lambdas}",
        template_span(source, kernel),
    )


def _has_device_lambda(source: SourceFile) -> bool:
    """Whether host code makes a lambda for a kernel: [=] __device__ (float a) { … }."""
    tokens = source.top.tokens
    return any(
        before.text == "]" and token.text in ("__device__", "__host__")
        for before, token in pairwise(tokens)
    )
