"""The same texts through a C++ compiler of the host, their threads one after another."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.fuzz.generator import INCLUDES, Dim3, Program

SHIM = Path(__file__).with_name("shim.hpp")
INPUTS, OUTPUTS = 256, 1024
# No contraction, integers that wrap, and pointers that may name cells of another type: as on a GPU.
# Nothing is optimised: it would take longer than the kernels run, and g++ 12 makes 0 - x of a
# converted integer -x, which -frounding-math forbids.
FLAGS = (
    "-std=c++17", "-O0", "-frounding-math", "-ffp-contract=off", "-fwrapv",
    "-fno-strict-aliasing", "-w", "-pthread",
)  # fmt: skip
SANITIZERS = (
    "-fsanitize=float-cast-overflow,shift-exponent,integer-divide-by-zero,bounds,alignment",
    "-fsanitize=bool,pointer-overflow",
    "-fno-sanitize-recover=all",
)
# Inline assembly, whose operands become arguments of the shim's interpreter.
ASSEMBLY = (
    (re.compile(r"\basm( volatile)?\("), "ptx("),
    (re.compile(r' ::? (?="=?[rlfd]"\()'), ", "),
    (re.compile(r'"=?[rlfd]"(?=\()'), ""),
    (re.compile(r' : "memory"'), ""),
)
# The shim's struct Arguments, in its order; the compiler pads it to a multiple of 16 bytes.
ARGUMENTS = np.dtype(
    [("pi", np.int32, INPUTS), ("pf", np.float32, INPUTS), ("pd", np.float64, INPUTS),
     ("oi", np.int32, OUTPUTS), ("ol", np.int64, OUTPUTS), ("of", np.float32, OUTPUTS),
     ("od", np.float64, OUTPUTS), ("n", np.int32), ("s", np.float32), ("padding", np.int64)]
)  # fmt: skip


def arguments(seed: int) -> np.ndarray:
    """A kernel's arguments, drawn by its seed; some numbers are special."""
    draw = np.random.default_rng(seed)
    given = np.zeros((), ARGUMENTS)
    sizes = draw.choice([4, 100, 2**16, 2**31], INPUTS)
    given["pi"] = draw.integers(-sizes, sizes)
    for name in ("pf", "pd"):
        values = draw.standard_normal(INPUTS) * 10.0 ** draw.integers(-3, 5, INPUTS)
        values[::16] = draw.choice([0.0, -0.0, 0.5, 1.0, 2.5, -1.5, 1e-42, 3e38, np.inf], 16)
        with np.errstate(all="ignore"):
            given[name] = values
    given["n"] = draw.integers(0, 8)
    given["s"] = draw.standard_normal()
    return given


def source(programs: Sequence[Program]) -> str:
    """One C++ program that launches every kernel in turn."""
    parts = [f'#include "{SHIM.name}"']
    calls = []
    for program in programs:
        space, types = f"n{program.seed}", ("", "")
        text = program.text
        for line in INCLUDES.values():  # the shim has it
            text = text.removeprefix(line)
        for pattern, replacement in ASSEMBLY:
            text = pattern.sub(replacement, text)
        if program.contracts:
            text = (
                f"#define float Float\n#define double Double\n{text}#undef float\n#undef double\n"
            )
            types = ("(Float*)", "(Double*)")
        if program.dynamic:  # a name of the file's, as the shim makes shared arrays static ones
            text = text.replace("extern __shared__", "extern __thread")
            text += f"alignas(16) __thread {program.dynamic};\n"
        chosen = f"<{', '.join(program.template.values())}>" if program.template else ""
        real, double = types
        arguments = (
            f"given.pi, {real}given.pf, {double}given.pd, given.oi, given.ol, "
            f"{real}given.of, {double}given.od, given.n, given.s"
        )
        parts.append(f"namespace {space} {{\n{text}}}")
        calls.append(
            f"    launch({_braces(program.grid)}, {_braces(program.block)}, "
            f"[] {{ {space}::k{chosen}({arguments}); }});"
        )
    return "\n".join([*parts, "int main() {", *calls, "}", ""])


def _braces(sizes: Dim3) -> str:
    return f"{{{', '.join(map(str, sizes))}}}"


def run(
    programs: Sequence[Program], compiler: str, folder: Path, sanitize: bool = False
) -> list[np.ndarray | str]:
    """What each kernel leaves in its arguments, or what went wrong; folder is for files.

    sanitize lets the compiler's own checks stop a kernel whose behaviour is undefined.
    """
    flags = (*FLAGS, *SANITIZERS) if sanitize else FLAGS
    try:
        return list(_outcomes(programs, compiler, folder, flags))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        if len(programs) == 1:
            said = (error.stderr or b"").decode(errors="replace").strip()
            return [f"{compiler}: {error}\n{said[-1000:]}"]
    each = [run([program], compiler, folder, sanitize) for program in programs]
    return [outcome for (outcome,) in each]


def _outcomes(
    programs: Sequence[Program], compiler: str, folder: Path, flags: Sequence[str]
) -> np.ndarray:
    text, program = folder / "kernels.cpp", folder / "kernels"
    text.write_text(source(programs))
    command = [compiler, *flags, f"-I{SHIM.parent}", str(text), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    given = b"".join(arguments(program.seed).tobytes() for program in programs)
    done = subprocess.run([str(program)], input=given, capture_output=True, check=True, timeout=120)
    return np.frombuffer(done.stdout, ARGUMENTS)
