"""A cubin is read whole: that of scale.cu, made for sm_90 by NVRTC 13.0, and what is compiled here.

What nvdisasm 13.5 prints of it is recorded beside it: what is read, and its JSON and its lines,
which are compared with that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from compiler import nvdisasm
from compiler.line_table import instruction_lines
from compiler.machine_code import Instruction, MachineCode
from compiler.nvdisasm import LIVE, PLAIN, read_cubin
from compiler.nvrtc import compile_cubin
from compiler.source import FILENAME, compiler_input
from compiler.toolchain import Toolchain, ToolchainError
from simulator.catalogue import whole_catalogue

FOLDER = Path(__file__).parent / "listing"
CUBIN = (FOLDER / "scale.cubin").read_bytes()
LINES, LIVE_PRINTED = (
    (FOLDER / name).read_text(encoding="utf-8") for name in ("lines.txt", "live.txt")
)
ONE = re.compile(r"/\*[0-9a-f]{4}\*/ +(.+?) ?;")


def _print(monkeypatch: pytest.MonkeyPatch, printed: Mapping[tuple[str, ...], str]) -> None:
    def run(_: Path, options: Sequence[str], path: Path, may_fail: bool = False) -> str:
        assert path.read_bytes() == CUBIN
        assert may_fail == (options == LIVE)
        return printed[tuple(options)]

    monkeypatch.setattr(nvdisasm, "_run", run)


def _as_json(found: Any, symbol: str) -> list[str]:
    """The instructions of nvdisasm's JSON, without spaces, commas and how a symbol is marked."""
    (function,) = (one for one in found[1] if one["function-name"] == symbol)
    return [
        _bare(one.get("predicate", "") + one["opcode"] + one.get("operands", ""))
        for one in function["sass-instructions"]
    ]


def _bare(text: str) -> str:
    return re.sub(r"[\s,`()]", "", text)


def _same(code: Sequence[Instruction], as_json: Sequence[str]) -> bool:
    """Whether code is what the JSON has; the second operand of P2R is its predicate there."""
    return all(
        sorted(_bare(one.text)) == sorted(other)
        for one, other in zip(code, as_json[: len(code)], strict=True)
    )


def test_instructions_lines_and_live_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    _print(monkeypatch, {LIVE: LIVE_PRINTED})
    code, padding, live = read_cubin(Path("nvdisasm"), CUBIN, "scale")
    as_json = _as_json(json.loads((FOLDER / "scale.json").read_text(encoding="utf-8")), "scale")
    assert len(code) + padding == len(as_json)
    assert _same(code, as_json)
    text = (FOLDER / "scale.cu").read_text(encoding="utf-8").splitlines()
    lines = {one.opcode: text[one.line - 1].strip() for one in code if one.line}
    assert lines["STG.E"].startswith("x[i] =")
    assert lines["FFMA"] == "return a * b + 1.0f;"
    assert lines["LDGDEPBAR"] == "__pipeline_commit();"  # which a header has
    # How many registers are live is in the listing, too, before the columns.
    counts = re.findall(r"\*/ .*// \| +(\d+)", LIVE_PRINTED)
    whole = MachineCode("scale", "sm_90", "", (), code, padding, 6, 0, 0, 0, 0, live)
    assert whole.live_at() == tuple(map(int, counts[: len(code)]))


def test_lines_are_those_of_the_table() -> None:
    """`nvdisasm -gi` prints them, but not where only the caller of the same line changes."""
    lines, printed = instruction_lines(CUBIN, "scale", FILENAME), _printed_lines(LINES)
    assert len(lines) == len(printed) == 48
    differ = [n for n, both in enumerate(zip(lines, printed, strict=True)) if len(set(both)) > 1]
    assert [(lines[number], printed[number]) for number in differ] == [(13, 12)] * 4
    assert ONE.findall(LINES)[differ[0]] == "LEA R0, R4, 0x80, 0x2"  # &s[threadIdx.x + 32]


def _printed_lines(text: str) -> list[int]:
    """The line of each instruction of a listing; of what a header's function does, its caller's."""
    lines, line = [], 0
    for part in re.split(r"(?=\t//## File)", text):
        found = re.search(r'kernel\.cu", line (\d+)', part.partition("*/")[0])
        line = int(found[1]) if found else line
        lines += [line for _ in ONE.findall(part)]
    return lines


@pytest.mark.parametrize(
    "name",
    ["tiled", *(pytest.param(n, marks=pytest.mark.deep) for n in ("pipelined", "tensor_half"))],
)
def test_instructions_are_those_of_its_json(
    toolchain: Toolchain, tmp_path: Path, name: str
) -> None:
    entry = whole_catalogue()[name]
    cubin = compile_cubin(toolchain.nvrtc, compiler_input(entry.source(), entry.kernel, "sm_90"))
    file = tmp_path / "kernel.cubin"
    file.write_bytes(cubin.image)
    as_json = _as_json(
        json.loads(nvdisasm._run(toolchain.nvdisasm, ("-json",), file)), entry.kernel
    )
    code, padding, _ = read_cubin(toolchain.nvdisasm, cubin.image, cubin.symbol)
    assert len(code) + padding == len(as_json)
    assert _same(code, as_json)


def test_code_whose_live_registers_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    _print(monkeypatch, {LIVE: "", PLAIN: LINES})
    code, padding, live = read_cubin(Path("nvdisasm"), CUBIN, "scale")
    assert (len(code), padding, live) == (39, 9, None)


@pytest.mark.parametrize(
    ("image", "printed", "said"),
    [
        (CUBIN[:6000], LIVE_PRINTED, "compiled code of scale cannot be read"),
        (CUBIN.replace(b".text.scale", b".text.other"), LIVE_PRINTED, "code of scale cannot be"),
        (CUBIN, LIVE_PRINTED.replace("/*0040*/", ""), "leaves out code before 0050"),
        (CUBIN, LIVE_PRINTED.replace("/*0260*/", ""), "leaves out code before"),
        (CUBIN, LIVE_PRINTED.partition("/*0260*/")[0], "lists 38 of 48 instructions of scale"),
        (CUBIN, LIVE_PRINTED.replace(".text.scale", ".text.other"), "lists 0 of 48"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    monkeypatch: pytest.MonkeyPatch, image: bytes, printed: str, said: str
) -> None:
    monkeypatch.setattr(nvdisasm, "_run", lambda *_, **__: printed)
    with pytest.raises(ToolchainError, match=said):
        read_cubin(Path("nvdisasm"), image, "scale")


def test_a_program_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(ToolchainError, match="nvdisasm does not run here"):
        read_cubin(Path("no/such/nvdisasm"), CUBIN, "scale")
