"""Random numbers of 8 bits: what is converted to e4m3 and e5m2, and back."""

from __future__ import annotations

from tests.fuzz.generators import Generators
from tests.fuzz.values import Variable

KINDS = ("e4m3", "e5m2")
SOURCES = ("float", "float", "int", "unsigned", "long", "short")
OF_PAIRS = {"2": "make_float2", "4": "make_float4"}


class Bytes(Generators):
    """Writes declarations and assignments of one of the types, and what is made of them."""

    def byte(self) -> None:
        e, draw = self.expressions, self.expressions.draw
        kind = draw.choice(KINDS)
        ctype = f"__nv_fp8_{kind}"
        able = [v.name for v in e.scope if v.ctype == ctype]
        match draw.randrange(9):
            case 0 | 1 if able:
                self.number_of_byte(draw.choice(able), draw.choice(able))
            case 2 if able:
                target = draw.choice(able)
                e.begin()
                self.put(f"{target} = {self.byte_value(ctype)};")
            case 3 if able:
                target = draw.choice(able)
                e.begin()
                self.put(f"{target}.__x = (unsigned char)({e.whole(e.depth).text});")
            case 4:
                name = self.name()
                e.begin()
                saturates = draw.choice(("__NV_SATFINITE", "__NV_NOSAT"))
                value = e.exactly("float", e.depth)
                bits = f"__nv_cvt_float_to_fp8({value}, {saturates}, __NV_{kind.upper()})"
                self.put(f"unsigned char {name} = {bits};")
                e.scope.append(Variable(name, "unsigned char"))
            case 5:
                name, count = self.name(), draw.choice(tuple(OF_PAIRS))
                e.begin()
                values = ", ".join(e.exactly("float", 1) for _ in range(int(count)))
                several = f"__nv_fp8x{count}_{kind}({OF_PAIRS[count]}({values}))"
                self.put(f"float{count} {name} = (float{count}){several};")
                e.scope.append(Variable(name, f"float{count}", "vector"))
            case _:
                name = self.name()
                e.begin()
                self.put(f"{ctype} {name} = {self.byte_value(ctype)};")
                e.scope.append(Variable(name, ctype, "byte"))

    def byte_value(self, ctype: str) -> str:
        """A number of 8 bits that something else is converted to."""
        e, draw = self.expressions, self.expressions.draw
        halves = [v.name for v in e.scope if v.kind == "half"]
        if halves and draw.random() < 0.5:
            return f"{ctype}({draw.choice(halves)})"
        if draw.random() < 0.2:  # of NaN as a double the sign is kept, which a host may set
            return f"{ctype}(fmin(fmax({e.exactly('double', e.depth)}, -70000.0), 70000.0))"
        return f"{ctype}({e.exactly(draw.choice(SOURCES), e.depth)})"

    def number_of_byte(self, one: str, other: str) -> None:
        e, draw, name = self.expressions, self.expressions.draw, self.name()
        ctype = draw.choice(("float", "double", "half", "__nv_bfloat16", "bool", "unsigned char"))
        value = f"{one}.__x" if ctype == "unsigned char" else f"({ctype}){one}"
        if ctype == "float":
            value = draw.choice((value, f"{value} {draw.choice('+-/')} (float){other}"))
        self.put(f"{ctype} {name} = {value};")
        short = ctype in ("half", "__nv_bfloat16")
        e.scope.append(Variable(name, ctype, "half" if short else "scalar"))
