"""Switches that edit a kernel's text: what they change, and what the simulator says of it."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Mapping

import numpy as np
import pytest

from simulator import Kernel, Report, catalogue, compile_kernel, record, simulate
from simulator.frontend.lexer import blank_comments
from simulator.language.tree import Barrier
from ui.view.what_if import (
    SWITCHES,
    Change,
    applicable_edits,
    apply_edits,
    diff_lines,
    with_element_type,
)

SIZES = [(8, 8, 8), (1, 1, 1), (13, 3, 18)]
SQUARE = "first-barrier second-barrier inner-barrier bounds zero-fill swap load-twice"
OFFERED = {
    "uncoalesced": "bounds double",
    "naive": "bounds double",
    "tiled": f"{SQUARE} pad transpose volatile double",
    "tiled_double": f"{SQUARE} pad transpose volatile float",
    "transposed": f"{SQUARE} pad volatile double",
    "padded": f"{SQUARE} pad-more volatile double",
    "swizzled": f"{SQUARE} pad volatile double",
    "rows": "first-barrier second-barrier bounds zero-fill load-twice volatile double",
    "registers": "first-barrier second-barrier bounds zero-fill load-twice volatile double",
    "vectors": "first-barrier second-barrier",
    "pipelined": "barrier",
    "warptiles": "first-barrier second-barrier third-barrier fourth-barrier fifth-barrier",
    "anyshape": "first-barrier second-barrier third-barrier",
    "few_rows": "barrier",
    "few_columns": "barrier bounds",
    **dict.fromkeys(
        ("tensor_tf32", "tensor_half", "tensor_fp32"),
        "first-barrier second-barrier third-barrier fourth-barrier",
    ),
}
BARRIERS = [
    edit.edit.key
    for edit in SWITCHES
    if edit.edit.key.endswith("barrier") and edit.edit.key != "inner-barrier"
]
EDGES = ["bounds", "zero-fill"]  # of harm where a tile does not divide a size
# Kernels that take one of two ways, by the launch's sizes, each with barriers of its own.
OF_TWO_WAYS = ("warptiles", "anyshape", "tensor_tf32", "tensor_half", "tensor_fp32")
MEET_AT_THE_END = ("few_rows", "few_columns")  # threads, at a barrier, and nowhere else
HARMLESS = [
    (name, combination)
    for name, keys in OFFERED.items()
    for count in range(1, 4)
    for combination in itertools.combinations(
        [key for key in keys.split() if key not in BARRIERS + EDGES], count
    )
]
BROKEN = [
    (name, key)
    for name, keys in OFFERED.items()
    for key in keys.split()
    if key in BARRIERS and name not in OF_TWO_WAYS + MEET_AT_THE_END
]


@functools.lru_cache(maxsize=2)  # a test runs it at several sizes
def compiled(name: str, keys: tuple[str, ...], at: int) -> Kernel:
    entry = with_element_type(catalogue()[name], keys)
    return compile_kernel(apply_edits(entry.source(**entry.teaching[at]), keys), entry.kernel)


def run(
    name: str, keys: Collection[str], M: int, N: int, K: int, at: int = 0
) -> tuple[Report, np.ndarray]:
    """An edited kernel's report at one of its settings for a screen, and NumPy's product."""
    entry = with_element_type(catalogue()[name], keys)
    setting = entry.teaching[at]
    kernel = compiled(name, tuple(keys), at)
    random = np.random.default_rng((M, N, K))
    A, B = random.integers(0, 10, (M, K)), random.integers(0, 10, (K, N))
    C = np.full((M, N), np.nan)
    arguments = {"A": A, "B": B, "C": C, "M": M, "N": N, "K": K}
    return simulate(kernel, entry.launch(arguments, **setting)), A @ B


def code(text: str) -> str:
    """The code of a text, without comments, its kernel's own name and the breaks of its lines."""
    bare = re.sub(r"\b(?:tiled_double|tiled|transposed|padded)\b", "NAME", blank_comments(text))
    return " ".join(bare.split())


@pytest.mark.parametrize("name", OFFERED)
def test_only_edits_that_apply_are_offered(name: str) -> None:
    assert [edit.key for edit in applicable_edits(catalogue()[name].source())] == OFFERED[
        name
    ].split()


