"""Random inline PTX: what the interpreter in ptx.hpp decides."""

from __future__ import annotations

from tests.fuzz.bytes import Bytes
from tests.fuzz.values import Variable

REGISTERS = (
    *(f"{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    "laneid", *(f"lanemask_{order}" for order in ("eq", "lt", "le", "gt", "ge")),
)  # fmt: skip
CONSTRAINTS = {"int": "r", "unsigned": "r", "long": "l", "unsigned long long": "l", "float": "f",
               "double": "d"}  # fmt: skip
OF = {"s32": "int", "u32": "unsigned", "b32": "unsigned", "s64": "long",
      "u64": "unsigned long long", "b64": "unsigned long long", "f32": "float",
      "f64": "double"}  # fmt: skip
WHOLE, BITS = ("s32", "u32", "s64", "u64"), ("b32", "b64")
# Instructions of one result: their operands' type, how many those are, and the result's type.
ONE = (
    *((f"{name}.{kind}", kind, 2, kind) for name in ("add", "sub", "mul.lo") for kind in WHOLE),
    *((f"{name}.{kind}", kind, 2, kind) for name in ("and", "or", "xor") for kind in BITS),
    *((f"mul.hi.{kind}", kind, 2, kind) for kind in ("s32", "u32")),
    *((f"{name}.b32", "b32", 1, "u32") for name in ("popc", "clz", "brev")),
    *((f"{name}.rn.f32", "f32", 2, "f32") for name in ("add", "sub", "mul")),
    ("fma.rn.f32", "f32", 3, "f32"), ("fma.rn.f64", "f64", 3, "f64"),
)  # fmt: skip


class Assembly(Bytes):
    """Writes statements of inline assembly."""

    def assembly(self) -> None:
        draw = self.expressions.draw
        match draw.randrange(6):
            case 0:
                self.instruct(f"mov.u32 %0, %%{draw.choice(REGISTERS)};", "u32")
            case 1:
                digits = "".join(draw.choice("01234567") for _ in range(4))
                self.instruct(f"prmt.b32 %0, %1, %2, 0x{digits};", "u32", "u32", "u32")
            case 2:
                to, origin = draw.choice(WHOLE), draw.choice(WHOLE)
                self.instruct(f"cvt.{to}.{origin} %0, %1;", to, origin)
            case 3:
                kind = draw.choice(("u32", "u64"))
                bits = kind.replace("u", "b")
                text = (
                    f"{{ .reg .{kind} p, q; mul.lo.{kind} p, %1, %2; xor.{bits} p, p, %3; "
                    f"mov.{kind} q, {draw.randrange(99)}; add.{kind} %0, p, q; }}"
                )
                self.instruct(text, kind, kind, kind, kind)
            case _:
                name, kind, count, result = draw.choice(ONE)
                operands = ", ".join(f"%{number}" for number in range(count + 1))
                self.instruct(f"{name} {operands};", result, *(kind,) * count)

    def instruct(self, text: str, result: str, *kinds: str) -> None:
        """A statement whose output is a new variable; kinds are those of its inputs."""
        e, name = self.expressions, self.name()
        self.put(f"{OF[result]} {name};")
        e.begin()
        inputs = ", ".join(
            f'"{CONSTRAINTS[OF[kind]]}"({e.exactly(OF[kind], e.depth)})' for kind in kinds
        )
        volatile = e.draw.choice(("", " volatile"))
        output = f'"={CONSTRAINTS[OF[result]]}"({name})'
        self.put(f'asm{volatile}("{text}" : {output}{" : " if inputs else ""}{inputs});')
        e.scope.append(Variable(name, OF[result]))
