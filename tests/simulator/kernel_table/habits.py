"""From a base kernel and a habit of naming to a text: the small generator of the table.

A base's text, in kernels.txt, has a $ before each name that a habit chooses: `$C[$row] = acc;`. A
line `@` is where the thread's element and its guard are, and a line `? condition` is a guard
alone; what they guard goes on to the end of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Template

from simulator.size_expression import WORD, evaluate

ARRAY = re.compile(r"(\w+)\[(.+?)\](?::(\S+))?")  # name, elements, type
OPPOSITE = {"<": ">=", ">=": "<", "&&": "||", ">": "<=", "<=": ">", "==": "!="}
# The names that habits choose beside those of inputs, results and sizes, in turn.
SPECIAL = {
    "w": ("weights", "mask", "filter", "wts"),
    "width": ("width", "mask_width", "ksize", "filter_len"),
    "counts": ("hist", "bins", "counts", "histogram"),
    "bins": ("nbins", "num_bins", "n_bins", "numBins"),
    "batches": ("batch", "batches", "num_batches", "batch_size"),
    "a": ("alpha", "factor", "scale", "k_"),
    "perm": ("perm", "order", "map", "d_perm"),
    "start": ("row_ptr", "rowOffsets", "starts", "ptr"),
    "cell": ("col_idx", "cols", "indices", "d_index"),
    "keys": ("keys", "labels", "digits", "d_keys"),
    "i": ("i", "idx", "tid", "gid"),
}


@dataclass(frozen=True, slots=True)
class Base:
    """A kernel with open names."""

    name: str
    task: str  # of simulator.verdict.tasks; "" for none of these
    # "A[M*K] B[K*N] > C[M*N]": inputs before the >, results after it. x[n]:int%n has whole numbers
    # below n; with :once each one time, with :all from 0 on, with :rising from 0 to n.
    arrays: str
    sizes: str  # the roles that are parameters
    body: str
    index: str = ""  # the roles that "@" takes its elements of: "n", or "M N"
    grid: str = ""  # over the roles; follows from the index where it is not given
    block: str = ""
    head: str = ""  # before the kernel
    scalars: str = ""  # further parameters: "float:a int:more"
    shared: str = "0"  # bytes of dynamic shared memory, over the roles
    means: str = ""  # the task's sizes over the base's: "n=M*N"
    at: str = "M=37 N=21 K=19 n=300"  # where it is compared by the test's own launch
    host: str = "M=1024 N=512 K=256 n=65536"  # the sizes in host code
    state: str = ""  # that is expected, where it is another than "right", or without a task
    keeps: str = ""  # "yes" where what its result holds before is an input
    habits: str = "4"  # in how many it is written
    faults: tuple[str, ...] = ()  # "name: old => new"; "old #2" is the second such place


@dataclass(frozen=True, slots=True)
class Habit:
    """Names, the order of parameters, the way of guarding, and the host code."""

    inputs: str
    result: str
    n: str
    two: str  # rows and columns
    three: str  # M, N, K
    order: str  # i, o, s, f: inputs, result, sizes, factors; S: the sizes the other way round
    cell: str  # row and column of a thread
    kernel: str  # "-" for the base's name
    guard: str  # if, return, stride (in one dimension), flat (in two)
    host: str  # none, names, numbers


HABITS = tuple(
    Habit(*(cell.strip() for cell in line.split("/")))
    for line in """
A B D / C / n / M N / M N K / iosf / row col / - / if / none
in in2 in3 / out / size / height width / m n k / ioSf / y x / kernel / return / names
x y v / z / N / rows cols / rows cols inner / sfio / r c / compute / stride / numbers
d_a d_b d_e / d_out / len / ny nx / ni nj nk / oiSf / row col / mm / flat / none
src src2 src3 / dst / count / h w / a b c / fios / row col / add / if / names
idata jdata kdata / odata / length / dimY dimX / dimM dimN dimK / oiSf / y x / - / return / numbers
lhs rhs ext / res / num / num_rows num_cols / R S U / iosf / r c / vectorMatrixMult / flat / names
d_in d_in2 d_in3 / d_res / n_elems / n_samples n_features / P Q R / siof / i j / run / stride / none
a b e / c / n / n m / m k n / ifso / row col / matmul / return / none
p q o / pq / total_elems / nrows ncols / height width depth / soif / y x / solve / if / numbers
left right other / result / numElements / S D / p q r / ofiS / row col / reduceSum / stride / names
g_x g_y g_v / g_z / sz / a b / s1 s2 s3 / iSof / ty_ tx_ / my_kernel / flat / names
""".strip().split("\n")
)


@dataclass(frozen=True, slots=True)
class Written:
    """A kernel's text, with what the test's own launch needs."""

    text: str
    names: dict[str, str]  # by role
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int


def sizes_of(text: str) -> dict[str, int]:
    """The sizes that a base's `at` or `host` gives.

    >>> sizes_of("M=37 n=300")
    {'M': 37, 'n': 300}
    """
    return {name: int(value) for name, value in (one.split("=") for one in text.split())}


def task_sizes(base: Base, sizes: dict[str, int]) -> dict[str, int]:
    """The sizes by the task's roles."""
    meant = dict(one.split("=") for one in base.means.split())
    return sizes | {role: evaluate(what, sizes) for role, what in meant.items()}


