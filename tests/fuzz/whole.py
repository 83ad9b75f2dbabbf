"""Random expressions of integer type, without undefined behaviour."""

from __future__ import annotations

from tests.fuzz.places import Places
from tests.fuzz.values import (
    BIT_FUNCTIONS,
    FLOATS,
    INTEGERS,
    ORDER,
    SIGNED,
    SIMD_FUNCTIONS,
    UNSIGNED,
    WIDE,
    Value,
    common,
    promote,
)

SUFFIXES = {"int": "", "unsigned": "u", "long": "L", "size_t": "ul", "long long": "LL",
            "unsigned long long": "ull"}  # fmt: skip
NUMBERS = (0, 1, 2, 3, 7, 8, 31, 32, 100, 255, 256, 32768, 65535, 16777217, 2147483647)
WIDE_NUMBERS = (2147483648, 4294967295, 123456789012, 0x7FFFFFFFFFFF, 2**53 + 1, 2**63 - 1)


class Whole(Places):
    """Expressions of integer type over what is in scope."""

    def compound(self, place: str, ctype: str, depth: int) -> str:
        """place op= value."""
        draw = self.draw
        if ctype in FLOATS:
            if draw.random() < 0.1:  # exact, so that it does not matter whether a sum fuses with it
                return f"{place} *= {draw.choice(('-1.0f', '1', '-1', 'true'))}"
            return f"{place} {draw.choice('+-/')}= {self.any(depth).text}"
        operator = draw.choice(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"))
        value = self.whole(depth)
        match operator:
            case "<<" | ">>":
                bits = 63 if promote(ctype) in WIDE else 31
                return f"{place} {operator}= ({value.text}) & {bits}"
            case "/" | "%":
                return f"{place} {operator}= {self.divisor(value)}"
            case _:
                return f"{place} {operator}= {value.text}"

    def divisor(self, value: Value) -> str:
        """A whole number that is neither 0 nor, where that overflows, -1."""
        if promote(value.ctype) in UNSIGNED and self.draw.random() < 0.5:
            return f"(({value.text}) | 1u)"
        if promote(value.ctype) in SIGNED and self.draw.random() < 0.3:
            return f"-((({value.text}) & 15) + 2)"
        return f"((({value.text}) & {self.draw.choice((3, 15, 255))}) + 1)"

    def whole(self, depth: int) -> Value:
        """An expression of integer type."""
        draw = self.draw
        if depth <= 0 or draw.random() < 0.15:
            return self._whole_leaf(depth)
        match draw.randrange(20):
            case 0 | 1 | 2 | 3 | 4:
                left, right = self.whole(depth - 1), self.whole(depth - 1)
                text = f"({left.text} {draw.choice('+-*&|^')} {right.text})"
                return Value(text, common(left.ctype, right.ctype))
            case 5:
                left, right = self.whole(depth - 1), self.whole(depth - 1)
                ctype = common(left.ctype, right.ctype)
                return Value(f"({left.text} {draw.choice('/%')} {self.divisor(right)})", ctype)
            case 6:
                left, right = self.whole(depth - 1), self.whole(depth - 1)
                ctype = promote(left.ctype)
                bits = 63 if ctype in WIDE else 31
                operator = draw.choice(("<<", ">>"))
                return Value(f"({left.text} {operator} (({right.text}) & {bits}))", ctype)
            case 7 | 8:
                return self.compare(depth)
            case 9:
                inner = self.whole(depth - 1)
                operator = draw.choice("-~+!")
                ctype = "bool" if operator == "!" else promote(inner.ctype)
                return Value(f"({operator} {inner.text})", ctype)
            case 10 | 11:
                yes, no = self.whole(depth - 1), self.whole(depth - 1)
                ctype = yes.ctype if yes.ctype == no.ctype else common(yes.ctype, no.ctype)
                return Value(f"({self.condition(depth - 1)} ? {yes.text} : {no.text})", ctype)
            case 12 | 13:
                return self._whole_cast(depth)
            case 14:
                first, second = self.any(depth - 1), self.whole(depth - 1)
                return Value(f"({first.text}, {second.text})", second.ctype)
            case 15 | 16:
                return self.effect(INTEGERS, depth) or self._whole_leaf(depth)
            case 17:
                return self.called(INTEGERS, depth) or self._whole_leaf(depth)
            case _:
                return self._whole_function(depth)

    def _whole_leaf(self, depth: int) -> Value:
        draw = self.draw
        if draw.random() < 0.75:
            found = self.place(lambda ctype: ctype in INTEGERS, min(depth, 1))
            if found:
                return found
        match draw.randrange(8):
            case 0:
                return Value(draw.choice(("true", "false")), "bool")
            case 1:
                return Value(draw.choice(("'a'", "'\\n'", "'0'", "'\\x7f'")), "char")
            case 2 | 3 if self.builtins:
                name = draw.choice((*self.builtins, "warpSize", "WIDTH"))
                return Value(name, "unsigned" if "." in name else "int")
            case 4 if self.constants:
                constant = draw.choice(self.constants)
                return Value(constant.name, constant.ctype)
            case 5:
                if draw.random() < 0.3:
                    return Value(f"sizeof({self.spelled(draw.choice(ORDER))})", "size_t")
                ctype = draw.choice(("long", "size_t", "long long", "unsigned long long"))
                return self._literal(ctype, draw.choice(WIDE_NUMBERS))
            case 6:
                number = draw.choice((0x80000000, 0xFFFFFFFF, 1, 77))
                return self._literal("unsigned", number)
            case _:
                return self._literal(draw.choice(("int", "int", "unsigned")), draw.choice(NUMBERS))

    def _literal(self, ctype: str, number: int) -> Value:
        draw = self.draw
        text = (hex(number) if draw.random() < 0.2 else str(number)) + SUFFIXES[ctype]
        return Value(f"(-{text})" if draw.random() < 0.2 else text, ctype)

    def _whole_cast(self, depth: int) -> Value:
        draw = self.draw
        ctype = draw.choice(INTEGERS)
        inner = self.whole(depth - 1).text
        if draw.random() < 0.3:
            value = self.floating(depth - 1)
            inner = value.text if ctype == "bool" else self.in_range(ctype, value)
        name = self.spelled(ctype)
        match draw.randrange(3):
            case 0:
                return Value(f"static_cast<{name}>({inner})", ctype)
            case 1 if " " not in name:
                # With a sign, or short(unsigned(x)) could be the name of a type.
                return Value(f"{name}(+({inner}))", ctype)
            case _:
                return Value(f"({name})({inner})", ctype)

    def compare(self, depth: int) -> Value:
        """A comparison, or two conditions joined."""
        draw = self.draw
        if draw.random() < 0.3:
            joined = draw.choice(("&&", "||"))
            first, second = self.condition(depth - 1), self.condition(depth - 1)
            return Value(f"(({first}) {joined} ({second}))", "bool")
        if draw.random() < 0.1:
            return self._guarded(depth)
        operator = draw.choice(("<", "<=", ">", ">=", "==", "!="))
        return Value(f"({self.any(depth - 1).text} {operator} {self.any(depth - 1).text})", "bool")

    def _guarded(self, depth: int) -> Value:
        """A load that only the condition before it keeps within its array."""
        draw = self.draw
        arrays = [
            v for v in self.readable("array", "pointer", "shared")
            if v.ctype in ORDER and len(v.shape) == 1
        ]  # fmt: skip
        indices = [
            v for v in self.readable("scalar")
            if v.ctype in ("int", "long", "short", "char") and not v.volatile
        ]  # fmt: skip
        if not arrays or not indices:
            return self.compare(depth - 1) if depth > 0 else Value("true", "bool")
        array, index = draw.choice(arrays), draw.choice(indices)
        inside = f"{index.name} >= 0 && {index.name} < {array.shape[0]}"
        cell = f"{array.name}[{index.name}]"
        match draw.randrange(3):
            case 0:
                return Value(f"({inside} && {cell} > {draw.choice((0, 1, 100))})", "bool")
            case 1:
                outside = f"{index.name} < 0 || {index.name} >= {array.shape[0]}"
                return Value(f"({outside} || {cell} == {draw.choice((0, 1, 2))})", "bool")
            case _:
                return Value(f"(({inside} ? {cell} : 0) != 0)", "bool")

    def _whole_function(self, depth: int) -> Value:
        draw = self.draw
        named = {v.name for v in self.scope}
        name = draw.choice(("min", "max", "min", "max", "abs", "__popc", "__clz", "__ffs",
                            "__mul24", "__umul24", "__float_as_int", "__float_as_uint", "isnan",
                            "isinf", "MIX", "SQUARE", "__ldg", "difference"))  # fmt: skip
        if draw.random() < 0.2:
            table = draw.choice((BIT_FUNCTIONS, BIT_FUNCTIONS, SIMD_FUNCTIONS))
            name, (result, *types) = draw.choice(tuple(table.items()))
            arguments = ", ".join(self.exactly(ctype, depth - 1) for ctype in types)
            return Value(f"{name}({arguments})", result)
        match name:
            case "min" | "max":
                ctype = draw.choice(tuple(SUFFIXES))
                arguments = f"{self.exactly(ctype, depth - 1)}, {self.exactly(ctype, depth - 1)}"
                return Value(f"{name}({arguments})", ctype)
            case "abs":
                ctype = draw.choice(("int", "long"))
                return Value(f"abs(({ctype})({self.whole(depth - 1).text}) >> 1)", ctype)
            case "isnan" | "isinf":
                return Value(f"{name}({self.floating(depth - 1).text})", "bool")
            case "__float_as_int":
                return Value(f"__float_as_int(RANGE({self.any(depth - 1).text}))", "int")
            case "__float_as_uint":
                return Value(f"__float_as_uint(UPTO({self.any(depth - 1).text}))", "unsigned")
            case "MIX":
                left, right = self.whole(depth - 1), self.whole(depth - 1)
                return Value(f"MIX({left.text}, {right.text})", common(left.ctype, right.ctype))
            case "SQUARE":
                kept, self.free = self.free, []
                callees, self.callees = self.callees, []
                inner = self.whole(min(depth - 1, 1))
                self.free, self.callees = kept, callees
                return Value(f"SQUARE({inner.text})", promote(inner.ctype))
            case "__ldg" if "pi" in named:
                return Value(f"__ldg(&pi[{self.index(256, depth - 1)}])", "int")
            case "difference" if "pd" in named:
                first, second = self.index(64, depth - 1), self.index(16, depth - 1)
                return Value(f"(pd + ({first}) - &pd[{second}])", "long")
            case "__umul24":
                first, second = self.of("unsigned", depth - 1), self.of("unsigned", depth - 1)
                return Value(f"__umul24({first}, {second})", "unsigned")
            case "__mul24":
                first, second = self.of("int", depth - 1), self.of("int", depth - 1)
                return Value(f"__mul24({first}, {second})", "int")
            case "__popc":
                return Value(f"__popc({self.of('unsigned', depth - 1)})", "int")
            case "__clz" | "__ffs":
                return Value(f"{name}({self.of('int', depth - 1)})", "int")
            case _:
                return self._whole_leaf(depth)
