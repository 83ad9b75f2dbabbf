"""Macros that a kernel uses: pasted names, texts and pragmas, and what no macro may do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Launch, SourceError, compile_kernel, simulate
from simulator.frontend.clang import parse
from simulator.frontend.device_code import DeviceCode


def run(before: str, body: str) -> Any:
    """x[4] after one thread has executed a body."""
    kernel = compile_kernel(f"{before}\n__global__ void k(int* x) {{ {body} }}", "k")
    launch = Launch((1, 1, 1), (1, 1, 1), {"x": np.zeros(4, np.int32)})
    return simulate(kernel, launch).arrays["x"].tolist()


# What comes before the kernel, its body, and x after it.
VALUES: dict[str, tuple[str, str, list[int]]] = {
    "a name": ("#define VAR(a, n) a##n", "int VAR(v, 1) = 3; x[0] = VAR(v, 1) + v1;", [6, 0, 0, 0]),
    "a function": ("#define OP(name) f##name##f", "x[0] = OP(ma)(2, 3, 4) + OP(abs)(-1.f);",
                   [11, 0, 0, 0]),
    "functions of a type each": (
        "#define DEF(T) __device__ T twice_##T(T v) { return 2 * v; }\nDEF(int)\nDEF(float)",
        "x[0] = twice_int(4) + twice_float(1.5f);", [11, 0, 0, 0]),
    "expanded first": ("#define CAT2(a, b) a ## b\n#define CAT(a, b) CAT2(a, b)\n#define N 3\n"
                       "#define x3 x[1]", "CAT(x, N) = 5; int CAT2(x, N1) = 2; x[0] = xN1;",
                       [2, 5, 0, 0]),
    "nothing to paste": ("#define F(a, b, c) a##b##c", "x[0] = F(, 12, ) + F(1,,2);",
                         [24, 0, 0, 0]),
    "more arguments": ("#define SET(p, ...) put(p, ##__VA_ARGS__)\n"
                       "__device__ void put(int* p, int v = 7) { *p = v; }",
                       "SET(x); SET(x + 1, 3);", [7, 3, 0, 0]),
    "a text": ("#define NAME(a) #a", "x[0] = sizeof(NAME(a + b));", [6, 0, 0, 0]),
    "a pragma": ('#define UNROLL _Pragma("unroll")', "UNROLL for (int i = 0; i < 4; i++) x[i] = i;",
                 [0, 1, 2, 3]),
    "a pragma with a number": (
        "#define PRAGMA(x) _Pragma(#x)\n#define UNROLL(n) PRAGMA(unroll n)",
        'UNROLL(2) for (int i = 0; i < 3; i++) x[i] = i;'
        ' _Pragma("unroll 1") while (x[3] < 2) x[3]++;',
        [0, 1, 2, 2]),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    before, body, expected = VALUES[name]
    assert run(before, body) == expected


PASTE = "#define CAT(a, b) a##b\n#define LATER(a, b) CAT(a, b)\n"


def test_no_pasted_name_finds_a_file() -> None:
    probe = (
        "#if CAT(__has_, include)(</etc/passwd>)\n#define FOUND 9\n#else\n#define FOUND 1\n#endif"
    )
    assert run(PASTE + probe, "x[0] = FOUND;") == [1, 0, 0, 0]
    assert run(PASTE + probe.replace("CAT(__has_, include)", "LATER(__has_inc, lude_next)"),
               "x[0] = FOUND;") == [1, 0, 0, 0]  # fmt: skip


@pytest.mark.parametrize("name", ["_Pragma", "CAT(_Pra, gma)", "CAT(_, CAT2)"])
def test_no_pragma_of_a_macro_does_anything(name: str) -> None:
    name = name.replace("CAT(_, CAT2)", "LATER(_, CAT(Prag, ma))")
    hide = f'{PASTE}#define N 3\n{name}("push_macro(\\"N\\")")\n#undef N\n#define N 4\n'
    assert run(f'{hide}{name}("pop_macro(\\"N\\")")', "x[0] = N;") == [4, 0, 0, 0]
    text = (
        f'{PASTE}{name}("GCC dependency \\"/etc/passwd\\"") {name}("message(\\"hello\\")") int v;'
    )
    _, diagnostics = parse(DeviceCode(text, (), (), {}, {}, ()), "k.cu", {})
    assert not [str(one) for one in diagnostics]


BOMBS = {
    "of a pasted name": "#define B1 {0}\n#define F(x) B##x",
    "of a name pasted of expanded arguments": "#define B1 {0}\n#define ONE 1\n"
    "#define G(a, b) a##b\n#define H(a, b) G(a, b)\n#define F(x) H(B, ONE)",
    "of the argument behind a text": "#define T(s, v, e) v v v v v v v v\n#define W(...)"
    " T(#__VA_ARGS__, {0}, 1)\n#define F(x) W(a, 1)",
    "of a digraph": "%:define B1 {0}\n%:define F(x) B%:%:x",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_found_before_a_compiler_reads_it(name: str) -> None:
    macros = BOMBS[name].format("a " * 900)
    for line in range(2):
        macros += f"\n#define D{line} " + (f"D{line - 1} " if line else "F(1) ") * 12
    with pytest.raises(SourceError, match="tokens"):
        run(macros, "D1;")


def test_calls_of_macros_nest_only_so_deep() -> None:
    with pytest.raises(SourceError, match="120 macro calls"):
        run("#define F(x) (x + 1)", f"x[0] = {'F(' * 200}1{')' * 200};")


@pytest.mark.parametrize("name", ["T", "V", "N", "X"])
def test_a_macro_of_the_launch_changes_no_header(name: str) -> None:
    text = (
        "#include <cub/cub.cuh>\n#include <mma.h>\n"
        f"__global__ void k(int* x) {{ x[0] = {name} * sizeof(cub::WarpScan<int>::TempStorage); }}"
    )
    assert compile_kernel(text, "k", {name: "3"}).name == "k"
