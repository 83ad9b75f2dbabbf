"""Which constructs of the language a kernel's text has, to see what random kernels reach."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from tests.fuzz.values import INTEGERS, VECTORS

CONSTRUCTS: Mapping[str, str] = {
    **{f"type {name}": rf"\b{name}&? \w" for name in (*INTEGERS, "float", "double")},
    **{f"type {name}": rf"\b{name} \w+ =" for name in VECTORS},
    "auto": r"\bauto ", "typedef, using": r"\b(word|real)\b", "enum": r"\b(FIRST|SECOND)\b",
    "constexpr": r"\bLATER\b", "const variable": r"\bconst \w+ v\d", "volatile": r"\bvolatile ",
    "template kernel": r"\btemplate <", "macro": r"\bWIDTH\b",
    "function-like macro": r"\b(MIX|SQUARE)\(",
    "C cast": r"\((int|float|double|long|unsigned|char)\)\(", "static_cast": r"static_cast<",
    "functional cast": r"[ (](int|float|short|char|long|double|bool)\(",
    "reinterpret_cast": r"reinterpret_cast<", "pointer cast": r"\((const )?\w+ ?\*\)",
    "+ - *": r"\w [-+*] \w", "/": r" / ", "%": r" % ", "& | ^": r" [&|^] ",
    "<< >>": r" (<<|>>) ", "~": r"\(~ ", "!": r"\(! ", "unary -": r"\(- ", "&&": r" && ",
    "||": r" \|\| ", "?:": r" \? ", "comma": r"\([^(),]+, \(*\w+[^,]*\)\) ", "sizeof": r"sizeof\(",
    "guarded load": r">= 0 && \w+ < \d", "compound assignment": r" [-+*/%&|^]= ",
    "shift assignment": r"(<<|>>)= ", "++ and --": r"(\+\+|--)",
    "assignment within": r"\(\w+ = ", "char literal": r"'\\?\w+'",
    "if": r"\bif \(", "else": r"\belse\b", "else if": r"else \{\n\s*if \(", "for": r"\bfor \(",
    "for (;;)": r"for \(;;\)", "while": r"(?<!\} )\bwhile \(", "do": r"\bdo \{",
    "switch": r"\bswitch \(", "break": r"\) break;", "continue": r"\) continue;",
    "early return": r"\) return", "#pragma unroll": r"#pragma unroll",
    "array, 1-D": r"\n\s*\w+ v\d+\[\w+\][ ;]", "array, 2-D": r"\n\s*\w+ v\d+\[\w+\]\[\w+\][ ;]",
    "array, 3-D": r"\n\s*\w+ v\d+\[\w+\]\[\w+\]\[\w+\][ ;]", "initialiser list": r" = \{",
    "pointer": r"\w\* v\d+ = ", "*p": r"[(; ]\*\w", "*(p + i)": r"\*\(\w+ \+ ", "&a[i]": r"&\w+\[",
    "address of a variable": r"\* v\d+ = &v\d+;", "pointer advanced": r"\*v\d+\+\+|\*--v\d+",
    "pointer difference": r"\(int\)\(v\d+ - |pd \+ \(", "reference": r"& v\d+ = ",
    "__device__ function": r"__device__", "reference parameter": r"[a-z]+& f\dp",
    "const reference parameter": r"const \w+& f\dp", "pointer parameter": r"\* f\dp",
    "function with a barrier": r"\brotate\(v", "short vector": r"make_\w+\d\(",
    "vector member": r"\bv\d+\)?\.[xyzw]\b", "vector of cells": r"\(&?\(?\w+\*?\)?&?m?[op][fid]",
    "__shared__": r"__shared__", "shared, 2-D": r"__shared__ \w+ \w+\[[^\]]*\]\[[^\]]+\];",
    "shared, 3-D": r"__shared__ \w+ \w+\[[^\]]*\]\[[^\]]+\]\[", "shared, padded": r" \+ 1\];",
    "shared, own cell op=": r"\](\[[^\]]*\])* [-+*&|^/%]= .*\n\s*__syncthreads",
    "pointer to shared": r"const \w+\* v\d+ = &(v\d+|dynamic)\[",
    "default argument": r"f\dp\d = \d\) \{",
    "extern __shared__": r"extern __shared__", "__syncthreads": r"__syncthreads",
    "vote of a block": r"__syncthreads_(and|or|count)",
    "shuffles of two branches": r"__shfl_.*;\n\s*\}\n\s*else \{\n\s*v\d+ = __shfl_",
    "barrier in a loop": r"for \(int v\d+ = 0; v\d+ < [^;]*; \+\+v\d+\) \{\n([^}]*\n)*\s*__sync",
    "__syncwarp": r"__syncwarp", "shuffle": r"__shfl_", "vote": r"__(any|all|ballot)_sync",
    "atomicAdd": r"atomicAdd", "other atomic": r"atomic[B-Z]",
    "asynchronous copy": r"__pipeline_memcpy_async", "__ldg": r"__ldg", "min, max": r"\bm(in|ax)\(",
    "fmaf, fma": r"\b(fmaf?|__fmaf?_rn)\(", "fmin, fmax": r"\bfm(in|ax)f?\(\(",
    "sqrt": r"\bsqrtf?\(", "rounding": r"\b(floor|ceil|trunc|rint|round)f?\(",
    "fmod": r"\bfmodf?\(", "bit functions": r"__(popc|clz|ffs)\(",
    "more bit functions": r"__(brev|\w+ll|byte_perm|\w*hadd|\w*hi|funnel\w+|u?sad)\(",
    "24-bit product": r"__u?mul24",
    "bits as a number": r"_as_(float|u?int)\(", "isnan, isinf": r"\bis(nan|inf)\(",
    "memcpy": r"memcpy\(&", "memset": r"memset\(&", "structured binding": r"auto&? \[v",
    "struct": r"\bstruct S\d", "struct copied": r"\bS\d v\d+ = v\d+;", "method": r"\.m\d\(",
    "operator": r"\bS\d v\d+ = v\d+ \+ ", "array of structs": r"\bS\d v\d+\[\d\] =",
    "struct by reference": r"\bS\d& ", "struct in shared memory": r"__shared__ S\d",
    "lambda": r"= \[[&=]\]\(", "lambda of statements": r"= \[&\]\([^)]*\) \{\n",
    "half": r"\bhalf v\d+", "half operation": r"__h(add|sub|mul)_rn\(", "half2": r"__halves2half2",
    "bfloat16": r"\b__nv_bfloat16 v\d+", "bfloat162": r"__halves2bfloat162",
    "half to whole": r"__half2int_", "tile": r"tiled_partition<", "tile's shuffle": r"\.shfl",
    "tile's vote": r"\.(any|all|ballot)\(", "reduce": r"::reduce\(", "scan": r"clusive_scan\(",
    "scan of CUB": r"BlockScan<", "reduction of CUB": r"BlockReduce<",
    "XORWOW": r"curandState v", "Philox": r"Philox4_32_10_t v", "four of Philox": r"curand\w*4\(",
    "skipahead": r"skipahead\(",
    "barrier of the grid": r"this_grid\(\)",
    "e4m3": r"__nv_fp8_e4m3 v", "e5m2": r"__nv_fp8_e5m2 v", "pair of fp8": r"__nv_fp8x2_",
    "four of fp8": r"__nv_fp8x4_", "bits of fp8": r"__nv_cvt_float_to_fp8\(|\.__x = ",
    "PTX mov": r"mov\.u32 %0", "PTX prmt": r"prmt\.b32", "PTX cvt": r"cvt\.\w+\.",
    "PTX fma": r"fma\.rn", "PTX operator": r'"(add|sub|mul\.lo|and|x?or)\.',
    "PTX of registers": r"\.reg", "PTX cp.async": r"cp\.async\.c", "PTX ldmatrix": r"ldmatrix",
    "PTX bar.sync": r"bar\.sync 0",
    "contracted sum": r"const int threads = blockDim",
}  # fmt: skip
PATTERNS = {name: re.compile(pattern) for name, pattern in CONSTRUCTS.items()}
EVERYWHERE = re.compile(
    r"#(define|undef)(.*\\\n)*.*\n|(?<=\bk)\(const int\* .*\n|const int [tg] = .*\n"
)


def count(texts: Iterable[str]) -> Counter[str]:
    """How many of the texts have each construct."""
    found: Counter[str] = Counter(dict.fromkeys(PATTERNS, 0))
    for text in texts:
        own = EVERYWHERE.sub("", text)
        found.update(name for name, pattern in PATTERNS.items() if pattern.search(own))
    return found


def table(found: Counter[str], kernels: int) -> str:
    """The counts in three columns."""
    cells = [f"{name:<26}{number:>8}" for name, number in sorted(found.items())]
    rows = -(-len(cells) // 3)
    lines = ["   ".join(cells[row::rows]) for row in range(rows)]
    return "\n".join([f"Of {kernels} kernels, those with", *lines])
