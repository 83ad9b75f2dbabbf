"""Each kernel of tests/programs on a GPU: the simulator's values, bit for bit but for chance."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from simulator.language.ctype import Array
from simulator.language.tree import Kernel
from simulator.launch import Launch, check, dim3
from tests.programs.table import PROGRAMS, Program, differing

pytestmark = pytest.mark.gpu

# What a broken kernel leaves is chance.
RIGHT = [program for program in PROGRAMS if not program.verdict]


def run_on_gpu(program: Program, kernel: Kernel, launch: Launch) -> dict[str, Array]:
    """The arrays after a launch, by the names of parameters and of variables outside the kernel."""
    import cupy

    from gpu.cuda.compile import compile_text, load

    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    binary = compile_text(program.text, program.kernel, architecture, program.defines)
    loaded = load(binary, launch.block, 2048)
    values = check(kernel, launch)
    held: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, np.ndarray) and value.ndim:
            held[name] = cupy.asarray(np.frombuffer(value.tobytes(), np.uint8))
    parameters = [parameter.name for parameter in kernel.parameters]
    for name in held.keys() - set(parameters):
        variable = variable_bytes(loaded.module, name, held[name].nbytes)
        variable[...] = held[name]
        held[name] = variable
    arguments = []
    for name, group in itertools.groupby(parameters, lambda name: name.partition(".")[0]):
        members = {part: held.get(part, values[part]) for part in group}
        arguments.append(members[name] if name in members else as_struct(list(members.values())))
    loaded.function(launch.grid, launch.block, tuple(arguments), shared_mem=launch.shared_bytes)
    return {
        name: cupy.asnumpy(array).view(values[name].dtype).reshape(values[name].shape)
        for name, array in held.items()
    }


def as_struct(members: list[Any]) -> Array:
    """A struct that is passed by value: numbers, and arrays on the GPU for pointers."""
    numbers = [np.uint64(m.data.ptr) if hasattr(m, "data") and m.ndim else m for m in members]
    fields = [(f"member{i}", number.dtype) for i, number in enumerate(numbers)]
    return np.array(tuple(numbers), np.dtype(fields, align=True))


def variable_bytes(module: Any, name: str, size: int) -> Any:
    """The memory of a __device__ or __constant__ variable as an array of bytes."""
    import cupy

    memory = cupy.cuda.UnownedMemory(int(module.get_global_var(name)), size, module)
    return cupy.ndarray(size, np.uint8, cupy.cuda.MemoryPointer(memory, 0))


def bits(values: Array, but: Any) -> Array:
    """The bytes of each element, those where `but` is NaN zero."""
    found = np.frombuffer(values.tobytes(), np.uint8).reshape(values.size, -1).copy()
    if but is not None and np.asarray(but).dtype.kind == "f":
        found[np.isnan(np.ravel(but))] = 0
    return found


@pytest.mark.parametrize("program", RIGHT, ids=str)
def test_the_gpu_agrees(program: Program) -> None:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    from simulator import compile_kernel, simulate

    kernel = compile_kernel(program.text, program.kernel, program.defines, program.file)
    arguments = program.arguments()
    launch = Launch(dim3(*program.grid), dim3(*program.block), arguments, program.shared)
    simulated = simulate(kernel, launch).arrays
    real = run_on_gpu(program, kernel, launch)
    expected = program.expected(arguments) or {}
    for name, array in simulated.items():
        free = expected.get(name, array)
        if free is None:
            continue  # the order of threads decides all of it
        if program.gpu_tolerance or name in program.unordered:
            assert not differing(program.between_machines, name, real[name], array)
        else:
            assert np.array_equal(bits(real[name], free), bits(array, free)), name
