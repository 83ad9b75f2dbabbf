"""Names of CUDA that the simulator does not support, and what to write instead of them."""

from __future__ import annotations

import re

UNSUPPORTED_NAMES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(names), advice)
    for names, advice in (
        (r"printf|puts|assert", "leave the line out; every value is there to see, step by step"),
        (r"malloc|free|alloca", "a kernel gets its memory as arrays from the launch"),
        (r"this_grid|grid_group", "blocks do not wait for each other here; end the kernel there, "
         "and let a second one go on"),
        (r"this_(?:cluster|multi_grid)|(?:cluster|multi_grid)_group|cluster_\w+", "groups of "
         "several blocks are left out; use one block, or global memory between two kernels"),
        (r"labeled_partition|binary_partition", "use __match_any_sync(mask, label), which gives "
         "the lanes of a label, as the mask of the __shfl functions"),
        (r"memcpy_async|wait|wait_prior", "let each thread copy its elements, and wait with "
         "sync(); or use __pipeline_memcpy_async and __pipeline_wait_prior"),
        (r"invoke_one\w*|reduce_\w+_async|barrier_\w+|block_tile_memory|scatter|experimental",
         "this part of cooperative groups is left out"),
        (r"tex\w*|surf\w*|texture\w*|cudaTextureObject_t|cudaSurfaceObject_t|__sampler\w*",
         "textures and surfaces are left out; read the array itself"),
        (r"(?:__)?nv_bfloat16\w*|__nv_\w+|\w*bfloat16\w*", "bfloat16 and the formats of 8 bits are "
         "left out; use half or float"),
        (r"wmma|nvcuda|mma\w*|__mma\w*", "tensor cores are left out"),
        (r"cuda[A-Z]\w*|checkCuda\w*|dim3", "that is host code: give the kernels alone, their "
         "launch is chosen here"),
        (r"std|thrust|cub|cuda", "C++ libraries are left out"),
        (r"curand\w*", "random numbers on the device are left out; pass them in an array"),
        (r"clock(?:64)?|__nanosleep|__globaltimer|__clock\w*", "there is no clock here"),
        (r"__shfl(?:_up|_down|_xor)?|__any|__all|__ballot", "CUDA has it no longer; use "
         "the one that ends in _sync"),
        (r"__match_\w+|__reduce_\w+|atomic\w+", "CUDA has no function of this name"),
    )
)  # fmt: skip


def unsupported_message(name: str) -> str | None:
    """A sentence on why a name of CUDA's is not supported; None for any other name.

    >>> unsupported_message("printf")
    'printf is not supported: leave the line out; every value is there to see, step by step.'
    >>> unsupported_message("total")
    """
    for names, advice in UNSUPPORTED_NAMES:
        if names.fullmatch(name):
            return f"{name} is not supported: {advice}."
    return None
