"""The names of CUDA's functions that a kernel may call; simulator.machine executes them."""

from __future__ import annotations

from simulator.language.assembly import MATRIX_LOADS, MATRIX_PRODUCTS
from simulator.language.number_types import ROUNDINGS, SHORT_FLOATS

SHORT_WORDS = tuple(each.word for each in SHORT_FLOATS.values())

# These names are the functions of double; those of float end in f (CUDA Math API). Their
# arguments have the type of their result.
OF_BOTH_WIDTHS = frozenset({
    "sqrt", "rsqrt", "cbrt", "rcbrt", "fabs", "exp", "exp2", "exp10", "expm1", "log", "log2",
    "log10", "log1p", "logb", "sin", "cos", "tan", "sinpi", "cospi", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "rint",
    "nearbyint", "round", "erf", "erfc", "erfinv", "normcdf", "lgamma", "tgamma", "fmin", "fmax",
    "fmod", "remainder", "pow", "atan2", "hypot", "rhypot", "copysign", "fdim", "nextafter",
})  # fmt: skip

# The same of mixed types: whole numbers among their arguments, or as their result.
WITH_WHOLE_NUMBERS = frozenset({
    "ilogb", "ldexp", "scalbn", "lrint", "llrint", "lround", "llround",
})  # fmt: skip

ORDERS = frozenset({
    "min", "max", "umin", "umax", "llmin", "llmax", "ullmin", "ullmax", "abs", "labs", "llabs",
})  # fmt: skip

FLOAT_FUNCTIONS = frozenset({
    "fmaf", "fma", "norm3d", "norm3df", "norm4d", "norm4df", "rnorm3d", "rnorm3df", "fdividef",
    "__fdividef", "__powf", "__expf", "__exp10f", "__logf", "__log2f", "__log10f", "__sinf",
    "__cosf", "__tanf", "__tanhf", "__saturatef", "__frsqrt_rn", "isnan", "isinf", "isfinite",
    "signbit",
})  # fmt: skip

BIT_FUNCTIONS = frozenset({
    "__popc", "__popcll", "__clz", "__clzll", "__ffs", "__ffsll", "__brev", "__brevll",
    "__byte_perm", "__funnelshift_l", "__funnelshift_lc", "__funnelshift_r", "__funnelshift_rc",
    "__mulhi", "__umulhi", "__mul64hi", "__umul64hi", "__mul24", "__umul24", "__sad", "__usad",
    "__hadd", "__uhadd", "__rhadd", "__urhadd", "__dp4a", "__int_as_float", "__uint_as_float",
    "__float_as_int", "__float_as_uint", "__double_as_longlong", "__longlong_as_double",
    "__hiloint2double", "__double2hiint", "__double2loint",
})  # fmt: skip

# Of two halfwords or four bytes within a word, by their names without __v and the count.
SIMD_OF_ONE = ("neg", "abs", "negss", "absss")
SIMD_OF_TWO = (
    "add", "addss", "addus", "sub", "subss", "subus", "maxs", "maxu", "mins", "minu", "avgu",
    "haddu", "absdiffs", "absdiffu", "sads", "sadu",
    *(f"{result}{test}" for result in ("cmp", "set")
      for test in ("eq", "ne", "ges", "geu", "gts", "gtu", "les", "leu", "lts", "ltu")),
)  # fmt: skip
SIMD_FUNCTIONS = frozenset(
    f"__v{name}{count}" for name in SIMD_OF_ONE + SIMD_OF_TWO for count in (2, 4)
) | {"__dp2a_lo", "__dp2a_hi"}

# Those that give the bits of their argument as another type.
BIT_CASTS = frozenset({
    "__int_as_float", "__uint_as_float", "__float_as_int", "__float_as_uint",
    "__double_as_longlong", "__longlong_as_double",
    *(f"__{word}_as_{whole}" for word in SHORT_WORDS for whole in ("short", "ushort")),
    *(f"__{whole}_as_{word}" for word in SHORT_WORDS for whole in ("short", "ushort")),
})  # fmt: skip

