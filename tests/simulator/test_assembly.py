"""Inline PTX: what the table of instructions computes, what it refuses, and how a step tells it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Launch, compile_kernel, narrate, record, simulate
from simulator.language.assembly import MATRIX_LOADS, MATRIX_PRODUCTS
from simulator.language.ctype import Array, convert
from simulator.language.errors import SourceError
from simulator.language.number_types import OPERANDS
from simulator.machine.tensor_core import multiply_add

LANE = np.arange(64, dtype=np.int64) % 32
BITS = np.array([0x33221100, 0x3F800001, 0xFFFFFFFE, 77], np.uint32)


def kernel(body: str) -> str:
    """A kernel of a body in which t is the thread's number; o gets results, x and y are inputs."""
    return (
        "__global__ void k(unsigned* o, unsigned* x, float* y) {\n"
        f"int t = threadIdx.x + blockDim.x * threadIdx.y;\n{body}\n}}"
    )


def run(body: str, **arrays: Array) -> Any:
    given = {
        "o": np.zeros(128, np.uint32),
        "x": np.tile(BITS, 64),
        "y": np.arange(256, dtype=np.float32),
    }
    launch = Launch((1, 1, 1), (16, 4, 1), given | arrays)
    return simulate(compile_kernel(kernel(body), "k"), launch)


def masks(of_lane: Array) -> Array:
    return of_lane & 0xFFFFFFFF


