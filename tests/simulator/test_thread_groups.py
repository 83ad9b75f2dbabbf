"""Cooperative groups: textbook idioms against NumPy, what is refused, and what a step says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Launch, compile_kernel, narrate, record, simulate
from simulator.language.errors import SourceError
from tests.simulator.launches import launch_text

HEAD = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
"""
THREADS = np.arange(64)


def run(body: str, functions: str = "", ctype: str = "int", threads: int = 64) -> Any:
    """x[i] of `threads` threads i after a body with the block's group, and the hazards."""
    text = f"""{HEAD}{functions}
    __global__ void k({ctype}* x) {{
        cg::thread_block block = cg::this_thread_block();
        int i = block.thread_rank();
        {body}
    }}"""
    dtype = {"int": np.int32, "float": np.float32, "double": np.float64}[ctype]
    kernel, launch = launch_text(text, block=threads, x=np.arange(threads, dtype=dtype))
    report = simulate(kernel, launch)
    return report.arrays["x"], report.hazards


def ranks(width: int) -> Any:
    return THREADS % width


def of_every_fifth(i: int) -> int:
    """What thread i finds of the group of every fifth lane of its warp."""
    members = [j for j in range(i // 32 * 32, i // 32 * 32 + 32) if j % 5 == 1]
    rank = members.index(i)
    after, before = members[min(rank + 1, len(members) - 1)], members[max(rank - 1, 0)]
    odd = sum(1 << r for r, member in enumerate(members) if member % 2)
    shuffled = 100 * (members[2] % 32) + 10000 * (after % 32) + 100000000 * (before % 2)
    return rank + 10 * len(members) + 1000000 * odd + shuffled


VALUES = {
    "the block": (
        "x[i] = i + 100 * block.size() + 10000 * block.group_index().x + block.thread_index().y"
        " + block.num_threads() * (block.dim_threads().x == 64);",
        THREADS + 6464,
    ),
    "a tile's numbers": (
        "auto tile = cg::tiled_partition<8>(block); x[i] = tile.thread_rank() + 10 * tile.size()"
        " + 1000 * tile.meta_group_rank() + 100000 * tile.meta_group_size();",
        ranks(8) + 80 + 1000 * (THREADS // 8) + 800000,
    ),
    "a tile of a tile": (
        "auto tile = cg::tiled_partition<16>(block); auto part = cg::tiled_partition<4>(tile);"
        " x[i] = part.thread_rank() + 10 * part.meta_group_rank() + 100 * part.meta_group_size();",
        ranks(4) + 10 * (THREADS % 16 // 4) + 400,
    ),
    "a tile without its parent": (
        "cg::thread_block_tile<4> tile = cg::tiled_partition<4>(block);"
        " x[i] = tile.shfl(i, 2) + 100 * tile.meta_group_rank();",
        THREADS // 4 * 4 + 2 + 100 * (THREADS // 4),
    ),
    "shuffles of a tile": (
        "auto tile = cg::tiled_partition<8>(block); x[i] = tile.shfl_down(i, 3)"
        " + 100 * tile.shfl_up(i, 1) + 10000 * tile.shfl_xor(i, 5);",
        np.where(ranks(8) + 3 < 8, THREADS + 3, THREADS)
        + 100 * np.where(ranks(8) > 0, THREADS - 1, THREADS)
        + 10000 * (THREADS ^ 5),
    ),
    "votes of a tile": (
        "auto tile = cg::tiled_partition<4>(block); x[i] = tile.ballot(i % 3 == 0)"
        " + 100 * tile.any(i == 5) + 200 * tile.all(i < 32) + 1000 * tile.match_any(i / 2);",
        np.array([sum(1 << j for j in range(4) if (i // 4 * 4 + j) % 3 == 0) for i in THREADS])
        + 100 * (THREADS // 4 == 1)
        + 200 * (THREADS < 32)
        + 1000 * (3 << (THREADS % 4 // 2 * 2)),
    ),
    "the active lanes": (
        "if (i % 5 == 1) { auto active = cg::coalesced_threads(); x[i] = active.thread_rank()"
        " + 10 * active.size() + 100 * active.shfl(i % 32, 2) + 10000 * active.shfl_down(i % 32, 1)"
        " + 1000000 * active.ballot(i % 2) + 100000000 * active.shfl_up(i % 2, 1); }"
        " else x[i] = 0;",
        [of_every_fifth(i) if i % 5 == 1 else 0 for i in range(64)],
    ),
    "sync of all kinds": (
        "__shared__ int s[64]; auto tile = cg::tiled_partition<16>(block); s[i] = i; tile.sync();"
        " int v = s[i ^ 15]; block.sync(); s[i] = v; cg::sync(block); v = s[63 - i];"
        " cg::sync(tile); cg::this_thread_block().sync(); s[i] = 0; x[i] = v;",
        (63 - THREADS) ^ 15,
    ),
    "aggregated atomics": (
        "__shared__ int n; if (!i) n = 0; block.sync(); if (i % 3 == 0) {"
        " cg::coalesced_group g = cg::coalesced_threads(); int first;"
        " if (g.thread_rank() == 0) first = atomicAdd(&n, g.size());"
        " x[i] = g.shfl(first, 0) + g.thread_rank(); }",
        np.where(THREADS % 3 == 0, THREADS // 3, THREADS),
    ),
    "a scan": (
        "auto tile = cg::tiled_partition<16>(block); x[i] = cg::inclusive_scan(tile, i)"
        " + 1000 * cg::exclusive_scan(tile, i, cg::plus<int>())"
        " + 1000000 * cg::exclusive_scan(tile, i & 7, cg::greater<int>());",
        [
            sum(range(i // 16 * 16, i + 1)) + 1000 * sum(range(i // 16 * 16, i))
            + 1000000 * max([j & 7 for j in range(i // 16 * 16, i)], default=0)
            for i in range(64)
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", VALUES)
def test_a_group_computes(case: str) -> None:
    body, expected = VALUES[case]
    found, hazards = run(body)
    assert found.tolist() == list(expected)
    assert not hazards


OPERATIONS = {
    "plus": lambda values: values.sum(dtype=np.int32),
    "less": np.min,
    "greater": np.max,
    "bit_and": np.bitwise_and.reduce,
    "bit_or": np.bitwise_or.reduce,
    "bit_xor": np.bitwise_xor.reduce,
}


@pytest.mark.parametrize("group", ["tile", "active"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_reduction_of_whole_numbers(operation: str, group: str) -> None:
    made = "cg::tiled_partition<8>(block)" if group == "tile" else "cg::coalesced_threads()"
    found, _ = run(
        f"if (i / 8 % 2) {{ auto g = {made};"
        f" x[i] = cg::reduce(g, i * 37, cg::{operation}<int>()); }}"
    )
    width = 8 if group == "tile" else 32
    for i in range(64):
        others = [j for j in range(i // width * width, i // width * width + width) if j // 8 % 2]
        values = np.array(others, np.int32) * 37
        expected = int(OPERATIONS[operation](values)) if i // 8 % 2 else i  # type: ignore[operator]
        assert int(found[i]) == expected


@pytest.mark.parametrize("ctype", ["float", "double"])
def test_a_sum_of_floats_adds_in_the_order_that_cuda_does(ctype: str) -> None:
    values = f"({ctype})0.1 * i * i"
    found, _ = run(
        "auto t = cg::tiled_partition<16>(block);"
        f" x[i] = cg::reduce(t, {values}, cg::plus<{ctype}>());",
        ctype=ctype,
    )
    dtype = np.dtype(found.dtype)
    sums = dtype.type(0.1) * THREADS.astype(dtype) * THREADS.astype(dtype)
    for distance in (8, 4, 2, 1):
        sums = sums + sums[THREADS ^ distance]
    assert found.tobytes() == sums.tobytes()


def test_a_sum_of_active_floats_adds_in_the_order_of_a_scan() -> None:
    found, hazards = run(
        "if (i % 32 < 11) { auto g = cg::coalesced_threads();"
        " x[i] = cg::reduce(g, 0.1f * i, cg::plus<float>()); }",
        ctype="float",
        threads=32,
    )
    values = (np.float32(0.1) * np.arange(32, dtype=np.float32))[:11]
    for distance in (1, 2, 4, 8):
        joined = values.copy()
        joined[distance:] = values[distance:] + values[:-distance]
        values = joined
    assert not hazards
    assert found[:11].tolist() == [values[-1]] * 11


# The kernels of the CUDA guide and of NVIDIA's posts, their functions with a group as parameter.
FUNCTIONS = {
    "a template": (
        "template <typename Group> __device__ int reduce_sum(Group g, int v) {"
        " for (int n = g.size() / 2; n > 0; n /= 2) v += g.shfl_down(v, n); return v; }",
        "x[i] = reduce_sum(cg::tiled_partition<16>(block), i);", 16),
    "a template by its width": (
        "template <int N> __device__ int reduce_sum(cg::thread_block_tile<N> g, int v) {"
        " #pragma unroll\n"
        " for (int n = N / 2; n > 0; n /= 2) v += g.shfl_down(v, n); return v; }".replace(
            " #", "\n#"),
        "auto tile = cg::tiled_partition<32>(block); x[i] = reduce_sum<32>(tile, i);", 32),
    "any group, a block": (
        "__device__ int reduce_sum(cg::thread_group g, int* s, int v) { int lane = g.thread_rank();"
        " for (int n = g.size() / 2; n > 0; n /= 2) { s[lane] = v; g.sync();"
        " if (lane < n) v += s[lane + n]; g.sync(); } return v; }",
        "__shared__ int s[64]; int sum = reduce_sum(block, s, i); x[i] = sum;", 64),
    "any group, a tile": (
        "__device__ int reduce_sum(cg::thread_group g, int* s, int v) { int lane = g.thread_rank();"
        " for (int n = g.size() / 2; n > 0; n /= 2) { s[lane] = v; g.sync();"
        " if (lane < n) v += s[lane + n]; g.sync(); } return v; }",
        "__shared__ int s[64]; cg::thread_group tile = cg::tiled_partition(block, 8);"
        " x[i] = reduce_sum(tile, &s[i / 8 * 8], i);", 8),
    "a reference to the block": (
        "__device__ int total(const cg::thread_block& cta, int* s) { cta.sync(); int v = 0;"
        " for (int n = 0; n < cta.size(); n++) v += s[n]; return v; }",
        "__shared__ int s[64]; s[i] = i; int sum = total(block, s); x[i] = sum;", 64),
}  # fmt: skip


@pytest.mark.parametrize("case", FUNCTIONS)
def test_a_function_takes_a_group(case: str) -> None:
    functions, body, width = FUNCTIONS[case]
    found, hazards = run(body, functions)
    sums = THREADS.reshape(-1, width).sum(axis=1)
    assert found[::width].tolist() == sums.tolist()
    assert not hazards


def test_a_tile_that_is_not_whole_is_a_hazard() -> None:
    body = "auto t = cg::tiled_partition<8>(block); if (i % 8 < 6) x[i] = t.shfl_down(i, 1);"
    _, hazards = run(body)
    assert [str(hazard.kind) for hazard in hazards] == ["wrong-mask"]
    assert "lane 6" in hazards[0].message


def test_a_tile_orders_only_its_lanes() -> None:
    body = (
        "__shared__ int s[64]; auto t = cg::tiled_partition<8>(block);"
        " s[i] = i; t.sync(); x[i] = s[i ^ 8];"
    )
    _, hazards = run(body)
    assert {str(hazard.kind) for hazard in hazards} == {
        "read-after-write",
        "uninitialized-read",
    } - {"uninitialized-read"}


REFUSED = {
    "auto g = cg::this_grid(); x[i] = 0, g.sync();": "a statement of its own",
    "auto t = cg::tiled_partition<8>(cg::this_grid());": "Only the block and a tile",
    "auto c = cg::this_cluster();": "groups of several blocks",
    "auto g = cg::labeled_partition(cg::coalesced_threads(), i);": "__match_any_sync",
    "cg::memcpy_async(block, x, x, 4);": "sync()",
    "auto t = cg::tiled_partition<64>(block);": "1, 2, 4, 8, 16 or 32 threads",
    "auto t = cg::tiled_partition<3>(block);": "1, 2, 4, 8, 16 or 32 threads",
    "auto t = cg::tiled_partition(block, i);": "known before the launch",
    "auto t = cg::tiled_partition<16>(cg::tiled_partition<8>(block));": "not part of one of 8",
    "x[i] = cg::reduce(block, i, cg::plus<int>());": "each warp's tile",
    "auto t = cg::tiled_partition<8>(block);"
    " x[i] = cg::reduce(t, i, [](int a, int b) { return a * b; });": "write shuffles",
    "cg::thread_group g; g.sync();": "declare it with auto",
    "cg::thread_group g = block; g = cg::tiled_partition<8>(block);": "a variable of its own",
    "cg::thread_block* p = &block; p->sync();": "pass the group itself",
    "x[i] = 0, block.sync();": "a statement of its own",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused_says_what_to_write(body: str) -> None:
    with pytest.raises(SourceError) as error:
        run(body)
    assert REFUSED[body] in error.value.message
    assert error.value.span is not None


def test_the_grid_numbers_its_threads_and_blocks() -> None:
    text = f"""{HEAD}__global__ void k(unsigned long long* x) {{
        auto grid = cg::this_grid();
        cg::grid_group same = cg::this_grid();
        unsigned long long i = grid.thread_rank();
        unsigned long long sizes = same.size() + 1000 * grid.num_threads() * grid.num_blocks();
        dim3 d = grid.group_dim(), b = same.dim_blocks(), n = cg::grid_group::block_index();
        dim3 t = grid.dim_threads(), at = grid.thread_index();
        x[6 * i] = grid.block_rank();
        x[6 * i + 1] = sizes + (cg::thread_rank(grid) != i) + (cg::group_size(grid) != same.size());
        x[6 * i + 2] = d.x + 100 * d.y + 10000 * d.z + (b.x != d.x || b.y != d.y || b.z != d.z);
        x[6 * i + 3] = n.x + 100 * n.y + 10000 * n.z;
        x[6 * i + 4] = t.x + 100 * t.y + 10000 * t.z;
        x[6 * i + 5] = at.x + 100 * at.y + 10000 * at.z;
    }}"""
    grid, block = (3, 2, 2), (5, 2, 3)
    x = np.zeros((360, 6), np.uint64)
    report = simulate(compile_kernel(text, "k"), Launch(grid, block, {"x": x}))
    assert not report.hazards
    expected = []
    for b in range(12):
        bx, by, bz = b % 3, b // 3 % 2, b // 6
        for i in range(30):
            tx, ty, tz = i % 5, i // 5 % 2, i // 10
            at = 5 * bx + tx + 100 * (2 * by + ty) + 10000 * (3 * bz + tz)
            expected.append([
                b, 360 + 1000 * 360 * 12, 20203, bx + 100 * by + 10000 * bz, 60415, at
            ])  # fmt: skip
    assert report.arrays["x"].tolist() == expected


def test_a_step_names_the_grid() -> None:
    text = HEAD + "__global__ void k(int* x) { auto g = cg::this_grid(); x[g.thread_rank()] = 1; }"
    recording = record(*launch_text(text, x=np.zeros(32, np.int32)))
    assert narrate.values(recording, recording.steps[0], 1)[0] == "g = this_grid() = the grid"


def test_a_namespace_may_be_used_in_the_kernel() -> None:
    kernel = compile_kernel(
        "#include <cooperative_groups.h>\n__global__ void k(int* x) {"
        " using namespace cooperative_groups; thread_block b = this_thread_block(); sync(b);"
        " x[b.thread_rank()] = tiled_partition<4>(b).size(); }",
        "k",
    )
    launch = Launch((1, 1, 1), (4, 1, 1), {"x": np.zeros(4, np.int32)})
    assert simulate(kernel, launch).arrays["x"].tolist() == [4] * 4


def test_steps_name_the_group_and_what_a_lane_gets() -> None:
    text = (
        HEAD + "__global__ void k(int* x) { auto block = cg::this_thread_block();"
        " auto tile = cg::tiled_partition<16>(block); int v = tile.shfl_down(x[threadIdx.x], 2);"
        " block.sync(); x[threadIdx.x] = v; }"
    )
    kernel, launch = launch_text(text, x=np.arange(32, dtype=np.int32))
    recording = record(kernel, launch)
    texts = [narrate.spoken(recording, step, 1)[0] for step in recording.steps]
    assert texts[:4] == [
        "sets block = this_thread_block() = the block.",
        "sets tile = tiled_partition(16) = 0xffff.",
        "sets v = __shfl_down_sync(0xffff, 1, 2, 16) = 3.",
        "reaches the barrier: all 32 threads of the block are there and go on.",
    ]


def test_a_tile_s_size_of_another_type_is_named_as_nvcc_refuses_it() -> None:
    """NVRTC 13.0: candidate function template "sum" failed deduction."""
    text = f"""{HEAD}
    template <int SIZE> __device__ int sum(cg::thread_block_tile<SIZE> tile) {{ return SIZE; }}
    __global__ void k(int* x) {{
        cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
        x[0] = sum(warp);
    }}"""
    with pytest.raises(SourceError, match=r"parameter is int, .* has unsigned int there: write un"):
        compile_kernel(text)
    assert compile_kernel(text.replace("<int SIZE>", "<unsigned int SIZE>")).name == "k"
