"""Kernels that conditions leave out, and #errors that they reach: the macros that change that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from simulator.frontend.conditions import Decided, preprocess
from simulator.frontend.device_code import SourceFile
from simulator.language.errors import LONGEST_NAME, Diagnostic, SourceError

MAX_TRIES = 4  # settings that are tried: each reads the whole source again

Settings = tuple[tuple[str, ...], ...]  # as Diagnostic.macros has them


def skipped_kernel(source: SourceFile, name: str | None) -> SourceError | None:
    """The error about a kernel that #if or its kind leave out, and macros that bring it in.

    It is the one of a name, or any. None where none is found.
    """
    skipped = source.skipped
    if not skipped:
        return None

    def shows(macros: Mapping[str, str]) -> bool:
        kernels = SourceFile(source.text, {**source.defines, **macros}).kernels
        return any(name in (None, *one.names) for one in kernels)

    settings = _settings(source, skipped, shows)
    if not settings and name is not None:
        return None
    what = "A kernel" if name is None else f"The kernel {name}"
    message = f"{what} is in this code, and a condition around it (#if or its kind) leaves it out."
    span = source.span(skipped[0].token)
    return SourceError.of([Diagnostic(message, span, macros=settings)])


def silencing_macros(source: SourceFile, line: int) -> Settings:
    """The macros with which the #error of a line is not reached; none for another line."""
    found = [one for one in source.error_directives if source.line(one.token.start) == line]

    def silences(macros: Mapping[str, str]) -> bool:
        left = preprocess(source.files, {**source.defines, **macros}).errors
        return all(one.token is not found[0].token for one in left)

    return _settings(source, found[:1], silences)


def _settings(
    source: SourceFile, decided: Iterable[Decided], mends: Callable[[Mapping[str, str]], bool]
) -> Settings:
    """The macros of which one mends it; else all of the first condition's together; or none.

    Conditions on names that nobody would type are left out.
    """
    decided = [one for one in decided if all(len(name) <= LONGEST_NAME for name in one.macros)]
    single = dict.fromkeys(chain.from_iterable(one.macros.items() for one in decided))
    tried = [{name: value} for name, value in list(single)[:MAX_TRIES]]
    found = [macros for macros in tried if mends(_with_values(macros))]
    if not found and decided and 1 < len(decided[0].macros) <= MAX_TRIES:
        found = [macros for macros in (dict(decided[0].macros),) if mends(_with_values(macros))]
    written = {token.text for token in source.top.tokens}
    return tuple(
        tuple(
            f"{name}={value}" if value else f"{name}=…" if name in written else name
            for name, value in macros.items()
        )
        for macros in found
    )


def _with_values(macros: Mapping[str, str]) -> dict[str, str]:
    return {name: value or "1" for name, value in macros.items()}