def test_every_kernel_of_the_catalogue_is_in_the_table() -> None:
    assert set(OFFERED) == set(catalogue())


@pytest.mark.parametrize(
    ("name", "keys", "same"),
    [
        ("tiled", ("transpose",), "transposed"),
        ("tiled", ("transpose", "pad"), "padded"),
        ("transposed", ("pad",), "padded"),
        ("tiled", ("double",), "tiled_double"),
        ("tiled_double", ("float",), "tiled"),
        ("tiled_double", ("float", "pad", "transpose"), "padded"),
    ],
)
def test_edits_lead_from_one_kernel_of_the_catalogue_to_another(
    name: str, keys: tuple[str, ...], same: str
) -> None:
    assert code(apply_edits(catalogue()[name].source(), keys)) == code(catalogue()[same].source())


@pytest.mark.parametrize("most", [3, pytest.param(5, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", OFFERED)
@pytest.mark.sample(4)
def test_order_does_not_matter_and_lines_keep_their_numbers(name: str, most: int) -> None:
    text = catalogue()[name].source()
    for count in range(min(most, len(OFFERED[name].split())) + 1):
        for keys in itertools.combinations(OFFERED[name].split(), count):
            made = apply_edits(text, keys)
            assert made.count("\n") == text.count("\n")
            for order in {keys[::-1], (*keys[1:], *keys[:1])} - {keys}:
                assert apply_edits(text, order) == made


@pytest.mark.parametrize(("name", "keys"), HARMLESS)
@pytest.mark.sample(22)
def test_an_edit_that_keeps_the_kernel_right_gives_numpys_product(
    name: str, keys: tuple[str, ...]
) -> None:
    for sizes in SIZES:
        report, product = run(name, keys, *sizes)
        assert np.array_equal(report.arrays["C"], product), sizes
        assert not report.hazards
        wanted = "float64" if "double" in keys else "float32"
        if not {"double", "float"} & set(keys):
            wanted = catalogue()[name].element
        assert report.arrays["C"].dtype == wanted


@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name, keys in OFFERED.items() for key in keys.split() if key in EDGES],
)
@pytest.mark.sample(3)
def test_an_edit_of_the_edges_harms_only_where_there_are_some(name: str, key: str) -> None:
    report, product = run(name, [key], 64, 64, 64)
    assert np.array_equal(report.arrays["C"], product)
    assert not report.hazards
    report, _ = run(name, [key], 13, 9, 18)
    kinds = {str(hazard.kind) for hazard in report.hazards}
    assert ("out-of-bounds" if key == "bounds" else "uninitialized-read") in kinds


def counters(name: str, keys: Collection[str], tile: int) -> Mapping[str, int]:
    """An edited kernel's counters at 64 x 64 x 64."""
    entry, ones = catalogue()[name], np.ones((64, 64))
    arguments = {"A": ones, "B": ones, "C": 0 * ones, "M": 64, "N": 64, "K": 64}
    kernel = compile_kernel(apply_edits(entry.source(TILE=tile), keys), entry.kernel)
    return simulate(kernel, entry.launch(arguments, TILE=tile)).counters


def test_a_barrier_after_each_product_is_waited_for_tile_and_two_times_a_tile() -> None:
    text = apply_edits(catalogue()["tiled"].source(TILE=4), ["inner-barrier"])
    ones = np.ones((8, 8))
    arguments = {"A": ones, "B": ones, "C": 0 * ones, "M": 8, "N": 8, "K": 8}
    launch = catalogue()["tiled"].launch(arguments, TILE=4)
    steps = record(compile_kernel(text, "tiled"), launch).steps
    assert sum(isinstance(step.statement, Barrier) for step in steps) == 2 * (4 + 2)


def test_tiles_that_are_loaded_twice_cost_twice_the_loads() -> None:
    once, twice = (counters("tiled", keys, 16) for keys in ([], ["load-twice"]))
    assert twice["global_load_sectors"] == 2 * once["global_load_sectors"]
    assert twice["shared_load_wavefronts"] == once["shared_load_wavefronts"]


def test_swapped_threads_do_not_coalesce() -> None:
    straight, swapped = (counters("tiled", keys, 16) for keys in ([], ["swap"]))
    assert swapped["global_load_sectors"] > 2 * straight["global_load_sectors"]
    assert swapped["shared_load_wavefronts"] > straight["shared_load_wavefronts"]


def test_a_second_column_of_padding_brings_conflicts_back() -> None:
    one, two = (counters("padded", keys, 32) for keys in ([], ["pad-more"]))
    reads = one["shared_load_requests"] // 2  # half of them are of Bs
    assert two["shared_load_wavefronts"] == one["shared_load_wavefronts"] + reads


@pytest.mark.parametrize(("name", "key"), BROKEN)
@pytest.mark.sample(2)
def test_a_kernel_without_a_barrier_is_reported_where_it_breaks(name: str, key: str) -> None:
    text = catalogue()[name].source(**catalogue()[name].teaching[0])
    removed = [change.line for change in diff_lines(text, apply_edits(text, [key]))]
    assert len(removed) == 1
    report, _ = run(name, [key], 16, 16, 24)
    races = [hazard for hazard in report.hazards if len(hazard.lines) == 2]
    kinds = {hazard.kind for hazard in races}
    if key == "first-barrier":
        assert "read-after-write" in kinds
        assert all(h.lines[0] < removed[0] < h.lines[1] for h in races)
    elif key == "second-barrier":
        assert kinds == {"write-after-read"}
        assert all(h.lines[1] < h.lines[0] < removed[0] for h in races)
    else:
        assert kinds == {"read-after-write", "write-after-read"}


RAW, WAR, UNSET = "read-after-write", "write-after-read", "uninitialized-read"
EVEN, LONG, RAGGED = (64, 64, 64), (64, 64, 128), (33, 30, 70)
TENSOR_BARRIERS = [
    ("first-barrier", LONG, {RAW, UNSET}),
    ("second-barrier", LONG, {RAW, UNSET, WAR}),
    ("third-barrier", RAGGED, {RAW, UNSET}),
    ("fourth-barrier", RAGGED, {WAR}),
]


@pytest.mark.parametrize(
    ("name", "key", "sizes", "kinds"),
    [
        ("warptiles", "first-barrier", RAGGED, {RAW, UNSET}),
        ("warptiles", "second-barrier", RAGGED, {WAR}),
        ("warptiles", "third-barrier", EVEN, {RAW, UNSET}),
        ("warptiles", "fourth-barrier", EVEN, {RAW, UNSET, WAR}),
        ("warptiles", "fifth-barrier", EVEN, {WAR, "write-after-write"}),
        *(("tensor_tf32", *case) for case in TENSOR_BARRIERS),
        *(("tensor_half", *case) for case in TENSOR_BARRIERS),
        *(("tensor_fp32", *case) for case in TENSOR_BARRIERS),
    ],
)
@pytest.mark.sample(16)
def test_each_of_many_barriers_is_missed_where_the_launch_comes_to_it(
    name: str, key: str, sizes: tuple[int, int, int], kinds: set[str]
) -> None:
    report, _ = run(name, [key], *sizes, at=1)
    assert {hazard.kind for hazard in report.hazards} == kinds
    report, product = run(name, [key], *(EVEN if sizes == RAGGED else RAGGED), at=1)
    assert not report.hazards
    assert np.array_equal(report.arrays["C"], product)


@pytest.mark.parametrize("name", MEET_AT_THE_END)
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.sample(3)
def test_sums_that_meet_at_the_end_need_the_barrier(name: str, at: int) -> None:
    report, _ = run(name, ["barrier"], *EVEN, at=at)
    assert RAW in {hazard.kind for hazard in report.hazards}


def test_all_barriers_of_a_text_can_go() -> None:
    keys = OFFERED["warptiles"].split()
    text = catalogue()["warptiles"].source()
    gone = apply_edits(text, keys)
    assert gone.count("// __syncthreads(); removed") == len(keys) == text.count("__syncthreads();")
    assert apply_edits(text, keys[::-1]) == gone


def test_without_any_barrier_both_races_are_reported() -> None:
    report, _ = run("tiled", ["second-barrier", "first-barrier"], 8, 8, 8)
    assert {h.kind for h in report.hazards} >= {"read-after-write", "write-after-read"}


def test_a_removed_barrier_stays_readable_in_its_line() -> None:
    text = catalogue()["tiled"].source()
    line = next(n for n, at in enumerate(text.splitlines(), 1) if at.strip() == "__syncthreads();")
    assert diff_lines(text, apply_edits(text, ["first-barrier"])) == (
        Change(line, "        __syncthreads();", "        // __syncthreads(); removed"),
    )


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("a\nb\nc", "a\nb\nc", ()),
        ("a\nb\nc", "a\nB\nc", (Change(2, "b", "B"),)),
        ("a\nc", "a\nb\nc", (Change(2, None, "b"),)),
        ("a\nb\nc", "a\nc", (Change(2, "b", None),)),
        ("", "a", (Change(1, None, "a"),)),
    ],
)
def test_changes_name_the_lines_of_the_new_text(
    before: str, after: str, wanted: tuple[Change, ...]
) -> None:
    assert diff_lines(before, after) == wanted


