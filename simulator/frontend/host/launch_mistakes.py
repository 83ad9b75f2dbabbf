"""Mistakes in how host code launches kernels, which no compiler of device code sees."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.frontend.device_code import SourceFile
from simulator.frontend.toplevel import Declaration
from simulator.language.errors import SourceError

MAX_TOKENS = 400  # from << to >>
MAX_FOUND = 4  # sentences


def unmarked_kernel(source: SourceFile, name: str | None) -> SourceError | None:
    """The error about a function that is meant as a kernel and lacks __global__.

    It is the one of a name, or the first that the file launches; None without one.
    """
    top = source.top
    functions = {
        one.name: one for one in source.declarations if one.is_function and not one.is_kernel
    }
    launched: dict[str, int] = {}  # the line of a function's first launch
    for index, token in enumerate(top.tokens[:-1]):
        if token.text not in functions or token.text in launched:
            continue
        after = index + 1
        if top.tokens[after].text == "<":
            after = min(top.after_angles(after), len(top.tokens) - 1)
        if top.tokens[after].text == "<<<" or _has_two_brackets(source, index):
            launched[token.text] = source.line(token.start)
    if name is None:
        name = next(iter(launched), None)
    if name is None or name not in functions:
        return None
    function = functions[name]
    tokens = top.tokens[function.first : function.last]
    on_device = any(token.text == "__device__" for token in tokens)
    where = f", which line {launched[name]} launches," if name in launched else ""
    return SourceError(
        f"{name}{where} is not a kernel: write __global__ "
        f"{'instead of __device__' if on_device else 'before it'}.",
        source.span(top.tokens[function.first]),
    )


def launch_warnings(source: SourceFile) -> tuple[str, ...]:
    """Sentences about what is no launch, but is meant as one: add<<1, 32>>(x), add(x)."""
    found: list[str] = []
    kernels = {one.name for one in source.kernels}
    for index, name in _names_in_host_code(source, kernels):
        place = source.span(source.top.tokens[index])
        if _has_two_brackets(source, index):
            found.append(
                f"{place}: {name}<<…>> is not a launch: a launch has three brackets on each side, "
                f"{name}<<<grid, block>>>(…)."
            )
        elif _is_plain_call(source, index):
            found.append(
                f"{place}: {name} is called without its blocks and threads: launch a kernel with "
                f"{name}<<<grid, block>>>(…)."
            )
    return tuple(found[:MAX_FOUND])


def _names_in_host_code(source: SourceFile, names: set[str]) -> Iterator[tuple[int, str]]:
    """The indices of the tokens in host functions that are one of some names."""
    hosts: list[Declaration] = [
        one
        for one in source.declarations
        if one.is_function and one.body is not None and not (one.is_kernel or one.is_device)
    ]
    for host in hosts:
        for index in range(*host.body) if host.body is not None else ():
            if (text := source.top.tokens[index].text) in names:
                yield index, text


def _has_two_brackets(source: SourceFile, index: int) -> bool:
    """Whether a name is followed by <<…>>(, as a launch with too few brackets."""
    tokens = source.top.tokens
    if index + 1 >= len(tokens) or tokens[index + 1].text != "<<":
        return False
    for place in range(index + 2, min(len(tokens) - 2, index + MAX_TOKENS)):
        if tokens[place].text in (";", "{", "}"):
            return False
        if [token.text for token in tokens[place : place + 3]] == [">", ">", "("]:
            return True
    return False


def _is_plain_call(source: SourceFile, index: int) -> bool:
    """Whether a statement begins with a name and its arguments in parentheses."""
    before, after = source.top.tokens[index - 1].text, source.top.tokens[index + 1].text
    return before in (";", "{", "}") and after == "("
