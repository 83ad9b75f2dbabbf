"""What parameters say about a kernel: which are sizes, strides and factors, and of which task."""

from __future__ import annotations

import pytest

from simulator import Kernel, LaunchError, compile_kernel
from simulator.language.ctype import Pointer
from simulator.verdict import parameters
from simulator.verdict.form import ArrayArgument, Contents
from simulator.verdict.parameters import Shape, recognise
from simulator.verdict.tasks import TASKS

ABC = "const float* A, const float* B, float* C"
USE = "C[0] = A[0] * B[0];"


def kernel_of(parameters: str, body: str = USE, name: str = "mm", before: str = "") -> Kernel:
    return compile_kernel(f"{before}\n__global__ void {name}({parameters}) {{ {body} }}")


def sizes_of(shape: Shape | None) -> str | None:
    """What M, N and K are."""
    return None if shape is None else " ".join(dict(shape.roles)[one] for one in "MNK")


def given(shape: Shape) -> dict[str, str]:
    """What each parameter gets, and * where an array begins with zeros."""
    return {
        one.name: f"{one.rows}, {one.columns}{'*' if one.contents is Contents.ZEROS else ''}"
        if isinstance(one, ArrayArgument)
        else one.value
        for one in shape.arguments
    }


@pytest.mark.parametrize(
    ("sizes", "before", "expected"),
    [
        ("int k, int m, int n", "", "m n k"),
        ("int x, int y, int z", "", "x y z"),
        ("int x, int y, int z, int w", "#define N 8", None),
        ("int x, int y", "", "x y y"),
        ("int x, int y", "#define K 8", "x y K"),
        ("int x, int y", "#define M 8", "M x y"),
        ("int x, int y", "#define N 8", "x N y"),
        ("int k, int m", "#define K 8\n#define N 8", "k N m"),
        ("short n", "", "n n n"),
        ("int n, bool fast, char mode", "", "n n n"),
        ("int n, int lda, int stride_b, int pitchC", "", "n n n"),
        ("", "#define K 8\n#define M 4\n#define N 2", "M N K"),
        ("", "#define M 4\n#define WIDTH 8", "WIDTH WIDTH WIDTH"),
        ("", "#define TILE 4", None),
        (
            "int numARows, int numACols, int numBRows, int numBCols",
            "",
            "numARows numBCols numACols",
        ),
        ("int a_h, int a_w, int b_w, int more", "", "a_h b_w a_w"),
        ("int hC, int wC, int hB, int x", "", "hC wC hB"),
        ("int wA, int wB", "", "wA wB wA"),
        ("int hA, int wA, int x", "", "hA wA x"),
        ("int hA, int wB, int x", "", "hA wB x"),
    ],
)
def test_the_sizes_of_a_product(sizes: str, before: str, expected: str | None) -> None:
    kernel = kernel_of(f"{ABC}, {sizes}".rstrip(", "), before=before)
    assert sizes_of(recognise(kernel)) == expected


@pytest.mark.parametrize(
    ("pointers", "body", "arrays"),
    [
        ("float* C, const float* A, const float* B", USE, "A B C"),
        ("float* d_B, float* A_dev, float* C", "C[0] = A_dev[0] * d_B[0];", "A_dev d_B C"),
        ("float* A, float* B, float* C", "A[0] * B[0];", "A B C"),
        ("const float* A, const double* B, float* C", USE, None),
        ("const float** A, const float** B, float* C", "C[0] = A[0][0] * B[0][0];", None),
        ("const float* A, const float* B, float** C", "C[0][0] = A[0] * B[0];", None),
        ("const float* A, float* C", "C[0] = A[0];", None),
        ("const float* A, const float* B, float* C, float* D", USE + "D[0] = 1;", None),
        (f"{ABC}, const float* D", USE, None),
        ("float* A, float* B, float* C", "A[0] = B[0] = C[0] = 1;", "A B C"),
    ],
)
def test_the_arrays_of_a_product(pointers: str, body: str, arrays: str | None) -> None:
    found = recognise(kernel_of(f"{pointers}, int n", body))
    assert (found and " ".join(dict(found.roles)[one] for one in "ABC")) == arrays


