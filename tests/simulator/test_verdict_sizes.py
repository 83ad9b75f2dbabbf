"""At which sizes a kernel is tried, and what a block covers of them."""

from __future__ import annotations

import pytest

from simulator import Kernel, LaunchError, compile_kernel
from simulator.verdict.form import ArrayArgument, LaunchForm, NumberArgument
from simulator.verdict.parameters import Argument
from simulator.verdict.sizes import Trial, tiles_of, trials
from simulator.verdict.tasks import TASKS

Numbers = dict[str, str]


def kernel_of(parameters: str, body: str = "x[blockIdx.x] = 1;") -> Kernel:
    return compile_kernel(f"__global__ void k(float* x, {parameters}) {{ {body} }}")


PRODUCT = kernel_of("int m, int n, int k")
WARPS = compile_kernel("""#include <mma.h>
__global__ void k(float* x, int m, int n, int k) {
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
    nvcuda::wmma::fill_fragment(sums, 0.0f);
    nvcuda::wmma::store_matrix_sync(x, sums, 16, nvcuda::wmma::mem_row_major);
}""")
ROLES = (("M", "m"), ("N", "n"), ("K", "k"))


def form_of(
    grid: str, numbers: Numbers, roles: tuple[tuple[str, str], ...] = (), block: str = "32 1 1"
) -> LaunchForm:
    x, y, z = (*grid.split(", "), "1", "1")[:3]
    bx, by, bz = block.split()
    given = (NumberArgument(name, value) for name, value in numbers.items())
    arguments: tuple[Argument, ...] = (ArrayArgument("x", "1", "8"), *given)
    return LaunchForm((x, y, z), (bx, by, bz), "0", arguments, "product" if roles else "", roles)


def product_form(grid: str, size: str = "8", **others: str) -> LaunchForm:
    return form_of(grid, dict.fromkeys("mnk", size) | others, ROLES)


def tried(found: list[Trial]) -> list[tuple[int, ...]]:
    return [tuple(one.sizes.values()) for one in found]


@pytest.mark.parametrize(
    ("kernel", "grid", "tiles"),
    [
        (PRODUCT, "(n + 15) / 16, (m + 31) / 32", (32, 16, 16)),
        (PRODUCT, "(n + 63) / 64, m / 64", (64, 64, 8)),
        (PRODUCT, "n / 64, m / 32", (32, 64, 32)),
        (PRODUCT, "n * m, k", (1, 1, 1)),
        (PRODUCT, "1", (8, 8, 8)),
        (PRODUCT, "(n + 15) / 16, 1, n / 4", (16, 16, 16)),
        (PRODUCT, "unknown", (8, 8, 8)),
        (PRODUCT, "8192 - n, m", (1, 1, 1)),
        (WARPS, "n / 64, m / 64", (64, 64, 16)),
    ],
)
def test_what_a_block_covers(kernel: Kernel, grid: str, tiles: tuple[int, ...]) -> None:
    names = {name: name for name in "mnk"}
    assert tuple(tiles_of(kernel, product_form(grid), names).values()) == tiles
    assert tiles_of(kernel, product_form(grid), {"K": "4"}) == {"K": 16 if kernel is WARPS else 8}


def test_sizes_of_a_product() -> None:
    found = trials(PRODUCT, product_form("(n + 15) / 16, (m + 31) / 32", "40"), ("M", "N", "K"))
    assert tried(found) == [
        (40, 40, 40), (32, 16, 16), (33, 15, 5), (1, 1, 1), (1, 19, 17), (35, 1, 3), (64, 16, 80),
        (67, 47, 18),
    ]  # fmt: skip
    assert [one.is_ragged for one in found] == [True, False, *[True] * 4, False, True]
    assert found[0].tiles == {"M": 32, "N": 16, "K": 16}
    assert found[1].numbers == {"m": 32, "n": 16, "k": 16}