ROUNDING_MODES = ("rn", "rz", "ru", "rd")  # to nearest, toward zero, up and down
ROUNDED_OPERATIONS = frozenset({
    *(f"__{width}{name}" for width in "fd" for name in ("add", "sub", "mul", "div", "sqrt", "rcp")),
    "__fmaf", "__fma",
    *(f"__{source}2{target}" for source in ("float", "double")
      for target in ("int", "uint", "ll", "ull")),
    *(f"__{source}2float" for source in ("int", "uint", "ll", "ull", "double")),
    "__ll2double", "__ull2double",
})  # fmt: skip
ROUNDED_FUNCTIONS = frozenset(
    f"{operation}_{mode}" for operation in ROUNDED_OPERATIONS for mode in ROUNDING_MODES
) | {"__int2double_rn", "__uint2double_rn"}

# Loads and stores through a pointer, with a wish for the caches.
CACHED_LOADS = frozenset({"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"})
CACHED_STORES = frozenset({"__stwb", "__stcg", "__stcs", "__stwt"})

WHOLE_NUMBERS = ("int", "uint", "short", "ushort", "ll", "ull")


def _with_word(word: str) -> frozenset[str]:
    """The functions of a short float that are named after it: __float2half_rn, __low2half."""
    pair = f"{word}2"
    return frozenset({
        f"__{word}2{pair}", f"__halves2{pair}", f"__float2{pair}_rn", f"__floats2{pair}_rn",
        f"__float22{pair}_rn", f"__{pair}2float2", f"__low2{word}", f"__high2{word}",
        f"__low2{pair}", f"__high2{pair}", f"__lows2{pair}", f"__highs2{pair}",
        f"__{word}_as_short", f"__{word}_as_ushort", f"__short_as_{word}", f"__ushort_as_{word}",
        *(f"__{source}2{word}_{mode}" for source in ("float", *WHOLE_NUMBERS)
          for mode in ROUNDING_MODES),
        *(f"__{word}2{target}_{mode}" for target in WHOLE_NUMBERS for mode in ROUNDING_MODES),
    })  # fmt: skip


SHORT_FLOAT_FUNCTIONS = frozenset({
    *(f"__h{operation}{two}_{end}" for operation in ("add", "sub", "mul") for two in ("", "2")
      for end in ("rn", "sat")),
    *(f"__hfma{two}{end}" for two in ("", "2") for end in ("", "_sat", "_relu")),
    *(f"__h{name}{two}" for name in ("abs", "max", "min") for two in ("", "2")),
    "__hmax_nan", "__hmin_nan", "__hmax2_nan", "__hmin2_nan",
    *(f"{h}{name}" for h in ("h", "h2") for name in (
        "sqrt", "rsqrt", "rcp", "exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos",
        "tanh", "floor", "ceil", "trunc", "rint")),
    *(f"__h{form}{test}{unordered}{two}" for test in ("eq", "ne", "lt", "le", "gt", "ge")
      for unordered in ("", "u") for form, two in (("", ""), ("", "2"), ("b", "2"))),
    "__hisnan", "__hisnan2", "__hisinf", "__low2float", "__high2float", "__lowhigh2highlow",
}).union(*map(_with_word, SHORT_WORDS))  # fmt: skip

# Conversions to the bits of a number of 8 bits, of which an argument says the type, and from them.
FP8_CONVERSIONS = frozenset({
    "__nv_cvt_float_to_fp8", "__nv_cvt_double_to_fp8", "__nv_cvt_fp8_to_half",
})  # fmt: skip
# By names of ours: these bits, a member of the number's class, and the number that has them.
BITS, FROM_BITS = "__x", "bits"

ARITHMETIC_FUNCTIONS = (
    OF_BOTH_WIDTHS
    | {f"{name}f" for name in OF_BOTH_WIDTHS}
    | WITH_WHOLE_NUMBERS
    | {f"{name}f" for name in WITH_WHOLE_NUMBERS}
    | ORDERS
    | FLOAT_FUNCTIONS
    | BIT_FUNCTIONS
    | SIMD_FUNCTIONS
    | ROUNDED_FUNCTIONS
    | SHORT_FLOAT_FUNCTIONS
    | FP8_CONVERSIONS
    | frozenset(ROUNDINGS)
)

