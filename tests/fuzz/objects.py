"""Random structs with their methods, and lambdas."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.assignments import Assignments
from tests.fuzz.expressions import Expressions
from tests.fuzz.values import ORDER, SCALARS, Variable

ROWS = 4  # structs of an array


@dataclass(frozen=True, slots=True)
class Method:
    """A method of one parameter; result is "void" where it changes the object."""

    name: str
    result: str
    parameter: str


@dataclass(frozen=True, slots=True)
class Record:
    """A struct of the text; a member's shape is () or that of an array."""

    name: str
    members: tuple[tuple[str, str, tuple[int, ...]], ...]  # name, type, shape
    methods: tuple[Method, ...]
    adds: bool  # whether it has an operator+

    def variables(self, of: str, constant: bool = False) -> list[Variable]:
        """The members of an object as what expressions may read; of is the object with its dot."""
        storage = of.removesuffix(".") or "this"
        return [
            Variable(
                of + name, ctype, "array" if shape else "scalar", shape, constant, storage=storage
            )
            for name, ctype, shape in self.members
        ]


class Objects(Assignments):
    """Writes statements with structs and lambdas."""

    def value_of(self, record: Record, depth: int) -> str:
        """A list of values for a struct's members."""
        e = self.expressions
        parts = []
        for _, ctype, shape in record.members:
            cells = [e.exactly(ctype, depth) for _ in range(shape[0] if shape else 1)]
            parts.append(f"{{{', '.join(cells)}}}" if shape else cells[0])
        return f"{{{', '.join(parts)}}}"

    def objects(self) -> list[tuple[Record, str]]:
        """The structs in scope that may be written."""
        e = self.expressions
        storages = {v.storage for v in e.scope if "." in v.name and not v.constant}
        return [(record, name) for name, record in e.objects.items() if name in storages]

    def add_object(self, record: Record, name: str) -> None:
        self.expressions.objects[name] = record
        self.expressions.scope += record.variables(f"{name}.")

    def object(self) -> None:
        """A new struct: from a list, a copy, or an element of an array."""
        e = self.expressions
        if not e.records:
            self.scalar()
            return
        record, name = e.draw.choice(e.records), self.name()
        same = [other for found, other in self.objects() if found == record]
        match e.draw.randrange(4):
            case 0 if same:
                first = e.draw.choice(same)
                form = f"{first} + {e.draw.choice(same)}" if record.adds else first
                self.put(f"{record.name} {name} = {form};")
            case 1:
                array = self.name()
                e.begin()
                rows = [self.value_of(record, 1) for _ in range(ROWS)]
                self.put(f"{record.name} {array}[{ROWS}] = {{{', '.join(rows)}}};")
                e.begin()
                member, ctype, shape = e.draw.choice(record.members)
                place = f"{array}[{e.index(ROWS, 1)}].{member}" + "[1]" * bool(shape)
                self.put(f"{e.compound(place, ctype, 1)};")
                e.begin()
                self.put(f"{record.name} {name} = {array}[{e.index(ROWS, 1)}];")
            case 2:
                e.begin()
                self.put(f"{record.name} {name}{self.value_of(record, e.depth - 1)};")
            case _:
                e.begin()
                self.put(f"{record.name} {name} = {self.value_of(record, e.depth - 1)};")
        self.add_object(record, name)

    def copy_object(self) -> None:
        """A struct is assigned, as a whole or by a reference to it."""
        e = self.expressions
        able = self.objects()
        if not able:
            self.object()
            return
        record, name = e.draw.choice(able)
        others = [other for found, other in able if found == record and other != name]
        e.begin(name)
        e.reserved.add(name)
        match e.draw.randrange(6):
            case 0 if others:
                self.put(f"{name} = {e.draw.choice(others)};")
            case 3:
                self.put(f"memset(&{name}, 0, sizeof({name}));")
            case 4 | 5:
                given, by = self.name(), e.draw.choice(("auto", "auto&"))
                names = ", ".join(self.name() for _ in record.members)
                copied = f"memcpy(&{name}, &{given}, sizeof({record.name}));"
                if e.draw.random() < 0.75 and not any(shape for _, _, shape in record.members):
                    copied = f"{by} [{names}] = {given}; {name} = {{{names}}};"
                self.put(f"{{ {record.name} {given} = {self.value_of(record, 1)}; {copied} }}")
            case 1:
                reference = self.name()
                self.put(f"{record.name}& {reference} = {name};")
                self.put(f"{reference} = {record.name}{self.value_of(record, 1)};")
            case _:
                self.put(f"{name} = {record.name}{self.value_of(record, 1)};")

    def method(self) -> None:
        """A method is called: its argument does not touch the object."""
        e = self.expressions
        able = [(record, name) for record, name in self.objects() if record.methods]
        if not able:
            self.object()
            return
        record, name = e.draw.choice(able)
        method = e.draw.choice(record.methods)
        e.begin(name)
        e.reserved.add(name)
        call = f"{name}.{method.name}({e.of(method.parameter, e.depth)})"
        if method.result == "void":
            self.put(f"{call};")
            return
        result = self.name()
        self.put(f"{method.result} {result} = {call};")
        e.scope.append(Variable(result, method.result))

    def lambda_(self, nesting: int) -> None:
        """A lambda that is called at once, perhaps twice."""
        e = self.expressions
        name, parameter, ctype = self.name(), self.name(), e.draw.choice(SCALARS)
        outer, given = e.scope, Variable(parameter, ctype, constant=True)
        # g++ 12 takes no volatile variable in a lambda.
        e.scope = [v for v in outer if not v.volatile]
        if e.draw.random() < 0.3:
            with self.block(f"auto {name} = [&]({ctype} {parameter}) {{", "};"):
                e.scope.append(given)
                kept = self.result, self.volatiles
                self.result, self.volatiles = None, False
                with self.leaving(False, False):
                    self.several(1, 2, nesting + 1)
                self.result, self.volatiles = kept
            e.scope = outer
            e.begin()
            self.put(f"{name}({e.of(ctype, e.depth)});")
            return
        e.scope.append(given)
        capture = e.draw.choice(("[&]", "[=]"))
        if capture == "[&]":
            e.begin()
        else:
            e.scope = [v for v in e.scope if v.kind != "array"]  # one is not copied
            e.reserve()
        value = e.any(e.depth)
        body = f"return ({value.ctype})({value.text});"
        e.scope = outer
        self.put(f"auto {name} = {capture}({ctype} {parameter}) {{ {body} }};")
        result = self.name()
        e.begin()
        self.put(f"{value.ctype} {result} = {name}({e.of(ctype, e.depth)});")
        if e.draw.random() < 0.3 and value.ctype in ORDER:
            e.begin()
            self.put(f"{result} = {name}({e.of(ctype, 1)});")
        e.scope.append(Variable(result, value.ctype))


