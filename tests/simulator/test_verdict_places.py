"""Cells that a kernel picks by what its arrays hold: which arrays, and which hazards they cause."""

from __future__ import annotations

import pytest

from simulator import compile_kernel
from simulator.language.tree import MemorySpace
from simulator.observers.hazards.findings import Example, Hazard
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm
from simulator.verdict.places import Place, Places, find_places, lines_of_accesses

PARAMETERS = "const int* p, const int* q, float* x, float* y, int n"


@pytest.mark.parametrize(
    ("body", "accesses", "bounds"),
    [
        ("x[p[n]] = 1;", ["x by p"], ""),
        ("*(x + p[n]) = 1;", ["px by p"], ""),
        ("int i = p[0]; x[i] = y[i];", ["x by p", "y by p"], ""),
        ("int i = 0; i = p[0] + q[i]; x[i] = 1;", ["q by pq", "x by pq"], ""),
        ("int i = 0; i += p[0]; x[i] = 1;", ["x by p"], ""),
        ("x[p[q[0]]] = 1;", ["p by q", "x by pq"], ""),
        ("int i = of(p, 3); x[i] = 1;", ["x by p"], ""),
        ("float* to = x + p[0]; to[n] = 1;", ["ptox by p"], ""),
        ("const int* from = p; x[from[0]] = 1;", ["x by p"], ""),
        ("__shared__ int s[4]; s[n] = p[0]; x[s[0]] = 1;", ["x by p"], ""),
        ("__shared__ int s[4]; s[n] = q[p[0]]; x[s[0]] = 1;", ["q by p", "x by pq"], ""),
        ("int s[2] = {p[0], 1}; x[s[0]] = 1;", ["x by p"], ""),
        ("__shared__ int s[4]; s[p[0]]++; x[s[1]] = 1;", ["s by p", "x by p"], ""),
        ("int* to = (int*)q; x[atomicAdd(to, 1)] = 1;", ["x by q"], ""),
        ("int* to = (int*)y; atomicAdd(to, p[0]); x[to[0]] = 1;", ["x by p"], ""),
        ("for (int i = p[0]; i < p[n]; ++i) x[i] = 1;", ["x by p"], "p"),
        ("for (int i = 0; i < q[n]; ++i) x[i] = 1;", [], "q"),
        ("int e = q[n]; while (e > n) { e -= 1; x[n] = 1; }", [], "q"),
        ("for (;;) { if (p[0]) break; }", [], ""),
        ("int i = y[0]; x[i] = 1;", [], ""),  # of floats
        ("if (p[0]) x[n] = 1;", [], ""),
        ("x[n] = p[0];", [], ""),
        ("int i = p != q; x[i] = 1;", [], ""),
        ("__shared__ int s[4]; s[n] = p != q; x[s[0]] = 1;", [], ""),
    ],
)
def test_what_picks_cells(body: str, accesses: list[str], bounds: str) -> None:
    of = "__device__ int of(const int* from, int at) { return from[at]; }\n"
    found = find_places(compile_kernel(f"{of}__global__ void k({PARAMETERS})\n{{ {body} }}"))
    named = {f"{''.join(sorted(one.arrays))} by {''.join(sorted(one.sources))}"
             for one in found.accesses}  # fmt: skip
    assert named == set(accesses)
    assert found.bounds == frozenset(bounds)
    assert all(one.line == 3 for one in found.accesses)


def test_lines_that_access_arrays() -> None:
    kernel = compile_kernel(f"""__global__ void k({PARAMETERS}) {{
    x[n] = y[n];
    float* to = x + 1;
    to[0] = 1;
    *to = p[n];
}}""")
    assert lines_of_accesses(kernel, {"x"}) == [2, 4, 5]
    assert lines_of_accesses(kernel, {"y", "p"}) == [2, 5]


OUTSIDE, UNSET = HazardKind.OUT_OF_BOUNDS, HazardKind.UNINITIALIZED_READ
TWICE, SOON = HazardKind.WRITE_AFTER_WRITE, HazardKind.READ_AFTER_WRITE
PLACES = Places(
    (Place(5, frozenset("x"), frozenset("p")), Place(6, frozenset("xy"), frozenset("q")),
     Place(7, frozenset("z"), frozenset("z"))), frozenset()
)  # fmt: skip


@pytest.mark.parametrize(
    ("hazards", "sources"),
    [
        ([(OUTSIDE, (5,), "x")], {0: {"p"}}),
        ([(OUTSIDE, (6,), "y"), (TWICE, (5, 6), "x")], {0: {"q"}, 1: {"p", "q"}}),
        ([(OUTSIDE, (4,), "x"), (OUTSIDE, (5,), "y")], {}),
        ([(OUTSIDE, (7,), "z")], {}),  # it begins with zeros
        ([(UNSET, (4,), "x")], {0: {"p", "q"}}),
        ([(UNSET, (5,), "x")], {}),
        ([(SOON, (5, 5), "x"), (TWICE, (5, 5), "x"), (TWICE, (6, 6), "y")], {2: {"q"}}),
        ([(HazardKind.WRITE_AFTER_READ, (6, 6), "y"), (TWICE, (6, 6), "y")], {}),
    ],
)
def test_hazards_that_drawn_values_cause(
    hazards: list[tuple[HazardKind, tuple[int, ...], str]], sources: dict[int, set[str]]
) -> None:
    arrays = tuple(ArrayArgument(one, "1", "8") for one in "pqxy")
    form = LaunchForm(("1",) * 3, ("1",) * 3, "0",
                      (*arrays, ArrayArgument("z", "1", "8", Contents.ZEROS)))  # fmt: skip
    example = Example((0, 0, 0), (0, 0, 0), None, None, None, ())
    found = [Hazard(kind, lines, array, MemorySpace.GLOBAL, "", 1, example)
             for kind, lines, array in hazards]  # fmt: skip
    assert PLACES.sources(form, found) == sources
    assert [PLACES.picked_by(one) for one in "pqz"] == [["x"], ["x", "y"], []]
