"""Pointers that are in memory: __device__ variables, pointers to pointers, linked structures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Launch, LaunchError, Report, SourceError, compile_kernel, simulate
from simulator.__main__ import main

NODE = np.dtype([("value", np.int32), ("next", np.uint64)], align=True)


def run(text: str, threads: int = 1, **arguments: Any) -> Report:
    return simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (threads, 1, 1), arguments))


def test_a_device_pointer_points_to_what_the_launch_gives() -> None:
    text = """__device__ float* table;
    __global__ void k(float* o) {
        o[threadIdx.x] = 2 * table[threadIdx.x];
        table[threadIdx.x] = 1;
    }"""
    table = np.arange(6, dtype=np.float32)
    report = run(text, 4, o=np.zeros(4, np.float32), table=table)
    assert report.arrays["o"].tolist() == (2 * table[:4]).tolist()
    assert report.arrays["table"].tolist() == [1, 1, 1, 1, 4, 5]
    assert report.hazards == ()


def test_a_device_pointer_is_null_until_the_kernel_sets_it() -> None:
    text = """__device__ int* chosen = nullptr;
    __global__ void k(int* o) {
        if (threadIdx.x == 0 && chosen == nullptr) chosen = o + 2;
        __syncthreads();
        chosen[threadIdx.x] = 5 + threadIdx.x;
    }"""
    report = run(text, 2, o=np.zeros(4, np.int32))
    assert report.arrays["o"].tolist() == [0, 0, 5, 6]


def test_what_a_null_pointer_points_to_is_out_of_bounds() -> None:
    report = run(
        "__device__ int* p; __global__ void k(int* o) { o[0] = *p; }", o=np.ones(1, np.int32)
    )
    assert [str(hazard.kind) for hazard in report.hazards] == ["out-of-bounds"]


ROWS = np.arange(12, dtype=np.int32).reshape(3, 4)


@pytest.mark.parametrize("form", ["__constant__ int* rows[3];", "__device__ int* rows[3];"])
def test_an_array_of_pointers_points_to_rows(form: str) -> None:
    text = f"{form} __global__ void k(int* o) {{ o[threadIdx.x] = rows[threadIdx.x][1]; }}"
    assert run(text, 3, o=np.zeros(3, np.int32), rows=ROWS).arrays["o"].tolist() == [1, 5, 9]


@pytest.mark.parametrize("parameter", ["int** p", "int* p[]", "int* const* p"])
def test_a_pointer_to_pointers_points_to_rows(parameter: str) -> None:
    text = f"""__global__ void k({parameter}, int n) {{
        int* row = p[threadIdx.x];
        for (int i = 0; i < n; i++) row[i] += *(*(p + 1) + i);
        if (threadIdx.x == 0) p[0][0] = 100;
    }}"""
    report = run(text.replace("p + 1", "p + 2"), 2, p=ROWS, n=4)
    expected = ROWS + [[1], [1], [0]] * ROWS[2]
    expected[0, 0] = 100
    assert report.arrays["p"].tolist() == expected.tolist()
    assert report.hazards == ()


def test_a_command_line_gives_rows(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.cu"
    file.write_text("""__global__ void k(float** a, int n) { a[threadIdx.x][n - 1] = 0; }
    int main() { k<<<1, 3>>>(rows, 8); }""")
    assert main([str(file), "--launch"]) == 0
    assert "f32:NxN i32=8" in capsys.readouterr().out
    assert main([str(file), "--grid", "1", "--block", "3", "f32:3x8", "i32=8"]) == 0


LIST = """struct Node { int value; Node* next; };
"""


def test_a_kernel_links_nodes_and_follows_them() -> None:
    text = (
        LIST
        + """__global__ void k(Node* pool, int* o) {
        Node* head = nullptr;
        for (int i = 0; i < 4; i++) {
            Node* node = pool + i;
            node->value = i + 1;
            node->next = head;
            head = node;
        }
        for (Node* n = head; n; n = n->next) o[0] = 10 * o[0] + n->value;
        Node copy = *head;
        o[1] = copy.next->next->value + pool[1].next->value;
        (*copy.next).value = 7;
        o[2] = pool[2].value;
    }"""
    )
    report = run(text, pool=np.zeros(4, NODE), o=np.zeros(3, np.int32))
    assert report.arrays["o"].tolist() == [4321, 3, 7]
    assert report.hazards == ()


def test_lists_grow_in_buckets_that_begin_empty() -> None:
    text = (
        LIST
        + """__global__ void k(Node** buckets, Node* pool, int* count, int n) {
        for (int i = 0; i < n; i++) {
            pool[i].value = i * i;
            pool[i].next = buckets[i * i % 5];
            buckets[i * i % 5] = &pool[i];
        }
        for (int b = 0; b < 5; b++)
            for (Node* node = buckets[b]; node != NULL; node = node->next) count[b] += node->value;
    }"""
    )
    report = run(text, buckets=np.zeros(5, np.uint64), pool=np.zeros(9, NODE), n=9,
                 count=np.zeros(5, np.int32))  # fmt: skip
    squares = np.arange(9) ** 2
    expected = [int(squares[squares % 5 == b].sum()) for b in range(5)]
    assert report.arrays["count"].tolist() == expected


def test_a_list_in_shared_memory() -> None:
    text = (
        LIST
        + """__global__ void k(int* o) {
        __shared__ Node nodes[4];
        int t = threadIdx.x;
        nodes[t] = {t, t < 3 ? &nodes[t + 1] : nullptr};
        __syncthreads();
        int sum = 0;
        for (const Node* n = nodes + t; n; n = n->next) sum += n->value;
        o[t] = sum;
    }"""
    )
    assert run(text, 4, o=np.zeros(4, np.int32)).arrays["o"].tolist() == [6, 6, 5, 3]


def test_threads_whose_pointer_is_null_beside_others() -> None:
    text = """__global__ void k(int* a, int* o) {
        int* p = nullptr;
        if (threadIdx.x % 2) p = a + threadIdx.x;
        int* q = threadIdx.x < 2 ? p : NULL;
        __shared__ int* kept[4];
        kept[threadIdx.x] = p;
        o[threadIdx.x] = (p != nullptr) + 10 * (q == p) + 100 * (q ? *q : 0);
        o[threadIdx.x] += 1000 * !kept[threadIdx.x];
        if (threadIdx.x == 0) o[4] = *p;
    }"""
    report = run(text, 4, a=np.arange(4, dtype=np.int32), o=np.zeros(5, np.int32))
    assert report.arrays["o"].tolist() == [1010, 111, 1010, 1, 0]
    assert [str(hazard.kind) for hazard in report.hazards] == ["out-of-bounds"]
    assert "reads what a null pointer (nullptr) points to" in report.hazards[0].message


def test_pointers_that_a_launch_cannot_give() -> None:
    text = LIST + "__global__ void k(Node* list, int* o) { o[0] = list->next->value; }"
    ones = np.ones(1, NODE)
    ones["next"] = 2**62
    with pytest.raises(SourceError, match="not by pointers within structs"):
        run(text, list=ones, o=np.zeros(1, np.int32))
    rows = "__device__ int* p[2]; __global__ void k(int** q, int* o) { o[0] = p[0][0] + **q; }"
    with pytest.raises(LaunchError, match="an array of two dimensions"):
        run(rows, q=np.zeros(3, np.int32), o=np.zeros(1, np.int32))
    with pytest.raises(LaunchError, match="holds 2 pointers; the array has 3 rows"):
        run(rows, q=ROWS, p=ROWS, o=np.zeros(1, np.int32))
    given = '__device__ const char* word = "abc"; __global__ void k(char* o) { o[0] = word[0]; }'
    with pytest.raises(SourceError, match="the code can set only to nullptr"):
        run(given, o=np.zeros(1, np.int8))
