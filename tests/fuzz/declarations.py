"""Random declarations: every variable has a value on every path before it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.fuzz.expressions import Expressions
from tests.fuzz.values import COMPONENTS, INPUT_OF, RANK, SCALARS, VECTORS, Variable


class Declarations:
    """Writes declarations line by line; expressions knows what is in scope."""

    def __init__(self, expressions: Expressions, prefix: str = "v") -> None:
        self.expressions = expressions
        self.prefix = prefix
        self.lines: list[str] = []
        self.level = 1
        self.named = 0
        self.volatiles = True  # whether a variable may be volatile

    def put(self, line: str) -> None:
        self.lines.append("    " * self.level + line)

    def name(self) -> str:
        self.named += 1
        return f"{self.prefix}{self.named}"

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Lines within braces; what is declared there ends there."""
        known = len(self.expressions.scope)
        self.put(head)
        self.level += 1
        yield
        self.level -= 1
        self.put(tail)
        del self.expressions.scope[known:]

    def declare(self) -> None:
        match self.expressions.draw.randrange(13):
            case 0 | 1:
                self.array()
            case 2 | 12:
                self.vector()
            case 3:
                self.pointer()
            case 4:
                self.reference()
            case 5:
                self.unset()
            case _:
                self.scalar()

    def scalar(self) -> Variable:
        e = self.expressions
        ctype, name = e.draw.choice(SCALARS), self.name()
        constant = e.draw.random() < 0.15
        e.begin()
        value = e.of(ctype, e.depth)
        bound = 0
        if ctype != "bool" and RANK[ctype] < RANK["float"] and e.draw.random() < 0.15:
            constant, bound = True, 8
            value = e.index(8, e.depth)
        volatile = not constant and e.draw.random() < 0.03 and self.volatiles
        qualifier = "const " if constant else "volatile " if volatile else ""
        match e.draw.randrange(8):
            case 0:
                self.put(f"{qualifier}{e.spelled(ctype)} {name}(({value}));")
            case 1 if not volatile:
                self.put(f"{qualifier}auto {name} = ({ctype})({value});")
            case _:
                self.put(f"{qualifier}{e.spelled(ctype)} {name} = {value};")
        variable = Variable(name, ctype, constant=constant, bound=bound, volatile=volatile)
        e.scope.append(variable)
        return variable

    def unset(self) -> None:
        """Declared first, given its value on every path after."""
        e = self.expressions
        ctype, name = e.draw.choice(SCALARS), self.name()
        other = self.name()
        both = e.draw.random() < 0.3
        self.put(f"{ctype} {name}, {other} = 1;" if both else f"{ctype} {name};")
        e.begin()
        self.put(f"if ({e.condition(e.depth)})")
        e.begin()
        self.put(f"    {name} = {e.of(ctype, e.depth)};")
        self.put("else")
        e.begin()
        self.put(f"    {name} = {e.of(ctype, e.depth)};")
        e.scope.append(Variable(name, ctype))
        if both:
            e.scope.append(Variable(other, ctype))

    def vector(self) -> None:
        e = self.expressions
        ctype, name = e.draw.choice(VECTORS), self.name()
        e.begin()
        value = e.vector(ctype, e.depth)
        if e.draw.random() < 0.2:
            element = COMPONENTS[ctype]
            parts = [e.exactly(element, 1) for _ in range(e.draw.randint(1, int(ctype[-1])))]
            value = f"{{{', '.join(parts)}}}"
        self.put(f"{ctype} {name} = {value};")
        e.scope.append(Variable(name, ctype, "vector"))

    def array(self) -> None:
        e = self.expressions
        name = self.name()
        ctype = e.draw.choice(SCALARS if e.draw.random() < 0.85 else VECTORS)
        shape = e.draw.choice(((4,), (8,), (2, 4), (4, 2), (2,), (4,), (2, 2, 2)))
        brackets = "".join(f"[{self.length(size)}]" for size in shape)
        variable = Variable(name, ctype, "array", shape)
        if e.draw.random() < 0.5 and ctype not in COMPONENTS and len(shape) < 3:
            e.begin()
            row = [e.exactly(ctype, 1) for _ in range(e.draw.randint(0, shape[-1]))]
            inside = ", ".join(row)
            self.put(f"{ctype} {name}{brackets} = {{{f'{{{inside}}}' if shape[1:] else inside}}};")
        else:
            self.put(f"{e.spelled(ctype)} {name}{brackets};")
            self.fill(variable)
        e.scope.append(variable)

    def length(self, size: int) -> str:
        """An array's length: a number, or a constant of that value."""
        e = self.expressions
        able = [c.name for c in e.constants if c.value == size]
        return e.draw.choice(able) if able else str(size)

    def fill(self, variable: Variable) -> None:
        """Loops that give every cell its value."""
        e = self.expressions
        counters = [self.name() for _ in variable.shape]
        for depth, (counter, size) in enumerate(zip(counters, variable.shape, strict=True)):
            start = f"int {counter} = 0; {counter} < {size}; ++{counter}"
            if e.draw.random() < 0.3:
                self.put("#pragma unroll")
            self.put("    " * depth + f"for ({start})")
        outer = list(e.scope)
        e.scope += [
            Variable(c, "int", constant=True, bound=s)
            for c, s in zip(counters, variable.shape, strict=True)
        ]
        e.begin()
        place = "".join(f"[{counter}]" for counter in counters)
        value = e.of(variable.ctype, e.depth - 1)
        self.put("    " * len(variable.shape) + f"{variable.name}{place} = {value};")
        e.scope[:] = outer

    def pointer(self) -> None:
        """To an array's cells or row, or to a variable, which then lives in memory."""
        e = self.expressions
        name = self.name()
        arrays = [v for v in e.scope if v.kind == "array" and len(v.shape) < 3]
        scalars = [
            v for v in e.scope
            if v.kind == "scalar" and not (v.constant or v.volatile) and v.storage == v.name
            and v.name.startswith(self.prefix)
        ]  # fmt: skip
        inputs = [v for v in e.scope if v.name in INPUT_OF.values()]
        roll = e.draw.random()
        if roll < 0.5 and arrays:
            array = e.draw.choice(arrays)
            e.begin()
            if len(array.shape) == 2:
                size, start = array.shape[1], f"{array.name}[{e.index(array.shape[0], 1)}]"
            else:
                size = max(1, array.shape[0] // 2)
                start = f"&{array.name}[{e.index(size, 1)}]" if size > 1 else array.name
            self.put(f"{array.ctype}* {name} = {start};")
            e.scope.append(Variable(name, array.ctype, "pointer", (size,), storage=array.storage))
        elif roll < 0.7 and scalars:
            target = e.draw.choice(scalars)
            self.put(f"{target.ctype}* {name} = &{target.name};")
            e.scope.append(Variable(name, target.ctype, "pointer", (1,), storage=target.storage))
        elif inputs:
            source = e.draw.choice(inputs)
            e.begin()
            self.put(f"const {source.ctype}* {name} = {source.name} + ({e.index(128, 1)});")
            e.scope.append(
                Variable(name, source.ctype, "pointer", (128,), True, storage=source.name)
            )

    def reference(self) -> None:
        e = self.expressions
        able = [
            v for v in e.scope
            if v.kind in ("array", "pointer", "scalar", "vector")
            and not (v.constant or v.volatile)
        ]  # fmt: skip
        if not able:
            return
        target = e.draw.choice(able)
        name, ctype = self.name(), target.ctype
        e.begin(target.storage)
        place = target.name if target.kind in ("scalar", "vector") else e.cell(target, 1)
        kind = "vector" if ctype in COMPONENTS else "scalar"
        self.put(f"{ctype}& {name} = {place};")
        e.scope.append(Variable(name, ctype, kind, storage=target.storage))
