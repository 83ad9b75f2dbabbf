"""nvcuda::wmma in the simulator: values, fragments, accesses, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, Recording, Step, compile_kernel, narrate, record, simulate
from simulator.language.ctype import Array, convert
from simulator.language.errors import SourceError
from simulator.language.fragments import SUMS as SUMS_OF
from simulator.language.fragments import Use, parse_fragment
from simulator.language.number_types import OPERANDS, ROUNDINGS, Operand
from simulator.machine.tensor_core import multiply_add
from simulator.number_format import format_number
from simulator.sentences.parts import parts
from tests.simulator.launches import launch_text, run_text

RECORDED = json.loads(Path(__file__).with_name("fragments.json").read_text(encoding="utf-8"))
HALF, BFLOAT16, TF32 = (OPERANDS[name] for name in ("half", "__nv_bfloat16", "tf32"))
to_tf32 = ROUNDINGS["__float_to_tf32"]
KERNELS = Path(__file__).with_name("wmma_kernels.cu").read_text(encoding="utf-8")
HEAD = "#include <mma.h>\nusing namespace nvcuda;\n"
SUMS = "wmma::fragment<wmma::accumulator, 16, 16, 16, float>"
OPERAND = "wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>"


def random(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape)
    return (values * 2.0 ** np.random.default_rng(seed + 1).integers(-6, 6, shape)).astype(dtype)


def bfloat16_bits(numbers: Array) -> Array:
    return np.asarray(BFLOAT16.ctype.cells_of(convert(numbers, BFLOAT16.ctype)))


def in_order(a: Array, b: Array, form: Operand, depth: int) -> Array:
    """A B by one mma_sync after another, each of the next `depth` k."""
    c = np.zeros((len(a), b.shape[1]), np.float32)
    for k in range(0, a.shape[1], depth):
        c = multiply_add(a[:, k : k + depth], b[k : k + depth], c, form)
    return c


def run(body: str, *, block: int = 32, **arrays: Array) -> Any:
    """A kernel of a body; x is a float, h a half array of 256 unless given."""
    given = {"x": np.zeros(256, np.float32), "h": np.zeros(256, np.float16)} | arrays
    text = f"{HEAD}__global__ void k(float* x, const half* h) {{\n{body}\n}}\n"
    return run_text(text, block=block, **given)


def hazards(body: str, **options: Any) -> list[str]:
    return [hazard.message for hazard in run(body, **options).hazards]


# Values --------------------------------------------------------------------------------------


def test_a_tiled_product_of_half_has_the_bits_of_its_instructions() -> None:
    a, b = random((64, 48), np.float16, 1), random((48, 96), np.float16, 2)
    c = np.zeros((64, 96), np.float32)
    sizes = {"M": 64, "N": 96, "K": 48}
    launch = Launch((3, 2, 1), (128, 1, 1), {"A": a, "B": b, "C": c, **sizes})
    result = simulate(compile_kernel(KERNELS, "half_tiles"), launch)
    assert not result.hazards
    expected = in_order(a, b, HALF, 16)
    assert np.array_equal(result.arrays["C"].view(np.uint32), expected.view(np.uint32))
    assert not np.array_equal(expected, (a.astype(np.float64) @ b).astype(np.float32))
    assert result.counters["shared_load_wavefronts"] == result.counters["shared_load_requests"]


def test_a_product_of_tf32_by_functions_and_arrays_of_fragments() -> None:
    a, b = random((32, 24), np.float32, 3), random((24, 48), np.float32, 4)
    c = np.zeros((32, 48), np.float32)
    result = run_text(KERNELS, "tf32_pair", grid=3, A=a, B=b, C=c, M=32, N=48, K=24)
    assert not result.hazards
    expected = in_order(to_tf32(a), to_tf32(b), TF32, 8) * np.float32(0.5)
    assert np.array_equal(result.arrays["C"].view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize(
    ("form", "sums"),
    [(HALF, "float"), (HALF, "half"), (BFLOAT16, "float")],
    ids=["half", "half to half", "bfloat16"],
)
@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 8, 16), (8, 32, 16)])
@pytest.mark.parametrize("layouts", [("row", "col"), ("col", "row")])
def test_every_shape_and_layout_multiplies(
    form: Operand, sums: str, shape: tuple[int, int, int], layouts: tuple[str, str]
) -> None:
    m, n, k = shape
    a, b = (
        random(size, np.float16, seed) if form is HALF
        else bfloat16_bits(random(size, np.float32, seed))
        for seed, size in ((5, (m, k)), (6, (k, n)))
    )  # fmt: skip
    sizes, kind = f"{m}, {n}, {k}", form.name
    stored = [
        (matrix if layout == "row" else matrix.T.copy())
        for matrix, layout in zip((a, b), layouts, strict=True)
    ]
    text = f"""{HEAD}__global__ void product(const {kind}* A, const {kind}* B, {sums}* C) {{
    wmma::fragment<wmma::matrix_a, {sizes}, {kind}, wmma::{layouts[0]}_major> a;
    wmma::fragment<wmma::matrix_b, {sizes}, {kind}, wmma::{layouts[1]}_major> b;
    wmma::fragment<wmma::accumulator, {sizes}, {sums}> c;
    wmma::load_matrix_sync(a, A, {stored[0].shape[1]});
    wmma::load_matrix_sync(b, B, {stored[1].shape[1]});
    wmma::load_matrix_sync(c, C, {m}, wmma::mem_col_major);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(C, c, {m}, wmma::mem_col_major);
}}"""
    c = random((n, m), SUMS_OF[sums].dtype, 7)
    result = run_text(text, "product", A=stored[0], B=stored[1], C=c)
    assert not result.hazards
    numbers = (form.ctype.values_of(each) for each in (a, b))
    assert np.array_equal(result.arrays["C"].T, multiply_add(*numbers, c.T, form))


def test_a_tile_of_bfloat16_in_shared_memory_with_elements_of_its_own() -> None:
    a, b = (bfloat16_bits(random((16, 16), np.float32, seed)) for seed in (12, 13))
    text = f"""#include <cuda_bf16.h>
{HEAD}__global__ void product(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C) {{
    __shared__ __align__(32) __nv_bfloat16 s[16][24];
    for (int i = threadIdx.x; i < 256; i += 32) s[i / 16][i % 16] = A[i];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b[2];
    {SUMS} c;
    wmma::fill_fragment(c, 0.0f);
    wmma::fill_fragment(b[0], __float2bfloat16(1.5f));
    wmma::load_matrix_sync(a, &s[0][0], 24);
    wmma::load_matrix_sync(b[1], B, 16);
    for (int i = 0; i < b[1].num_elements; i++)
        b[1].x[i] = __float2bfloat16(__bfloat162float(b[0].x[i]) + float(b[1].x[i]));
    wmma::mma_sync(c, a, b[1], c);
    wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
}}"""
    arrays = {"A": a, "B": b, "C": np.zeros((16, 16), np.float32)}
    result = simulate(compile_kernel(text), Launch((1, 1, 1), (32, 1, 1), arrays))
    assert not result.hazards
    assert result.counters["shared_load_wavefronts"] == 4
    first, second = (BFLOAT16.ctype.values_of(each) for each in (a, b))
    more = convert(second + np.float32(1.5), BFLOAT16.ctype)
    zeros = np.zeros((16, 16), np.float32)
    assert np.array_equal(result.arrays["C"], multiply_add(first, more, zeros, BFLOAT16))


def test_bfloat16_is_converted_as_a_gpu_does() -> None:
    bits = [0x3F808000, 0x3F818000, 0x7F7FFFFF, 0xFF800000, 0x7F800001, 0x00008000, 0x80000001]
    expected = [0x3F80, 0x3F82, 0x7F80, 0xFF80, 0x7FFF, 0, 0x8000]
    given = np.array(bits, np.uint32).view(np.float32)
    text = """#include <cuda_bf16.h>
