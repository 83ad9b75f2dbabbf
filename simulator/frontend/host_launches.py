"""The kernel launches in a file's host code, as far as their sizes and arguments are known.

Host code is read in order, never run: assignments of what can be computed are followed, and what
depends on a loop, on the input or on an unknown function has no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from simulator.frontend.deduction import (
    Type,
    declared_type,
    deduce,
    literal_type,
    parameter_type,
)
from simulator.frontend.device_code import SourceFile
from simulator.frontend.host_values import SIZES, Definition, Evaluator, Value, expression_tokens
from simulator.frontend.scanner import Token, TokenKind
from simulator.frontend.template import split_arguments, template_parameters
from simulator.frontend.toplevel import Declaration
from simulator.launch import Dim3

MAX_STATEMENTS = 20_000  # that are read, those of a called function again at each call
MAX_DEPTH = 40  # blocks and calls, one within the other
MAX_LAUNCHES = 50
MAX_TOKENS = 400  # between <<< and >>>, and of a template's arguments
MAX_CALLS = 4  # of one function that are followed
LOOPS = frozenset({"for", "while", "switch", "do"})
ALLOCATIONS = frozenset({"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaMallocAsync"})
ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "++", "--"})
BELOW_A_PRODUCT = frozenset(
    ["+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?", ":"]
)
WORDS = frozenset({"true", "false", "const", "void", "char", "signed", "sizeof"})
AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, slots=True)
class HostArgument:
    """An argument of a launch in the text."""

    text: str
    value: Value  # of a number; None where it is not known
    elements: int | None  # of an array; likewise


@dataclass(frozen=True, slots=True)
class HostLaunch:
    """A launch in the text, such as scale<float><<<grid, block>>>(x, n)."""

    kernel: str
    template: tuple[str, ...]  # the template's arguments; numbers as their values where known
    grid: Dim3 | None  # blocks; None where it is not known
    block: Dim3 | None  # threads; likewise
    shared: int | None  # bytes of dynamic shared memory; likewise
    arguments: tuple[HostArgument, ...]
    line: int


@dataclass(frozen=True, slots=True)
class NamedKernel:
    """A kernel as host code names it without launching it."""

    name: str
    template: tuple[str, ...]  # its template's arguments, as HostLaunch has them


@dataclass(slots=True)
class Names:
    """What the names of a function are known to hold."""

    values: dict[str, Value] = field(default_factory=dict)
    sizes: dict[str, Dim3 | None] = field(default_factory=dict)  # variables of type dim3
    elements: dict[str, int | None] = field(default_factory=dict)  # of arrays
    element_bytes: dict[str, int | None] = field(default_factory=dict)  # by a pointer's type
    types: dict[str, Type] = field(default_factory=dict)  # as they are declared
    kernels: dict[str, NamedKernel] = field(default_factory=dict)  # that a pointer points to


def find_launches(text: str, defines: Mapping[str, str] | None = None) -> tuple[HostLaunch, ...]:
    """The launches in a file's host code, in the order in which main reaches them.

    defines are the compiler's -D macros. Takes time linear in the text's length.
    """
    return _Reader(SourceFile(text, defines or {})).launches()


class _Reader:
    """Reads host functions."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._tokens = source.top.tokens
        self._partner = source.top.partner
        self._found: list[HostLaunch] = []
        self._statements = 0
        self._depth = 0
        self._calls: dict[str, int] = {}
        self._functions = {
            one.name: one
            for one in source.declarations
            if one.is_function and one.body is not None and not one.is_kernel
        }
        self._types = {
            name for one in source.declarations if one.is_type for name in one.names
        } | set(SIZES)
        self._outside = {name for one in source.declarations for name in one.names}
        self.named: dict[str, list[tuple[str, ...]]] = {}  # kernels' arguments outside launches
        self._kernels = {name for one in source.kernels for name in one.names}
        self._names = Names()
        returned = {name: self._definition(one) for name, one in self._functions.items()}
        self._evaluator = Evaluator(
            self._lookup,
            source.macros,
            {name: one for name, one in returned.items() if one is not None},
            self._size_of,
        )

    def launches(self) -> tuple[HostLaunch, ...]:
        """Those that main reaches, then those of functions that nothing calls."""
        for one in self._source.declarations:
            if not one.is_function and not one.is_type:
                self._simple(one.first, one.last)
        outside = self._names
        order = sorted(self._functions.values(), key=lambda one: one.name != "main")
        for function in order:
            if function.name not in self._calls:
                self._names = _copy(outside)
                self._shadow(function)
                if function.name == "main":
                    self._names.values["argc"] = 1  # run without arguments
                self._function(function)
        return tuple(self._found)

    def _shadow(self, function: Declaration) -> None:
        """Forget the variables outside a function that its parameters hide."""
        names = self._names
        for parameter in _split(self._source.top.parameters(function)):
            if parameter:
                names.values[parameter[-1].text] = None
                names.sizes.pop(parameter[-1].text, None)
                names.elements.pop(parameter[-1].text, None)

    def _lookup(self, name: str) -> Value:
        """The value of a variable, or of a dim3's component."""
        owner, _, axis = name.partition(".")
        size = self._names.sizes.get(owner)
        if axis in AXES and size is not None:
            return size[AXES[axis]]
        return self._names.values.get(name)

    def _definition(self, function: Declaration) -> Definition | None:
        """A function whose body is one return statement; None for another."""
        opening, closing = function.body or (0, 0)
        inside = [token.text for token in self._tokens[opening + 1 : closing]]
        is_one_return = inside[:1] == ["return"] and inside.count(";") == 1 and inside[-1] == ";"
        if len(inside) < 3 or not is_one_return:
            return None
        parameters = split_arguments(self._source.top.parameters(function))
        names = tuple(one.split()[-1] for one in parameters if one.split())
        return Definition(names, tuple(expression_tokens(" ".join(inside[1:-1]))))

    def _function(self, function: Declaration, types: Sequence[Type | None] = ()) -> None:
        """Read a function's body; types are those of a call's arguments."""
        self._calls[function.name] = self._calls.get(function.name, 0) + 1
        parameters = _split(self._source.top.parameters(function))
        for parameter, passed in zip_longest(parameters, types[: len(parameters)]):
            if len(parameter) > 1 and parameter[-1].kind is TokenKind.NAME:
                words = [token.text for token in parameter]
                kind = parameter_type(words)
                # A template's parameter, or a text that is not finished.
                if passed is not None and (not kind or kind[0] not in self._types):
                    kind = passed
                self._names.types[words[-1]] = kind
        opening, closing = function.body or (0, 0)
        self._block(opening + 1, closing)

    def _block(self, index: int, end: int) -> None:
        """Read the statements from one token up to another."""
        self._depth += 1
        while index < end and self._depth <= MAX_DEPTH and self._statements < MAX_STATEMENTS:
            self._statements += 1
            text = self._tokens[index].text
            behind = min(end, self._statement_end(index))
            if text == "{":
                self._block(index + 1, behind - 1)
            elif text == "try":
                behind = index + 1  # its block is read, and none of what catches
            elif text == "catch":
                pass
            elif text == "if" and index + 1 in self._partner:
                self._if(index, behind)
            elif text in LOOPS or text == "else":
                self._forget(index, behind)
                inside = self._partner.get(index + 1, index) if text in LOOPS else index
                self._block((inside if text != "do" else index) + 1, behind)
                self._forget(index, behind)
            else:
                self._simple(index, behind)
            index = max(behind, index + 1)
        self._depth -= 1

    def _if(self, index: int, behind: int) -> None:
        """Read the arm that runs; both where it is not known, and forget what they assign."""
        closing = self._partner[index + 1]
        value = self._evaluate(self._tokens[index + 2 : closing])
        yes_end = min(behind, self._statement_end(closing + 1))
        has_else = yes_end < behind and self._tokens[yes_end].text == "else"
        if value is None or value:
            self._block(closing + 1, yes_end)
        if value is None:
            self._forget(closing + 1, yes_end)
        if has_else and not value:
            self._block(yes_end + 1, behind)
            if value is None:
                self._forget(yes_end + 1, behind)

    def _statement_end(self, index: int) -> int:
        """The index behind the statement that begins at an index."""
        tokens, last = self._tokens, len(self._tokens)
        ifs = 0
        while index < last:
            text = tokens[index].text
            if text in ("if", "for", "while", "switch", "catch") and index + 1 in self._partner:
                ifs += text == "if"
                index = self._partner[index + 1] + 1
                continue
            if text in ("do", "else"):
                index += 1
                continue
            is_block = text == "{"
            while index < last and tokens[index].text not in (";", "}"):
                inside = tokens[index].text in ("(", "[", "{")
                index = self._partner.get(index, index) + 1 if inside else index + 1
                if is_block:
                    break
            if index < last and tokens[index].text == ";" and not is_block:
                index += 1
            if ifs and index < last and tokens[index].text == "else":
                ifs -= 1
                continue
            if is_block and index < last and tokens[index].text == "while":
                continue
            return index
        return last

    def _forget(self, first: int, last: int) -> None:
        """The variables that a range of tokens assigns have no known value any more."""
        for index in range(first, last):
            token = self._tokens[index]
            if token.kind is not TokenKind.NAME or index + 1 >= last:
                continue
            before, after = self._tokens[index - 1].text, self._tokens[index + 1].text
            if after in ASSIGNMENTS or before in ("++", "--"):
                owner = self._tokens[index - 2].text if before == "." else token.text
                self._names.values[owner] = None
                if owner in self._names.sizes:
                    self._names.sizes[owner] = None
                if owner in self._names.elements:
                    self._names.elements[owner] = None

    def _simple(self, first: int, last: int) -> None:
        """Read a declaration, an assignment or a call, which may launch a kernel."""
        tokens = self._tokens[first:last]
        if tokens and tokens[-1].text == ";":
            tokens = tokens[:-1]
        launches = False
        for index in range(first, last):
            text = self._tokens[index].text
            if text == "<<<":
                launches = True
                self._launch(index, last)
            elif text in self._kernels and index + 1 < last:
                self._mention(index)
            elif text in ALLOCATIONS and index + 1 in self._partner:
                self._allocation(index + 1)
            elif text in self._functions and index + 1 < last:
                self._call(text, index + 1)
        declared: list[str] = []
        for part in [] if launches else _split(tokens):
            self._part(part, declared)

    def _part(self, part: Sequence[Token], declared: list[str]) -> None:
        """One declarator or assignment; declared has its type's words, given by the first one."""
        texts = [token.text for token in part]
        sign = next((i for i, text in enumerate(texts) if text in ASSIGNMENTS), None)
        head = texts if sign is None else texts[:sign]
        opening = next((i for i, text in enumerate(head) if text in ("(", "{", "[") and i), None)
        kernel = None if sign is None or texts[sign] != "=" else self._kernel(part[sign + 1 :])
        if kernel is not None:
            self._names.kernels[_pointer_name(part[:sign])] = kernel
            return
        place = len(head) if opening is None else opening
        if not place or part[place - 1].kind is not TokenKind.NAME:
            return
        name, words = texts[place - 1], texts[: place - 1]
        if words and words[-1] == "." and len(words) > 1 and sign is not None:
            self._component(words[-2], name, part[sign + 1 :])
            return
        stars = words.count("*") + (opening is not None and head[opening] == "[")
        if words and words != ["*"]:
            declared[:] = words
        elif not declared and sign is None:
            return
        if declared:
            base = [word for word in declared if word != "*"]
            self._names.types[name] = declared_type(base, stars)
        pointed = [word for word in declared if word in SIZES]
        if pointed and (declared or words):
            self._names.element_bytes[name] = self._size(pointed)
        self._value(name, part, texts, sign, opening, declared)

    def _value(
        self,
        name: str,
        part: Sequence[Token],
        texts: Sequence[str],
        sign: int | None,
        opening: int | None,
        declared: Sequence[str],
    ) -> None:
        """What a name holds behind its declaration or assignment."""
        names = self._names
        given = None if sign is None else part[sign + 1 :]
        if given is None and opening is not None:
            inside = part[opening + 1 : -1]
            if texts[opening] == "[":
                names.elements[name] = _whole(self._evaluate(_until(inside, "]")))
            elif "dim3" in declared:
                names.sizes[name] = self._dim3(inside)
            elif declared and declared[-1] == ">":
                first = next(iter(_split(inside)), [])
                names.elements[name] = _whole(self._evaluate(first))
            elif declared:
                names.values[name] = self._evaluate(inside)
            return
        if given is None or sign is None:
            return
        if texts[sign] != "=":
            step = [*texts[:sign], texts[sign][0], *(t.text for t in given)]
            if texts[sign] in ("++", "--"):
                step = [*texts[:sign], texts[sign][0], "1"]
            elif len(texts[sign]) == 3:
                step = [*texts[:sign], texts[sign][:2], *(t.text for t in given)]
            names.values[name] = self._evaluator.evaluate(expression_tokens(" ".join(step)))
            return
        words = [token.text for token in given]
        if "dim3" in declared or words[:1] == ["dim3"] or name in names.sizes:
            names.sizes[name] = self._size_argument(given)
        elif "malloc" in words or "calloc" in words:
            start = words.index("malloc" if "malloc" in words else "calloc")
            names.elements[name] = self._count(name, given[start + 2 : -1])
        elif "new" in words and "[" in words:
            inside = given[words.index("[") + 1 :]
            names.elements[name] = _whole(self._evaluate(_until(inside, "]")))
        else:
            names.values[name] = self._evaluate(given)

    def _component(self, name: str, axis: str, given: Sequence[Token]) -> None:
        """An assignment like grid.x = 4."""
        if axis in AXES:
            size = list(self._names.sizes.get(name) or (1, 1, 1))
            value = _whole(self._evaluate(given))
            size[AXES[axis]] = value or 1
            self._names.sizes[name] = (size[0], size[1], size[2]) if value else None

    def _allocation(self, opening: int) -> None:
        """cudaMalloc and its kind: the elements of the array that it allocates."""
        arguments = _split(self._tokens[opening + 1 : self._partner[opening]])
        if len(arguments) > 1:
            pointers = [token.text for token in arguments[0] if token.kind is TokenKind.NAME]
            if pointers:
                self._names.elements[pointers[-1]] = self._count(pointers[-1], arguments[1])

    def _count(self, name: str, expression: Sequence[Token]) -> int | None:
        """The elements of an array that takes the bytes of an expression, or those of calloc."""
        size = self._names.element_bytes.get(name)
        if not size:  # of a struct's, which is not known here, as many as its size is multiplied by
            return _whole(self._evaluate(_factor_of_sizeof(expression)))
        parts = [_whole(self._evaluate(part)) for part in _split(expression)]
        if len(parts) == 2 and parts[1] == size:
            return parts[0]
        return parts[0] // size if parts and parts[0] else None

    def _call(self, name: str, opening: int) -> None:
        """Read a host function with its parameters bound to a call's arguments.

        opening is the index behind its name, of its template's arguments if there are some.
        """
        function, chosen = self._functions[name], list[list[Token]]()
        if self._tokens[opening].text == "<":
            behind = self._source.top.behind_angles(opening)
            chosen = _split(self._tokens[opening + 1 : behind - 1])
            opening = behind
        if opening not in self._partner or self._tokens[opening].text != "(":
            return
        if self._calls.get(name, 0) >= MAX_CALLS or self._depth >= MAX_DEPTH:
            return
        given = _split(self._tokens[opening + 1 : self._partner[opening]])
        outer, inner = self._names, _copy(self._names)
        parameters = _split(self._source.top.parameters(function))
        for parameter, argument in zip(parameters, given, strict=False):
            words = [token.text for token in parameter if token.kind is TokenKind.NAME]
            if not words:
                continue
            inner.values[words[-1]] = self._evaluate(argument)
            if "dim3" in words:
                inner.sizes[words[-1]] = self._size_argument(argument)
            inner.elements[words[-1]] = self._elements(argument)
            types = [word for word in words if word in SIZES]
            inner.element_bytes[words[-1]] = self._size(types) if types else None
            inner.kernels.pop(words[-1], None)
        template = self._template_of(function)
        for parameter, argument in zip(template, chosen, strict=False):
            inner.values[_pointer_name(parameter)] = self._evaluate(argument)
        pairs = (*zip(parameters, given, strict=False), *zip(template, chosen, strict=False))
        for parameter, argument in pairs:
            kernel = self._kernel(argument)
            if kernel is not None:
                inner.kernels[_pointer_name(parameter)] = kernel
        passed = [self._type(argument) for argument in given]
        self._names = inner
        self._function(function, passed)
        self._names = outer

    def _template_of(self, function: Declaration) -> list[list[Token]]:
        """The parameters of a host function's template."""
        behind = self._source.top.behind_template(function.first)
        return _split(self._tokens[function.first + 2 : behind - 1])

    def _kernel(self, expression: Sequence[Token]) -> NamedKernel | None:
        """The kernel that an expression such as &scale<16> is; None for any other."""
        named = [token for token in expression if token.text not in ("&", "(", ")")]
        if not named:
            return None
        name, inside = named[0].text, named[2:-1]
        if len(named) == 1 and name in self._names.kernels:
            return self._names.kernels[name]
        if name not in self._kernels or (len(named) > 1 and named[1].text != "<"):
            return None
        return NamedKernel(name, tuple(map(self._template_argument, split_arguments(inside))))

    def _launch(self, opening: int, last: int) -> None:
        """A launch, whose <<< is at an index."""
        tokens = self._tokens
        reach = range(opening, min(last, opening + MAX_TOKENS))
        closing = next((i for i in reach if tokens[i].text == ">>>"), None)
        name = opening - 1
        depth = 0
        while name > max(0, opening - MAX_TOKENS) and (depth or tokens[name].text == ">"):
            depth += {">": 1, "<": -1}.get(tokens[name].text, 0)
            name -= 1
        if closing is None or tokens[name].kind is not TokenKind.NAME:
            return
        end = self._partner.get(closing + 1)
        if end is None or len(self._found) >= MAX_LAUNCHES:
            return
        sizes = [*_split(tokens[opening + 1 : closing])]
        template = split_arguments(tokens[name + 2 : opening - 1]) if name < opening - 1 else ()
        passed = _split(tokens[closing + 2 : end])
        arguments = tuple(map(self._template_argument, template))
        kernel = self._names.kernels.get(tokens[name].text)
        if kernel is None or tokens[name].text in self._kernels:
            kernel = NamedKernel(tokens[name].text, arguments)
        deduced = self._deduced(kernel.name, kernel.template, passed)
        self._found.append(
            HostLaunch(
                kernel=kernel.name,
                template=deduced or kernel.template,
                grid=self._size_argument(sizes[0]) if sizes else None,
                block=self._size_argument(sizes[1]) if len(sizes) > 1 else None,
                shared=_whole(self._evaluate(sizes[2])) if len(sizes) > 2 else 0,
                arguments=tuple(map(self._argument, passed)),
                line=self._source.line(tokens[name].start),
            )
        )

    def _deduced(
        self, name: str, template: tuple[str, ...], passed: Sequence[Sequence[Token]]
    ) -> tuple[str, ...]:
        """All arguments of a kernel's template, if a launch's types give those it leaves out."""
        for kernel in self._source.kernels:
            parameters = template_parameters(self._source, kernel) if name in kernel.names else ()
            if len(template) >= len(parameters):
                continue
            missing = parameters[len(template) :]
            own = _split(self._source.top.parameters(kernel))
            found = deduce(
                [parameter_type([token.text for token in one]) for one in own],
                [self._type(one) for one in passed],
                {one.name for one in missing if one.is_type},
            )
            values = [found.get(one.name, one.default) for one in missing]
            return (*template, *values) if found and all(values) else ()
        return ()

    def _type(self, expression: Sequence[Token]) -> Type | None:
        """The type of an argument; None where the text does not show it."""
        texts = [token.text for token in expression]
        if not texts:
            return None
        kind = literal_type(texts[0]) if len(texts) == 1 else None
        if kind is None and texts[0] in ("static_cast", "reinterpret_cast") and "(" in texts:
            kind = declared_type(texts[2 : texts.index("(") - 1])
        elif kind is None and texts[0] in self._types and texts[-1] in (")", "}"):
            kind = declared_type(texts[: self._constructed(expression)])  # Scale<float>{2}
        elif kind is None and texts[0] == "(" and ")" in texts[:-1]:
            kind = declared_type(texts[1 : texts.index(")")])
        elif kind is None and "raw_pointer_cast" in texts:
            vectors = [self._names.types.get(text, ()) for text in texts]
            vector = next((one for one in vectors if "device_vector" in one and "<" in one), ())
            kind = (*vector[vector.index("<") + 1 : -1], "*") if vector else None
        elif kind is None:
            kind = self._names.types.get(texts[0])
            is_offset = len(texts) > 1 and texts[1] in ("+", "-") and kind and kind[-1] == "*"
            kind = kind if len(texts) == 1 or is_offset else None
        return kind if kind and kind[0] in self._types else None

    def _constructed(self, expression: Sequence[Token]) -> int:
        """The index of the bracket with a constructor's arguments, behind the type's name."""
        depth = 0
        for index in reversed(range(len(expression))):
            text = expression[index].text
            depth += (text in (")", "}")) - (text in ("(", "{"))
            if not depth:
                return index
        return 0

    def _mention(self, index: int) -> None:
        """A kernel's name, perhaps with its template's arguments, as in f = scale<float, 16>;."""
        tokens = self._tokens
        if tokens[index + 1].text == "<":
            behind = self._source.top.behind_angles(index + 1)
            if behind < len(tokens) and tokens[behind].text != "<<<":
                inside = tokens[index + 2 : min(behind - 1, index + MAX_TOKENS)]
                found = tuple(map(self._template_argument, split_arguments(inside)))
                self.named.setdefault(tokens[index].text, []).append(found)

    def is_known(self, argument: str) -> bool:
        """Whether a template's argument means something outside host functions."""
        words = [word for word in expression_tokens(argument) if re.match(r"[^\W\d]", word)]
        known = self._types | set(self._evaluator.macros) | self._outside
        return all(word in known or word in WORDS for word in words)

    def _template_argument(self, text: str) -> str:
        value = self._evaluator.evaluate(expression_tokens(text))
        return text if value is None or text in ("true", "false") else str(value)

    def _argument(self, expression: Sequence[Token]) -> HostArgument:
        text = self._source.text[expression[0].start : expression[-1].end] if expression else ""
        value = self._evaluate(expression)
        return HostArgument(text, value, self._elements(expression))

    def _elements(self, expression: Sequence[Token]) -> int | None:
        """The elements of the first array that an expression names."""
        arrays = (self._names.elements.get(token.text) for token in expression)
        return next((count for count in arrays if count is not None), None)

    def _size_argument(self, expression: Sequence[Token]) -> Dim3 | None:
        """A grid or a block: a variable of type dim3, a dim3(…), or a number."""
        texts = [token.text for token in expression]
        if len(texts) == 1 and texts[0] in self._names.sizes:
            return self._names.sizes[texts[0]]
        if texts[:1] == ["dim3"] and len(texts) > 2:
            return self._dim3(expression[2:-1])
        if texts[:1] == ["{"]:
            return self._dim3(expression[1:-1])
        return self._dim3(expression)

    def _dim3(self, expression: Sequence[Token]) -> Dim3 | None:
        """One to three sizes between commas."""
        sizes = [_whole(self._evaluate(part)) for part in _split(expression)]
        known = [size for size in sizes if size is not None and size > 0]
        if len(known) != len(sizes) or not 1 <= len(known) <= 3:
            return None
        x, y, z = (*known, 1, 1)[:3]
        return (x, y, z)

    def _evaluate(self, expression: Sequence[Token]) -> Value:
        return self._evaluator.evaluate(expression_tokens(" ".join(t.text for t in expression)))

    def _size_of(self, name: str) -> Value:
        """sizeof of a variable, or of what a pointer points to."""
        size = self._names.element_bytes.get(name.lstrip("*"))
        count = self._names.elements.get(name)
        return size * count if size and count and not name.startswith("*") else size

    def _size(self, words: Sequence[str]) -> int | None:
        return next((SIZES[word] for word in words if word not in ("unsigned", "signed")), 4)