# Those whose arguments all have the type of their result, whatever types the call gives them.
OF_THE_RESULTS_TYPE = OF_BOTH_WIDTHS | ORDERS

# Those that give results through pointers: the position of the first such argument.
OUTPUT_FUNCTIONS = {
    "sincosf": 1, "sincos": 1, "sincospif": 1, "sincospi": 1, "__sincosf": 1, "frexpf": 1,
    "frexp": 1, "modff": 1, "modf": 1,
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
# Those that lanes of both branches of an if may call together.
MEETING_FUNCTIONS = SHUFFLES | VOTES | REDUCTIONS | {"__match_any_sync", "__syncwarp"}
WARP_FUNCTIONS = SHUFFLES | VOTES | MATCHES | REDUCTIONS | {"__syncwarp", "__activemask"}

# Those of cooperative groups, by names of ours: the group is their first argument.
GROUP_OPERATIONS = ("plus", "less", "greater", "bit_and", "bit_or", "bit_xor")
# These take no lanes of a warp together: they give a block, the grid, or a number of theirs.
GROUP_NUMBERS = frozenset({
    "this_thread_block", "thread_block::thread_rank", "thread_block::size", "this_grid",
    "grid_group::thread_rank", "grid_group::size", "grid_group::block_rank",
    "grid_group::num_blocks",
})  # fmt: skip
GROUP_FUNCTIONS = GROUP_NUMBERS | {
    "coalesced_threads", "tiled_partition", "cg::thread_rank", "cg::size", "cg::meta_group_rank",
    "cg::meta_group_size", "cg::ballot", "cg::all", "cg::match_any", "cg::shfl", "cg::shfl_up",
    "cg::shfl_down",
} | {
    f"cg::{function}<{operation}>"
    for function in ("reduce", "inclusive_scan", "exclusive_scan")
    for operation in GROUP_OPERATIONS
}  # fmt: skip

BLOCK_VOTES = frozenset({"__syncthreads_and", "__syncthreads_or", "__syncthreads_count"})

PRINT = "printf"
STOPS = frozenset({"assert", "__trap", "__brkpt"})  # what ends the launch where it is reached

CLOCKS = frozenset({"clock", "clock64"})
SLEEP = "__nanosleep"

FENCES = frozenset({"__threadfence", "__threadfence_block", "__threadfence_system"})

ASYNC_COPY = "__pipeline_memcpy_async"
ASYNC_COPY_FUNCTIONS = frozenset({ASYNC_COPY, "__pipeline_commit", "__pipeline_wait_prior"})

# The number that the address of a cell of shared memory is, and the pointer to such a cell.
TO_SHARED, TO_SHARED_POINTER = "__cvta_generic_to_shared", "__cvta_shared_to_generic"

# Those of nvcuda::wmma, which a whole warp calls: their fragments are pointers to the elements.
FRAGMENT_FUNCTIONS = frozenset({
    "wmma::load_matrix_sync", "wmma::store_matrix_sync", "wmma::mma_sync", "wmma::fill_fragment",
})  # fmt: skip

# Those of curand_kernel.h, and which of their arguments points to the generator's state.
RANDOM_FUNCTIONS = {
    "curand_init": 3, "skipahead": 1, "skipahead_sequence": 1, "curand": 0, "curand4": 0,
    **{f"curand_{distribution}{form}": 0
       for distribution in ("uniform", "normal", "log_normal")
       for form in ("", "2", "4", "_double", "2_double")
       if f"{distribution}{form}" != "uniform2"},
}  # fmt: skip

INTRINSICS = (
    ATOMIC_FUNCTIONS
    | WARP_FUNCTIONS
    | GROUP_FUNCTIONS
    | BLOCK_VOTES
    | CLOCKS
    | {SLEEP}
    | {PRINT}
    | STOPS
    | FENCES
    | ASYNC_COPY_FUNCTIONS
    | {TO_SHARED, TO_SHARED_POINTER}
    | FRAGMENT_FUNCTIONS
    | MATRIX_LOADS.keys()
    | MATRIX_PRODUCTS.keys()
    | OUTPUT_FUNCTIONS.keys()
    | RANDOM_FUNCTIONS.keys()
)
