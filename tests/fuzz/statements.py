"""Random statements of the subset: every loop ends and nothing races."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.fuzz.assembly import Assembly
from tests.fuzz.expressions import Expressions
from tests.fuzz.values import COMPONENTS, ORDER, SCALARS, VECTORS, Callee, Variable

NESTING = 2  # of statements


class Statements(Assembly):
    """Writes any statement.

    result is the type that a return statement gives, None where none may be. loops counts the
    loops around, so that their iterations stay few; breakable and continuable tell what may be.
    """

    def __init__(
        self, expressions: Expressions, prefix: str = "v", result: str | None = None
    ) -> None:
        super().__init__(expressions, prefix)
        self.loops = 0
        self.breakable = False
        self.continuable = False
        self.result = result

    @contextmanager
    def leaving(self, breakable: bool, continuable: bool) -> Iterator[None]:
        """Statements where break and continue may or may not be."""
        kept = self.breakable, self.continuable
        self.breakable, self.continuable = breakable, continuable
        yield
        self.breakable, self.continuable = kept

    def several(self, least: int, most: int, nesting: int = 0) -> None:
        for _ in range(self.expressions.draw.randint(least, most)):
            self.any(nesting)

    def any(self, nesting: int) -> None:
        """One statement, its blocks at most NESTING deep."""
        e = self.expressions
        deeper = nesting < NESTING
        match e.draw.randrange(46):
            case 0 | 1 | 2 | 3 | 4 | 5:
                self.declare()
            case 6 | 7 | 8 | 9 | 10 | 11 | 12:
                self.assign()
            case 13:
                self.increment()
            case 14 | 15:
                self.call()
            case 16:
                e.begin()
                self.put(f"({e.any(e.depth).text});")
            case 17:
                self.mixed()
            case 18 | 19 | 20 | 21 if deeper:
                self.branch(nesting)
            case 22 | 23 if deeper and self.loops < 2:
                self.count(nesting)
            case 24 if deeper and self.loops < 2:
                self.repeat(nesting)
            case 25 | 26 if deeper:
                self.switch(nesting)
            case 27 if self.breakable or self.continuable or self.result is not None:
                self.leave()
            case 28 | 39:
                self.walk()
            case 29:
                self.reinterpreted()
            case 30:
                self.put(
                    e.draw.choice(
                        (";", "{ }", "__syncwarp(__activemask());", "__threadfence_block();")
                    )
                )
            case 31 | 32:
                self.object()
            case 33:
                self.copy_object()
                self.copy_object()
            case 34 | 45:
                self.method()
            case 35 | 36 if deeper:
                self.lambda_(nesting)
            case 37 | 38:
                self.half()
            case 40:
                self.generator()
            case 41 | 42:
                self.byte()
            case 43 | 44:
                self.assembly()
            case _:
                self.assign()

    # Branches and loops ----------------------------------------------------------------------

    def branch(self, nesting: int) -> None:
        e = self.expressions
        e.begin()
        condition = e.condition(e.depth)
        if e.draw.random() < 0.5:
            with self.block(f"if ({condition}) {{"):
                self.several(1, 2, nesting + 1)
            return
        with self.block(f"if ({condition}) {{", "} else {"):
            self.several(1, 2, nesting + 1)
        e.begin()
        with self.block(f"if ({e.condition(2)}) {{" if e.draw.random() < 0.3 else "{"):
            self.several(1, 2, nesting + 1)
        self.put("}")

    def body(self, nesting: int, counter: Variable | None) -> None:
        if counter is not None:
            self.expressions.scope.append(counter)
        self.loops += 1
        with self.leaving(True, True):
            self.several(1, 2, nesting + 1)
        self.loops -= 1

    def count(self, nesting: int) -> None:
        """A for loop over a counter that its body does not touch."""
        e = self.expressions
        name, bound = self.name(), e.draw.randint(1, 4)
        ctype = e.draw.choice(("int", "int", "unsigned", "long", "char", "size_t", "short"))
        unroll = e.draw.choice(("", " 2", " 1")) if e.draw.random() < 0.2 else None
        first = ""
        match e.draw.randrange(6):
            case 0:
                head = f"for ({ctype} {name} = {bound}; {name}-- > 0;) {{"
            case 1:
                e.begin()
                test = f"{name} < {bound} && {e.condition(2)}"
                head = f"for ({ctype} {name} = 0; {test}; {name} += 1) {{"
            case 2:
                e.begin()
                start = e.index(4, 2)
                bound = max(bound, 4)
                head = f"for ({ctype} {name} = {start}; {name} < {bound}; {name}++) {{"
            case 3 if any(v.kind == "scalar" and not v.constant for v in e.scope):
                e.reserve()
                target = e.draw.choice(
                    [v for v in e.scope if v.kind == "scalar" and not v.constant]
                )
                e.reserve(target.storage)
                step = e.compound(target.name, target.ctype, 1)
                head = f"for ({ctype} {name} = 0; {name} < {bound}; ++{name}, {step}) {{"
            case 4:
                self.put(f"{ctype} {name} = 0;")
                head, first = "for (;;) {", f"if ({name}++ >= {bound}) break;"
                bound += 1
            case _:
                head = f"for ({ctype} {name} = 0; {name} < {bound}; ++{name}) {{"
        if unroll is not None:
            self.put(f"#pragma unroll{unroll}")
        with self.block(head):
            if first:
                self.put(first)
            self.body(nesting, Variable(name, ctype, constant=True, bound=bound))

    def repeat(self, nesting: int) -> None:
        """while and do, each with a counter that ends it."""
        e = self.expressions
        name, bound = self.name(), e.draw.randint(1, 4)
        self.put(f"int {name} = 0;")
        e.begin()
        condition = e.condition(2)
        if e.draw.random() < 0.5:
            with self.block(f"while ({name} < {bound} && {condition}) {{"):
                self.put(f"++{name};")
                self.body(nesting, Variable(name, "int", constant=True, bound=bound + 1))
        else:
            with self.block("do {", f"}} while (++{name} < {bound} && {condition});"):
                self.body(nesting, Variable(name, "int", constant=True, bound=bound + 1))

    def switch(self, nesting: int) -> None:
        e = self.expressions
        e.begin()
        selector = e.whole(e.depth).text
        if e.draw.random() < 0.8:
            selector = f"({selector}) & {e.draw.choice((3, 7))}"
        cases = e.draw.sample(range(8), e.draw.randint(1, 4))
        labels = [f"case {value}:" for value in cases]
        if e.draw.random() < 0.7:
            labels.insert(e.draw.randrange(len(labels) + 1), "default:")
        with self.block(f"switch ({selector}) {{"), self.leaving(True, self.continuable):
            for label in labels:
                self.put(label)
                if e.draw.random() < 0.15 and label != labels[-1]:
                    continue
                with self.block("{"):
                    self.several(1, 2, nesting + 1)
                if e.draw.random() < 0.6:
                    self.put("break;")

    def leave(self) -> None:
        e = self.expressions
        able = [
            word for word, may in (("break", self.breakable), ("continue", self.continuable)) if may
        ]
        e.begin()
        condition = e.condition(e.depth)
        if self.result is not None:
            able.append("return")
        word = e.draw.choice(able)
        if word == "return" and self.result not in (None, "void"):
            e.begin()
            word = f"return {e.of(self.result, e.depth)}"
        self.put(f"if ({condition}) {word};")


def device_function(e: Expressions, name: str) -> tuple[list[str], Callee]:
    """A __device__ function's lines, and how it is called."""
    draw = e.draw
    result = draw.choice((*SCALARS, "void", "void", "float4", "int2", "double2"))
    parameters, references, declared = [], [], []
    outer, e.scope = e.scope, []
    builtins, e.builtins = e.builtins, ()
    for number in range(draw.randint(1, 3)):
        parameter = f"{name}p{number}"
        if draw.random() < 0.15:
            element = draw.choice(("int", "float", "double"))
            ctype = f"const {element}*"
            declared.append(f"{ctype} {parameter}")
            e.scope.append(Variable(parameter, element, "pointer", (4,), True))
            parameters.append(ctype)
            references.append(False)
            continue
        reference = draw.random() < 0.3
        ctype = draw.choice(SCALARS if draw.random() < 0.8 else VECTORS)
        form = f"{ctype}& " if reference else draw.choice((f"{ctype} ", f"const {ctype}& "))
        declared.append(form + parameter)
        kind = "vector" if ctype in COMPONENTS else "scalar"
        e.scope.append(Variable(parameter, ctype, kind, constant="const" in form))
        parameters.append(ctype)
        references.append(reference)
    optional = not references[-1] and parameters[-1] in ORDER and draw.random() < 0.3
    if optional:
        declared[-1] += f" = {draw.choice((0, 1, 7))}"
    inline = draw.choice(("", "__forceinline__ ", "static ", "inline "))
    writer = Statements(e, prefix=f"{name}v", result=result)
    writer.lines.append(f"__device__ {inline}{result} {name}({', '.join(declared)}) {{")
    writer.several(1, 3, 1)
    if result != "void":
        e.begin()
        writer.put(f"return {e.of(result, e.depth)};")
    writer.lines.append("}")
    e.scope, e.builtins = outer, builtins
    return writer.lines, Callee(name, result, tuple(parameters), tuple(references), optional)