def test_sizes_of_large_tiles_and_of_warps() -> None:
    roles = ("M", "N", "K")
    large = product_form("(n + 15) / 16, (m + 32) / 33")
    assert tried(trials(PRODUCT, large, roles)) == [
        (8, 8, 8), (7, 3, 5), (1, 1, 1), (33, 16, 16), (34, 15, 5)
    ]  # fmt: skip
    assert len(trials(PRODUCT, product_form("n / 32, m / 32"), roles)) == 8
    assert tried(trials(WARPS, product_form("n / 32, m / 64", "16"), roles)) == [
        (16, 16, 16), (64, 32, 16), (80, 16, 80), (16, 80, 32), (112, 16, 48), (128, 32, 80),
        (176, 80, 48), (65, 31, 5), (1, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("grid", "others", "expected"),
    [
        ("4, 4", {}, [(8, 8, 8), (1, 1, 1)]),  # of the form's grid alone: its own and smaller ones
        ("4, 4", {"m": "9"}, [(9, 8, 8), (8, 8, 8), (9, 7, 5), (1, 1, 1)]),
        ("unknown, 4", {}, [(8, 8, 8), (1, 1, 1)]),
    ],
)
def test_a_grid_that_does_not_follow_sizes(
    grid: str, others: Numbers, expected: list[tuple[int, ...]]
) -> None:
    assert tried(trials(PRODUCT, product_form(grid, **others), ("M", "N", "K"))) == expected


@pytest.mark.parametrize(
    ("more", "value", "is_free"),
    [("int p", "2", False), ("int p", "1", True), ("int p", "n", True), ("float p", "2", True)],
)
def test_sizes_stay_where_another_number_may_belong_to_them(
    more: str, value: str, is_free: bool
) -> None:
    kernel = kernel_of(f"int n, {more}")
    form = form_of("(n + 31) / 32", {"n": "8", "p": value}, (("n", "n"),))
    assert (len(trials(kernel, form, ("n",))) > 1) is is_free


def test_the_width_of_a_neighbourhood_stays() -> None:
    form = form_of("(n + 31) / 32", {"n": "8", "w": "5"}, (("n", "n"), ("width", "w")))
    found = trials(kernel_of("int n, int w"), form, ("n", "width"))
    assert {one.sizes["width"] for one in found} == {5}
    assert found[0].tiles == {"n": 32}


def test_without_a_task_the_forms_own_sizes_are_all() -> None:
    found = trials(kernel_of("int n, float a"), form_of("n / 4", {"n": "8", "a": "2"}), ())
    assert [(one.numbers, one.sizes, one.tiles) for one in found] == [({}, {"n": 8}, {})]


def test_the_forms_own_sizes_need_values() -> None:
    with pytest.raises(LaunchError):
        trials(PRODUCT, form_of("1", {"m": "8"}, (("M", "m"), ("N", "unknown"))), ("M", "N"))


@pytest.mark.parametrize(
    ("grid", "block", "roles", "longest"),
    [
        ("m", "32 1 1", "M N", {"M": 6, "N": 69}),
        ("m", "1 32 1", "M N", {}),
        ("m", "16 2 1", "M N", {}),
        ("m", "16 1 2", "M N", {}),
        ("m, n", "32 1 1", "M N", {}),
        ("m", "32 1 1", "M N K", {}),
        ("m / 3", "8 1 1", "M N", {"M": 8, "N": 21}),
    ],
)
def test_rows_that_are_longer_than_a_block(
    grid: str, block: str, roles: str, longest: dict[str, int]
) -> None:
    wanted = tuple(roles.split())
    meant = {role: name for role, name in ROLES if role in wanted}
    form = form_of(grid, dict.fromkeys(meant.values(), "8"), tuple(meant.items()), block)
    kernel = kernel_of(", ".join(f"int {one}" for one in meant.values()))
    sizes = [dict(one.sizes) for one in trials(kernel, form, wanted)]
    assert [one for one in sizes if max(one.values()) > 20][-1:] == ([longest] if longest else [])


def test_other_sizes_than_the_one_block_has_threads() -> None:
    kernel = kernel_of("int n", "int i = threadIdx.x; if (i < n) x[i] = 1;")
    found = tried(trials(kernel, form_of("1", {"n": "8"}, (("n", "n"),)), ("n",)))
    assert found == [(8,), (1,), (32,), (72,)]


def test_the_sizes_of_tasks_are_in_order() -> None:
    assert TASKS["batched_product"].sizes == ("batches", "M", "N", "K")
