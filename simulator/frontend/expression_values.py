"""Values of C's integer and float expressions in host code and in #if, as far as they are known.

Host code is never run. What cannot be known without running it has no value: None. Every value
costs a bounded number of steps, whatever the text is.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from simulator.frontend.lexer import tokens

Value = int | float | None  # None where it is not known

MAX_STEPS = 20_000  # operators and names of one evaluator's expressions
MAX_DEPTH = 40  # parentheses, macros and functions within each other
MAX_INTEGER = 2**63  # beyond it C's values would wrap: unknown
MAX_EXPANDED = 4_000  # tokens of an expression with its macros expanded

BINARY: Mapping[str, int] = {  # by operator: how tightly it binds
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
OPERATIONS: Mapping[str, Callable[[int | float, int | float], int | float]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip
BITS: Mapping[str, Callable[[int, int], int]] = {
    "|": operator.or_, "^": operator.xor, "&": operator.and_,
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., int | float]] = {
    "ceil": lambda x: float(math.ceil(x)), "ceilf": lambda x: float(math.ceil(x)),
    "floor": lambda x: float(math.floor(x)), "floorf": lambda x: float(math.floor(x)),
    "sqrt": math.sqrt, "sqrtf": math.sqrt, "log2": math.log2, "log2f": math.log2,
    "pow": lambda x, y: math.pow(x, y), "powf": lambda x, y: math.pow(x, y),
    "min": min, "max": max, "abs": abs, "fabs": abs,
}  # fmt: skip
SIZES: Mapping[str, int] = {
    "bool": 1, "char": 1, "int8_t": 1, "uint8_t": 1, "uchar": 1, "short": 2, "int16_t": 2,
    "uint16_t": 2, "half": 2, "__half": 2, "half2": 4, "int": 4, "unsigned": 4, "signed": 4,
    "uint": 4, "int32_t": 4, "uint32_t": 4, "float": 4, "long": 8, "double": 8, "size_t": 8,
    "int64_t": 8, "uint64_t": 8, "ptrdiff_t": 8,
    **{f"{name}{n}": size * n for name, size in (("float", 4), ("int", 4), ("uint", 4),
       ("double", 8), ("uchar", 1), ("char", 1), ("short", 2)) for n in (2, 4)},
    "float3": 12, "int3": 12, "uint3": 12, "double3": 24, "uchar3": 3,
}  # fmt: skip
INTEGER_TYPES = frozenset(SIZES) - {"float", "double", "half", "__half"} | {"const"}
FLOAT_TYPES = frozenset({"float", "double"})
NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d*\.?\d*(?:[eE][+-]?\d+)?)([uUlLzZfF]*)")
SIGNS = re.compile(r"::|<<|>>|<=|>=|==|!=|&&|\|\||->")


@dataclass(frozen=True, slots=True)
class Definition:
    """A macro, or a function whose body is one return: its parameters and its expression."""

    parameters: tuple[str, ...] | None  # None for a macro without parentheses
    body: tuple[str, ...]


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions.

    lookup gives the value of a variable, or of a member ("grid.x"); size_of that of sizeof of a
    variable or of a type that SIZES lacks. Both give None for what is not known.
    """

    lookup: Callable[[str], Value]
    macros: Mapping[str, Definition] = field(default_factory=dict)
    functions: Mapping[str, Definition] = field(default_factory=dict)
    size_of: Callable[[str], Value] = lambda name: None
    steps: int = 0  # done
    depth: int = 0

    def evaluate(self, expression: Sequence[str]) -> Value:
        """The value of an expression's tokens; None where it is not known, or is none."""
        expanded = self.expand(expression)
        if not expanded:
            return None
        try:
            parser = _Parser(self, expanded)
            value = parser.conditional()
            is_read = parser.position == len(expanded)
            return value if is_read and value is not None and math.isfinite(value) else None
        except (UnreadableError, ArithmeticError, ValueError, TypeError):
            return None

    def expand(self, expression: Sequence[str]) -> list[str]:
        """The tokens with their macros expanded; none if there would be too many."""
        result: list[str] = []
        pending = [(token, 0) for token in reversed(expression)]
        while pending:
            self.steps += 1
            token, depth = pending.pop()
            macro = self.macros.get(token)
            if len(result) + len(pending) > MAX_EXPANDED or self.steps > MAX_STEPS:
                return []
            if macro is None or depth > MAX_DEPTH:
                result.append(token)
                continue
            body: Sequence[tuple[str, int]] = [(part, depth + 1) for part in macro.body]
            if macro.parameters is not None:
                if not pending or pending[-1][0] != "(":
                    result.append(token)
                    continue
                given = dict(zip(macro.parameters, _arguments(pending), strict=False))
                body = [
                    inserted
                    for part in macro.body
                    for inserted in given.get(part, [(part, depth + 1)])
                ]
                if len(body) > MAX_EXPANDED:
                    return []
            pending += reversed(body)
        return result


