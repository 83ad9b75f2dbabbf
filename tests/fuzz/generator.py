"""Random kernels of the subset from a seed: a text that both sides take, and its launch."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.language import ctype as types
from tests.fuzz.contraction import contraction
from tests.fuzz.expressions import Expressions
from tests.fuzz.halves import WORDS
from tests.fuzz.objects import struct
from tests.fuzz.statements import Statements, device_function
from tests.fuzz.together import Dim3, Together
from tests.fuzz.values import FLOATS, Constant, Variable

PARAMETERS = (
    "const int* {r}pi, const float* {r}pf, const double* {r}pd, "
    "int* oi, long* ol, float* of, double* od, const int n, float s"
)
MACROS = """#define WIDTH 7 // a number
#define RANGE(v) fminf(fmaxf((v), -30000.0f), 30000.0f)
#define UPTO(v) fminf(fmaxf((v), 0.0f), \\
                      30000.0f)
#define MIX(u, v) ((u) ^ ((v) << 3))
#define SQUARE(v) ((v) * (v))
"""
UNDEFINED = "".join(f"#undef {name}\n" for name in ("WIDTH", "RANGE", "UPTO", "MIX", "SQUARE"))
SHAPES: tuple[tuple[Dim3, Dim3], ...] = (
    ((2, 1, 1), (32, 1, 1)),
    ((2, 1, 1), (32, 1, 1)),
    ((3, 1, 1), (20, 1, 1)),
    ((1, 2, 1), (4, 2, 3)),
    ((2, 1, 1), (48, 1, 1)),
    ((1, 2, 1), (16, 3, 1)),
    ((3, 1, 1), (4, 5, 2)),
    ((2, 1, 1), (8, 8, 1)),
)
BUILTINS = ("threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y",
            "blockDim.x", "blockDim.y", "gridDim.x", "gridDim.z")  # fmt: skip
SIZES = {scalar.name: scalar for scalar in vars(types).values() if isinstance(scalar, types.Scalar)}
INCLUDES = {
    "curand": "#include <curand_kernel.h>\n", "cub::": "#include <cub/cub.cuh>\n",
    "__nv_fp8": "#include <cuda_fp8.h>\n", "__NV_E": "#include <cuda_fp8.h>\n",
}  # fmt: skip
OWN = 4  # cells of each output that a thread has


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel `k` and how it is launched; contracts tells that its products may fuse.

    template gives a template kernel's parameters their values; dynamic is the declaration of the
    extern shared array, where there is one.
    """

    seed: int
    text: str
    grid: Dim3
    block: Dim3
    contracts: bool = False
    template: Mapping[str, str] = field(default_factory=dict)
    dynamic: str = ""

    @property
    def shared_bytes(self) -> int:
        """What the launch gives the extern shared array."""
        if not self.dynamic:
            return 0
        ctype = self.dynamic.split()[0].replace("unsigned", "unsigned int")
        sizes = re.findall(r"\[(\d+)( \+ 1)?\]", self.dynamic)
        cells = math.prod(int(size) + bool(padding) for size, padding in sizes)
        return cells * (types.VECTORS.get(ctype) or SIZES[ctype]).size


def generate(seed: int) -> Program:
    """The kernel of a seed: always the same."""
    draw = random.Random(seed)  # noqa: S311
    grid, block = draw.choice(SHAPES)
    if seed % 8 == 7:
        return Program(seed, contraction(draw, PARAMETERS.format(r="")), grid, block, True)
    return _Kernel(draw, grid, block).program(seed)


