"""`python -m gpu trace`: its table, its JSON, its files and its sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu.__main__ import main
from gpu.trace.trace import Level, trace_from
from simulator.catalogue import catalogue


@pytest.mark.usefixtures("with_gpu")
def test_a_trace_is_a_table_an_object_and_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.json"
    assert main(["trace", "tiled:TILE=32", "--m", "512", "--perfetto", str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("tiled:TILE=32, 512 x 2048 x 2048 (M, N, K) on Test GPU\n")
    assert "inner loop" in printed
    assert "2,064" in printed
    assert "takes 1.06 times as long; its C has the same bits" in printed
    assert "4.0% less than a block's lifetime: they do not account for all of it" in printed
    assert printed.endswith("Half of it.\n")
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    assert {"copy", "inner loop", "block (1, 0)"} <= {one["name"] for one in events}
    monkeypatch.setenv("FAKE_TRACE", "wrong")
    assert main(["trace", "padded", "--level", "statements", "--json"]) == 1
    found = trace_from(json.loads(capsys.readouterr().out))
    assert (found.kernel, found.level, found.same_bits) == ("padded", Level.STATEMENTS, False)


def test_the_reads_are_shown_without_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "padded", "--diff"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n+        tilewise_trace.") == 4
    assert "-" not in {line[:1] for line in printed.split("\n")[2:]}


@pytest.mark.deep
def test_a_file_is_traced_once_the_simulator_finds_it_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = catalogue()["tiled"].source(TILE=8)
    right, wrong = tmp_path / "right.cu", tmp_path / "wrong.cu"
    right.write_text(text, encoding="utf-8")
    wrong.write_text(text.replace("__syncthreads();", "", 1), encoding="utf-8")
    size = ["--m", "64", "--n", "64", "--k", "64"]
    assert main(["trace", str(right), *size, "--diff"]) == 0
    assert "tilewise_trace.enter(3); // inner loop" in capsys.readouterr().out
    assert main(["trace", str(wrong), *size, "--diff"]) == 2
    assert "runs on a GPU once the simulator finds it right." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [(["tile"], "There is no kernel 'tile'"), (["none.cu"], "none.cu"), (["tiled:N=2"], "macro N")],
)
def test_what_cannot_be_traced_is_named(
    arguments: list[str], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", *arguments, "--diff"]) == 2
    assert printed in capsys.readouterr().err