def _arguments(pending: list[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """A macro call's arguments, taken with their parentheses from the end of pending tokens."""
    arguments: list[list[tuple[str, int]]] = [[]]
    depth = 0
    while pending:
        item = pending.pop()
        depth += (item[0] in "([{") - (item[0] in ")]}")
        if depth == 0:
            break
        if item[0] == "," and depth == 1:
            arguments.append([])
        elif depth > 1 or item[0] != "(":
            arguments[-1].append(item)
    return arguments


class UnreadableError(Exception):
    """Tokens that are no expression, or one of a kind that is not read."""


class _Parser:
    """Parses and evaluates one expression, by precedence."""

    def __init__(self, evaluator: Evaluator, expression: list[str]) -> None:
        self._evaluator = evaluator
        self._tokens = expression
        self.position = 0

    def _next(self) -> str:
        return self._tokens[self.position] if self.position < len(self._tokens) else ""

    def _take(self, text: str = "") -> str:
        token = self._next()
        if not token or (text and token != text):
            raise UnreadableError
        self.position += 1
        self._evaluator.steps += 1
        if self._evaluator.steps > MAX_STEPS:
            raise UnreadableError
        return token

    def conditional(self) -> Value:
        """A whole expression, without commas."""
        self._evaluator.depth += 1
        try:
            if self._evaluator.depth > MAX_DEPTH:
                raise UnreadableError
            condition = self._binary(1)
            if self._next() != "?":
                return condition
            self._take("?")
            yes = self.conditional()
            self._take(":")
            no = self.conditional()
            if condition is None:
                return yes if yes == no else None
            return yes if condition else no
        finally:
            self._evaluator.depth -= 1

    def _binary(self, least: int) -> Value:
        left = self._unary()
        while BINARY.get(self._next(), 0) >= least:
            sign = self._take()
            right = self._binary(BINARY[sign] + 1)
            left = apply_operator(sign, left, right)
        return left

    def _unary(self) -> Value:
        signs = []
        while self._next() in ("-", "+", "!", "~"):
            signs.append(self._take())
        value = self._primary()
        for sign in reversed(signs):
            if value is None:
                return None
            if sign == "!":
                value = int(not value)
            elif sign == "~":
                value = ~value if isinstance(value, int) else None
            elif sign == "-":
                value = -value
        return value

    def _primary(self) -> Value:
        word = self._take()
        if word == "(":
            return self._parenthesis()
        if word[0].isdigit() or word[0] == ".":
            return number(word)
        if word[0] == '"':
            return None
        if word == "sizeof":
            return self._sizeof()
        if not (word[0].isalpha() or word[0] == "_"):
            raise UnreadableError
        while self._next() == "::":  # of std::min the name is min
            self._take()
            word = self._take()
        if word in ("true", "false"):
            return int(word == "true")
        if self._next() == "(":
            return self._call(word)
        while self._next() in (".", "->"):
            self._take()
            word = f"{word}.{self._take()}"
        if self._next() != "[":
            return self._evaluator.lookup(word)
        while self._next() == "[":  # an element, whose value is not known
            self._take("[")
            self.conditional()
            self._take("]")
        return None

    def _parenthesis(self) -> Value:
        """What is after "(": a cast or an expression in parentheses."""
        words = []
        start = self.position
        while self._next() in INTEGER_TYPES | FLOAT_TYPES:
            words.append(self._take())
        if words and self._next() == ")":
            self._take(")")
            return cast(words, self._unary_operand())
        self.position = start
        value = self.conditional()
        self._take(")")
        return value

    def _unary_operand(self) -> Value:
        self._evaluator.depth += 1
        try:
            if self._evaluator.depth > MAX_DEPTH:
                raise UnreadableError
            return self._unary()
        finally:
            self._evaluator.depth -= 1

    def _sizeof(self) -> Value:
        self._take("(")
        words = []
        while self._next() not in (")", ""):
            words.append(self._take())
        self._take(")")
        if words and words[-1] == "*" and len(words) > 1:
            return 8
        known = [word for word in words if word in SIZES]
        if known:
            if known.count("long"):
                return 8
            return next((SIZES[word] for word in known if word not in ("unsigned", "signed")), 4)
        return self._evaluator.size_of("".join(words))

    def _call(self, name: str) -> Value:
        """A call of one of FUNCTIONS, of a function whose body is known, or a cast like int(x)."""
        self._take("(")
        arguments: list[Value] = []
        while self._next() != ")":
            arguments.append(self.conditional())
            if self._next() == ",":
                self._take(",")
        self._take(")")
        if name in INTEGER_TYPES | FLOAT_TYPES and len(arguments) == 1:
            return cast([name], arguments[0])
        if any(argument is None for argument in arguments):
            return None
        definition = self._evaluator.functions.get(name)
        if definition is not None and definition.parameters is not None:
            return self._returned(definition, arguments)
        if name in FUNCTIONS:
            return bounded(FUNCTIONS[name](*arguments))
        return None

    def _returned(self, definition: Definition, arguments: Sequence[Value]) -> Value:
        """What a function returns, its parameters having these values."""
        evaluator = self._evaluator
        if len(definition.parameters or ()) != len(arguments) or evaluator.depth >= MAX_DEPTH:
            return None
        given = dict(zip(definition.parameters or (), arguments, strict=True))
        inner = Evaluator(
            lambda name: given[name] if name in given else evaluator.lookup(name),
            evaluator.macros, evaluator.functions, evaluator.size_of,
            evaluator.steps, evaluator.depth + 1,
        )  # fmt: skip
        value = inner.evaluate(definition.body)
        evaluator.steps = inner.steps
        return value


def number(token: str) -> Value:
    """The value of a number as C writes it; None if it is none.

    >>> number("0x10u"), number("1.5f"), number("1'000")
    (16, 1.5, 1000)
    """
    found = NUMBER.fullmatch(token.replace("'", ""))
    if not found or not found[1] or len(token) > 40:
        return None
    digits = found[1]
    if digits[:2].lower() == "0x":
        return bounded(int(digits, 16))
    if token[:2].lower() == "0x" or not any(sign in digits for sign in ".eE"):
        if "f" in found[2].lower():
            return float(digits)
        octal = digits[0] == "0" and len(digits) > 1
        return bounded(int(digits, 8 if octal else 10))
    return float(digits)


def bounded(value: int | float) -> Value:
    """The value, unless C's types could not hold it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if abs(value) < MAX_INTEGER else None
    return value if math.isfinite(value) else None


def cast(words: Sequence[str], value: Value) -> Value:
    """A value as another type, whose name's words are given; integers keep their size."""
    if value is None:
        return None
    return float(value) if any(word in FLOAT_TYPES for word in words) else int(value)


def apply_operator(sign: str, left: Value, right: Value) -> Value:
    """left sign right, as C computes it; an unknown side may not matter to && and ||."""
    if sign in ("&&", "||"):
        decides = sign == "||"
        if any(side is not None and bool(side) is decides for side in (left, right)):
            return int(decides)
        return None if left is None or right is None else int(not decides)
    if left is None or right is None:
        return None
    if sign in OPERATIONS:
        return bounded(OPERATIONS[sign](left, right))
    whole = isinstance(left, int) and isinstance(right, int)
    if sign == "/":
        if not right:
            return None
        if whole:
            quotient = abs(left) // abs(right)
            return int(quotient) if (left < 0) == (right < 0) else -int(quotient)
        return bounded(left / right)
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    if sign == "%":
        rest = abs(left) % abs(right) if right else None
        return -rest if rest and left < 0 else rest
    if sign in BITS:
        return bounded(BITS[sign](left, right))
    if not 0 <= right < 64:
        return None
    return bounded(left << right if sign == "<<" else left >> right)


def expression_tokens(text: str) -> list[str]:
    """An expression's tokens, with operators of two characters in one piece.

    >>> expression_tokens("static_cast<int>(n) >> 2")
    ['(', 'int', ')', '(', 'n', ')', '>>', '2']
    """
    joined: list[str] = []
    for token in tokens(text):
        if joined and SIGNS.fullmatch(joined[-1] + token):
            joined[-1] += token
        else:
            joined.append(token)
    return plain_casts(joined)


def plain_casts(expression: Sequence[str]) -> list[str]:
    """The tokens with static_cast<T> as (T)."""
    result: list[str] = []
    in_cast = False
    for word in expression:
        if word == "static_cast":
            in_cast = True
        elif in_cast and word in ("<", ">"):
            result.append("(" if word == "<" else ")")
            in_cast = word == "<"
        else:
            result.append(word)
    return result
