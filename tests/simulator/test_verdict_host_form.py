"""The launch in a file's host code as expressions, and where it is only known as numbers."""

from __future__ import annotations

import pytest

from simulator import compile_kernel
from simulator.verdict.host_form import HostForm, host_form

KERNEL = """#define TILE 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
__host__ __device__ inline int over(int a, int b) { return (a + b - 1) / b; }
__global__ void other(float* x) { }
struct Pair { int first, second; };
__global__ void k(float* x, int n, Pair p, int m) { }
"""


def read(host: str, before: str = KERNEL) -> HostForm:
    text = before + host
    return host_form(text, compile_kernel(text, "k"))


def launched(statements: str, configuration: str) -> HostForm:
    """A launch whose n and m are the host's rows and columns, which are not known."""
    return read(
        f"void run(float* x, Pair p, int rows, int columns) {{ {statements}"
        f" k<<<{configuration}>>>(x, rows, p, columns); }}"
    )


@pytest.mark.parametrize(
    ("statements", "grid", "expected"),
    [
        ("", "rows", "n 1 1"),
        ("", "(rows + TILE - 1) / TILE", "(n + TILE - 1) / TILE 1 1"),
        ("", "(rows)", "n 1 1"),
        ("", "(rows + 1) * (columns + 1)", "(n + 1) * (m + 1) 1 1"),
        ("", "2 * (rows + 1)", "2 * (n + 1) 1 1"),
        ("", "rows / 16u", "n / 16 1 1"),
        ("", "dim3(rows, columns, 2)", "n m 2"),
        ("", "dim3{rows, 7}", "n 7 1"),
        ("", "CEIL_DIV(columns, TILE)", "(m + TILE - 1) / TILE 1 1"),
        ("", "over(rows, 8)", "(n + 8 - 1) / 8 1 1"),
        ("dim3 g(rows, columns);", "g", "n m 1"),
        ("dim3 b(8, 4), g(rows / b.x, columns / b.y, b.z);", "g", "n / 8 m / 4 1"),
        ("dim3 b(8), g{columns / b.z};", "g", "m / 1 1 1"),
        ("dim3 g = {rows, columns};", "g", "n m 1"),
        ("dim3 g = dim3(columns, rows);", "g", "m n 1"),
        ("dim3 g; g = dim3(columns, rows);", "g", "m n 1"),
        ("int a = columns + 2, b = a * 2;", "b", "(m + 2) * 2 1 1"),
        ("int a = 3; a = rows;", "a", "n 1 1"),
        ("int a = rows, b = a, c = b, d = c, e = d;", "e", "n 1 1"),
        ("int a = rows, b = a, c = b, d = c, e = d, f = e;", "f", None),
        ("dim3 g(rows, unknown);", "g", None),
        ("dim3 g(1, 2, 3, rows);", "g", None),
        ("dim3 g(rows, );", "g", None),
        ("", "unknown", None),
        ("int g(0); f(rows);", "f", None),
        ("dim3 f; { f(rows); }", "f", None),
        ("", "rows ? 1 : 2", None),
        ("", "+".join(["rows"] * 30), "+ ".join(["n "] * 29) + "+ n 1 1"),
        ("", "+".join(["rows"] * 31), None),
    ],
)
def test_a_grid_of_expressions(statements: str, grid: str, expected: str | None) -> None:
    found = launched(statements, f"{grid}, 32").grid
    assert (found and " ".join(found)) == expected


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ("1, 2", "0"),
        ("1, 2, 0", "0"),
        ("1, 2, 48", "48"),
        ("1, 2, rows * sizeof(float)", "n * 4"),
        ("1, 2, rows * sizeof(Pair)", None),
        ("1, 2, 2 * columns * sizeof(double), 0", "2 * m * 8"),
        ("1, 2, unknown", None),
    ],
)
def test_shared_bytes(configuration: str, expected: str | None) -> None:
    assert launched("", configuration).shared_bytes == expected


def sides(text: str) -> tuple[str, ...]:
    return (*text.split(", "), "1", "1")[:3]


MAIN = "int main() {{ const int SIDE = 8; int rows = 64, columns = 32; float* x; Pair p; {} }}"


@pytest.mark.parametrize(
    ("statements", "grid", "block"),
    [
        ("k<<<rows / SIDE, SIDE>>>(x, rows, p, columns);", "n / 8", "8"),
        ("k<<<rows / 8, 256>>>(x, rows, p, rows);", "64 / 8", "256"),  # n or m
        ("k<<<rows / 8, TILE>>>(x, rows + 0, p, columns);", "64 / 8", "TILE"),
        ("dim3 g(rows, columns); g.y = 3; k<<<g, 1>>>(x, rows, p, columns);", "64, 3", "1"),
        ("dim3 g(rows, 1); rows = 6; k<<<g, 1>>>(x, rows, p, columns);", "64", "1"),
        ("dim3 g(rows / p.first, 1); g.x = 2; k<<<g, 1>>>(x, rows, p, columns);", "2", "1"),
        ("dim3 g(rows / (rows - 64), 1); g.x = 2; k<<<g, 1>>>(x, rows, p, columns);", "2", "1"),
        ("other<<<9, 2>>>(x);\nk<<<rows / 2, 3>>>(x, rows, p, columns);", "n / 2", "3"),
        ("k<<<rows / 2, 2>>>(x, rows, p, columns);\nk<<<4, 3>>>(x, rows, p, columns);",
         "n / 2", "2"),
        ("void* a[] = {&x, &rows, &p, &columns};"
         " cudaLaunchKernel((void*)k, dim3(columns), dim3(2), a, 0, 0);", "32", "2"),
    ],
)  # fmt: skip
def test_expressions_agree_with_the_numbers_that_are_known(
    statements: str, grid: str, block: str
) -> None:
    found = read(MAIN.format(statements))
    assert (found.grid, found.block) == (sides(grid), sides(block))
    assert found.shared_bytes == "0"


def test_arguments_by_parameter() -> None:
    found = read(MAIN.format("cudaMalloc(&x, 40); k<<<1, 1>>>(x, rows, p, columns);")).arguments
    values = {name: (one.value, one.elements) for name, one in found.items()}
    assert values == {"x": (None, 10), "n": (64, None), "m": (32, None)}
    assert {"x", "n"} <= read(MAIN.format("k<<<1, 1>>>(x, rows);")).arguments.keys()


@pytest.mark.parametrize("host", ["", "int main() { other<<<1, 1>>>(0); }"])
def test_a_file_that_does_not_launch_a_kernel(host: str) -> None:
    assert read(host) == HostForm(None, None, None, {})


def test_a_variable_beside_a_dim3() -> None:
    grid = "dim3 a(2, 3), g(rows), c(4);"
    for statements, expected in ((grid, "n"), ("int more(4); " + grid, "n")):
        found = launched(statements, "g, 1").grid
        assert found == (expected, "1", "1")


def test_a_grid_outside_functions() -> None:
    text = "dim3 grid(8 * 2, 3);\n" + KERNEL + "int main() { k<<<grid>>>(0, 4); }"
    found = host_form(text, compile_kernel(text, "k"))
    assert (found.grid, found.block) == (("8 * 2", "3", "1"), None)
