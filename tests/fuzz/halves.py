"""Random arithmetic of half and bfloat16: each operation rounds by itself: none is fused."""

from __future__ import annotations

from tests.fuzz.objects import Objects
from tests.fuzz.values import Variable

ONE = ("__habs", "__hneg", "hsqrt", "hfloor", "hceil", "htrunc", "hrint")
TWO = ("__hadd_rn", "__hsub_rn", "__hmul_rn", "__hdiv", "__hmax", "__hmin")
OF_PAIRS = ("__hadd2_rn", "__hsub2_rn", "__hmul2_rn", "__hmax2", "__hmin2")
WORDS = {"half": "half", "__nv_bfloat16": "bfloat16"}  # of each type, in CUDA's names
FINITE = {"half": "0xfbff", "__nv_bfloat16": "0xff7f"}  # bits that no infinity and NaN have
TESTS = ("__heq", "__hne", "__hlt", "__hle", "__hgt", "__hge", "__hltu", "__hgeu")


class Halves(Objects):
    """Writes declarations and assignments of one of the types, and what is computed from it."""

    kind = "half"  # the type that is being written

    def half(self) -> None:
        e = self.expressions
        self.kind = e.draw.choice(tuple(WORDS))
        able = [v for v in e.scope if v.ctype == self.kind and not v.constant]
        match e.draw.randrange(5):
            case 0 | 1 if able:
                e.begin()
                self.put(f"{e.draw.choice(able).name} = {self.half_value(e.depth)};")
            case 2 if able:
                name = self.name()
                e.begin()
                self.put(f"float {name} = __{WORDS[self.kind]}2float({self.half_value(e.depth)});")
                e.scope.append(Variable(name, "float"))
            case 3 if able:
                self.number_of_half()
            case _:
                name = self.name()
                e.begin()
                self.put(f"{self.kind} {name} = {self.half_value(e.depth)};")
                e.scope.append(Variable(name, self.kind, "half"))
                if e.draw.random() < 0.2:
                    self.number_of_half()

    def number_of_half(self) -> None:
        """A whole number of such a number, or whether it compares."""
        e, name = self.expressions, self.name()
        e.begin()
        value = self.half_value(e.depth)
        whole = f"__{WORDS[self.kind]}2int_{e.draw.choice(('rn', 'rz', 'ru', 'rd'))}({value})"
        test = f"{e.draw.choice(TESTS)}({value}, {self.half_value(1)})"
        self.put(f"int {name} = {e.draw.choice((f'__hisnan({value}) ? 7 : {whole}', test))};")
        e.scope.append(Variable(name, "int"))

    def half_value(self, depth: int) -> str:
        """An expression of the type, without effects: it may be twice."""
        e = self.expressions
        e.reserve()
        return self._half(depth)

    def _half(self, depth: int) -> str:
        draw, word = self.expressions.draw, WORDS[self.kind]
        if depth <= 0:
            return self._half_leaf()
        inner = depth - 1
        match draw.randrange(8):
            case 0:
                return f"{draw.choice(ONE)}({self._half(inner)})"
            case 1 | 2 | 3:
                return f"{draw.choice(TWO)}({self._half(inner)}, {self._half(inner)})"
            case 4:
                return f"({self._half(inner)} {draw.choice('+-/')} {self._half_leaf()})"
            case 5:
                test = f"{draw.choice(TESTS)}({self._half(inner)}, {self._half_leaf()})"
                return f"({test} ? {self._half(inner)} : {self._half_leaf()})"
            case 6:
                pairs = [
                    f"__halves2{word}2({self._half(inner)}, {self._half_leaf()})" for _ in range(2)
                ]
                end = draw.choice((f"__low2{word}", f"__high2{word}"))
                return f"{end}({draw.choice(OF_PAIRS)}({', '.join(pairs)}))"
            case _:
                return self._half_leaf()

    def _half_leaf(self) -> str:
        e, draw, word = self.expressions, self.expressions.draw, WORDS[self.kind]
        able = [v for v in e.scope if v.ctype == self.kind]
        match draw.randrange(6):
            case 0 | 1 | 2 if able:
                return draw.choice(able).name
            case 3:
                return (
                    f"__int2{word}_{draw.choice(('rn', 'rz', 'ru', 'rd'))}({e.exactly('int', 1)})"
                )
            case 4:
                bits = f"({e.whole(1).text}) & {FINITE[self.kind]}"
                return f"__ushort_as_{word}((unsigned short)({bits}))"
            case _:
                mode = draw.choice(("", "_rn", "_rz", "_ru", "_rd"))
                return f"__float2{word}{mode}((float)({e.floating(1).text}))"
