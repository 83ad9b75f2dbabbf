"""The kernel launches in a file's host code, as far as their sizes and arguments are known.

Host code is read in order, never run: assignments of what can be computed are followed, and what
depends on a loop, on the input or on an unknown function has no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from simulator.frontend.device_code import SourceFile
from simulator.frontend.expression_values import SIZES, Definition, Value, expression_tokens
from simulator.frontend.host.assignments import forget, read_allocation, read_assignments
from simulator.frontend.host.deduction import Type, deduce, parameter_type
from simulator.frontend.host.tokens import Statements, declared_name, split
from simulator.frontend.host.values import NamedKernel, Names, Values, bytes_of
from simulator.frontend.scanner import Token, TokenKind
from simulator.frontend.template import split_arguments, template_parameters
from simulator.frontend.toplevel import Declaration
from simulator.launch import Dim3

MAX_STATEMENTS = 20_000  # read at most, those of a called function again at each call
MAX_DEPTH = 40  # blocks and calls, one within the other
MAX_LAUNCHES = 50
MAX_TOKENS = 400  # between <<< and >>>, and of a template's arguments
MAX_CALLS = 4  # of one function that are followed
LOOPS = frozenset({"for", "while", "switch", "do"})
LIST = ["=", "{"]  # what begins an array's first values
LAUNCHING_CALLS = frozenset({"cudaLaunchKernel", "cudaLaunchCooperativeKernel"})
ALLOCATIONS = frozenset({"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaMallocAsync"})


@dataclass(frozen=True, slots=True)
class HostArgument:
    """An argument of a launch in the text."""

    text: str
    value: Value  # of a number; None where it is not known
    elements: int | None  # of an array; None where it is not known


@dataclass(frozen=True, slots=True)
class HostLaunch:
    """A launch in the text, such as scale<float><<<grid, block>>>(x, n)."""

    kernel: str
    template: tuple[str, ...]  # the template's arguments; numbers as their values where known
    grid: Dim3 | None  # blocks; None where it is not known
    block: Dim3 | None  # threads; None where it is not known
    shared: int | None  # bytes of dynamic shared memory; None where it is not known
    arguments: tuple[HostArgument, ...]
    line: int


def find_launches(text: str, defines: Mapping[str, str] | None = None) -> tuple[HostLaunch, ...]:
    """The launches in a file's host code, in the order in which main reaches them.

    defines are the compiler's -D macros. Takes time linear in the text's length.
    """
    return _Reader(SourceFile(text, defines or {})).launches()


def returning_functions(source: SourceFile) -> dict[str, Definition]:
    """The file's functions whose body is one return statement, by name."""
    found = {}
    for one in source.declarations:
        if one.is_function and one.body is not None and not one.is_kernel:
            definition = _definition(source, one)
            if definition is not None:
                found[one.name] = definition
    return found


def _definition(source: SourceFile, function: Declaration) -> Definition | None:
    """A function whose body is one return statement; None for another."""
    opening, closing = function.body or (0, 0)
    inside = [token.text for token in source.top.tokens[opening + 1 : closing]]
    is_one_return = inside[:1] == ["return"] and inside.count(";") == 1 and inside[-1] == ";"
    if len(inside) < 3 or not is_one_return:
        return None
    parameters = split_arguments(source.top.parameters(function))
    names = tuple(one.split()[-1] for one in parameters if one.split())
    return Definition(names, tuple(expression_tokens(" ".join(inside[1:-1]))))


def launched_arguments(source: SourceFile, name: str) -> list[tuple[str, ...]]:
    """The template arguments that a file gives a kernel: by name, or by what a launch passes.

    Numbers are as their values, where these are known. What host code alone knows, such as the
    parameter of a template around the launch, is left out.
    """
    kernels = [one for one in source.kernels if name in one.names]
    if not any(template_parameters(source, one) for one in kernels):
        return []
    reader = _Reader(source)
    launched = [one.template for one in reader.launches() if one.kernel == name and one.template]
    found = dict.fromkeys((*launched, *reader.named.get(name, ()), *reader.instantiated(name)))
    outside = {name for one in source.declarations for name in one.names}
    known = [one for one in found if all(reader.values.is_known(each, outside) for each in one)]
    return [
        one
        for one in known
        if not any(len(other) > len(one) and other[: len(one)] == one for other in known)
    ]