BLAS = "const {a}* A, const {b}* B, const {c}* C, {d}* D, int n, float alpha, float {beta}"


@pytest.mark.parametrize(
    ("types", "beta", "more", "is_such"),
    [
        ("half half float float", "beta", "", True),
        ("half half float float", "gamma", "", False),
        ("half float float float", "beta", "", False),
        ("float float float half", "beta", "", False),
        ("float float float float", "beta", ", const float* E", False),
    ],
)
def test_the_arrays_of_blas(types: str, beta: str, more: str, is_such: bool) -> None:
    named = dict(zip("abcd", types.split(), strict=True), beta=beta)
    found = recognise(
        kernel_of(BLAS.format(**named) + more, "D[0] = 1;", before="#include <cuda_fp16.h>")
    )
    roles = {**{one: one for one in "AB"}, "C": "D", **dict.fromkeys("MNK", "n"),
             "alpha": "alpha", "beta": "beta", "start": "C"}  # fmt: skip
    assert (found and dict(found.roles)) == (roles if is_such else None)


@pytest.mark.parametrize(
    ("statement", "is_product"),
    [
        ("s += A[i] * B[i];", True),
        ("s = s + A[i] * B[i];", True),
        ("s = A[i] * B[i] + (i + s);", True),
        ("s += 1 + A[i] * B[i];", True),
        ("s += 2.0f * (A[i] * B[i]);", True),
        ("s += A[i] * B[i] * 2.0f;", True),
        ("s += A[i] / 2 * B[i];", True),
        ("s += t * B[i];", True),
        ("t += u[i] * v[i];", True),
        ("w += X[i] * Y[i];", True),
        ("s = A[i] * B[i];", False),
        ("s -= A[i] * B[i];", False),
        ("s = s - A[i] * B[i];", False),
        ("s += A[i] / B[i];", False),
        ("s += 0.5f * (A[i] + B[i]);", False),
        ("s += (A[i] - 1) * B[i];", False),
        ("s += A[i] * (B[i] + s);", False),
        ("s += t * t;", False),
        ("w += X[i] * i;", False),
        ("w += x[i] * y[i];", True),
        ("w += i * n;", False),
        ("f(A[i] * B[i]);", False),
        ("} s += A[0] * B[0]; {", False),
    ],
)
def test_what_is_added_up_is_a_product(statement: str, is_product: bool) -> None:
    body = f"""float s = 0, t = A[0], u[2] = {{}}, v[2] = {{}};
        int w = 0, x[2] = {{}}, y[2] = {{}}; const int *X = (const int*)A, *Y = (const int*)B;
        for (int i = 0; i < n; ++i) {{ {statement} }}
        C[0] = s + t + w + u[0] + v[0] + x[0] + y[0];"""
    before = "__device__ void f(float x) { }"
    found = recognise(kernel_of(f"{ABC}, int n", body, "k", before))
    assert (found is not None) is is_product


@pytest.mark.parametrize(("name", "is_product"), [("k", True), ("dot", False), ("matmul", True)])
def test_a_kernels_name_says_whether_it_is_a_product(name: str, is_product: bool) -> None:
    body = "float s = 0; for (int i = 0; i < n; ++i) s += A[i] * B[i]; C[0] = s;"
    for each, expected in ((body, is_product), (USE, name == "matmul")):
        found = recognise(kernel_of(f"{ABC}, int n", each, name))
        assert (found is not None) is expected


STRIDES = "int i = blockIdx.y, j = threadIdx.x; if (i < n && j < n) "
BATCH = "int b = blockIdx.z, i = blockIdx.y, j = threadIdx.x; if (i < m && j < min(n, k)) "


