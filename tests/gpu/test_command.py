"""The command line: its exit codes, its JSON, and its sentences."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gpu.__main__ import main
from gpu.candidate import choose
from gpu.recorded import recordings
from gpu.scale.recorded import scalings
from gpu.trace.recorded import recorded_traces
from simulator.language.errors import LaunchError


@pytest.fixture
def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process sees no CuPy and no driver, whatever this machine has."""
    code = (
        "import gpu.cuda.probe, gpu.cuda.device, dataclasses\n"
        "gpu.cuda.probe.take_probe = lambda: gpu.cuda.device.Probe(distribution='debian')\n"
        "from gpu.worker import JOBS, serve\n"
        "serve(JOBS)\n"
    )
    monkeypatch.setattr("gpu.worker.COMMAND", (sys.executable, "-c", code))


@pytest.mark.sample(6)
@pytest.mark.usefixtures("without_gpu")
@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["compare", "--json"],
        ["bits"],
        ["limits"],
        ["scale", "--json"],
        ["record"],
        ["trace", "tiled"],
    ],
)
def test_without_a_gpu(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("No NVIDIA driver was found")
    assert "sudo apt install nvidia-driver" in printed.err


@pytest.mark.usefixtures("with_gpu")
def test_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 0
    assert "Test GPU, compute capability 9.0" in capsys.readouterr().out
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"]["name"] == "Test GPU"


@pytest.mark.usefixtures("with_gpu")
def test_compare_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "--m", "64", "--n", "65", "--k", "66", "--kernels", "tiled", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["size"] == [64, 65, 66]
    assert [kernel["name"] for kernel in found["kernels"]] == ["tiled", "cublas"]


@pytest.mark.usefixtures("with_gpu")
def test_transactions_of_the_launch_are_in_the_json_and_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    size = ["--m", "64", "--n", "64", "--k", "64", "--kernels", "tiled"]
    assert main(["compare", *size, "--json"]) == 0
    kernels = json.loads(capsys.readouterr().out)["kernels"]
    assert kernels[0]["simulated"]["global_load_sectors"] == 2 * 64**3 // 16 // 8
    assert kernels[-1]["simulated"] is None
    assert main(["compare", *size]) == 0
    assert f"{2 * 64**3 // 16 // 8 + 64 * 64 // 8:,}" in capsys.readouterr().out


@pytest.mark.deep
@pytest.mark.usefixtures("with_gpu")
def test_one_of_several_gpus_is_chosen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAKE_GPUS", "2")
    assert main(["status", "--gpu", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("GPU:             Test GPU 1,")
    assert "--gpu 0:         Test GPU\n" in printed
    assert main(["compare", "--gpu", "1", "--kernels", "tiled", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"]["name"] == "Test GPU 1"
    assert main(["compare", "--gpu", "2"]) == 2
    assert "There is no GPU number 2" in capsys.readouterr().err


@pytest.mark.usefixtures("with_gpu")
def test_a_kernel_that_is_not_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--kernels", "naive,tiled"]) == 1
    table = capsys.readouterr().out
    assert "C is wrong" in table
    assert "cublas" in table


@pytest.mark.usefixtures("with_gpu")
def test_record_writes_what_can_be_read(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    assert main(["record", "--folder", str(tmp_path), "--kernels", "tiled"]) == 0
    found = recordings(tmp_path)
    (traces,) = recorded_traces(tmp_path / "traces")
    assert [(one.kernel, one.size[0]) for one in traces.traces] == [("tiled", 512), ("tiled", 2048)]
    assert found.problems == ()
    run = found.runs[0]
    assert run.file == "test-gpu.json"
    assert run.limits is not None
    assert run.limits.latency.dram == 686
    assert [(verdict.name, verdict.identical) for verdict in run.bits] == [("tiled", True)]
    assert run.comparisons[0].kernels[0].simulated
    assert (4096, 4096, 4096) in found.runs[0].sizes
    assert [shape.cublas_ratio for shape in run.shapes] == [1.05, 0.9]
    assert run.shape_table is not None
    assert "Wrote" in capsys.readouterr().out
    assert main(["record", "--folder", str(tmp_path), "--kernels", "naive"]) == 1  # not verified
    [again] = recordings(tmp_path).runs
    assert (again.limits, again.shapes) == (run.limits, run.shapes)
    assert [verdict.name for verdict in again.bits] == ["tiled", "naive"]
    assert again.sizes == run.sizes
    assert [kernel.name for kernel in again.comparisons[0].kernels] == ["tiled", "naive", "cublas"]
    (tmp_path / run.file).write_text("{}", encoding="utf-8")
    assert main(["record", "--folder", str(tmp_path), "--kernels", "naive"]) == 2
    assert "test-gpu.json, line 1: It is not a recording" in capsys.readouterr().err


@pytest.mark.usefixtures("with_gpu")
def test_shapes_are_a_table_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shapes"]) == 0
    assert "2 shapes drawn at random" in capsys.readouterr().out
    assert main(["shapes", "--json"]) == 0
    [first, _] = json.loads(capsys.readouterr().out)["shapes"]
    assert first["size"] == [4096, 4096, 4096]
    assert {"kernel", "cublas_ratio", "verified"} <= set(first)


@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["--kernels", "nothing"], "There is no kernel 'nothing'; the catalogue has uncoalesced"),
        (["--kernels", " , "], "--kernels  ,  names no kernel; write --kernels naive,tiled."),
        (["--kernels", "naive:TILE=4"], "naive has no macro TILE"),
        (["--kernels", "tiled:TILE=3"], "TILE=3 is not offered"),
        (["--kernels", "tiled:TILE"], "not a setting"),
        (["-D", "TILE"], "not a setting"),
        (["-D", "SIZE=3"], "No kernel of the catalogue has a macro SIZE"),
        (["-D", "TILE=64"], "TILE=64 is not offered for tiled; choose from 2, 4, 8, 16, 32"),
        (["--m", "0"], "M is 0"),
        (["--m", "60000", "--k", "60000"], "A would have 3,600,000,000 elements"),
        (["--m", "1000000", "--kernels", "tiled:TILE=2", "--k", "1", "--n", "1"], "65,535"),
    ],
)
def test_what_cannot_be_run_is_a_sentence(
    arguments: list[str], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *arguments]) == 2
    assert printed in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_limit_is_a_time(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["limits", "--limit", seconds])
    assert stopped.value.code == 2
    assert f"{seconds!r} is not a number of seconds above 0." in capsys.readouterr().err


@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize("command", [["record", "--folder"], ["scale", "--record"]])
@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_measured(
    command: list[str], folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert main([*command, str(tmp_path / folder)]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"{tmp_path / folder} cannot be written; name another folder.\n"
    assert printed.out == ""


def test_the_chosen_macro_is_in_the_text_and_the_launch() -> None:
    usual = choose("tiled", (100, 50, 25))
    chosen = choose("tiled:TILE=8", (100, 50, 25), {"TILE": "4"})
    everywhere = choose("tiled", (100, 50, 25), {"TILE": "4"})
    assert "#define TILE 8" in chosen.text
    assert (chosen.grid, chosen.block) == ((7, 13, 1), (8, 8, 1))
    assert everywhere.defines == {"TILE": "4"}
    assert usual.defines == {"TILE": "16"}
    with pytest.raises(LaunchError):
        choose("tiled", (100, 50, 25), {"TILE": "x"})


def test_blocks_that_share_cells_are_left_to_the_shapes() -> None:
    assert choose("anyshape:PIECES=1", (100, 50, 25)).grid == (1, 2, 1)
    with pytest.raises(LaunchError, match="zeros at the start; `python -m gpu shapes`"):
        choose("anyshape:PIECES=2", (100, 50, 25))


@pytest.fixture
def with_gpus(with_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_GPUS", "4")


@pytest.mark.usefixtures("with_gpus")
def test_scale_prints_one_object_or_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["size"] == [16384, 16384, 16384]
    assert found["devices"] == ["Test GPU", "Test GPU 1", "Test GPU 2", "Test GPU 3"]
    assert [(run["gpus"], run["way"]) for run in found["runs"]] == [
        (1, "in place"), (2, "peer copies"), (2, "in place"), (4, "peer copies"), (4, "in place"),
    ]  # fmt: skip
    wanted = {
        "ms", "ms_spread", "tflops", "speedup", "efficiency", "ideal_ms", "bytes_moved",
        "verified", "verdict", "same_bits", "max_rel_error", "error_bound", "plan",
    }  # fmt: skip
    assert wanted <= set(found["runs"][-1])
    assert main(["scale", "--m", "512", "--n", "768", "--k", "1024", "--gpus", "1, 3"]) == 0
    table = capsys.readouterr().out
    assert table.startswith("512 x 768 x 1024 (M, N, K), warptiles on 3 x Test GPU")
    assert "NCCL was not found." in table
    row = next(line for line in table.splitlines() if "peer copies" in line).split()
    assert row[:4] == ["3", "peer", "copies", "yes"]
    assert row[-4:] == ["2.73", "90.9%", "4", "yes"]  # 2 x 512 x 1024 floats


@pytest.mark.usefixtures("with_gpus")
def test_scale_is_kept_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale", "--record", str(tmp_path / "kept"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    runs, problems = scalings(tmp_path / "kept")
    assert problems == ()
    assert [run.file for run in runs] == ["test-gpu-x4.json"]
    assert json.loads(json.dumps(runs[0].scaling.to_json())) == printed


@pytest.mark.usefixtures("with_gpus")
def test_a_wrong_product_over_several_gpus(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAKE_SCALE", "wrong")
    assert main(["scale", "--gpus", "2"]) == 1
    assert "C is wrong." in capsys.readouterr().out


@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ([], "This machine shows one GPU; scale spreads a product over two or more of one host."),
        (["--gpus", "4"], "This machine shows one GPU; a product cannot be spread over 4."),
        (["--gpus", "two"], "--gpus two is not a list of numbers of GPUs; write --gpus 1,2,4."),
        (["--m", "0"], "M is 0"),
        (["--m", "60000", "--k", "60000"], "A would have 3,600,000,000 elements"),
    ],
)
def test_what_cannot_be_spread_is_a_sentence(
    arguments: list[str], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scale", *arguments]) == 2
    answer = capsys.readouterr()
    assert printed in answer.err
    assert answer.out == ""