class _Kernel:
    """Stretches of statements, and between them what all threads of a block do together."""

    def __init__(self, draw: random.Random, grid: Dim3, block: Dim3) -> None:
        self.draw = draw
        self.grid, self.block = grid, block
        depth = draw.choice((1, 1, 2, 2, 2, 3))
        self.expressions = Expressions(draw, depth, BUILTINS)
        self.writer = Statements(self.expressions)
        self.together = Together(self.expressions, self.writer, grid, block)
        self.template: dict[str, str] = {}

    def program(self, seed: int) -> Program:
        e, out, draw = self.expressions, self.writer, self.draw
        names = self.names()
        functions: list[str] = []
        for number in range(draw.choice((0, 0, 0, 1, 2))):
            lines, record = struct(e, Statements(e), number)
            functions += lines
            e.records.append(record)
        for number in range(draw.choice((0, 0, 0, 1, 1, 2))):
            lines, callee = device_function(e, f"f{number}")
            functions += lines
            e.callees.append(callee)
        if draw.random() < 0.2:
            functions += self.together.rotation()
        head = self.head()
        self.start()
        out.several(1, 3)
        for _ in range(draw.choice((0, 1, 1, 2))):
            self.together.any(0)
            out.several(0, 1)
        self.outcome()
        if draw.random() < 0.3:
            out.result = "void"
            out.several(1, 2)
            out.put(f"ol[g * {OWN} + {OWN - 1}] ^= g;")
        lines = [*names, *functions, *head, *out.lines, "}"]
        text = MACROS + "\n".join(lines) + "\n" + UNDEFINED
        needed = dict.fromkeys(line for name, line in INCLUDES.items() if name in text)
        text = "".join(needed) + text
        dynamic = self.together.dynamic
        return Program(seed, text, self.grid, self.block, False, self.template, dynamic)

    def names(self) -> list[str]:
        """Constants and types that the text gives names of its own."""
        e, draw = self.expressions, self.draw
        lines = []
        if draw.random() < 0.2:
            lines.append("constexpr int LATER = 2 + 2;")
            e.constants.append(Constant("LATER", "int", 4))
        if draw.random() < 0.15:
            lines.append("enum { FIRST, SECOND = 8 };")
            e.constants += [Constant("FIRST", "int", 0), Constant("SECOND", "int", 8)]
        if draw.random() < 0.2:
            lines.append("typedef unsigned word;")
            e.aliases["word"] = "unsigned"
        if draw.random() < 0.2:
            meant = draw.choice(("float", "double"))
            lines.append(f"using real = {meant};")
            e.aliases["real"] = meant
        return lines

    def head(self) -> list[str]:
        """The kernel's first line, with its template's where it is one."""
        e, draw = self.expressions, self.draw
        restrict = draw.choice(("", "__restrict__ "))
        bounds = draw.choice(("", f"__launch_bounds__({self.together.threads}) "))
        line = f"__global__ void {bounds}k({PARAMETERS.format(r=restrict)}) {{"
        if draw.random() > 0.25:
            return [line]
        width, meant = draw.choice((2, 4, 8)), draw.choice(("int", "unsigned", "long", *FLOATS))
        self.template = {"W": str(width), "T": meant}
        e.constants.append(Constant("W", "int", width))
        e.aliases["T"] = meant
        return ["template <int W, typename T>", line]

    def start(self) -> None:
        """Who the thread is, and what it may read and write."""
        e, out, draw = self.expressions, self.writer, self.draw
        linear = "threadIdx.x"
        if self.block[1:] != (1, 1):
            linear = "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"
        threads = self.together.threads
        out.put(f"const int t = {linear};")
        out.put(f"const int g = (blockIdx.y * gridDim.x + blockIdx.x) * {threads} + t;")
        e.scope += [
            Variable("pi", "int", "pointer", (256,), True),
            Variable("pf", "float", "pointer", (256,), True),
            Variable("pd", "double", "pointer", (256,), True),
            Variable("t", "int", constant=True, bound=64),
            Variable("g", "int", constant=True, bound=128),
            Variable("n", "int", constant=True, bound=8),
            Variable("s", "float"),
        ]
        for name, ctype in (("oi", "int"), ("ol", "long"), ("of", "float"), ("od", "double")):
            if draw.random() < 0.4:
                own = f"{name} + g * {OWN}"
                out.put(f"{ctype}* m{name} = {draw.choice((own, f'&{name}[g * {OWN}]'))};")
                e.scope.append(Variable(f"m{name}", ctype, "pointer", (OWN,)))

    def outcome(self) -> None:
        """What the thread's variables hold, into its cells."""
        e, out = self.expressions, self.writer
        fixed = ("t", "g", "n")
        number = 0
        for variable in e.scope:
            match variable.kind:
                case "scalar" if variable.name not in fixed:
                    number = (number + 1) % OWN
                    if variable.ctype in FLOATS:
                        out.put(f"od[g * {OWN} + {number}] += {variable.name};")
                    else:
                        cell = f"ol[g * {OWN} + {number}]"
                        out.put(f"{cell} = 31 * {cell} + (long){variable.name};")
                case "vector":
                    whole = variable.ctype.startswith(("int", "uint"))
                    out.put(f"{'oi' if whole else 'od'}[g * {OWN} + 1] += {variable.name}.x;")
                    out.put(f"{'ol' if whole else 'of'}[g * {OWN} + 2] -= {variable.name}.y;")
                case "half":
                    to_float = f"__{WORDS[variable.ctype]}2float"
                    out.put(f"of[g * {OWN} + 3] += {to_float}({variable.name});")
                case "byte":
                    out.put(f"ol[g * {OWN} + 3] ^= {variable.name}.__x;")
                case "array":
                    self.keep(variable)

    def keep(self, variable: Variable) -> None:
        """A cell of an array."""
        cell = variable.name + "".join(f"[{self.draw.randrange(size)}]" for size in variable.shape)
        if variable.ctype[-1].isdigit():
            cell += ".x"
        whole = variable.ctype not in FLOATS and not variable.ctype.startswith(("float", "double"))
        self.writer.put(f"{'ol' if whole else 'od'}[g * {OWN} + 3] += {cell};")
