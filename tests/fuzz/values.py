"""What the generator knows of a kernel's text: types, variables, functions, values."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.language.functions import SIMD_OF_ONE, SIMD_OF_TWO

# C's arithmetic types in the order of its conversions; what comes before int becomes int.
ORDER = ("bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int",
         "unsigned", "long", "size_t", "long long", "unsigned long long", "float",
         "double")  # fmt: skip
RANK = {name: rank for rank, name in enumerate(ORDER)}
INTEGERS = ORDER[:12]
FLOATS = ORDER[12:]
CHARS = ("char", "signed char", "unsigned char")
WIDE = frozenset({"long", "size_t", "long long", "unsigned long long"})
SIGNED = frozenset({"int", "long", "long long"})
UNSIGNED = frozenset(
    {"unsigned char", "unsigned short", "unsigned", "size_t", "unsigned long long"}
)
SCALARS = ("int", "int", "int", "unsigned", "unsigned", "long", "size_t", "long long",
           "unsigned long long", "float", "float", "float", "double", "double", "bool", "char",
           "signed char", "unsigned char", "short", "unsigned short")  # fmt: skip
COMPONENTS = {
    "float2": "float", "float3": "float", "float4": "float", "double2": "double",
    "int2": "int", "int3": "int", "int4": "int", "uint2": "unsigned", "uint4": "unsigned",
    "char4": "signed char", "uchar2": "unsigned char", "uchar4": "unsigned char",
    "short2": "short", "short4": "short", "ushort3": "unsigned short", "long2": "long",
    "longlong2": "long long", "ulonglong2": "unsigned long long", "double3": "double",
    "double4": "double",
}  # fmt: skip
VECTORS = tuple(COMPONENTS)
# CUDA's functions of whole numbers: the type of the result, and those of the arguments.
BIT_FUNCTIONS = {
    "__popcll": ("int", "unsigned long long"), "__clzll": ("int", "long long"),
    "__ffsll": ("int", "long long"), "__brev": ("unsigned", "unsigned"),
    "__brevll": ("unsigned long long", "unsigned long long"),
    "__byte_perm": ("unsigned", "unsigned", "unsigned", "unsigned"),
    "__funnelshift_l": ("unsigned", "unsigned", "unsigned", "unsigned"),
    "__funnelshift_lc": ("unsigned", "unsigned", "unsigned", "unsigned"),
    "__funnelshift_r": ("unsigned", "unsigned", "unsigned", "unsigned"),
    "__funnelshift_rc": ("unsigned", "unsigned", "unsigned", "unsigned"),
    "__mulhi": ("int", "int", "int"), "__umulhi": ("unsigned", "unsigned", "unsigned"),
    "__mul64hi": ("long long", "long long", "long long"),
    "__umul64hi": ("unsigned long long", "unsigned long long", "unsigned long long"),
    "__sad": ("unsigned", "int", "int", "unsigned"),
    "__usad": ("unsigned", "unsigned", "unsigned", "unsigned"),
    "__hadd": ("int", "int", "int"), "__rhadd": ("int", "int", "int"),
    "__uhadd": ("unsigned", "unsigned", "unsigned"),
    "__urhadd": ("unsigned", "unsigned", "unsigned"), "__dp4a": ("int", "int", "int", "int"),
    "__dp2a_lo": ("int", "int", "int", "int"), "__dp2a_hi": ("int", "int", "int", "int"),
}  # fmt: skip
SIMD_FUNCTIONS = {
    f"__v{name}{count}": ("unsigned",) * (2 if name in SIMD_OF_ONE else 3)
    for name in SIMD_OF_ONE + SIMD_OF_TWO for count in (2, 4)
}  # fmt: skip
INPUT_OF = {"int": "pi", "float": "pf", "double": "pd"}  # the kernel's read-only arrays


def promote(ctype: str) -> str:
    return "int" if RANK[ctype] < RANK["int"] else ctype


def common(left: str, right: str) -> str:
    if {left, right} == {"size_t", "long long"}:  # neither holds all values of the other
        return "unsigned long long"
    return max(promote(left), promote(right), key=RANK.__getitem__)


@dataclass(slots=True)
class Variable:
    """Something that expressions may read: its storage tells what it may share cells with.

    kind is "scalar", "vector", "array" (shape of powers of two), "pointer" (to shape[0] cells) or
    "shared" (any shape). bound tells that a whole number lies in 0 .. bound - 1.
    """

    name: str
    ctype: str
    kind: str = "scalar"
    shape: tuple[int, ...] = ()
    constant: bool = False
    bound: int = 0
    storage: str = ""
    volatile: bool = False

    def __post_init__(self) -> None:
        self.storage = self.storage or self.name


@dataclass(slots=True)
class Callee:
    """A __device__ function of the text; references say which parameters it may write.

    A parameter's type may be a pointer to constant cells, of which it reads the first POINTED.
    optional tells that the last parameter has a default.
    """

    name: str
    result: str
    parameters: tuple[str, ...]
    references: tuple[bool, ...]
    optional: bool = False


POINTED = 4


@dataclass(frozen=True, slots=True)
class Value:
    """An expression's text and type."""

    text: str
    ctype: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A name whose value is known when the text is compiled."""

    name: str
    ctype: str
    value: int
