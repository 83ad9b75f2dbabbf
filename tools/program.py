"""Kernels as a program of their own: host code written around them, built by nvcc, run under tools.

A profiler and a checker of memory look at a whole process; one without Python starts faster and
holds nothing but the kernels that are looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpu.cuda.run_tool import ToolError, run
from simulator.language.errors import LaunchError
from simulator.language.tree import Kernel
from simulator.launch import Dim3, Launch

TYPES: Mapping[str, tuple[str, type[np.generic]]] = {
    "f32": ("float", np.float32), "f64": ("double", np.float64),
    "i32": ("int", np.int32), "u32": ("unsigned int", np.uint32),
}  # fmt: skip
PERIOD = 251  # an array's element i holds i % PERIOD: prime, so that neighbours and rows differ
BUILD_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Case:
    """One launch of one kernel.

    arguments are in parameter order: an array like "f32:64x64", filled with the same values on the
    GPU and in the simulator ("f32:64x64?" is not initialised), or a number like "i32=64".
    """

    name: str
    text: str  # CUDA C
    kernel: str  # the name of the __global__ function
    grid: Dim3  # blocks in x, y, z
    block: Dim3  # threads in x, y, z
    arguments: tuple[str, ...]
    shared_bytes: int = 0  # dynamic shared memory of a block
    form: str = "volatile"  # of FORMS


@dataclass(frozen=True, slots=True)
class Form:
    """How a kernel is built."""

    volatile: bool  # whether its shared arrays are made volatile
    options: tuple[str, ...]  # nvcc's


# What keeps every access of the source as one instruction. A vector cannot be copied out of a
# volatile array, so those kernels are built without the assembler's optimisations.
FORMS: Mapping[str, Form] = {
    "volatile": Form(True, ("-lineinfo",)),
    "plain": Form(False, ("-lineinfo", "--ptxas-options=-O0")),
    "debug": Form(False, ("-G",)),
}

LAUNCHER = """
#line 1 "launcher.cu"
}
#include <cstdio>
#include <vector>
using namespace case_%(number)d;
namespace {
struct Given {
    void* start;
    template <class T> operator T*() const { return static_cast<T*>(start); }
};
template <class T> Given unset(size_t count) {
    Given given{nullptr};
    cudaMalloc(&given.start, count * sizeof(T));
    return given;
}
template <class T> Given filled(size_t count) {
    std::vector<T> host(count);
    for (size_t i = 0; i < count; ++i) host[i] = T(i %% %(period)d);
    Given given = unset<T>(count);
    cudaMemcpy(given.start, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    return given;
}
}
void run_%(number)d() {
    %(kernel)s<<<dim3%(grid)s, dim3%(block)s, %(shared)d>>>(%(arguments)s);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::printf("failed: %%s\\n", cudaGetErrorString(error));
}
"""

MAIN = """
#include <cstdlib>
%(declared)s
int main(int count, char** given) {
    void (*const all[])() = {%(names)s};
    if (count == 1) for (auto run : all) run();
    for (int i = 1; i < count; ++i) all[std::atoi(given[i])]();
    return 0;
}
"""


def values(case: Case) -> list[Any]:
    """The arguments as NumPy arrays and numbers, in parameter order."""
    found_values: list[Any] = []
    for text in case.arguments:
        array = re.fullmatch(r"(\w+):(\d+(?:x\d+)*)\??", text)
        number = re.fullmatch(r"(\w+)=(\S+)", text)
        found = array or number
        if found is None or found[1] not in TYPES:
            raise LaunchError(f"{case.name}: {text!r} is neither like f32:64x64 nor like i32=64.")
        dtype: Any = TYPES[found[1]][1]
        if array:
            shape = tuple(int(size) for size in array[2].split("x"))
            count = int(np.prod(shape))
            found_values.append((np.arange(count) % PERIOD).astype(dtype).reshape(shape))
        else:
            found_values.append(dtype(float(found[2])))
    return found_values


def launch(case: Case, kernel: Kernel) -> Launch:
    """The same launch for the simulator."""
    names = [parameter.name for parameter in kernel.parameters]
    arguments = dict(zip(names, values(case), strict=True))
    return Launch(case.grid, case.block, arguments, case.shared_bytes)


def source(case: Case, number: int, volatile: bool) -> str:
    """The kernel's source and a host function run_<number> that launches it once."""
    text = case.text.replace('extern "C" ', "")  # no namespace would keep its names apart
    if volatile:
        text = re.sub(r"__shared__\s+(?!volatile)", "__shared__ volatile ", text)
    header = "#include <cuda_pipeline.h>\n" if "__pipeline" in text else ""
    arguments = []
    for argument, value in zip(case.arguments, values(case), strict=True):
        c_type = TYPES[argument[:3]][0]
        is_array = isinstance(value, np.ndarray)
        made = "unset" if argument.endswith("?") else "filled"
        arguments.append(f"{made}<{c_type}>({value.size})" if is_array else f"{c_type}({value})")
    # A namespace of its own, since two cases may have a function of one name.
    return f'{header}namespace case_{number} {{\n#line 1 "{case.name}.cu"\n{text}' + LAUNCHER % {
        "period": PERIOD, "number": number, "kernel": case.kernel, "grid": case.grid,
        "block": case.block, "shared": case.shared_bytes, "arguments": ", ".join(arguments),
    }  # fmt: skip


def symbol(number: int) -> str:
    """What the kernel of a case is called within the program."""
    return f"kernel_{number}"


def build(cases: Sequence[Case], folder: Path) -> Path:
    """A program that runs the cases whose numbers it is given, or all in order.

    Raises ToolError with the compiler's message.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def compile_one(numbered: tuple[int, Case]) -> Path:
        number, case = numbered
        form = FORMS[case.form]
        path = folder / f"case_{number}.cu"
        path.write_text(source(case, number, form.volatile), encoding="utf-8")
        target = path.with_suffix(".o")
        rename = f"-D{case.kernel}={symbol(number)}"
        nvcc(*form.options, rename, "-c", str(path), "-o", str(target))
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, enumerate(cases)))
    names = [f"run_{number}" for number in range(len(cases))]
    main = folder / "main.cu"
    declared = "\n".join(f"void {name}();" for name in names)
    main.write_text(MAIN % {"declared": declared, "names": ", ".join(names)}, encoding="utf-8")
    program = folder / "cases"
    nvcc(str(main), *map(str, objects), "-o", str(program))
    return program


def nvcc(*arguments: str) -> None:
    """Run nvcc for the GPU that is here; its complaint becomes a ToolError."""
    command = ["nvcc", "-std=c++17", "-arch=native", "-w", *arguments]
    done = run(command, BUILD_SECONDS)
    if done.returncode:
        raise ToolError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