X = np.tile(BITS, 16).astype(np.int64)
Y = np.arange(64)
INSTRUCTIONS: dict[str, tuple[str, Array]] = {
    "laneid": ('asm("mov.u32 %0, %%laneid;" : "=r"(o[t]));', LANE),
    "lanemask_eq": ('asm("mov.u32 %0, %%lanemask_eq;" : "=r"(o[t]));', 1 << LANE),
    "lanemask_lt": ('asm("mov.u32 %0, %%lanemask_lt;" : "=r"(o[t]));', (1 << LANE) - 1),
    "lanemask_le": ('asm("mov.u32 %0, %%lanemask_le;" : "=r"(o[t]));', (2 << LANE) - 1),
    "lanemask_gt": ('asm("mov.u32 %0, %%lanemask_gt;" : "=r"(o[t]));', ~((2 << LANE) - 1)),
    "lanemask_ge": ('asm("mov.u32 %0, %%lanemask_ge;" : "=r"(o[t]));', ~((1 << LANE) - 1)),
    "tid and ntid": (
        '{ unsigned a, b, c; asm("mov.u32 %0, %%tid.y;" : "=r"(a));'
        ' asm("mov.u32 %0, %%ntid.x;" : "=r"(b)); asm("mov.u32 %0, %%nctaid.z;" : "=r"(c));'
        " o[t] = a * b + c; }", Y // 16 * 16 + 1),
    "prmt": ('asm("prmt.b32 %0, %1, %2, 0x7250;" : "=r"(o[t]) : "r"(x[t]), "r"(t));',
             (X & 255) | (Y >> 8 & 255) << 8 | (X >> 16 & 255) << 16),
    "prmt by a constant": (
        'asm("prmt.b32 %0, %1, %2, %3;" : "=r"(o[t]) : "r"(x[t]), "r"(t), "n"(0x5410));',
        (X & 0xFFFF) | Y << 16),
    "add": ('asm("add.s32 %0, %1, -3;" : "=r"(o[t]) : "r"(x[t]));', X - 3),
    "operands read and written": (
        'unsigned v = t; asm("mul.lo.u32 %0, %0, %1;" : "+r"(v) : "r"(x[t])); o[t] = v;', Y * X),
    "inputs are evaluated before": (
        'unsigned v = t; asm("{ .reg .u32 a, b; mov.b32 a, %1; // twice\\n add.u32 %0, %0, a;"'
        ' " xor.b32 b, a, 5; add.u32 %0, %0, b; }" : "+r"(v) : "r"(v + 1)); o[t] = v;',
        Y + Y + 1 + (Y + 1 ^ 5)),
    "fma": ('float f; asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(y[t]), "f"(2.5f), "f"(1.f));'
            " o[t] = f * 2;", Y * 5 + 2),
    "bits of a float": ('asm("mov.b32 %0, %1;" : "=r"(o[t]) : "f"(y[t]));',
                        Y.astype(np.float32).view(np.uint32).astype(np.int64)),
    "functions": ('unsigned a, b; asm("popc.b32 %0, %1;" : "=r"(a) : "r"(x[t]));'
                  ' asm("mul.hi.u32 %0, %1, %2;" : "=r"(b) : "r"(x[t]), "r"(1 << 31));'
                  " o[t] = a + b;", np.bitwise_count(X) + (X >> 1)),
    "barrier": ("__shared__ int s[64]; s[t] = t;"
                ' asm volatile("bar.sync 0;" ::: "memory"); o[t] = s[63 - t];', 63 - Y),
    "nothing": ('asm volatile("" ::: "memory"); o[t] = 1;', Y * 0 + 1),
    "ends of copies": (
        "__shared__ float s[4][68]; unsigned at = (unsigned)__cvta_generic_to_shared(&s[1][0]);"
        ' asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at + 4 * t), "l"(y + t));'
        ' asm volatile("cp.async.commit_group;" ::);'
        ' asm volatile("cp.async.ca.shared.global [%0 + 272], [%1], 4, %2;"'
        ' :: "r"(at + 4 * t), "l"(&y[64 + t]), "r"(t % 2 * 4));'
        ' asm volatile("cp.async.commit_group;\\n" ::);'
        ' asm volatile("cp.async.wait_group %0;\\n" :: "n"(1)); __syncthreads();'
        " o[t] = s[1][63 - t];"
        ' asm volatile("cp.async.wait_all;"); __syncthreads(); o[t] += s[2][63 - t];',
        63 - Y + np.where(Y % 2, 0, 64 + 63 - Y)),
    "copies of 16 bytes": (
        "__shared__ float pad[12]; __shared__ float s[256]; unsigned at; if (t < 12) pad[t] = t;"
        ' asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }\\n" : "=r"(at)'
        ' : "l"(s + 4 * t)); asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\\n"'
        ' :: "r"(at), "l"((float4*)y + t), "n"(16)); asm volatile("cp.async.wait_all;");'
        " __syncthreads(); o[t] = s[255 - t];", 255 - Y),
}  # fmt: skip


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_what_an_instruction_computes(name: str) -> None:
    body, expected = INSTRUCTIONS[name]
    report = run(body)
    assert report.hazards == ()
    assert report.arrays["o"][:64].tolist() == masks(expected).tolist()


def matrix_load(name: str) -> str:
    """A kernel's body that loads matrices of rows of 24 numbers; o gets the registers."""
    load = MATRIX_LOADS[name]
    form = f"{name.replace('ldmatrix', 'ldmatrix.sync.aligned.m8n8')}.shared.b16"
    registers = ", ".join(f"%{number}" for number in range(load.matrices))
    outputs = ", ".join(f'"=r"(r[{number}])' for number in range(load.matrices))
    return (
        "__shared__ unsigned short s[33][24]; for (int i = t; i < 768; i += 64)"
        " s[i / 24][i % 24] = i * 7; __syncthreads(); unsigned r[4] = {0, 0, 0, 0};"
        " unsigned at = (unsigned)__cvta_generic_to_shared(&s[t % 32][8]);"
        f' asm volatile("{form} {{{registers}}}, [%{load.matrices}];" : {outputs} : "r"(at));'
        " for (int i = 0; i < 4; i++) if (t < 32) o[4 * t + i] = r[i];"
    )


@pytest.mark.parametrize("name", MATRIX_LOADS)
def test_ldmatrix_gives_each_lane_two_neighbours_of_a_row(name: str) -> None:
    load = MATRIX_LOADS[name]
    report = run(matrix_load(name))
    assert report.hazards == ()
    rows = (np.arange(32 * 24).reshape(32, 24) * 7)[:, 8:16]
    expected = np.zeros((32, 4), np.int64)
    for number in range(load.matrices):
        matrix = rows[8 * number : 8 * number + 8]
        matrix = matrix.T if load.is_transposed else matrix
        for lane in range(32):
            low, high = matrix[lane // 4, lane % 4 * 2 : lane % 4 * 2 + 2]
            expected[lane, number] = low | high << 16
    assert report.arrays["o"].reshape(32, 4).tolist() == expected.tolist()
    assert report.counters["shared_load_wavefronts"] == 2 * load.matrices  # of two warps


def product(name: str) -> str:
    """A kernel's body that multiplies a tile x by a tile y + 128 onto sums in o, by one warp.

    Registers are filled as the figures of the PTX ISA show them: of a lane, g is the row and c the
    place.
    """
    _, shape, word = name.split(".")
    k = int(shape.partition("k")[2])
    per = 1 if word == "tf32" else 2  # numbers in a register
    a, b = (f"(A[({{}}) * {k} + {{}}])", "(B[({}) * 8 + {}])")
    step = 4 * per

    def packed(cell: str, first: tuple[str, str], second: tuple[str, str]) -> str:
        return f"{cell.format(*first)} | (unsigned){cell.format(*second)} << 16"

    lefts, rights = [], []
    for place in range(0, k, step):
        for row in ("g", "g + 8"):
            column = f"c * {per} + {place}"
            both = packed(a, (row, column), (row, f"{column} + 1"))
            lefts.append(both if per == 2 else a.format(row, column))
        row = f"c * {per} + {place}"
        both = packed(b, (row, "g"), (f"{row} + 1", "g"))
        rights.append(both if per == 2 else b.format(row, "g"))
    count = 4 + len(lefts) + len(rights)
    at = [f"%{number}" for number in range(count)]
    sums = ", ".join(at[:4])
    left, right = ", ".join(at[4 : 4 + len(lefts)]), ", ".join(at[4 + len(lefts) :])
    inputs = ", ".join(f'"r"({each})' for each in (*lefts, *rights))
    outputs = ", ".join(f'"+f"(d[{number}])' for number in range(4))
    cells = "unsigned" if per == 1 else "unsigned short"
    return (
        f"if (t < 32) {{ const {cells} *A = (const {cells}*)x, *B = (const {cells}*)x + {16 * k};"
        " int g = t / 4, c = t % 4; float d[4];"
        " for (int i = 0; i < 4; i++) d[i] = y[(g + i / 2 * 8) * 8 + c * 2 + i % 2];"
        f' asm volatile("mma.sync.aligned.{shape}.row.col.f32.{word}.{word}.f32 {{{sums}}}, '
        f'{{{left}}}, {{{right}}}, {{{sums}}};" : {outputs} : {inputs});'
        " for (int i = 0; i < 4; i++)"
        " o[(g + i / 2 * 8) * 8 + c * 2 + i % 2] = __float_as_uint(d[i]); }"
    )


def operands(name: str) -> tuple[Array, Array]:
    """The cells of A and B of a product, one after the other, as x; and the sums, as y."""
    form, k = OPERANDS[MATRIX_PRODUCTS[name].operand], MATRIX_PRODUCTS[name].shape[2]
    draw = np.random.default_rng(k)
    numbers = (draw.standard_normal(24 * k) * 2.0 ** draw.integers(-9, 9, 24 * k)).astype(
        np.float32
    )
    cells = np.asarray(form.ctype.cells_of(convert(numbers, form.ctype)))
    x = np.zeros(256, np.uint32)
    x.view(cells.dtype)[: cells.size] = cells
    return x, draw.standard_normal(256).astype(np.float32)


@pytest.mark.parametrize("name", MATRIX_PRODUCTS)
def test_mma_sync_has_the_bits_of_the_tensor_core(name: str) -> None:
    form, k = OPERANDS[MATRIX_PRODUCTS[name].operand], MATRIX_PRODUCTS[name].shape[2]
    x, y = operands(name)
    report = run(product(name), x=x, y=y)
    assert report.hazards == ()
    numbers = form.ctype.values_of(x.view(form.ctype.cell_dtype))[: 24 * k]
    a, b = numbers[: 16 * k].reshape(16, k), numbers[16 * k :].reshape(k, 8)
    expected = multiply_add(a, b, y[:128].reshape(16, 8), form)
    assert report.arrays["o"].tolist() == expected.view(np.uint32).reshape(-1).tolist()


REFUSED = {
    'asm volatile("wgmma.fence.sync.aligned;");': "write ldmatrix and mma.sync",
    'asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(o[t]));': "write __shfl_sync",
    'asm("mov.u32 %0, %%warpid;" : "=r"(o[t]));': "%warpid in inline assembly is not supported: it",
    'asm("mov.u32 %0, %laneid;" : "=r"(o[t]));': "write %% before a register's name",
    'asm("mov.u64 %0, %1;" : "=r"(o[t]) : "r"(t));': "takes 64 bits, but its operand %1 has 32",
    'asm("mov.u32 %0, %1;" : "=r"(o[t]) : "l"(x));': "its operand is of type unsigned int*",
    'asm("mov.u32 %0, %1;" : "=f"(y[t]) : "r"(y[t]));': '"r" of inline assembly is for a whole',
    'asm("mov.u32 %1, %0;" : "=r"(o[t]) : "r"(t));': "writes to %1, which is an input",
    'asm("add.u32 %0, %1;" : "=r"(o[t]) : "r"(t));': "has 2 operands, but takes 3",
    'asm("{ .reg .u32 a; mov.u32 %0, a; }" : "=r"(o[t]));': "The register a of inline",
    'asm("prmt.b32 %0, %1, %1, 0x8000;" : "=r"(o[t]) : "r"(t));': "repeats a byte's sign",
    'asm("prmt.b32 %0, %1, %1, %1;" : "=r"(o[t]) : "r"(t));': "known before the launch",
    'asm("mov.u32 $1, 3;");': "operands are %0",
    f'asm("mov.u32 %0, 1{"0" * 5000};" : "=r"(o[t]));': "of inline assembly is not supported",
    'asm volatile("bar.sync 1, 64;");': "only bar.sync 0 is supported",
    'asm volatile("cp.async.cg.shared.global [%0], [%1], 8;" :: "r"(t), "l"(x));': "16 bytes, and",
    'asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "l"(x), "l"(x));': (
        "give the number that __cvta_generic_to_shared makes"),
    'asm volatile("cp.async.bulk.wait_group 0;");': "the tensor memory accelerator",
    'asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0}, {%0}, {%0}, {%0};"'
    ' : "+r"(o[t]));': "of mma.sync only these are supported: m16n8k8 and",
    'o[t] = (unsigned)__cvta_generic_to_shared(x);': "x, which is not in shared memory",
    '__shared__ int s[4], u[4]; s[0] = u[0] = 1; asm volatile("cp.async.ca.shared.global [%0],'
    ' [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(s) + t % 8 * 4), "l"(x));': (
        "different arrays (s and u)"),
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused_in_a_sentence(body: str) -> None:
    with pytest.raises(SourceError) as caught:
        run(body)
    assert REFUSED[body] in caught.value.message
    assert caught.value.span is not None
    assert caught.value.span.line == 3


TOLD: dict[str, tuple[str, str, str]] = {
    "ldmatrix": (
        matrix_load("ldmatrix.x4.trans"), "ldmatrix",
        "loads 4 matrices of 8 × 8 of 16-bit numbers from shared memory, transposed, with its "
        "warp; its address is that of the row that begins at s[5][8].",
    ),
    "mma": (
        product("mma.m16n8k8.tf32"), "mma.sync",
        "multiplies 16 × 8 by 8 × 8 with its warp, on the tensor core, and adds the products "
        "to its sums: the first of these, at row 1 and column 2 of the tile, is now 1.",
    ),
    "copy": (
        '__shared__ float s[64]; asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"'
        ' :: "r"((unsigned)__cvta_generic_to_shared(s + t)), "l"(y + t));', "cp.async",
        "starts to copy y[5] = 1 to shared memory and does not wait for it.",
    ),
    "register": ('unsigned v; asm("mov.u32 %0, %%laneid;" : "=r"(v)); o[t] = v;', "laneid",
                 "sets v = 5 + 64 × (0 + 1 × 0) & 31 = 5."),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_a_step_is_told(name: str) -> None:
    body, part, said = TOLD[name]
    arrays = {"o": np.zeros(128, np.uint32), "x": np.zeros(256, np.uint32)}
    launch = Launch((1, 1, 1), (64, 1, 1), arrays | {"y": np.ones(256, np.float32)})
    text = kernel(body.replace(" asm", "\nasm"))
    recording, lines = record(compile_kernel(text, "k"), launch), text.split("\n")
    step = next(step for step in recording.steps if part in lines[step.statement.span.line - 1])
    assert narrate.spoken(recording, step, 5)[0] == said
    assert narrate.values(recording, step, 5)