@pytest.mark.parametrize(
    ("more", "body", "strides"),
    [
        ("int lda, int b_ld, int pitch_c, int free", USE,
         {"lda": "k", "b_ld": "n", "pitch_c": "n", "free": "1"}),
        ("int lda", f"{STRIDES} C[i] = B[i * lda + j] * A[0];", {"lda": "k"}),
        ("int p", f"{STRIDES} C[i] = A[i * p + j] * B[0];", {"p": "k"}),
        ("int p", f"{STRIDES} C[i * p + j] = A[0] * B[i * p + j];", {"p": "n"}),
        ("int p", f"{STRIDES} C[i] = A[i * p + j] * B[i * p + j];", {"p": "1"}),
        ("int s, int strideB, int z", BATCH + "C[b * z + i * n + j] ="
         " A[b * s + i * k + j] * B[b * strideB + i * n + j];",
         {"s": "m * k", "strideB": "k * n", "z": "m * n"}),
        ("int s", BATCH + "C[b * s + i * n + j] = A[b * s + i * k + j] * B[0];", {"s": "1"}),
    ],
)  # fmt: skip
def test_strides_are_as_long_as_what_they_lead_over(
    more: str, body: str, strides: dict[str, str]
) -> None:
    found = recognise(kernel_of(f"{ABC}, int m, int n, int k, {more}", body))
    assert found is not None
    values = given(found)
    assert values == {
        "A": "m, k", "B": "k, n", "C": "m, n", **dict.fromkeys("mnk", "8"), **strides
    }  # fmt: skip


def test_sides_that_are_known_before_follow() -> None:
    names = (
        "numARows, int numAColumns, int numBRows, int numBColumns, int numCRows, int numCColumns"
    )
    found = recognise(kernel_of(f"{ABC}, int {names}"))
    assert found is not None
    assert given(found) == {
        "A": "numARows, numAColumns", "B": "numAColumns, numBColumns", "C": "numARows, numBColumns",
        "numARows": "8", "numAColumns": "8", "numBColumns": "8",
        "numBRows": "numAColumns", "numCRows": "numARows", "numCColumns": "numBColumns",
    }  # fmt: skip


def test_all_orders_of_three_sizes_are_tried_and_no_others_of_one() -> None:
    kernel = kernel_of(f"{ABC}, int m, int n, int k")
    found = recognise(kernel)
    assert found is not None
    others = [(one.task, sizes_of(one)) for one in parameters.other_products(kernel, found)]
    assert others == [("product_by_columns", "m n k")] + [
        ("product", one) for one in ("m k n", "n m k", "n k m", "k m n", "k n m")
    ]
    square = kernel_of(f"{ABC}, int n")
    found = recognise(square)
    assert found is not None
    assert not list(parameters.other_products(square, found))


TILES = """#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* A, const half* B, float* C{sizes}) {{
    wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::{0}_major> a;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::{1}_major> b;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 8);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(C, c, 8, wmma::mem_{2}_major);
}}"""


@pytest.mark.parametrize(
    ("layout", "tasks"),
    [
        ("row row row", []),
        ("row col row", ["product_of_rows"]),
        ("col row row", ["product_of_columns"]),
        ("row row col", ["product_by_columns"]),
        ("col col col", ["product_of_rows", "product_of_columns", "product_by_columns"]),
    ],
)
def test_tiles_tell_how_matrices_lie(layout: str, tasks: list[str]) -> None:
    for sizes, expected in ((", int m, int n, int k", "m n k"), ("", "32 8 16")):
        kernel = compile_kernel(TILES.format(*layout.split(), sizes=sizes))
        found = recognise(kernel)
        assert found is not None
        assert sizes_of(found) == expected
        assert [one.task for one in parameters.other_products(kernel, found)] == tasks


STRUCT = "struct M {{ int height; {members} }};\n__global__ void k(M A, M B, M C{more}) {{ }}"


