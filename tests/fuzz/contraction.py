"""Random kernels of sums and products, for which of them round once: float and double alone.

What the shim's Float tells is a sum and the one product that is in it. So no variable holds a
bare product here (a ?: around it keeps it from a later sum), no sum has two, and none is written
twice: which of them fuse then is for the simulator's tests of contraction to say.
"""

from __future__ import annotations

import random


def contraction(draw: random.Random, parameters: str) -> str:
    """A kernel's text, of the few constructs that the shim's Float overloads."""
    lines = [
        f"__global__ void k({parameters}) {{",
        "    const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;",
        "    const int threads = blockDim.x * blockDim.y * blockDim.z;",
        "    const int g = (blockIdx.y * gridDim.x + blockIdx.x) * threads + t;",
    ]
    names = {"float": ["a", "b", "c", "d"], "double": ["p", "q", "r"]}
    places: set[str] = set()
    for ctype, source in (("float", "pf"), ("double", "pd")):
        for name in names[ctype]:
            place = ""
            while place in ("", *places):  # two loads of one place are one value, as are products
                place = f"(g * {draw.randint(1, 9)} + {draw.randrange(256)}) & 255"
            places.add(place)
            lines.append(f"    {ctype} {name} = {source}[{place}];")
    names["float"].append("s")
    written: set[tuple[str, ...]] = set()

    def product(ctype: str, left: str, right: str) -> str:
        """left * right, or a variable where that is in the kernel already."""
        key = tuple(sorted((unsigned(left), unsigned(right))))
        if key in written:
            return draw.choice(names[ctype])
        written.add(key)
        return f"({left} * {right})"

    def value(ctype: str, depth: int) -> str:
        if depth <= 0 or draw.random() < 0.2:
            return draw.choice(names[ctype])
        match draw.randrange(14):
            case 0 | 1 | 2 | 3:
                return product(ctype, value(ctype, depth - 1), value(ctype, depth - 1))
            case 4 | 5 | 6 | 7 | 8:
                operator = draw.choice("+-")
                left, right = value(ctype, depth - 1), value(ctype, depth - 1)
                if is_product(left) and is_product(right):
                    right = draw.choice(names[ctype])
                return f"({left} {operator} {right})"
            case 9:
                return f"({value(ctype, depth - 1)} / {value(ctype, depth - 1)})"
            case 10:
                inner = value(ctype, depth - 1)
                return inner if inner.startswith("(-") else f"(-{inner})"
            case 11:
                other = "double" if ctype == "float" else "float"
                return f"({ctype})({value(other, depth - 1)})"
            case 12 if ctype == "float":
                inner = ", ".join(value(ctype, depth - 1) for _ in range(3))
                return f"fmaf({inner})"
            case _:
                number = draw.choice(("1.5", "0.1", "-2.0")) + ("f" if ctype == "float" else "")
                return product(ctype, draw.choice(names[ctype]), number)

    def statement(indent: str) -> None:
        ctype = draw.choice(("float", "float", "double"))
        target = draw.choice(names[ctype])
        operator = draw.choice(("+=", "+=", "-=", "="))
        given = value(ctype, draw.randint(1, 4))
        if operator == "=":
            given = f"(t < 0 ? {draw.choice(names[ctype])} : {ctype}({given}))"
        lines.append(f"{indent}{target} {operator} {given};")

    for _ in range(draw.randint(2, 5)):
        match draw.randrange(4):
            case 0:
                name = f"j{len(lines)}"
                lines.append(
                    f"    for (int {name} = 0; {name} < {draw.randint(1, 4)}; ++{name}) {{"
                )
                statement("        ")
                statement("        ")
                lines.append("    }")
            case 1:
                lines.append(f"    if ({value('float', 2)} < {value('float', 2)}) {{")
                statement("        ")
                lines.append("    }")
            case _:
                statement("    ")
    for number, name in enumerate(names["float"][:4]):
        lines.append(f"    of[g * 4 + {number}] = {name};")
    for number, name in enumerate(names["double"]):
        lines.append(f"    od[g * 4 + {number}] = {name};")
    return "\n".join([*lines, "}"]) + "\n"


def unsigned(text: str) -> str:
    """An expression without the signs around it."""
    while text.startswith("(-"):
        text = text[2:-1]
    return text


def is_product(text: str) -> bool:
    """Whether an expression's outermost operator is *, under signs that do not matter."""
    text = unsigned(text)
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 1 and sign == "*" and text.startswith("(") and place:
            return True
    return False