class _Reader:
    """Reads host functions: follows their statements and calls, and gathers the launches."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._tokens = source.top.tokens
        self._matching = source.top.matching_bracket
        self._end = Statements(self._tokens, self._matching).end
        self._found: list[HostLaunch] = []
        self.named: dict[str, list[tuple[str, ...]]] = {}  # kernels' arguments outside launches
        self._lists: dict[str, list[list[Token]]] = {}  # what arrays of pointers begin with
        self._statements = 0
        self._depth = 0
        self._calls: dict[str, int] = {}
        self._functions = {
            one.name: one
            for one in source.declarations
            if one.is_function and one.body is not None and not one.is_kernel
        }
        self._kernels = {name for one in source.kernels for name in one.names}
        self.values = Values(source, returning_functions(source))

    def launches(self) -> tuple[HostLaunch, ...]:
        """Those that main reaches, then those of functions that nothing calls."""
        for one in self._source.declarations:
            if not one.is_function and not one.is_type:
                self._simple(one.first, one.last)
        outside = self.values.names
        order = sorted(self._functions.values(), key=lambda one: one.name != "main")
        for function in order:
            if function.name not in self._calls:
                self.values.names = outside.copy()
                self._shadow(function)
                if function.name == "main":
                    self.values.names.values["argc"] = 1  # run without arguments
                self._function(function)
        return tuple(self._found)

    def instantiated(self, name: str) -> list[tuple[str, ...]]:
        """A kernel's arguments in explicit instantiations: template __global__ void k<16>(…);."""
        tokens, found = self._tokens, []
        for index, token in enumerate(tokens[:-1]):
            if token.text != "template" or tokens[index + 1].text == "<":
                continue
            reach = range(index + 1, min(len(tokens) - 1, index + MAX_TOKENS))
            at = next((i for i in reach if tokens[i].text in (name, ";", "{")), None)
            if at is not None and tokens[at].text == name and tokens[at + 1].text == "<":
                inside = tokens[at + 2 : self._source.top.after_angles(at + 1) - 1]
                found.append(self.values.template_arguments(inside))
        return found

    def _parameters(self, function: Declaration) -> list[list[Token]]:
        return split(self._source.top.parameters(function))

    def _shadow(self, function: Declaration) -> None:
        """Forget the variables outside a function that its parameters hide."""
        names = self.values.names
        for parameter in filter(None, self._parameters(function)):
            names.values[parameter[-1].text] = None
            names.sizes.pop(parameter[-1].text, None)
            names.elements.pop(parameter[-1].text, None)

    def _function(self, function: Declaration, types: Sequence[Type | None] = ()) -> None:
        """Read a function's body; types has a call's arguments."""
        self._calls[function.name] = self._calls.get(function.name, 0) + 1
        parameters = self._parameters(function)
        for parameter, passed in zip_longest(parameters, types[: len(parameters)]):
            if len(parameter) > 1 and parameter[-1].kind is TokenKind.NAME:
                words = [token.text for token in parameter]
                kind = parameter_type(words)
                # A template's parameter, or source that is not finished.
                if passed is not None and (not kind or kind[0] not in self.values.types):
                    kind = passed
                self.values.names.types[words[-1]] = kind
        opening, closing = function.body or (0, 0)
        self._block(opening + 1, closing)

    def _block(self, index: int, end: int) -> None:
        """Read the statements from one token up to another."""
        self._depth += 1
        while index < end and self._depth <= MAX_DEPTH and self._statements < MAX_STATEMENTS:
            self._statements += 1
            text = self._tokens[index].text
            after = min(end, self._end(index))
            if text == "{":
                self._block(index + 1, after - 1)
            elif text == "try":
                after = index + 1  # its block is read, and none of what catches
            elif text == "catch":
                pass
            elif text == "if" and index + 1 in self._matching:
                self._if(index, after)
            elif text in LOOPS or text == "else":
                forget(self._tokens, index, after, self.values)
                inside = self._matching.get(index + 1, index) if text in LOOPS else index
                self._block((inside if text != "do" else index) + 1, after)
                forget(self._tokens, index, after, self.values)
            else:
                self._simple(index, after)
            index = max(after, index + 1)
        self._depth -= 1

    def _if(self, index: int, after: int) -> None:
        """Read the arm that runs; both where it is not known, and forget what they assign."""
        closing = self._matching[index + 1]
        value = self.values.evaluate(self._tokens[index + 2 : closing])
        yes_end = min(after, self._end(closing + 1))
        has_else = yes_end < after and self._tokens[yes_end].text == "else"
        if value is None or value:
            self._block(closing + 1, yes_end)
        if value is None:
            forget(self._tokens, closing + 1, yes_end, self.values)
        if has_else and not value:
            self._block(yes_end + 1, after)
            if value is None:
                forget(self._tokens, yes_end + 1, after, self.values)

    def _simple(self, first: int, last: int) -> None:
        """Read a declaration, an assignment or a call, which may launch a kernel."""
        launches = False
        for index in range(first, last):
            text = self._tokens[index].text
            if text == "<<<":
                launches = True
                self._launch(index, last)
            elif text in LAUNCHING_CALLS and index + 1 in self._matching:
                self._launch_by_call(index)
            elif text == "]" and [t.text for t in self._tokens[index + 1 : index + 3]] == LIST:
                self._list(index)
            elif text in self._kernels and index + 1 < last:
                self._mention(index)
            elif text in ALLOCATIONS and index + 1 in self._matching:
                arguments = self._tokens[index + 2 : self._matching[index + 1]]
                read_allocation(arguments, self.values)
            elif text in self._functions and index + 1 < last:
                self._call(text, index + 1)
        if not launches:
            tokens = self._tokens[first:last]
            is_ended = bool(tokens) and tokens[-1].text == ";"
            read_assignments(tokens[:-1] if is_ended else tokens, self.values)

    def _call(self, name: str, opening: int) -> None:
        """Read a host function with its parameters bound to a call's arguments.

        opening is the index after its name, of its template's arguments if there are some.
        """
        function, chosen = self._functions[name], list[list[Token]]()
        if self._tokens[opening].text == "<":
            after = self._source.top.after_angles(opening)
            chosen = split(self._tokens[opening + 1 : after - 1])
            opening = after
        if opening not in self._matching or self._tokens[opening].text != "(":
            return
        if self._calls.get(name, 0) >= MAX_CALLS or self._depth >= MAX_DEPTH:
            return
        given = split(self._tokens[opening + 1 : self._matching[opening]])
        passed = [self.values.type(argument) for argument in given]
        outer = self.values.names
        self.values.names = self._bound(function, given, chosen)
        self._function(function, passed)
        self.values.names = outer

    def _bound(
        self, function: Declaration, given: Sequence[list[Token]], chosen: Sequence[list[Token]]
    ) -> Names:
        """The names in a function whose parameters are given, and its template's are chosen."""
        values, inner = self.values, self.values.names.copy()
        parameters = self._parameters(function)
        for parameter, argument in zip(parameters, given, strict=False):
            words = [token.text for token in parameter if token.kind is TokenKind.NAME]
            if not words:
                continue
            name, types = words[-1], [word for word in words if word in SIZES]
            inner.values[name] = values.evaluate(argument)
            if "dim3" in words:
                inner.sizes[name] = values.size(argument)
            inner.elements[name] = values.elements(argument)
            inner.element_bytes[name] = bytes_of(types) if types else None
            inner.kernels.pop(name, None)
        after = self._source.top.after_template(function.first)
        template = split(self._tokens[function.first + 2 : after - 1])
        for parameter, argument in zip(template, chosen, strict=False):
            inner.values[declared_name(parameter)] = values.evaluate(argument)
        pairs = (*zip(parameters, given, strict=False), *zip(template, chosen, strict=False))
        for parameter, argument in pairs:
            kernel = values.kernel(argument)
            if kernel is not None:
                inner.kernels[declared_name(parameter)] = kernel
        return inner

    def _launch(self, opening: int, last: int) -> None:
        """A launch, whose <<< is at an index."""
        tokens, values = self._tokens, self.values
        reach = range(opening, min(last, opening + MAX_TOKENS))
        closing = next((i for i in reach if tokens[i].text == ">>>"), None)
        name = opening - 1
        depth = 0
        while name > max(0, opening - MAX_TOKENS) and (depth or tokens[name].text == ">"):
            depth += {">": 1, "<": -1}.get(tokens[name].text, 0)
            name -= 1
        if closing is None or tokens[name].kind is not TokenKind.NAME:
            return
        end = self._matching.get(closing + 1)
        if end is None or len(self._found) >= MAX_LAUNCHES:
            return
        sizes = split(tokens[opening + 1 : closing])
        template = tokens[name + 2 : opening - 1] if name < opening - 1 else []
        passed = split(tokens[closing + 2 : end])
        kernel = values.names.kernels.get(tokens[name].text)
        if kernel is None or tokens[name].text in self._kernels:
            kernel = NamedKernel(tokens[name].text, values.template_arguments(template))
        self._found.append(
            HostLaunch(
                kernel=kernel.name,
                template=self._deduced(kernel, passed) or kernel.template,
                grid=values.size(sizes[0]) if sizes else None,
                block=values.size(sizes[1]) if len(sizes) > 1 else None,
                shared=values.whole(sizes[2]) if len(sizes) > 2 else 0,
                arguments=tuple(map(self._argument, passed)),
                line=self._source.line(tokens[name].start),
            )
        )

    def _list(self, index: int) -> None:
        """An array's first values, as in void* given[] = {&x, &n}; its ] is at an index."""
        tokens = self._tokens
        reach = range(index, max(0, index - MAX_TOKENS), -1)
        opening = next((i for i in reach if tokens[i].text == "["), 0)
        closing = self._matching.get(index + 2)
        if closing is not None and opening and tokens[opening - 1].kind is TokenKind.NAME:
            self._lists[tokens[opening - 1].text] = split(tokens[index + 3 : closing])

    def _launch_by_call(self, index: int) -> None:
        """cudaLaunchCooperativeKernel((void*)k, grid, block, given): a launch by a function."""
        tokens, values = self._tokens, self.values
        called, *rest = split(tokens[index + 2 : self._matching[index + 1]]) or [[]]
        named = next((i for i, token in enumerate(called) if token.text in self._kernels), None)
        given = self._lists.get(rest[2][-1].text) if len(rest) > 2 and rest[2] else None
        kernel = None if named is None else values.kernel(called[named:])
        if kernel is None or given is None or len(self._found) >= MAX_LAUNCHES:
            return
        pointers = [[token for token in one if token.kind is TokenKind.NAME] for one in given]
        self._found.append(
            HostLaunch(
                kernel=kernel.name,
                template=kernel.template,
                grid=values.size(rest[0]),
                block=values.size(rest[1]),
                shared=values.whole(rest[3]) if len(rest) > 3 else 0,
                arguments=tuple(self._argument(names[-1:]) for names in pointers),
                line=self._source.line(tokens[index].start),
            )
        )

    def _deduced(self, launched: NamedKernel, passed: Sequence[Sequence[Token]]) -> tuple[str, ...]:
        """All arguments of a kernel's template, if a launch's types give those it leaves out."""
        for kernel in self._source.kernels:
            is_this = launched.name in kernel.names
            parameters = template_parameters(self._source, kernel) if is_this else ()
            if len(launched.template) >= len(parameters):
                continue
            missing = parameters[len(launched.template) :]
            own = self._parameters(kernel)
            found = deduce(
                [parameter_type([token.text for token in one]) for one in own],
                [self.values.type(one) for one in passed],
                {one.name for one in missing if one.is_type},
            )
            chosen = [found.get(one.name, one.default) for one in missing]
            return (*launched.template, *chosen) if found and all(chosen) else ()
        return ()

    def _argument(self, expression: Sequence[Token]) -> HostArgument:
        text = self._source.text[expression[0].start : expression[-1].end] if expression else ""
        return HostArgument(
            text, self.values.evaluate(expression), self.values.elements(expression)
        )

    def _mention(self, index: int) -> None:
        """A kernel's name, perhaps with its template's arguments, as in f = scale<float, 16>;."""
        tokens = self._tokens
        if tokens[index + 1].text == "<":
            after = self._source.top.after_angles(index + 1)
            if after < len(tokens) and tokens[after].text != "<<<":
                inside = tokens[index + 2 : min(after - 1, index + MAX_TOKENS)]
                found = self.values.template_arguments(inside)
                self.named.setdefault(tokens[index].text, []).append(found)
