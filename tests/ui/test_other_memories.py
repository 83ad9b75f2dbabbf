"""Scenes of kernels with constant memory, __device__ variables and half."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from simulator import Launch, Recording, compile_kernel, record
from simulator.sentences.steps import spoken
from ui.analysis.scene_model import build_scene_model
from ui.drawing.look import Look
from ui.scene import scene

CONSTANT = """
__constant__ float alpha[2] = {0, 2};
__device__ int hits;
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = threadIdx.x, row = threadIdx.y;
    float acc = 0.f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    atomicAdd(&hits, 1);
    C[row * N + col] = alpha[1];
    C[row * N + col] *= acc;
}"""
HALF = """
__global__ void k(const half* A, const half* B, half* C, int M, int N, int K) {
    int col = threadIdx.x, row = threadIdx.y;
    half2 acc = __float2half2_rn(0.f);
    for (int k = 0; k < K; k += 2)
        acc += *(const half2*)&A[row * K + k] * half2(B[k * N + col], B[(k + 1) * N + col]);
    C[row * N + col] = acc.x + acc.y;
}"""
STRUCT = """
struct Camera { float2 eye[2]; int width; };
__constant__ Camera camera = {1, 2, 3, 4, 5};
__device__ Camera last[2];
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = threadIdx.x, row = threadIdx.y;
    float acc = 0.f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    last[col / 2].width = 1;
    C[row * N + col] = camera.eye[1].x;
    C[row * N + col] *= acc;
}"""
TEXTS = {
    "constant": (CONSTANT, np.float32), "half": (HALF, np.float16), "struct": (STRUCT, np.float32),
}  # fmt: skip


@functools.cache
def recorded(name: str) -> Recording:
    text, dtype = TEXTS[name]
    arguments = {
        "A": np.arange(32).reshape(4, 8).astype(dtype) % 3, "B": np.ones((8, 4), dtype),
        "C": np.zeros((4, 4), dtype), "M": 4, "N": 4, "K": 8,
    }  # fmt: skip
    return record(compile_kernel(text, "k"), Launch((1, 1, 1), (4, 4, 1), arguments))


@pytest.mark.parametrize("name", TEXTS)
def test_every_step_is_drawn(name: str) -> None:
    recording = recorded(name)
    figure = scene.arrange(build_scene_model(recording, 5), Look()).plain()
    assert len(figure["frames"]) == len(recording.steps)
    if name == "constant":
        assert "constant memory" in str(figure)


def first_sentences(name: str) -> list[str]:
    """The first that is said of thread 5 at each step."""
    recording = recorded(name)
    return [sentence for step in recording.steps for sentence in spoken(recording, step, 5)[:1]]


def test_a_struct_in_constant_memory_is_told_by_its_members() -> None:
    sentences = first_sentences("struct")
    assert "copies camera[0].eye[1].x = 3 from constant memory to C[5]." in sentences
    assert "stores 1 in last[0].width, in global memory." in sentences


def test_an_atomic_and_a_constant_are_told() -> None:
    sentences = first_sentences("constant")
    assert "updates hits[0] with atomicAdd: it held 5." in sentences
    assert "copies alpha[1] = 2 from constant memory to C[5]." in sentences