__global__ void k(const float* x, __nv_bfloat16* y, float* z) {
    __nv_bfloat16 v = x[threadIdx.x];
    y[threadIdx.x] = v;
    z[threadIdx.x] = v;
}"""
    arrays = {"x": given, "y": np.zeros(7, np.uint16), "z": np.zeros(7, np.float32)}
    result = simulate(compile_kernel(text), Launch((1, 1, 1), (7, 1, 1), arrays))
    assert result.arrays["y"].tolist() == expected
    assert (result.arrays["z"].view(np.uint32) >> 16).tolist() == expected


def test_of_repeated_elements_the_first_are_multiplied() -> None:
    body = f"""
    {OPERAND} a; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b; {SUMS} c;
    wmma::fill_fragment(a, __float2half(1.0f)); wmma::fill_fragment(b, __float2half(2.0f));
    wmma::fill_fragment(c, 3);
    for (int i = 8; i < a.num_elements; i++) a.x[i] = __float2half(0.0f);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(x, c, 16, wmma::mem_row_major);"""
    assert run(body).arrays["x"].tolist() == [35.0] * 256


def test_qualified_names_and_an_alias_of_the_namespace() -> None:
    text = """#include <mma.h>
namespace tensor = nvcuda::wmma;
__global__ void k(float* x) {
    tensor::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
    nvcuda::wmma::fill_fragment(c, 4.0f);
    tensor::store_matrix_sync(x, c, 16, tensor::mem_row_major);
}"""
    assert run_text(text, x=np.zeros(256, np.float32)).arrays["x"].tolist() == [4.0] * 256


def test_256_cubed_is_quick_enough_to_be_one_vectorised_call_a_step() -> None:
    a = random((256, 32), np.float16, 8)
    b = random((32, 256), np.float16, 9)
    arrays = {"A": a, "B": b, "C": np.zeros((256, 256), np.float32)}
    launch = Launch((8, 8, 1), (128, 1, 1), {**arrays, "M": 256, "N": 256, "K": 32})
    result = simulate(compile_kernel(KERNELS, "half_tiles"), launch)
    assert np.array_equal(result.arrays["C"], in_order(a, b, HALF, 16))


# Fragments -----------------------------------------------------------------------------------


@pytest.mark.parametrize("row", RECORDED["fragments"], ids=lambda row: row["fragment"])
def test_lanes_hold_what_they_hold_on_the_gpu(row: dict[str, Any]) -> None:
    fragment = parse_fragment(row["fragment"])
    assert fragment is not None
    rows, columns = fragment.positions()
    assert (rows * fragment.columns + columns).tolist() == row["elements"]
    assert str(fragment) == row["fragment"]


def test_x_is_the_element_that_the_table_says() -> None:
    body = f"""
    {SUMS} c; wmma::load_matrix_sync(c, x, 16, wmma::mem_row_major);
    for (int i = 0; i < c.num_elements; i++) x[threadIdx.x * c.num_elements + i] = c.x[i];"""
    fragment = parse_fragment("fragment<accumulator, 16, 16, 16, float>")
    assert fragment is not None
    rows, columns = fragment.positions()
    given = run(body, x=np.arange(256, dtype=np.float32)).arrays["x"]
    assert given.tolist() == (rows * 16 + columns).reshape(-1).tolist()


# Accesses ------------------------------------------------------------------------------------


def access_kernel(row: dict[str, Any]) -> str:
    """A kernel of one warp that makes a recorded access, with any distance between lines."""
    fragment = parse_fragment(row["fragment"])
    assert fragment is not None
    stored = fragment.element
    spelled = row["fragment"].replace("tf32", "wmma::precision::tf32")
    for word in (*Use, "row_major", "col_major"):
        spelled = spelled.replace(word, f"wmma::{word}")
    layout = f", wmma::{row['layout']}" if fragment.use is Use.ACCUMULATOR else ""
    place = "s" if row["space"] == "shared" else "p"
    if row["call"] == "load":
        call = f"wmma::load_matrix_sync(f, {place}, d{layout});"
    else:
        call = f"wmma::fill_fragment(f, 0); wmma::store_matrix_sync({place}, f, d{layout});"
    shared = f"__shared__ __align__(32) {stored} s[4096];" if place == "s" else ""
    return f"""{HEAD}__global__ void k({stored}* p, unsigned d) {{
    {shared}
    wmma::{spelled} f;
    {call}
}}"""


@pytest.mark.sample(5)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("fragment", sorted({row["fragment"] for row in RECORDED["accesses"]}))
def test_accesses_cost_what_the_gpu_counted(fragment: str, space: str) -> None:
    rows = [
        row for row in RECORDED["accesses"]
        if (row["fragment"], row["space"]) == (fragment, space)
    ]  # fmt: skip
    assert rows
    first = {(row["call"], row["layout"]): row for row in rows}
    kernels = {key: compile_kernel(access_kernel(row), "k") for key, row in first.items()}
    type_of = parse_fragment(fragment)
    assert type_of is not None
    for row in rows:
        arrays = {"p": np.zeros(4096, type_of.element.dtype), "d": row["distance"]}
        launch = Launch((1, 1, 1), (32, 1, 1), arrays)
        counters = simulate(kernels[row["call"], row["layout"]], launch).counters
        unit = "sectors" if space == "global" else "wavefronts"
        assert counters[f"{space}_{row['call']}_{unit}"] == row["transactions"], row
        if "requests" in row:
            assert counters[f"{space}_{row['call']}_requests"] == row["requests"], row


@pytest.mark.parametrize("layout", ["row", "col"])
def test_sums_of_half_move_by_four_bytes_a_lane(layout: str) -> None:
    """As NVRTC 13.0 compiles them: four loads or stores of 32 bits, and a transposition."""
    body = f"""wmma::fragment<wmma::accumulator, 16, 16, 16, half> c;
    __shared__ __align__(32) half s[16 * 24];
    wmma::load_matrix_sync(c, h, 16, wmma::mem_{layout}_major);
    for (int i = 0; i < c.num_elements; i++) c.x[i] = c.x[i] + c.x[i];
    wmma::store_matrix_sync(s, c, 24, wmma::mem_{layout}_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) x[i] = s[i / 16 * 24 + i % 16];"""
    h = np.arange(256, dtype=np.float16)
    result = run(body, h=h)
    assert not result.hazards
    assert result.arrays["x"].tolist() == (h + h).tolist()
    assert result.counters["global_load_requests"] == 4
    assert result.counters["global_load_sectors"] == 4 * 8
    assert result.counters["shared_store_wavefronts"] == 4


def test_an_unset_fragment_is_a_hazard() -> None:
    (message,) = hazards(f"{SUMS} c; wmma::store_matrix_sync(x, c, 16, wmma::mem_row_major);")
    assert "reads c.x[0]" in message
    assert "has no value yet" in message


def test_a_tile_that_leaves_its_array_is_a_hazard() -> None:
    (message,) = hazards(f"{SUMS} c; wmma::load_matrix_sync(c, x + 64, 16, wmma::mem_row_major);")
    assert "reads elements 256 and 257 of x, an array of 256" in message


def test_a_missing_barrier_is_a_race() -> None:
    messages = hazards(
        f"""__shared__ __align__(32) half s[256]; {OPERAND} a;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = h[i];
    wmma::load_matrix_sync(a, s, 16);
    x[threadIdx.x] = __half2float(a.x[0]);""",
        block=64,
    )
    assert any("with no __syncthreads() between them" in message for message in messages)


def test_two_warps_that_store_one_tile_are_a_race() -> None:
    store = "wmma::store_matrix_sync(x, c, 16, wmma::mem_row_major);"
    body = f"{SUMS} c; wmma::fill_fragment(c, float(threadIdx.x / 32)); {store}"
    messages = hazards(body, block=64)
    assert len(messages) == 1
    assert "thread (32, 0) writes it on line" in messages[0]
    assert not hazards(body, block=32)
    assert len(hazards(f"float* at = x; {body.replace('(x', '(at')}", block=64)) == 1


def test_a_stored_tile_that_another_warp_reads_at_once_is_a_race() -> None:
    body = f"""{SUMS} c; wmma::fill_fragment(c, 2.0f);
    if (threadIdx.x < 32) wmma::store_matrix_sync(x, c, 16, wmma::mem_row_major);
    BARRIER
    float value = x[threadIdx.x];
    if (value > 3) x[255] = value;"""
    assert len(hazards(body.replace("BARRIER", ""), block=64)) == 1
    assert not hazards(body.replace("BARRIER", "__syncthreads();"), block=64)


# Steps ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def product() -> Recording:
    a, b = random((32, 16), np.float16, 10), random((16, 32), np.float16, 11)
    arrays = {"A": a, "B": b, "C": np.zeros((32, 32), np.float32), "M": 32, "N": 32, "K": 16}
    return record(*launch_text(KERNELS, "half_tiles", block=128, **arrays))


def step_of(recording: Recording, word: str) -> Step:
    lines = recording.kernel.text.split("\n")
    return next(step for step in recording.steps if word in lines[step.line - 1])


def test_a_fragment_is_among_the_registers_of_each_thread(product: Recording) -> None:
    step = step_of(product, "mma_sync")
    assert {name: step.registers[name].shape for name in ("a.x", "b.x", "c.x")} == {
        "a.x": (128, 16), "b.x": (128, 16), "c.x": (128, 8)
    }  # fmt: skip
    whole = product.arguments["A"].astype(np.float64) @ product.arguments["B"]
    fragment = parse_fragment("fragment<accumulator, 16, 16, 16, float>")
    assert fragment is not None
    rows, columns = fragment.positions()
    for thread in (5, 127):
        warp, lane = divmod(thread, 32)
        tile = whole[warp // 2 * 16 :, warp % 2 * 16 :]
        assert np.allclose(step.registers["c.x"][thread], tile[rows[lane], columns[lane]])


@pytest.mark.parametrize(
    ("line", "thread", "said"),
    [
        (
            "fill_fragment(c", 5,
            "sets its 8 elements of c, a 16 × 16 tile, to 0.",
        ),
        (
            "load_matrix_sync(b", 37,
            "loads 16 × 16 elements of Bs into b together with its warp: its b.x[0] is "
            "Bs[97] = {b.x}, row 2 and column 1 of b.",
        ),
        (
            "mma_sync(c", 5,
            "adds a × b to c together with its warp, 16 × 16 by 16 × 16 on the tensor core: "
            "its c.x[0], row 1 and column 2 of c, is now {c.x}.",
        ),
        (
            "store_matrix_sync(C", 5,
            "stores c, 16 × 16 elements, in C together with its warp: its c.x[0] = {c.x}, "
            "row 1 and column 2 of c, goes to C[34].",
        ),
    ],
)  # fmt: skip
def test_a_step_is_told(product: Recording, line: str, thread: int, said: str) -> None:
    step = step_of(product, line)
    for name in ("b.x", "c.x"):
        said = said.replace(f"{{{name}}}", format_number(step.registers[name][thread, 0]))
    assert narrate.spoken(product, step, thread)[0] == said
    assert narrate.values(product, step, thread)
    assert parts(product, step, thread)


def test_the_four_requests_of_a_tile_are_told_once(product: Recording) -> None:
    step = step_of(product, "load_matrix_sync(a")
    said = narrate.warp(product, step, 3)
    assert said == ("Warp 3, all 32 lanes: reads As 4 times: no conflict, 1 wavefront each time.",)


# Refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (f"{SUMS} c; if (threadIdx.x < 7) wmma::fill_fragment(c, 0.0f);", "only 7 call it here"),
        (
            f"{SUMS} c; wmma::load_matrix_sync(c, x + threadIdx.x * 8, 16, wmma::mem_row_major);",
            "takes one address for all 32 threads",
        ),
        (
            f"{SUMS} c; wmma::load_matrix_sync(c, x, 16 + threadIdx.x, wmma::mem_row_major);",
            "takes one distance between rows or columns for all 32",
        ),
        (
            f"{SUMS} c; wmma::load_matrix_sync(c, x + 1, 8, wmma::mem_row_major);",
            "must be a multiple of 32 bytes, but is 4 here",
        ),
        (
            f"{SUMS} c; wmma::load_matrix_sync(c, x, 15, wmma::mem_col_major);",
            "between columns of a tile must be a multiple of 16 bytes, but is 60 here",
        ),
        (
            f"{SUMS} c; float v[256]; wmma::load_matrix_sync(c, v, 16, wmma::mem_row_major);",
            "v is an array of each thread's own",
        ),
        ("wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;", "of float, or of half where"),
        ("wmma::fragment<wmma::accumulator, 16, 16, 8, half> c;", "of float, or of half where"),
        (
            "wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;"
            "wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;"
            "wmma::fragment<wmma::accumulator, 16, 16, 16, half> c; wmma::mma_sync(c, a, b, c);",
            "float, or half where A and B are",
        ),
        (
            f"{OPERAND} a; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;"
            f"wmma::fragment<wmma::accumulator, 16, 16, 16, half> c; {SUMS} d;"
            "wmma::mma_sync(d, a, b, c);",
            "and so do the two accumulators",
        ),
        ("wmma::fragment<wmma::matrix_a, 16, 16, 16, half> a;", "row_major or col_major"),
        ("wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;", "Fragments here"),
        (
            f"{OPERAND} a; wmma::fragment<wmma::matrix_b, 8, 32, 16, half, wmma::row_major> b;"
            f"{SUMS} c; wmma::mma_sync(c, a, b, c);",
            "the same sizes",
        ),
        (f"{OPERAND} a; wmma::load_matrix_sync(a, x, 16);", "a pointer to the fragment's own type"),
        (f"{SUMS} c; wmma::load_matrix_sync(c, x, 16);", "mem_row_major"),
        (
            f"{SUMS} c; wmma::load_matrix_sync(c, x, 16, threadIdx.x ? wmma::mem_row_major : "
            "wmma::mem_col_major);",
            "Say with wmma::mem_row_major or wmma::mem_col_major",
        ),
        (
            "__nv_bfloat16 b = 1.0f; x[0] = b * 2.0f;",
            "nvcc does not take * of __nv_bfloat16 and float: write __bfloat162float(…)",
        ),
        ("__nv_fp8_e4m3 b;", "write #include <cuda_fp8.h>"),
        ("wgmma_fence();", "write wmma::mma_sync of <mma.h>"),
        ('asm("mma.sync;");', "mma.sync in inline assembly is not supported"),
    ],
)
def test_what_is_refused_says_what_is_there_instead(body: str, sentence: str) -> None:
    with pytest.raises(SourceError) as caught:
        run(body)
    assert sentence in str(caught.value)


def test_a_block_that_is_no_multiple_of_32_threads_has_a_partial_warp() -> None:
    with pytest.raises(SourceError, match="only 16 call it here"):
        run(f"{SUMS} c; wmma::fill_fragment(c, 0.0f);", block=48)


def test_whole_warps_of_such_a_block_may_call() -> None:
    body = f"""{SUMS} c; if (threadIdx.x < 32) {{
        wmma::fill_fragment(c, 5.0f); wmma::store_matrix_sync(x, c, 16, wmma::mem_row_major); }}"""
    result = run(body, block=48)
    assert result.arrays["x"].tolist() == [5.0] * 256
    assert not result.hazards


def test_without_the_header_the_sentence_names_it() -> None:
    text = "using namespace nvcuda;\n__global__ void k(float* x) { wmma::fragment<int> f; }"
    with pytest.raises(SourceError, match=r"#include <mma\.h>"):
        compile_kernel(text, "k")