@pytest.mark.parametrize(
    ("members", "more", "is_such"),
    [
        ("int width; float* e; int stride;", ", int z, float by", True),
        ("int cols; float* e;", "", False),
        ("int width; float* e; float* f;", "", False),
        ("int width; float* e;", ", float* x", False),
        ("int width; float* e;", ", M D", False),
    ],
)
def test_matrices_that_are_structs(members: str, more: str, is_such: bool) -> None:
    kernel = compile_kernel(STRUCT.format(members=members, more=more))
    found = recognise(kernel)
    if not is_such:
        assert found is None
        return
    assert found is not None
    assert not list(parameters.other_products(kernel, found))
    assert dict(found.roles) == {
        "A": "A.e", "B": "B.e", "C": "C.e", "M": "A.height", "N": "B.width", "K": "A.width"
    }  # fmt: skip
    assert given(found) == {
        "A.e": "A.height, A.width", "B.e": "B.height, B.width", "C.e": "C.height, C.width",
        "A.width": "8", "A.height": "8", "B.width": "8", "B.height": "A.width",
        "C.width": "B.width", "C.height": "A.height",
        **{f"{one}.stride": f"{one}.width" for one in "ABC"}, "z": "1", "by": "1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given_sizes", "expected"),
    [
        ("transpose", "int width, int height", "height width"),
        ("transpose", "int x, int y", "x y"),
        ("transpose", "int n", "n n"),
        ("transpose", "int m, int n, int more", None),
        ("transpose", "", None),
        ("turn", "int m, int n", None),
    ],
)
def test_a_transpositions_sizes(name: str, given_sizes: str, expected: str | None) -> None:
    kernel = kernel_of(
        f"const float* A, float* B, {given_sizes}".rstrip(", "), "B[0] = A[0];", name
    )
    found = recognise(kernel)
    assert (found and " ".join(dict(found.roles)[one] for one in "MN")) == expected


@pytest.mark.parametrize(
    ("statement", "starts"),
    [
        ("C[0] = A[0];", ""),
        ("C[0] += A[0];", "*"),
        ("A[0] + C[0];", "*"),
        ("float* to = C + n; to[0] = A[0];", ""),
        ("float* to = C + n; to[0] += A[0];", "*"),
        ("*(n > 2 ? C : C + 1) += A[0];", "*"),
        ("float s = 0; s += A[0]; C[0] = s;", ""),
        ("__shared__ float s[2]; s[0] += A[0]; C[0] = s[0];", ""),
        ("atomicAdd(C, A[0]);", "*"),
    ],
)
def test_a_result_that_is_read_begins_with_zeros(statement: str, starts: str) -> None:
    for factors, expected in (("", starts), (", float beta", "")):
        found = recognise(kernel_of(f"{ABC}, int n{factors}", statement))
        assert found is not None
        assert given(found)["C"] == f"n, n{expected}"


def test_other_numbers_leave_a_product_alone_and_factors_show() -> None:
    found = recognise(kernel_of(f"{ABC}, int n, bool z, float x, float Alpha, float BETA"))
    assert found is not None
    values = given(found)
    assert {one: values[one] for one in ("z", "x", "Alpha", "BETA")} == {
        "z": "1", "x": "2", "Alpha": "2", "BETA": "3"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("task", "parameters_", "roles", "arguments"),
    [
        ("matrix_vector", "const float* A, const float* x, float* y, int n, int m",
         "A=A x=x y=y M=m N=n", {"A": "m, n", "x": "1, n", "y": "1, m", "m": "8", "n": "8"}),
        ("matrix_vector", "const float* A, const float* x, float* y, int rows",
         "A=A x=x y=y M=rows N=rows", None),
        ("matrix_vector", "const float* A, const float* x, float* y, int rows, int w",
         "A=A x=x y=y M=rows N=w", None),
        ("scaled_sum", "float f, const float* a, const float* b, float* y, int n, float g",
         "x=a y=b z=y n=n a=f", {"f": "2", "a": "1, n", "b": "1, n", "y": "1, n", "n": "8",
                                 "g": "2"}),
        ("axpy", "float a, const float* x, float* y, int n", "x=x y=y n=n a=a",
         {"a": "2", "x": "1, n", "y": "1, n", "n": "8"}),
        ("total", "const float4* x, float* y, int n", "x=x total=y n=n",
         {"x": "1, (n + 3) / 4", "y": "1, 1", "n": "8"}),
    ],
)  # fmt: skip
def test_the_arguments_of_a_task(
    task: str, parameters_: str, roles: str, arguments: dict[str, str] | None
) -> None:
    found = parameters.with_task(kernel_of(parameters_, "y[0] = 1;"), task)
    assert " ".join(f"{role}={what}" for role, what in found.roles) == roles
    assert found.task == task
    assert arguments is None or given(found) == arguments