@pytest.mark.parametrize(
    ("name", "key", "said"),
    [
        ("naive", "pad", "does not apply to this kernel"),
        ("warptiles", "barrier", "does not apply to this kernel"),
        ("tiled", "float", "does not apply to this kernel"),
        ("tiled", "nonsense", "'nonsense' is not an edit"),
    ],
)
def test_an_edit_that_does_not_apply_is_refused(name: str, key: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        apply_edits(catalogue()[name].source(), [key])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// __syncthreads();\n// float Bs[TILE][TILE];",
        "/* float x = 0.0f;\n__syncthreads();\n*/",
        "if (x) __syncthreads();\n",  # not alone in its line
        "__shared__ float Bs[TILE][DEPTH];\nBs[ty][tx] = a;\nx = Bs[k][tx]; float4 v;",
        "float x = fmaf(a, b, c);",
        "double x; float y;",
    ],
)
def test_a_text_that_is_not_surely_understood_is_left_alone(text: str) -> None:
    assert applicable_edits(text) == ()


@pytest.mark.parametrize("use", ["Bs[k][tx]", "&Bs[0][0]", "Bs[ty][tx]", "Bs[k + 1][tx]"])
def test_transposing_is_offered_only_if_every_use_of_the_tile_is_known(use: str) -> None:
    text = catalogue()["tiled"].source()
    other = text.replace("float acc = 0.0f;", f"float acc = 0.0f; auto other = {use};")
    assert other != text
    assert "transpose" in {edit.key for edit in applicable_edits(text)}
    assert "transpose" not in {edit.key for edit in applicable_edits(other)}


