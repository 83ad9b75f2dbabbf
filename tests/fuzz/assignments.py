"""Random statements that give a variable, a cell or a member a new value."""

from __future__ import annotations

from tests.fuzz.declarations import Declarations
from tests.fuzz.values import COMPONENTS, FLOATS, ORDER, SIGNED, Variable


class Assignments(Declarations):
    """Writes assignments, increments, calls and walks along arrays."""

    def targets(self) -> list[Variable]:
        return [
            v for v in self.expressions.scope
            if v.kind in ("scalar", "array", "pointer", "vector") and not v.constant
        ]  # fmt: skip

    def assign(self) -> None:
        e = self.expressions
        able = self.targets()
        if not able:
            self.scalar()
            return
        target = e.draw.choice(able)
        e.begin(target.storage)
        place, ctype = target.name, target.ctype
        if target.kind in ("array", "pointer"):
            place = e.cell(target, 2)
        if ctype in COMPONENTS:
            if e.draw.random() < 0.4:
                self.put(f"{place} = {e.vector(ctype, e.depth)};")
                return
            place = f"{place if target.kind == 'vector' else f'({place})'}.{e.member(ctype)}"
            ctype = COMPONENTS[ctype]
        if e.draw.random() < 0.5:
            self.put(f"{place} = {e.of(ctype, e.depth)};")
        else:
            self.put(f"{e.compound(place, ctype, e.depth)};")

    def increment(self) -> None:
        e = self.expressions
        able = [v for v in self.targets() if v.ctype != "bool"]
        if not able:
            return
        target = e.draw.choice(able)
        e.begin(target.storage)
        place = e.whole_place(target, 2)
        if target.ctype in COMPONENTS:
            place = f"{place}.{e.member(target.ctype)}"
        operator = e.draw.choice(("++", "--"))
        self.put(f"{operator}{place};" if e.draw.random() < 0.5 else f"{place}{operator};")

    def mixed(self) -> None:
        """A whole number op= a floating-point one, computed in the latter's type."""
        e = self.expressions
        able = [v for v in self.targets() if v.kind == "scalar" and v.ctype in (*SIGNED, "short")]
        if not able:
            return
        target = e.draw.choice(able)
        e.begin(target.storage)
        self.put(f"{target.name} &= 127;")
        number = f"{e.draw.choice(('RANGE', 'UPTO'))}({e.floating(e.depth).text})"
        if e.draw.random() < 0.4:
            number = f"(double){number}"
        match e.draw.randrange(3):
            case 0:
                self.put(f"{target.name} *= {number} * 0.001f;")
            case 1:
                self.put(f"{target.name} += {number};")
            case _:
                self.put(f"{target.name} -= {number};")

    def call(self) -> None:
        """A function's call as a statement, its references to variables of their own."""
        e = self.expressions
        named = {v.name for v in e.scope}
        callees = [c for c in e.callees if any(c.references) or "pi" in named]
        if not callees:
            self.assign()
            return
        callee = e.draw.choice(callees)
        if any("*" in p for p in callee.parameters) and "pi" not in named:
            self.assign()
            return
        places: list[str] = []
        storages: set[str] = set()
        e.reserve()
        for ctype, reference in zip(callee.parameters, callee.references, strict=True):
            if not reference:
                continue
            able = [
                v for v in self.targets()
                if v.ctype == ctype and not v.volatile and v.storage not in storages
            ]  # fmt: skip
            if not able:
                self.assign()
                return
            target = e.draw.choice(able)
            storages.add(target.storage)
            e.reserve(*storages)
            places.append(target.name if target.kind in ("scalar", "vector") else e.cell(target, 1))
        e.reserve(*storages)
        value = e.call(callee, e.depth, places)
        able = [v for v in self.targets() if v.kind == "scalar" and v.ctype == callee.result]
        able = [v for v in able if v.storage not in storages]
        if able and e.draw.random() < 0.7:
            self.put(f"{e.draw.choice(able).name} = {value.text};")
        else:
            self.put(f"{value.text};")

    def reinterpreted(self) -> None:
        """Neighbouring cells of the thread's own, written as one short vector."""
        e = self.expressions
        kinds = {"int": ("int2", "int4"), "float": ("float2", "float4"), "double": ("double2",)}
        able = [v for v in self.targets() if v.name in ("moi", "mof", "mod")]
        if not able:
            self.assign()
            return
        target = e.draw.choice(able)
        ctype = e.draw.choice(kinds[target.ctype])
        e.begin(target.storage)
        last = 4 - int(ctype[-1])
        place = f"&{target.name}[{e.draw.choice((0, last))}]"
        cast = e.draw.choice((f"reinterpret_cast<{ctype}*>({place})", f"(({ctype}*){place})"))
        match e.draw.randrange(3):
            case 0:
                self.put(f"*{cast} = {e.vector(ctype, e.depth)};")
            case 1:
                self.put(f"{cast}[0] = {e.vector(ctype, e.depth)};")
            case _:
                value = e.of(COMPONENTS[ctype], e.depth)
                self.put(f"{cast}->{e.member(ctype)} = {value};")

    def walk(self) -> None:
        """A pointer that is moved along an array."""
        e = self.expressions
        arrays = [v for v in e.scope if v.kind == "array" and len(v.shape) == 1]
        sums = [v for v in self.targets() if v.kind == "scalar" and v.ctype in ORDER]
        arrays = [v for v in arrays if v.ctype in ORDER]
        if not arrays or not sums:
            return
        array, total = e.draw.choice(arrays), e.draw.choice(sums)
        if total.storage == array.storage or total.ctype == "bool":
            return
        walker, size = self.name(), array.shape[0]
        backward = e.draw.random() < 0.4
        to_whole = total.ctype not in FLOATS and array.ctype in FLOATS
        step = f"--{walker}" if backward else f"{walker}++"
        read = f"{'UPTO' if to_whole else ''}(*{step})"
        read = f"(int){read}" if to_whole else read
        start = f"{array.name} + {size}" if backward else array.name
        self.put(f"{array.ctype}* {walker} = {start};")
        end = f"{walker} > {array.name}" if backward else f"{walker} != {array.name} + {size}"
        match e.draw.randrange(4):
            case 0:
                self.put(f"while ({end}) {total.name} += {read};")
            case 1:
                counter = self.name()
                self.put(f"for (int {counter} = 0; {counter} < {size}; ++{counter})")
                self.put(f"    {total.name} += {read};")
            case 2 if not backward and array.ctype != "bool":
                self.put(f"for (; {walker} < {array.name} + {size}; {walker} += 2) ++*{walker};")
            case _:
                self.put(f"{walker} {'-=' if backward else '+='} {e.draw.randrange(size)};")
                self.put(f"{total.name} += (int)({walker} - {array.name});")
