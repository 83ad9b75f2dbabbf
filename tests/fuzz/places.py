"""Random places to read and write: variables, cells that indices and pointers lead to, members."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.fuzz.values import (
    COMPONENTS,
    INPUT_OF,
    ORDER,
    POINTED,
    Callee,
    Constant,
    Value,
    Variable,
)

if TYPE_CHECKING:
    from tests.fuzz.objects import Record

CELLS = ("array", "pointer", "shared")


class Places:
    """What expressions may read and write; subclasses add the expressions.

    scope holds what may be read, free what may still be written within the full expression,
    reserved the storages that it must not read. aliases maps a name of the text to the type it
    stands for; depth bounds how deep a full expression nests.
    """

    def __init__(self, draw: random.Random, depth: int, builtins: tuple[str, ...]) -> None:
        self.draw = draw
        self.depth = depth
        self.builtins = builtins
        self.scope: list[Variable] = []
        self.callees: list[Callee] = []
        self.constants: list[Constant] = []
        self.aliases: dict[str, str] = {}
        self.records: list[Record] = []
        self.objects: dict[str, Record] = {}  # by the name of a struct that was declared
        self.free: list[Variable] = []
        self.reserved: set[str] = set()

    # Full expressions ------------------------------------------------------------------------

    def begin(self, *kept: str) -> None:
        """A new full expression: draws the variables that it writes once and reads nowhere else.

        What is in `kept` is written by the statement itself. C leaves the order of most
        operands open, so that nothing else is written within an expression.
        """
        self.free, self.reserved = [], set()
        if self.draw.random() < 0.3:
            able = [v for v in self.scope if self.writable(v) and v.storage not in kept]
            for variable in self.draw.sample(able, min(len(able), self.draw.choice((1, 1, 2)))):
                if variable.storage not in self.reserved:
                    self.free.append(variable)
                    self.reserved.add(variable.storage)

    def reserve(self, *storages: str) -> None:
        """A new full expression without writes of its own, that reads none of these."""
        self.free, self.reserved = [], set(storages)

    def writable(self, variable: Variable) -> bool:
        return variable.kind in ("scalar", "vector", "array") and not variable.constant

    def readable(self, *kinds: str) -> list[Variable]:
        return [v for v in self.scope if v.kind in kinds and v.storage not in self.reserved]

    def spelled(self, ctype: str) -> str:
        """A type as the text writes it: by its name, or by another that stands for it."""
        others = [name for name, meant in self.aliases.items() if meant == ctype]
        return self.draw.choice(others) if others and self.draw.random() < 0.5 else ctype

    # Indices ---------------------------------------------------------------------------------

    def index(self, size: int, depth: int) -> str:
        """A whole number in 0 .. size - 1."""
        draw = self.draw
        counters = [v for v in self.readable("scalar") if 0 < v.bound <= size]
        if size & (size - 1):
            if counters and draw.random() < 0.3:
                return draw.choice(counters).name
            return f"(unsigned)({self.whole(depth).text}) % {size}u"
        half = max(size // 2 - 1, 0)
        match draw.randrange(10):
            case 0 | 1 | 2 if counters:
                counter = draw.choice(counters)
                extra = draw.randrange(size - counter.bound + 1)
                return counter.name if not extra else f"{counter.name} + {extra}"
            case 3:
                first, second = self.whole(depth - 1).text, self.whole(depth - 1).text
                return f"(({first}) & {half}) + (({second}) & {half})"
            case 4:
                return f"{size - 1} - (({self.whole(depth).text}) & {size - 1})"
            case 5:
                return f"(unsigned)({self.whole(depth).text}) % {size}u"
            case 6 if size > 1:
                mask = min(half, 127)
                first, second = self.whole(depth - 1).text, self.whole(depth - 1).text
                kind = draw.choice(("char", "short", "unsigned char"))
                return f"({kind})(({first}) & {mask}) + ({kind})(({second}) & {mask})"
            case 7:
                first, second = self.whole(depth - 1).text, self.whole(depth - 1).text
                return f"(long)(({first}) & {half}) + (({second}) & {half})"
            case 8:
                shift = draw.choice((3, 1000, 2000000000))
                return f"(({self.whole(depth).text}) & {size - 1}) + {shift} - {shift}"
            case _:
                return f"({self.whole(depth).text}) & {size - 1}"

    # Places ----------------------------------------------------------------------------------

    def cell(self, variable: Variable, depth: int) -> str:
        """A cell of an array, or what a pointer points to."""
        places = [self.index(size, depth - 1) for size in variable.shape]
        if variable.kind == "pointer" or (len(places) == 1 and self.draw.random() < 0.1):
            match self.draw.randrange(6):
                case 0:
                    return f"*({variable.name} + ({places[0]}))"
                case 1:
                    return f"*&{variable.name}[{places[0]}]"
                case 2 if variable.shape[0] >= 4 and variable.kind == "pointer":
                    chosen = f"{self.condition(depth - 1)} ? {variable.name} : {variable.name} + 1"
                    volatile = any(v.volatile for v in self.readable("scalar"))
                    if self.draw.random() < 0.5 and not volatile:
                        # g++ 12 loses what a call within this index binds to a const reference,
                        # g++ 13 the pointer where the index reads a volatile variable.
                        return f"({chosen})[{self.index(variable.shape[0] // 2, 0)}]"
                    other = self.index(variable.shape[0] // 2, depth - 1)
                    return f"*(({chosen}) + ({other}))"
                case 3:
                    last = variable.shape[0] - 1
                    return f"({variable.name} + {last})[-(int)({self.index(last + 1, depth - 1)})]"
        return variable.name + "".join(f"[{place}]" for place in places)

    def place(self, wanted: Callable[[str], bool], depth: int) -> Value | None:
        """Something to read whose type is wanted; cells only while depth lasts."""
        kinds = ("scalar", "vector") if depth < -1 else ("scalar", "vector", *CELLS)
        able = [v for v in self.readable(*kinds) if wanted(COMPONENTS.get(v.ctype, v.ctype))]
        if not able:
            return None
        variable = self.draw.choice(able)
        if variable.kind == "pointer" and depth < 0 and variable.shape == (1,):
            text = f"(*{variable.name})"
        else:
            text = self.whole_place(variable, depth)
        if variable.ctype in COMPONENTS:
            return Value(f"{text}.{self.member(variable.ctype)}", COMPONENTS[variable.ctype])
        return Value(text, variable.ctype)

    def whole_place(self, variable: Variable, depth: int) -> str:
        """A variable, or one of its cells, as an operand."""
        if variable.kind not in CELLS:
            return variable.name
        return f"({self.cell(variable, depth)})"

    def member(self, ctype: str) -> str:
        return self.draw.choice("xyzw"[: int(ctype[-1])])

    def vector(self, ctype: str, depth: int) -> str:
        """A short vector's value."""
        able = [v for v in self.readable("vector", *CELLS) if v.ctype == ctype]
        if able and self.draw.random() < 0.6:
            variable = self.draw.choice(able)
            text = variable.name if variable.kind == "vector" else self.cell(variable, depth)
            if depth > 0 and self.draw.random() < 0.2:
                return f"({self.condition(depth - 1)} ? {text} : {self.vector(ctype, depth - 1)})"
            return text
        returning = self.callable((ctype,))
        if depth > 0 and returning and self.draw.random() < 0.4:
            return self.call(self.draw.choice(returning), depth, []).text
        source = INPUT_OF.get(COMPONENTS[ctype])
        known = any(v.name == source for v in self.scope)
        if known and not ctype.endswith("3") and self.draw.random() < 0.3:
            return self.reinterpreted(ctype, depth)
        parts = [self.of(COMPONENTS[ctype], depth - 1) for _ in range(int(ctype[-1]))]
        return f"make_{ctype}({', '.join(parts)})"

    def reinterpreted(self, ctype: str, depth: int) -> str:
        """Neighbouring cells of an input or a shared array, read as one short vector."""
        element, count = COMPONENTS[ctype], int(ctype[-1])
        able = [(INPUT_OF[element], 256)] + [
            (v.name, v.shape[0]) for v in self.readable("shared")
            if v.ctype == element and len(v.shape) == 1 and v.shape[0] % count == 0
        ]  # fmt: skip
        source, cells = self.draw.choice(able)
        place = self.index(cells // count, depth - 1)
        match self.draw.randrange(3):
            case 0:
                return f"reinterpret_cast<const {ctype}*>({source})[{place}]"
            case 1:
                return f"*((const {ctype}*){source} + ({place}))"
            case _:
                return f"*(const {ctype}*)&{source}[{count} * ({place})]"

    # Calls -----------------------------------------------------------------------------------

    def call(self, callee: Callee, depth: int, targets: list[str]) -> Value:
        """A call; targets are the places for its reference parameters."""
        left = list(targets)
        arguments = [
            left.pop(0) if reference else self.argument(ctype, depth - 1)
            for ctype, reference in zip(callee.parameters, callee.references, strict=True)
        ]
        if callee.optional and self.draw.random() < 0.5:
            arguments.pop()
        return Value(f"{callee.name}({', '.join(arguments)})", callee.result)

    def argument(self, ctype: str, depth: int) -> str:
        """What a parameter takes by value, or by a reference that it does not write to."""
        if not ctype.endswith("*"):
            value = self.of(ctype, depth)
            named = set(re.findall(r"\w+", value))
            # A const reference takes no volatile variable, but its value.
            is_volatile = any(v.volatile and v.name in named for v in self.scope)
            return f"({ctype})({value})" if is_volatile else value
        element = ctype.removeprefix("const ").removesuffix("*")
        able = [
            v for v in self.readable("array", "pointer")
            if v.ctype == element and len(v.shape) == 1 and v.shape[0] >= POINTED
            and not v.volatile
        ]  # fmt: skip
        variable = self.draw.choice(able) if able else None
        if variable is None:
            return INPUT_OF[element]  # within a function: never drawn without one in scope
        room = variable.shape[0] - POINTED
        if not room:
            return variable.name
        place = self.index(1 << (room.bit_length() - 1), depth)
        form = self.draw.choice(("{} + ({})", "&{}[{}]"))
        return form.format(variable.name, place)

    def callable(self, types: tuple[str, ...]) -> list[Callee]:
        """Functions of these results that an expression may call."""
        named = {v.name for v in self.scope}
        return [
            c for c in self.callees
            if c.result in types and not any(c.references)
            and all("*" not in p or INPUT_OF[p.split()[1][:-1]] in named for p in c.parameters)
        ]  # fmt: skip

    def called(self, types: tuple[str, ...], depth: int) -> Value | None:
        able = self.callable(types)
        return self.call(self.draw.choice(able), depth, []) if able else None

    # Side effects ----------------------------------------------------------------------------

    def effect(self, types: tuple[str, ...], depth: int) -> Value | None:
        """An expression that writes one of the free variables, or a cell or member of one."""
        able = [v for v in self.free if COMPONENTS.get(v.ctype, v.ctype) in types]
        if not able:
            return None
        variable = self.draw.choice(able)
        self.free.remove(variable)
        name, ctype = self.whole_place(variable, depth - 1), variable.ctype
        if ctype in COMPONENTS:
            name, ctype = f"{name}.{self.member(ctype)}", COMPONENTS[ctype]
        assert ctype in ORDER
        match self.draw.randrange(5):
            case 0 if ctype != "bool":
                return Value(f"{self.draw.choice(('++', '--'))}{name}", ctype)
            case 1 | 2 if ctype != "bool":
                return Value(f"{name}{self.draw.choice(('++', '--'))}", ctype)
            case 3:
                return Value(f"({self.compound(name, ctype, depth - 1)})", ctype)
            case _:
                return Value(f"({name} = {self.of(ctype, depth - 1)})", ctype)