def launched_arguments(source: SourceFile, name: str) -> list[tuple[str, ...]]:
    """The template arguments that host code gives a kernel: by name, or by what a launch passes.

    Numbers are as their values, where these are known. What host code alone knows, such as the
    parameter of a template around the launch, is left out.
    """
    kernels = [one for one in source.kernels if name in one.names]
    if not any(template_parameters(source, one) for one in kernels):
        return []
    reader = _Reader(source)
    launched = [one.template for one in reader.launches() if one.kernel == name and one.template]
    found = dict.fromkeys((*launched, *reader.named.get(name, ())))
    known = [one for one in found if all(map(reader.is_known, one))]
    return [
        one
        for one in known
        if not any(len(other) > len(one) and other[: len(one)] == one for other in known)
    ]


def _copy(names: Names) -> Names:
    return Names(
        dict(names.values), dict(names.sizes), dict(names.elements), dict(names.element_bytes),
        dict(names.types), dict(names.kernels),
    )  # fmt: skip


def _pointer_name(declared: Sequence[Token]) -> str:
    """The name that a declaration such as void (*name)(int) or auto name declares; "" for none."""
    names = [token.text for token in declared if token.kind is TokenKind.NAME]
    for before, star, name in zip(declared, declared[1:], declared[2:], strict=False):
        if before.text == "(" and star.text == "*":
            return name.text
    return names[-1] if names else ""


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens between the commas that are in no bracket."""
    return list(_parts(tokens))


def _parts(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    part: list[Token] = []
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        depth += _angle(tokens, index)
        if token.text == "," and depth <= 0:
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _angle(tokens: Sequence[Token], index: int) -> int:
    """1 or -1 for the < or > of a template like vector<float>: behind a name, before a type."""
    text = tokens[index].text
    if text == "<" and index + 2 < len(tokens):
        return int(tokens[index + 1].text in SIZES and tokens[index + 2].text in (">", ",", "*"))
    if text == ">" and index > 1:
        return -int(tokens[index - 1].text in SIZES and tokens[index - 2].text in ("<", ","))
    return 0


def _until(tokens: Sequence[Token], text: str) -> Sequence[Token]:
    """The tokens before the first of a text."""
    end = next((index for index, token in enumerate(tokens) if token.text == text), len(tokens))
    return tokens[:end]


def _factor_of_sizeof(tokens: Sequence[Token]) -> Sequence[Token]:
    """What sizeof(NAME) is multiplied by in a product, none in another expression."""
    words = [token.text for token in tokens]
    if len(words) > 5 and words[-5:-2] == ["*", "sizeof", "("]:
        return _single_product(tokens[:-5])
    if words[:2] == ["sizeof", "("] and words[3:5] == [")", "*"]:
        return _single_product(tokens[5:])
    return ()


def _single_product(tokens: Sequence[Token]) -> Sequence[Token]:
    """An expression of names, numbers, products and parentheses; none for another."""
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if depth < 0 or (depth == 0 and token.text in BELOW_A_PRODUCT):
            return ()
    return tokens


def _whole(value: Value) -> int | None:
    """A number of elements or blocks, as C converts it; None where it is not known."""
    return None if value is None else int(value)