def struct(e: Expressions, writer: Objects, number: int) -> tuple[list[str], Record]:
    """A struct's lines; writer is one of no other use, which writes the bodies of its methods."""
    draw = e.draw
    members = []
    for letter in "abcd"[: draw.randint(1, 4)]:
        members.append((letter, draw.choice(SCALARS), draw.choice(((), (), (2,), (4,)))))
    methods: list[Method] = []
    record = Record(f"S{number}", tuple(members), (), draw.random() < 0.5)
    lines = [f"struct {record.name} {{"]
    for name, ctype, shape in members:
        lines.append(f"    {ctype} {name}{f'[{shape[0]}]' if shape else ''};")
    outer, e.scope = e.scope, []
    builtins, e.builtins = e.builtins, ()
    for index in range(draw.randint(0, 2)):
        result = draw.choice(("void", *SCALARS))
        method = Method(f"m{index}", result, draw.choice(SCALARS))
        parameter = f"p{index}"
        e.scope = record.variables("", constant=result != "void")
        e.scope.append(Variable(parameter, method.parameter, constant=True))
        writer.lines, writer.level = [], 2
        if result == "void":
            for _ in range(draw.randint(1, 2)):
                writer.assign()
        else:
            e.begin()
            writer.put(f"return {e.of(result, e.depth)};")
        const = "" if result == "void" else " const"
        head = f"__device__ {result} {method.name}({method.parameter} {parameter}){const} {{"
        lines += [f"    {head}", *writer.lines, "    }"]
        methods.append(method)
    if record.adds:
        e.scope = record.variables("", constant=True) + record.variables("o.", constant=True)
        e.begin()
        name, value = record.name, writer.value_of(record, 1)
        lines.append(
            f"    __device__ {name} operator+(const {name}& o) const {{ return {value}; }}"
        )
    e.scope, e.builtins = outer, builtins
    return [*lines, "};"], Record(record.name, record.members, tuple(methods), record.adds)
