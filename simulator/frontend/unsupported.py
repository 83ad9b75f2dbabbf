"""Names of CUDA that the simulator does not support, and what to write instead of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from simulator.language.ctype import VECTORS
from simulator.language.fragments import SHAPES
from simulator.language.number_types import NUMBER_TYPES, OPERANDS

# Those that are classes without arithmetic.
CLASSES = [each.name for each in NUMBER_TYPES.values() if each.header and not each.pair]
OPERAND_WORDS = " and ".join(", ".join(each.word for each in OPERANDS.values()).rsplit(", ", 1))
OPERAND_SHAPES = " or ".join(
    " or ".join(f"{each.scope}{name}" for name, each in OPERANDS.items() if each.ctype.size == size)
    + f" ({', '.join('x'.join(map(str, shape)) for shape in shapes)})"
    for size, shapes in SHAPES.items()
)
UNSUPPORTED_NAMES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(names), advice)
    for names, advice in (
        (r"f?puts|putchar|(?:f|s|sn|v)printf|perror|stderr|stdout|cout|cerr|clog|cin|endl|"
         r"[io]?stream|[io]?stringstream",
         "a kernel can print only with printf"),
        (r"exit|abort|_Exit", "a thread ends with return, and __trap() ends the launch"),
        (r"malloc|free|alloca", "a kernel gets its memory as arrays from the launch"),
        (r"this_(?:cluster|multi_grid)|(?:cluster|multi_grid)_group|cluster_\w+",
         "groups of several blocks are not supported; use one block, or global memory between "
         "two kernels"),
        (r"labeled_partition|binary_partition", "use __match_any_sync(mask, label), which gives "
         "the lanes of a label, as the mask of the __shfl functions"),
        (r"memcpy_async|wait|wait_prior", "let each thread copy its elements, and wait with "
         "sync(); or use __pipeline_memcpy_async and __pipeline_wait_prior"),
        (r"invoke_one\w*|reduce_\w+_async|barrier_\w+|block_tile_memory|scatter|experimental",
         "this part of cooperative groups is not supported"),
        (r"tex\w*|surf\w*|texture\w*|cudaTextureObject_t|cudaSurfaceObject_t|__sampler\w*",
         "textures and surfaces are not supported; read the array itself"),
        (r"__nv_fp[46]\w*|\w*e8m0\w*", "formats of 4 and 6 bits, and scales, are not supported"),
        *((each.names, f"write #include <{each.header}>; if the code has that, this name is not "
         "supported")
          for each in NUMBER_TYPES.values() if each.header),
        (r"(?:wmma|nvcuda)(?:::\w+)*", "write #include <mma.h> and using namespace nvcuda; for "
         f"what is supported of tensor cores: fragments of {OPERAND_WORDS}, sums of float, or of "
         "half where A and B are"),
        (r"w?g?mma\w*|__mma\w*|mma\w*", "for tensor cores write wmma::mma_sync of <mma.h>; newer "
         "instructions are not supported"),
        (r"cuda[A-Z]\w*|checkCuda\w*",
         "that is host code: give only the kernels; their launch is chosen here"),
        (r"(?:cuda|nv)::(?:std::)?(?:atomic_thread_fence|memory_order\w*|thread_scope\w*)", "use "
         "__threadfence(), or __threadfence_block() within a block"),
        (r"(?:cuda|nv)::(?:std::)?atomic(?:_ref|_flag)?(?:_\w+)?", "declare a plain number, and "
         "use atomicAdd, atomicExch, atomicCAS and similar functions on its address, with "
         "__threadfence() where other memory must be written before"),
        (r"(?:cuda|nv)::(?:\w+::)*(?:barrier|latch|counting_semaphore|binary_semaphore)", "use "
         "__syncthreads() for the block, or sync() of a group of cooperative_groups"),
        (r"(?:cuda|nv)::(?:\w+::)*(?:pipeline\w*|make_pipeline|memcpy_async|"
         r"aligned_size_t)", "use __pipeline_memcpy_async, __pipeline_commit and "
         "__pipeline_wait_prior for copies to shared memory"),
        (r"CUtensorMap\w*|cp_async_bulk\w*|cuda::(?:device|ptx)(?:::\w+)*|cde|"
         r"__grid_constant__", "the tensor memory accelerator is not supported; let each thread "
         "copy its elements, or use __pipeline_memcpy_async"),
        (r"(?:cuda|nv)(?:::\w+)*",
         "nothing of cuda:: is supported; use CUDA C's own functions and types"),
        (r"(?:std::)?swap", "exchange the two with a third variable"),
        (r"(?:std::)?(?:atomic\w*|memory_order\w*)", "use atomicAdd, atomicExch, atomicCAS and "
         "similar functions on a plain number's address"),
        (r"cu(?:Float|Double)?Complex|(?:make_)?cuC\w+|make_cu\w+|cuFloatC\w+|cuDoubleC\w+",
         "it comes with #include <cuComplex.h>, which this code does not have"),
        (r"(?:std::|thrust::)?complex", "use cuFloatComplex of <cuComplex.h>, or float2, with x "
         "and y as its two parts"),
        (r"(?:std::)?(?:vector|string|array|map|unordered_map|deque|list|queue|stack|set|pair|"
         r"tuple|sort|accumulate)",
         "of the C++ library only the functions of <cmath> are supported; use arrays, and loops "
         "over them"),
        (r"std(?:::\w+)*",
         "of the C++ library only the functions of <cmath> are supported, and std::min, "
         "std::max, std::clamp and std::numeric_limits"),
        (r"cub::(?:Block|Warp)(?:Reduce|Scan)(?:::\w+)*", "it comes with #include <cub/cub.cuh>, "
         "which this code does not have"),
        (r"cub(?:::\w+)*", "of CUB only these are supported: BlockReduce, BlockScan, WarpReduce "
         "and WarpScan, by their default algorithms and with #include <cub/cub.cuh>; write what "
         "the kernel uses of the rest"),
        (r"(?:thrust|cutlass|cute)(?:::\w+)*", "libraries are not supported; write what the kernel "
         "uses of them"),
        (r"memmove|memcmp|strlen|strcmp|qsort", "write a loop over the elements"),
        (r"rand|srand", "that is a host function; pass random numbers in an array"),
        (r"curandState(?:MRG32k3a|Mtgp32|(?:Scrambled)?Sobol)\w*|curand\w*(?:mtgp|MTGP|MRG|Mrg)\w*",
         "of cuRAND's generators only these are supported: XORWOW (curandState) and Philox "
         "(curandStatePhilox4_32_10_t)"),
        (r"curand_(?:poisson|discrete)\w*",
         "of cuRAND's distributions only the uniform, the normal and the lognormal one are "
         "supported; compute others from these"),
        (r"curand[A-Z]\w*Generator\w*|curandGenerate\w*|CURAND_\w+",
         "that is host code: give only the kernels, with random numbers in an array"),
        (r"curand\w*|skipahead\w*", "random numbers come with #include <curand_kernel.h>, for the "
         "generators XORWOW (curandState) and Philox (curandStatePhilox4_32_10_t)"),
        (r"time|__globaltimer\w*|__clock\w*", "no time passes in the simulator; clock64() counts "
         "the steps of a thread, and the host times a kernel"),
        (r"__nv_\w+", "it is internal to the compiler; call sinf, expf and similar functions"),
        (r"__cvta_\w+|__is(?:Shared|Global|Local|Constant)",
         "only addresses in shared memory become numbers, by __cvta_generic_to_shared; use the "
         "pointer itself"),
        (r"__shfl(?:_up|_down|_xor)?|__any|__all|__ballot", "CUDA no longer has it; use the one "
         "that ends in _sync"),
        (r"__match_\w+|__reduce_\w+|atomic\w+", "CUDA has no function of this name"),
    )
)  # fmt: skip


NO_EXCEPTIONS = (
    "A GPU has no exceptions: store the number of an error in an array that the host looks at."
)
NO_ASSEMBLY = "This inline assembly is not supported: write what it computes in CUDA C."
NO_NEW = "new is not supported: a kernel gets its memory as arrays from the launch."

# Statements and expressions of C++ by clang's names for them.
UNSUPPORTED_KINDS = {
    "MS_ASM_STMT": NO_ASSEMBLY,
    "StmtExpr": "A block within an expression, ({ … }), is not supported: write a function.",
    "GOTO_STMT": "goto is not supported: write a loop with break, or a function.",
    "INDIRECT_GOTO_STMT": "goto is not supported: write a loop with break, or a function.",
    "CASE_STMT": "A case label nested in another statement of the switch is not supported: write "
    "an if.",
    "DEFAULT_STMT": "A default label nested in another statement of the switch is not supported: "
    "write an if.",
    "LABEL_STMT": "A label is for goto, which is not supported.",
    "CXX_NEW_EXPR": NO_NEW,
    "STRING_LITERAL": "A string is not supported here: it is for printf, or the initial "
    'values of an array, as in char s[] = "abc".',
    "CXX_DELETE_EXPR": "delete is not supported: a kernel gets its memory as arrays from the "
    "launch.",
    "CXX_THROW_EXPR": NO_EXCEPTIONS,
    "CXX_TRY_STMT": NO_EXCEPTIONS,
    "CXX_TYPEID_EXPR": "typeid is not supported: a GPU has no types at run time.",
    "CXX_DYNAMIC_CAST_EXPR": "dynamic_cast is not supported: a GPU has no types at run time.",
}


# Instructions and special registers of inline assembly that the table of assembly.py lacks.
ASSEMBLY: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(instructions), advice)
    for instructions, advice in (
        (r"cp\.async\.(?:bulk|mbarrier).*|cp\.reduce.*|mbarrier.*", "the tensor memory accelerator "
         "and its barriers are not supported; use cp.async, or __pipeline_memcpy_async of "
         "<cuda_pipeline.h>"),
        (r"(?:wgmma|tcgen05|stmatrix|wmma).*", "for tensor cores write ldmatrix and mma.sync, or "
         "wmma::load_matrix_sync and wmma::mma_sync of <mma.h>"),
        (r"mma.*", "of mma.sync only these are supported: m16n8k8 and m16n8k16 of f16 and bf16, "
         "and m16n8k4 and m16n8k8 of tf32, all .row.col with sums of f32"),
        (r"ldmatrix.*", "of ldmatrix only these are supported: .x1, .x2 and .x4 of .m8n8, with and "
         "without .trans, of .shared.b16"),
        (r"cp\.async.*", "of cp.async only these are supported: .ca and .cg from .global to "
         ".shared without a policy, commit_group, wait_group and wait_all"),
        (r"%(?:warpid|nwarpid)", "it is a place on the multiprocessor, which a GPU may change; for "
         "the warp within the block write threadIdx.x / 32"),
        (r"%n?smid|%gridid|%\w*cluster\w*", "which multiprocessor runs a block is the GPU's "
         "choice; use blockIdx"),
        (r"%globaltimer\w*",
         "no time passes in the simulator; %clock64 counts the steps of a thread"),
        (r"(?:ld|st)\..*", "read and write memory through a pointer, in CUDA C"),
        (r"@.*|setp.*|selp.*|bra.*", "write an if"),
        (r"shfl.*|vote.*|match.*|redux.*|activemask.*", "write __shfl_sync, __ballot_sync and "
         "similar functions"),
        (r"(?:atom|red)\..*", "write atomicAdd and similar functions"),
        (r"exit|trap|brkpt", "a thread ends with return, and __trap() ends the launch"),
    )
)  # fmt: skip


def unsupported_instruction(name: str) -> str:
    """A sentence on why an instruction or register of PTX is not supported, and what to write.

    >>> unsupported_instruction("shfl.sync.bfly.b32")
    'shfl.sync.bfly.b32 in inline assembly is not supported: write __shfl_sync, __ballot_sync and similar functions.'
    """  # noqa: E501  # a doctest's result is one line
    advice = next((advice for names, advice in ASSEMBLY if names.fullmatch(name)), None)
    if advice is None:
        advice = "write what it computes in CUDA C"
    return f"{name} in inline assembly is not supported: {advice}."


def unsupported_kind(name: str) -> str:
    """A sentence on why a statement or expression is not supported, by clang's name for it.

    >>> unsupported_kind("CXX_THROW_EXPR")
    'A GPU has no exceptions: store the number of an error in an array that the host looks at.'
    >>> unsupported_kind("CO_RETURN_STMT")
    'This kind of statement (co return) is not supported.'
    """
    if name in UNSUPPORTED_KINDS:
        return UNSUPPORTED_KINDS[name]
    what = "statement" if name.endswith("_STMT") else "expression"
    plain = name.removeprefix("CXX_").removesuffix("_STMT").removesuffix("_EXPR")
    return f"This kind of {what} ({plain.replace('_', ' ').lower()}) is not supported."


VECTOR = f"'(?:{'|'.join(VECTORS)})'"
# Errors of clang's that a sentence of ours says better: a pattern of its message or of a note.
ERRORS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), advice)
    for pattern, advice in (
        (r"Kernel launch from __device__|kernel launch from __device__",
         "A kernel launches a kernel here (dynamic parallelism), which is not supported: launch it "
         "from the host, or make it a __device__ function and call it."),
        (r"invalid % escape in inline assembly", "In inline assembly with operands, write %% "
         "before a register's name: %%laneid."),
        (r"inline assembly| in asm\b", NO_ASSEMBLY),
        (r"'operator new'", NO_NEW),
        (r"cannot use '(?:throw|try)'", NO_EXCEPTIONS),
        (r"'typeid' operator", "typeid is not supported: a GPU has no types at run time."),
        (r"Cannot deduce type of initializer list|std::initializer_list was not found",
         "A list in braces is not an array by itself: declare an array of these values first."),
        ("(?:[Ii]nvalid operands|[Nn]o viable conversion).*'(?:"
         f"{'|'.join(CLASSES)})'",
         f"Numbers of {' and '.join(CLASSES)} are only stored and converted: compute with "
         f"float(x), and convert a float y back with {CLASSES[0]}(y) or a similar function."),
        (rf"[Nn]o viable overloaded '[-+*/]='|(?:to binary expression|argument type).*{VECTOR}"
         rf"|{VECTOR} does not provide a subscript",
         "There is no such operator for this type. A short vector such as float4 has none: compute "
         "with its members, as in u.x += v.x."),
        (rf"(?:[Nn]o viable conversion|[Aa]ssigning|constructor for initialization).*{VECTOR}",
         "A number and a short vector do not convert into each other: read or store a float4 "
         "through a pointer to its type, as in reinterpret_cast<const float4*>(x)[i], or make one "
         "by make_float4(a, b, c, d)."),
        (r"undefined template 'nvcuda::wmma::fragment<",
         f"Fragments here are matrix_a and matrix_b of {OPERAND_SHAPES}, with row_major or "
         "col_major after it, and accumulator of float, or of half where A and B are; convert "
         "numbers of other types to one of these."),
        (r"no matching function for call to '(?:mma|(?:load|store)_matrix)_sync'",
         "In one mma_sync all fragments have the same sizes, A and B have the same type, and so do "
         "the two accumulators: float, or half where A and B are half. "
         "load_matrix_sync and store_matrix_sync take a pointer to the fragment's own type ("
         + ", ".join(f"of {name} to {each.ctype}" for name, each in OPERANDS.items() if each.scope)
         + "), the distance between rows or columns, and for an accumulator "
         "wmma::mem_row_major or wmma::mem_col_major."),
        (r"variable-length arrays|[Vv]ariable length array",
         "An array's size must be a constant: a macro, const int or constexpr. warpSize (32) and "
         "blockDim are not constants; an extern __shared__ array gets its size from the launch."),
        (r"requirement '.*BLOCK_(?:REDUCE|SCAN)_",
         "Of the algorithms of cub::BlockReduce and cub::BlockScan only the default is supported: "
         "leave the algorithm out."),
        (r"call to __host__ function from",
         "This calls a host function: write __device__ before its definition."),
        (r"reference to __host__ variable",
         "This is a variable of the host, which a kernel cannot read: write __device__ or "
         "__constant__ before it, or pass it as a parameter."),
    )
)  # fmt: skip


def advice_on(message: str, notes: Sequence[str]) -> str | None:
    """A better sentence for an error of clang's with its notes; None for most."""
    for pattern, advice in ERRORS:
        if any(pattern.search(text) for text in (message, *notes)):
            return advice
    return None


def unsupported_message(name: str) -> str | None:
    """A sentence on why a name of CUDA's is not supported; None for any other name.

    >>> unsupported_message("puts")
    'puts is not supported: a kernel can print only with printf.'
    >>> unsupported_message("total")
    """
    for names, advice in UNSUPPORTED_NAMES:
        if names.fullmatch(name):
            return f"{name} is not supported: {advice}."
    return None