def test_numbers_change_with_their_type_and_comments_do_not() -> None:
    text = "// float 0.0f\nfloat x = 0.0f + .5f + 1.e-3F + 2 + 0x1f + a.f + x1.0f;\n"
    made = "// float 0.0f\ndouble x = 0.0 + .5 + 1.e-3 + 2 + 0x1f + a.f + x1.0f;\n"
    assert apply_edits(text, ["double"]) == made
    text = "double y = 0.0 + 1e-3 + 2 + a.x + b[3];  // 1.0\n"
    assert apply_edits(text, ["float"]) == "float y = 0.0f + 1e-3f + 2 + a.x + b[3];  // 1.0\n"


def test_every_switch_says_what_it_does_in_a_sentence() -> None:
    for switch in SWITCHES:
        assert re.fullmatch(r"[A-Z][^.]*\.", switch.edit.help_text)
        assert re.fullmatch(r"[a-z-]+", switch.edit.key)


def test_a_vote_of_the_block_is_no_barrier_to_remove() -> None:
    text = catalogue()["tiled"].source()
    voting = text.replace("float acc", "int all = __syncthreads_and(tx < 99);\n    float acc", 1)
    assert "__syncthreads_and" in voting
    edited = apply_edits(voting, ["first-barrier", "second-barrier"])
    assert edited.count("// __syncthreads(); removed") == 2
    assert "int all = __syncthreads_and(tx < 99);" in edited
