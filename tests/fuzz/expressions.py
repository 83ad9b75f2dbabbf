"""Random expressions of the subset, of known type and without undefined behaviour."""

from __future__ import annotations

from tests.fuzz.values import CHARS, COMPONENTS, FLOATS, UNSIGNED, Value, common
from tests.fuzz.whole import Whole


class Expressions(Whole):
    """Expressions of any type over what is in scope."""

    def any(self, depth: int) -> Value:
        return self.floating(depth) if self.draw.random() < 0.4 else self.whole(depth)

    def condition(self, depth: int) -> str:
        return self.compare(depth).text if self.draw.random() < 0.7 else self.any(depth).text

    def of(self, ctype: str, depth: int) -> str:
        """An expression that converts to a type without undefined behaviour, often implicitly."""
        if ctype in COMPONENTS:
            return self.vector(ctype, depth)
        if ctype in FLOATS:
            return self.any(depth).text
        if ctype == "bool" and self.draw.random() < 0.3:
            return self.floating(depth).text
        if self.draw.random() < 0.12:
            return self.in_range(ctype, self.floating(depth - 1))
        return self.whole(depth).text

    def exactly(self, ctype: str, depth: int) -> str:
        """The same, converted by a cast: for braces, and where an overload is chosen by type."""
        return f"({self.spelled(ctype)})({self.of(ctype, depth)})"

    def in_range(self, ctype: str, value: Value) -> str:
        """A floating-point number as one that an integer type can take."""
        if ctype in CHARS:
            return f"(int)RANGE({value.text})"
        return f"{'UPTO' if ctype in UNSIGNED else 'RANGE'}({value.text})"

    def floating(self, depth: int) -> Value:
        """An expression of type float or double."""
        draw = self.draw
        if depth <= 0 or draw.random() < 0.15:
            return self._floating_leaf(depth)
        match draw.randrange(16):
            case 0 | 1 | 2 | 3 | 4:
                left, right = self.floating(depth - 1), self.any(depth - 1)
                if draw.random() < 0.5:
                    left, right = right, left
                operator, ctype = draw.choice("++--*/"), common(left.ctype, right.ctype)
                text = f"({left.text} {operator} {right.text})"
                return self._alone(text, ctype) if operator == "*" else Value(text, ctype)
            case 5:
                inner, operator = self.floating(depth - 1), draw.choice("-+")
                return Value(f"({operator} {inner.text})", inner.ctype)
            case 6 | 7:
                yes, no = self.floating(depth - 1), self.any(depth - 1)
                ctype = common(yes.ctype, no.ctype)
                return Value(f"({self.condition(depth - 1)} ? {yes.text} : {no.text})", ctype)
            case 8:
                ctype, inner = draw.choice(FLOATS), self.any(depth - 1)
                return Value(f"({self.spelled(ctype)})({inner.text})", ctype)
            case 9:
                return self.effect(FLOATS, depth) or self._floating_leaf(depth)
            case 10:
                return self.called(FLOATS, depth) or self._floating_leaf(depth)
            case 11:
                first, second = self.any(depth - 1), self.floating(depth - 1)
                return Value(f"({first.text}, {second.text})", second.ctype)
            case _:
                return self._floating_function(depth)

    def _alone(self, product: str, ctype: str) -> Value:
        """A product that no sum fuses with, wherever its value goes: a conversion parts them."""
        other = "double" if ctype == "float" else "float"
        if self.draw.random() < 0.7:
            return Value(f"(({other}){product})", other)
        return Value(
            f"({product} {self.draw.choice(('<', '>', '!='))} 1.5f ? 2.0f : 0.5f)", "float"
        )

    def _floating_leaf(self, depth: int) -> Value:
        draw = self.draw
        if draw.random() < 0.75:
            found = self.place(lambda ctype: ctype in FLOATS, min(depth, 1))
            if found:
                return found
        text = draw.choice(("0.0", "1.0", "0.5", "-0.0", "3.25", "0.1", "1e10", "1e-3", "2.5e9"))
        if draw.random() < 0.6:
            text = draw.choice((text, text, "1e30", "1e-41", "16777217.0")) + "f"
            return Value(f"({text})" if text[0] == "-" else text, "float")
        return Value(f"({text})" if text[0] == "-" else text, "double")

    def _floating_function(self, depth: int) -> Value:
        draw = self.draw
        name = draw.choice(("fmaf", "fma", "fmaf", "min", "max", "fmin", "fmax", "sqrt", "fabs",
                            "floor", "ceil", "trunc", "rint", "round", "fmod", "copysign", "fdim",
                            "__fmul_rn", "__fadd_rn", "__fsub_rn", "__fdiv_rn", "__dadd_rn",
                            "__dmul_rn", "__fmaf_rn", "__fma_rn", "__int_as_float",
                            "__uint_as_float", "abs"))  # fmt: skip
        if name.endswith("_as_float"):
            kind = "unsigned" if "uint" in name else "int"
            inner = f"({kind})({self.whole(depth - 1).text})"
            return Value(f"{name}({inner} & 0x7f7fffff)", "float")
        ctype = draw.choice(FLOATS)
        if name.startswith("__"):
            ctype = "double" if name.startswith("__d") or name == "__fma_rn" else "float"
        count = {"fma": 3, "fmaf": 3, "__fmaf_rn": 3, "__fma_rn": 3, "sqrt": 1, "fabs": 1,
                 "floor": 1, "ceil": 1, "trunc": 1, "rint": 1, "round": 1, "abs": 1}.get(
                     name, 2)  # fmt: skip
        if name == "fmaf":
            ctype = "float"
        elif ctype == "float" and not name.startswith(("__", "min", "max", "abs", "fma")):
            name += draw.choice(("f", ""))
        arguments = [self.exactly(ctype, depth - 1) for _ in range(count)]
        if name.startswith("copysign"):  # a NaN's sign is nobody's promise
            arguments[1] = f"({ctype})RANGE({arguments[1]})"
        return Value(f"{name}({', '.join(arguments)})", ctype)

    def predicate(self, depth: int) -> str:
        """A condition of integer type."""
        return (self.compare(depth) if self.draw.random() < 0.5 else self.whole(depth)).text
