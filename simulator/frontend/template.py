"""Template kernels in the text: their parameters, and the text as a plain kernel's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulator.frontend.device_code import SourceFile
from simulator.frontend.scanner import Token, blank
from simulator.frontend.toplevel import Declaration
from simulator.language.errors import SourceError, Span


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A parameter of a template."""

    name: str  # "?" for one without
    is_type: bool  # typename or class
    default: str  # "" without one
    is_pack: bool  # typename... T


def template_parameters(
    source: SourceFile, declaration: Declaration
) -> tuple[TemplateParameter, ...]:
    """The parameters of a declaration's `template <…>`; none for what is no template."""
    first, after = declaration.first, source.top.after_template(declaration.first)
    inside = source.top.tokens[first + 2 : max(first + 2, after - 1)]  # between < and >
    return tuple(_parameter(text.split()) for text in split_arguments(inside))


def split_arguments(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The texts between the commas that are in no bracket; none for no tokens."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"<": 1, "(": 1, "{": 1, ">": -1, ")": -1, "}": -1}.get(token.text, 0)
        if token.text == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(token.text)
    return tuple(" ".join(part) for part in parts) if tokens else ()


def _parameter(words: Sequence[str]) -> TemplateParameter:
    equals = words.index("=") if "=" in words else len(words)
    name = words[equals - 1] if equals > 1 else "?"
    is_type = bool({"typename", "class"} & set(words[:equals]))
    return TemplateParameter(name, is_type, " ".join(words[equals + 1 :]), "..." in "".join(words))


def instantiate(
    text: str, name: str, defines: Mapping[str, str]
) -> tuple[str, list[tuple[str, str]], dict[str, str]]:
    """A template kernel as a plain one, for a compiler that gets its parameters as macros.

    Returns the text with the kernel's `template <…>` blanked, the template's parameters with their
    values in order, and the defines that are no parameters. A kernel that is no template stays as
    it is. Raises SourceError for a parameter without a value.

    >>> instantiate("template <int T> __global__ void k() {}", "k", {"T": "4", "N": "2"})
    ('                 __global__ void k() {}', [('T', '4')], {'N': '2'})
    """
    source = SourceFile(text)
    macros = dict(defines)
    for kernel in source.kernels:
        parameters = template_parameters(source, kernel) if name in kernel.names else ()
        if not parameters:
            continue
        values = []
        for parameter in parameters:
            value = macros.pop(parameter.name, parameter.default)
            if not value:
                raise SourceError(
                    f"The template parameter {parameter.name} has no value: give it one with "
                    f"-D {parameter.name}=… or in the catalogue.",
                    template_span(source, kernel),
                )
            values.append((parameter.name, value))
        tokens = source.top.tokens
        start = tokens[kernel.first].start
        end = tokens[source.top.after_template(kernel.first) - 1].end
        return text[:start] + blank(text[start:end]) + text[end:], values, macros
    return text, [], macros


def template_span(source: SourceFile, kernel: Declaration) -> Span:
    """The span of the word `template` before a kernel."""
    return source.span(source.top.tokens[kernel.first])
