"""What nvdisasm prints is read whole: a recorded listing of scale.cu, for sm_90 by NVRTC 13.0."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from compiler import nvdisasm
from compiler.machine_code import MachineCode
from compiler.nvdisasm import JSON, LINES, LIVE, read_cubin
from compiler.toolchain import ToolchainError

FOLDER = Path(__file__).parent / "listing"
PRINTED: Mapping[tuple[str, ...], str] = {
    options: (FOLDER / name).read_text(encoding="utf-8")
    for options, name in ((JSON, "scale.json"), (LINES, "lines.txt"), (LIVE, "live.txt"))
}


def _print(monkeypatch: pytest.MonkeyPatch, printed: Mapping[tuple[str, ...], str]) -> None:
    def run(_: Path, options: Sequence[str], path: Path, may_fail: bool = False) -> str:
        assert path.read_bytes() == b"cubin"
        return printed[tuple(options)]

    monkeypatch.setattr(nvdisasm, "_run", run)


def test_instructions_lines_and_live_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    _print(monkeypatch, PRINTED)
    code, padding, live = read_cubin(Path("nvdisasm"), b"cubin", "scale")
    listed = re.findall(r"/\*[0-9a-f]{4}\*/ +(.+?) ?;", PRINTED[LINES])
    assert len(code) + padding == len(listed)
    assert [one.text for one in code if "`" not in one.text][:8] == listed[:8]
    text = (FOLDER / "scale.cu").read_text(encoding="utf-8").splitlines()
    lines = {one.opcode: text[one.line - 1].strip() for one in code if one.line}
    assert lines["STG.E"].startswith("x[i] =")
    assert lines["FFMA"] == "return a * b + 1.0f;"
    assert code[-1].opcode == "RET.REL.NODEC"
    # How many registers are live is in the listing, too, before the columns.
    counts = re.findall(r"\*/ .*// \| +(\d+)", PRINTED[LIVE])
    whole = MachineCode("scale", "sm_90", "", (), code, padding, 6, 0, 0, 0, 0, live)
    assert whole.live_at() == tuple(map(int, counts[: len(code)]))


def test_a_version_that_does_not_tell_live_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    _print(monkeypatch, {**PRINTED, LIVE: ""})
    code, _, live = read_cubin(Path("nvdisasm"), b"cubin", "scale")
    assert (len(code), live) == (22, None)


@pytest.mark.parametrize(
    ("symbol", "lines", "said"),
    [
        ("other", PRINTED[LINES], "no function other"),
        ("scale", PRINTED[LINES].replace("/*0040*/", ""), "32 instructions of scale and 31 places"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    monkeypatch: pytest.MonkeyPatch, symbol: str, lines: str, said: str
) -> None:
    _print(monkeypatch, {**PRINTED, LINES: lines})
    with pytest.raises(ToolchainError, match=said):
        read_cubin(Path("nvdisasm"), b"cubin", symbol)


def test_a_program_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(ToolchainError, match="nvdisasm does not run here"):
        read_cubin(Path("no/such/nvdisasm"), b"cubin", "scale")