@pytest.mark.parametrize(
    ("task", "parameters_"),
    [("sum", "const float* x, float* y, int n"), ("copy", "const float* x, float* y")],
)
def test_a_task_that_parameters_do_not_fit(task: str, parameters_: str) -> None:
    count = len(TASKS[task].arrays)
    with pytest.raises(LaunchError, match=f"a kernel needs {count} pointers to numbers"):
        parameters.with_task(kernel_of(parameters_, "y[0] = x[0];"), task)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("atomicAdd(sum, 1.0f);", {"sum"}),
        ("atomicAdd(&count[0], 1);", {"count"}),
        ("int* to = count + 1; atomicAdd(to, 1);", {"count", "other"}),
        ("add(count);", {"count", "other"}),
        ("__shared__ int s[2]; atomicAdd(s, 1);", set()),
        ("atomicAdd(sum > x ? other : count, 1);", {"count", "other"}),
    ],
)
def test_arrays_that_atomics_change(body: str, names: set[str]) -> None:
    text = "float* sum, float* x, int* count, int* other, int n"
    before = "__device__ void add(int* at) { atomicAdd(at, 1); }"
    kernel = kernel_of(text, body, before=before)
    found = parameters.atomic_parameters(kernel)
    assert found & {one.name for one in kernel.parameters} == names


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("(char*)x + i * pitch", {"pitch"}),
        ("(char*)x + (i + 1) * (int)(pitch + 1)", {"pitch"}),
        ("i * pitch + (char*)x", set()),
        ("(char*)x + i * w", set()),
        ("(char*)x + pitch", set()),
        ("(char*)(x + i * pitch)", set()),
        ("bytes + i * pitch", set()),
        ("(char*)x - i * pitch", set()),
        ("(char*)x + i * step", set()),
        ("(char*)s + i * pitch", {"pitch"}),
    ],
)
def test_pitches_in_bytes(address: str, names: set[str]) -> None:
    body = f"int i = threadIdx.x, step = 4; float* to = (float*)({address}); to[0] = step;"
    kernel = kernel_of("float* x, short* s, char* bytes, int w, int pitch", body)
    assert parameters.byte_pitches(kernel) == names


@pytest.mark.parametrize(
    ("ctype", "cells", "expected"),
    [
        ("float", "n", "n"),
        ("float1", "n", "n"),
        ("float2", "n", "(n + 1) / 2"),
        ("float2", "2 * n", "n"),
        ("float2", "4 * n", "(4 * n + 1) / 2"),
        ("float2", "2 * n * m", "(2 * n * m + 1) / 2"),
    ],
)
def test_numbers_as_vectors(ctype: str, cells: str, expected: str) -> None:
    pointer = kernel_of(f"{ctype}* x", "").parameters[0].ctype
    assert isinstance(pointer, Pointer)
    assert parameters.in_vectors(pointer, cells) == expected


def test_the_length_of_vectors_in_memory() -> None:
    parameters_ = "float4* x, float* y, int n"
    for body, length in (
        ("y[0] = 1;", 1),
        ("float4 a; y[0] = n;", 1),
        ("((float2*)y)[0] = make_float2(1, 2);", 2),
        ("*(float2*)y = make_float2(1, 2); float4 a = x[0]; y[0] = a.x;", 4),
    ):
        assert parameters.vector_length(kernel_of(parameters_, body)) == length