def write(base: Base, number: int, fault: tuple[str, str] | None = None) -> Written:
    """A base in the habit of a number, with a fault that replaces one text by another.

    Where the fault is one of another way of guarding, that is taken.
    """
    habit = HABITS[number % len(HABITS)]
    further = {"n": ("stride",), "M N": ("flat",)}.get(base.index, ())
    ways = ("if", "return", *further)
    ways = (habit.guard if habit.guard in ways else "if", *ways)
    old, _, place = fault[0].partition(" #") if fault else ("", "", "")
    guard = next(way for way in ways if old in _body(base, way))
    body = _body(base, guard)
    if fault:
        parts, turn = body.split(old), int(place or 1)
        body = old.join(parts[:turn]) + fault[1] + old.join(parts[turn:])
    grid, block = _launch(base, guard)
    text = (
        f"{base.head}__global__ void $kernel({', '.join(_parameters(base, habit))}) {{\n{body}}}\n"
    )
    text = Template(text + _host(base, habit, grid, block)).substitute(_names(base, habit, number))
    values = sizes_of(base.at) | _constants(base)
    return Written(
        text, _names(base, habit, number), _three(grid, values), _three(block, values),
        evaluate(base.shared, values),
    )  # fmt: skip


def _constants(base: Base) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"#define (\w+) (\d+)", base.head)}


def _names(base: Base, habit: Habit, number: int) -> dict[str, str]:
    """What each open name of a base is in a habit; the number picks among the special ones."""
    before, behind = (ARRAY.findall(part) for part in base.arrays.split(">"))
    names = {role: few[number % len(few)] for role, few in SPECIAL.items()}
    has_floats = re.search(r"\wf\(|\bfloat\b", base.body) is not None
    names |= {"T": "double" if number % 12 == 8 and not has_floats else "float"}
    names |= {"kernel": base.name if habit.kernel == "-" else habit.kernel}
    names |= dict(zip(("row", "col"), habit.cell.split(), strict=True))
    inputs = [role for role, *_ in before if role not in SPECIAL]
    names |= dict(zip(inputs, habit.inputs.split(), strict=False))
    results = [role for role, *_ in behind if role not in SPECIAL]
    names |= dict(zip(results, (habit.result, f"{habit.result}2"), strict=False))
    sizes = [role for role in base.sizes.split() if role not in SPECIAL]
    chosen = {1: [habit.n], 2: habit.two.split(), 3: habit.three.split()}.get(len(sizes), sizes)
    names |= dict(zip(sizes, chosen, strict=True))
    return names | {name: name for _, name in scalars(base) if name not in SPECIAL}


def scalars(base: Base) -> list[tuple[str, str]]:
    """The types and names of the further parameters."""
    pairs = (one.split(":") for one in base.scalars.split())
    return [(ctype, name) for ctype, name in pairs]


def _parameters(base: Base, habit: Habit) -> list[str]:
    """The parameters with their types, in a habit's order."""
    before, behind = (ARRAY.findall(part) for part in base.arrays.split(">"))
    sizes = base.sizes.split()
    floats = scalars(base)
    parts = {
        "i": [f"const {_element(ctype)}* ${role}" for role, _, ctype in before],
        "o": [f"{_element(ctype)}* ${role}" for role, _, ctype in behind],
        "s": [f"int ${role}" for role in sizes],
        "S": [f"int ${role}" for role in reversed(sizes)],
        "f": [f"{'$T' if ctype == 'float' else ctype} ${name}" for ctype, name in floats],
    }
    return [one for kind in habit.order for one in parts[kind]]


