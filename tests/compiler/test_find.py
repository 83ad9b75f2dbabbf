"""Machine code is compiled where the compiler is, else recorded; nothing harmful reaches it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.compile import compile_kernel
from compiler.find import find_machine_code, find_registers
from compiler.iteration import iterations
from compiler.machine_code import Group
from compiler.opcodes import sentence
from compiler.terminal import loop_sentences
from compiler.toolchain import Toolchain, ToolchainError
from simulator import compile_kernel as compile_for_simulator
from simulator.__main__ import main
from simulator.catalogue import FOLDER, catalogue, whole_catalogue
from simulator.language.errors import SourceError
from tests.programs.table import PROGRAMS, Program

USER_KERNEL = """
namespace ns {
template <typename T, int N>
__global__ void scale(T* x, T by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < N; ++k)
        x[i * N + k] *= by;
}
}
int main() { ns::scale<float, 4><<<8, 96>>>(x, 2.0f); }
"""


@pytest.mark.usefixtures("_no_toolchain")
def test_without_the_compiler_the_catalogue_is_as_recorded() -> None:
    code = find_machine_code(catalogue()["tiled"].source(), None, "sm_80")
    assert (code.kernel, code.registers, code.compiler) == ("tiled", 32, "NVRTC 13.0")
    other = find_machine_code(catalogue()["tiled"].source(), "tiled", "sm_80", {"TILE": "4"})
    assert other.shared_bytes == 2 * 4 * 4 * 4


@pytest.mark.usefixtures("_no_toolchain")
def test_registers_are_known_of_what_was_recorded_alone() -> None:
    tiled = compile_for_simulator(catalogue()["tiled"].source())
    assert find_registers(tiled) == 32
    assert find_registers(compile_for_simulator(USER_KERNEL, "ns::scale")) is None


def test_registers_of_ones_own_kernel_are_compiled(toolchain: Toolchain) -> None:
    kernel = compile_for_simulator(USER_KERNEL, "ns::scale")
    assert find_registers(kernel) == compile_kernel(toolchain, kernel, "sm_90").registers


@pytest.mark.usefixtures("_no_toolchain")
def test_a_recording_is_of_one_kernel_of_its_text() -> None:
    text = catalogue()["anyshape"].source()
    assert find_machine_code(text, "anyshape", "sm_90").kernel == "anyshape"
    with pytest.raises(ToolchainError):
        find_machine_code(text, "pad_rows", "sm_90")


@pytest.mark.usefixtures("_no_toolchain")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_89"])
def test_without_the_compiler_others_are_a_sentence(architecture: str) -> None:
    with pytest.raises(
        ToolchainError, match=r"requirements-compiler.txt installs them\..*not one of"
    ):
        find_machine_code(USER_KERNEL, None, architecture)


def test_an_architecture_is_one_of_a_list() -> None:
    with pytest.raises(SourceError, match="choose one of sm_75"):
        find_machine_code(USER_KERNEL, None, "sm_90 --output /etc/passwd")


@pytest.mark.parametrize(
    "text",
    [
        '__global__ void f(float* x) { asm("trap;"); }\n#include "/etc/passwd"',
        "__global__ void f(float* x) { x[0] = sizeof(int[1 << 30][1 << 30]) + undeclared; }",
        "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(A(A(A(A(x))))))))\n"
        "__global__ void f(float* x) { B(B(x[0] += 1;)) }",
    ],
)
def test_what_the_simulator_refuses_never_reaches_the_compiler(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[object] = []
    here = Toolchain(Path("nvrtc"), Path("nvdisasm"))
    monkeypatch.setattr("compiler.find.find_toolchain", lambda: here)
    monkeypatch.setattr("compiler.compile.compile_cubin", lambda *given: reached.append(given))
    with pytest.raises(SourceError):
        find_machine_code(text, None, "sm_90")
    assert not reached


def test_kernels_that_the_simulator_does_not_execute_are_as_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = Toolchain(Path("nvrtc"), Path("nvdisasm"))
    monkeypatch.setattr("compiler.find.find_toolchain", lambda: here)
    code = find_machine_code(whole_catalogue()["warpgroup_half"].source(), None, "sm_90")
    assert any(one.base == "HGMMA" for one in code.instructions)


def test_a_template_of_ones_own_has_its_arguments(toolchain: Toolchain) -> None:
    code = compile_kernel(toolchain, compile_for_simulator(USER_KERNEL, "ns::scale"), "sm_90")
    loop = code.lines[9]
    assert sum(one.width or 0 for one in loop if one.group is Group.LOAD) == 16
    assert sum(one.width or 0 for one in loop if one.group is Group.STORE) == 16


@pytest.mark.sample(12)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.kernel)
def test_each_line_of_a_program_has_its_own_instructions(
    toolchain: Toolchain, program: Program
) -> None:
    code = find_machine_code(program.text, program.kernel, "sm_90", program.defines)
    assert sum(map(len, code.lines.values())) == len(code.instructions)
    assert set(code.lines) - {None} <= set(range(1, len(program.text.splitlines()) + 1))
    assert all(sentence(one) for one in code.instructions)


@pytest.mark.usefixtures("_no_toolchain")
def test_json_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    tiled = str(FOLDER / "tiled.cu")
    assert main([tiled, "--machine-code", "--arch", "sm_90", "--block", "16,16", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (inner,) = [one for one in found["lines"] if one["line"] == 26]
    loads = [one for one in inner["instructions"] if one["group"] == "shared load"]
    assert sorted(one["width"] for one in loads) == [4] * 16 + [16] * 4
    assert {"opcode", "text", "width", "group"} == set(loads[0])
    assert sum(one["opcode"] == "FFMA" for one in inner["instructions"]) == 16
    assert {one["kind"] for one in found["changes"]["26"]} == {"unrolled", "merged", "fused"}
    (loop,) = found["loops"]
    assert (loop["multiply_adds"], loop["limit"]) == (16, "loads and stores")
    assert (found["registers"], found["shared"], found["spills"]) == (
        32, 2048, {"stores": 0, "loads": 0},
    )  # fmt: skip
    (occupancy,) = found["occupancy"]
    assert (occupancy["blocks"], occupancy["share"], occupancy["limit"]) == (8, 1.0, "threads")


@pytest.mark.usefixtures("_no_toolchain")
def test_text_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(FOLDER / "tiled.cu"), "--machine-code"]) == 0
    said = capsys.readouterr().out
    assert "line 26: acc += As[ty][k] * Bs[k][tx];\n  16 LDS, 4 LDS.128, 16 FFMA\n" in said
    assert "  Merged: 4 neighbouring loads became one of 16 bytes, 4 times.\n" in said
    assert "line 25: for (int k = 0; k < TILE; ++k)\n  No instruction of this line remains" in said
    assert (
        "its instructions allow at most 17% of float's peak, limited by loads and stores\n" in said
    )
    assert "H100, H200: 2 blocks of 1024 threads at once, 64 of 64 warps, limited by" in said


@pytest.mark.usefixtures("_no_toolchain")
def test_two_loops_that_were_one_are_told_apart() -> None:
    """The loop over tiles is unrolled, and there is a loop for the tiles that are left."""
    code = find_machine_code(catalogue()["tiled"].source(TILE=4), None, "sm_90")
    said = [one.partition(":")[0] for one in loop_sentences(iterations(code))]
    assert said == ["loop of lines 18 to 27", "another loop of lines 18 to 27"]


def test_a_file_without_recording_from_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("_no_toolchain")
    file = tmp_path / "own.cu"
    file.write_text(USER_KERNEL)
    assert main([str(file), "--machine-code"]) == 2
    assert "requirements-compiler.txt" in capsys.readouterr().err


def test_a_process_of_its_own(toolchain: Toolchain, tmp_path: Path) -> None:
    """The file's own launch gives the block; limits hold the compiler."""
    file = tmp_path / "own.cu"
    file.write_text(USER_KERNEL)
    done = subprocess.run(
        [sys.executable, "-m", "simulator", file, "--machine-code", "--json"],
        capture_output=True, text=True, check=False, cwd=FOLDER.parent.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["threads"] for one in found["occupancy"]] == [96]
    assert found["kernel"] == "scale"
