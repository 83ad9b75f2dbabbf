"""The names of CUDA's functions that a kernel may call; simulator.machine executes them."""

from __future__ import annotations

# These names are the functions of double; those of float have an f behind (CUDA Math API).
OF_BOTH_WIDTHS = frozenset({
    "sqrt", "rsqrt", "cbrt", "fabs", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc",
    "rint", "round", "fmin", "fmax", "fmod", "pow", "atan2", "hypot", "copysign", "fdim",
})  # fmt: skip

ARITHMETIC_FUNCTIONS = OF_BOTH_WIDTHS | {f"{name}f" for name in OF_BOTH_WIDTHS} | {
    "fmaf", "fma", "__fmaf_rn", "__fma_rn", "__fadd_rn", "__fsub_rn", "__fmul_rn", "__fdiv_rn",
    "__fdividef", "__dadd_rn", "__dmul_rn", "__expf", "__logf", "__sinf", "__cosf", "isnan",
    "isinf", "abs", "min", "max", "__popc", "__clz", "__ffs", "__mul24", "__umul24",
    "__int_as_float", "__uint_as_float", "__float_as_int", "__float_as_uint",
}  # fmt: skip

ATOMIC_OPERATIONS = frozenset({
    "atomicAdd", "atomicSub", "atomicMax", "atomicMin", "atomicAnd", "atomicOr", "atomicXor",
    "atomicExch", "atomicInc", "atomicDec", "atomicCAS",
})  # fmt: skip

# Each operation, and that which is atomic for the threads of the block, or of the whole system.
ATOMIC_SCOPES = ("", "_block", "_system")
ATOMIC_FUNCTIONS = frozenset(
    f"{operation}{scope}" for operation in ATOMIC_OPERATIONS for scope in ATOMIC_SCOPES
)

SHUFFLES = frozenset({"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"})
VOTES = frozenset({"__any_sync", "__all_sync", "__ballot_sync"})
MATCHES = frozenset({"__match_any_sync", "__match_all_sync"})
REDUCTIONS = frozenset(
    f"__reduce_{operation}_sync" for operation in ("add", "min", "max", "and", "or", "xor")
)
WARP_FUNCTIONS = SHUFFLES | VOTES | MATCHES | REDUCTIONS | {"__syncwarp", "__activemask"}

FENCES = frozenset({"__threadfence", "__threadfence_block", "__threadfence_system"})

ASYNC_COPY = "__pipeline_memcpy_async"
ASYNC_COPY_FUNCTIONS = frozenset({ASYNC_COPY, "__pipeline_commit", "__pipeline_wait_prior"})

INTRINSICS = ATOMIC_FUNCTIONS | WARP_FUNCTIONS | FENCES | ASYNC_COPY_FUNCTIONS