def _element(ctype: str) -> str:
    return re.sub("%.*", "", ctype).replace("_", " ") or "$T"


def _body(base: Base, guard: str) -> str:
    """A base's statements with the guards written in one of the ways."""
    lines: list[str] = []
    ends = 0
    for line in base.body.split("\n"):
        before, condition = [line], ""
        if line == "@":
            before, condition = _element_of(base, guard)
        elif line.startswith("? "):
            before, condition = [], line[2:]
        lines += ["    " * (1 + ends) + one for one in before]
        if condition and guard in ("return", "flat"):
            lines.append(f"    if ({_negated(condition)}) return;")
        elif condition:
            opening = condition if condition.startswith("for") else f"if ({condition})"
            lines.append("    " * (1 + ends) + opening + " {")
            ends += 1
    lines += ["    " * end + "}" for end in range(ends, 0, -1)]
    return "".join(f"{line}\n" for line in lines)


def _element_of(base: Base, guard: str) -> tuple[list[str], str]:
    """The statements that number a thread's element, and its guard."""
    line = "blockIdx.x * blockDim.x + threadIdx.x"
    if guard == "stride":
        return [], f"for (int $i = {line}; $i < $n; $i += gridDim.x * blockDim.x)"
    if base.index == "n":
        return [f"int $i = {line};"], "$i < $n"
    rows, columns = (f"${one}" for one in base.index.split())
    if guard == "flat":
        place = f"int $row = cell / {columns}, $col = cell % {columns};"
        return [f"int cell = {line};", place], f"cell < {rows} * {columns}"
    return [
        "int $row = blockIdx.y * blockDim.y + threadIdx.y;",
        f"int $col = {line};",
    ], f"$row < {rows} && $col < {columns}"


def _negated(condition: str) -> str:
    return " ".join(OPPOSITE.get(word, word) for word in condition.split(" "))


def _launch(base: Base, guard: str) -> tuple[str, str]:
    """The grid and the block: the base's, else as its elements need it."""
    if base.grid:
        return base.grid, base.block
    if base.index == "n":
        return "(n + 255) / 256", "256"
    rows, columns = base.index.split()
    if guard == "flat":
        return f"({rows} * {columns} + 127) / 128", "128"
    x, y = base.block.split(", ") if base.block else ("16", "16")
    return f"({columns} + {x} - 1) / {x}, ({rows} + {y} - 1) / {y}", f"{x}, {y}"


def _three(text: str, values: dict[str, int]) -> tuple[int, int, int]:
    x, y, z = ([evaluate(one, values) for one in text.split(", ")] + [1, 1])[:3]
    return x, y, z


def _host(base: Base, habit: Habit, grid: str, block: str) -> str:
    """Host code with a launch: none, one with variables, or one with numbers alone."""
    if habit.host == "none":
        return ""
    sizes = sizes_of(base.host)
    sizes = {role: size for role, size in sizes.items() if role in base.sizes.split()}
    has_names = habit.host == "names"

    def shown(expression: str) -> str:
        if not has_names:
            return str(evaluate(expression, sizes | _constants(base)))
        return WORD.sub(lambda one: f"${one[0]}" if one[0] in sizes else one[0], expression)

    lines = [f"    int ${role} = {size};" for role, size in sizes.items() if has_names]
    passed = {role: shown(role) for role in sizes}
    for role, elements, ctype in ARRAY.findall(base.arrays):
        passed[role] = f"${{{role}}}_dev"
        lines += [
            f"    {_element(ctype)}* {passed[role]};",
            f"    cudaMalloc(&{passed[role]}, ({shown(elements)}) * sizeof({_element(ctype)}));",
        ]
    passed |= dict.fromkeys((name for _, name in scalars(base)), "1.5f")
    blocks, threads = (", ".join(map(shown, one.split(", "))) for one in (grid, block))
    if has_names:
        lines += [f"    dim3 block({threads});", f"    dim3 grid({blocks});"]
        blocks, threads = "grid", "block"
    elif "," in blocks + threads:
        blocks, threads = f"dim3({blocks})", f"dim3({threads})"
    shared = "" if base.shared == "0" else f", {shown(base.shared)}"
    names = [text.split(" $")[-1] for text in _parameters(base, habit)]
    lines.append(f"    $kernel<<<{blocks}, {threads}{shared}>>>(")
    lines[-1] += ", ".join(passed[name] for name in names) + ");"
    return "\n".join(["", "int main() {", *lines, "    cudaDeviceSynchronize();", "}", ""])
