"""Files that are none, and names of files that show more than they say, on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.__main__ import main
from tests.hostile.texts import BOMBS

ROOT = Path(__file__).resolve().parents[2]
TILED = str(ROOT / "assets/kernels/tiled.cu")
GOOD = "__global__ void k(float* file, float* allow_pickle) { file[0] = allow_pickle[0]; }"
LAUNCH = ["--kernel", "k", "--grid", "1", "--block", "1"]
ESCAPE = "\x1b[2J"

needs_devices = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices here")


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence that a command line without a report gives."""
    code = main(arguments)
    out, error = capsys.readouterr()
    assert (code, out) == (2, "")
    assert error.endswith(".\n")
    assert "\x1b" not in error
    return error


@needs_devices
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/random", "/dev", "/dev/stdin"])
def test_a_source_that_is_no_file(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not a file" in run([device, *LAUNCH, "f32:4", "f32:4"], capsys)


@needs_devices
def test_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "good.cu"
    os.mkfifo(pipe)
    file.write_text(GOOD, encoding="utf-8")
    assert "is not a file" in run([str(pipe), *LAUNCH, "f32:4", "f32:4"], capsys)
    for inputs in (str(pipe), "/dev/zero", str(tmp_path)):
        command = [str(file), *LAUNCH, "--inputs", inputs, "f32:4", "f32:4"]
        assert "is not a file" in run(command, capsys)


@pytest.mark.parametrize("option", ["--outputs", "--junit", "--report"])
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("", "needs the name"),
        (".", "is a folder"),
        (".npz", "is a folder"),
        ("no/such/OUT.npz", "cannot be written: there is no such folder"),
        ("n" * 300 + ".npz", "cannot be written: File name too long"),
        (ESCAPE * 99 + ".npz", "cannot be written: File name too long"),
        ("good.cu/OUT.npz", "cannot be written: there is no such folder"),
    ],
)
def test_a_name_under_which_nothing_can_be_written(
    option: str, name: str, part: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("good.cu").write_text(GOOD, encoding="utf-8")
    Path(".npz").mkdir()
    verdict = () if option == "--outputs" else ("--verdict",)
    command = ["good.cu", *verdict, *LAUNCH, option, name, "f32:4", "f32:4"]
    error = run(command, capsys)
    assert option in error
    assert part in error
    assert sorted(file.name for file in Path.cwd().iterdir()) == [".npz", "good.cu"]


@pytest.mark.sample(2)
@needs_devices
@pytest.mark.parametrize(("option", "begins"), [("--junit", "<?xml"), ("--report", "<!doctype")])
def test_a_pipe_is_written_and_stays_one(option: str, begins: str, tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", tmp_path / "read"
    os.mkfifo(pipe)
    with read.open("wb") as out, subprocess.Popen(["cat", pipe], stdout=out):  # noqa: S607
        try:
            assert main([TILED, "--verdict", option, str(pipe)]) == 0
        finally:  # so that cat ends
            os.close(os.open(pipe, os.O_RDWR))
    assert pipe.is_fifo()
    assert read.read_text(encoding="utf-8").lower().startswith(begins)


def test_arrays_by_numpys_own_names_are_written(tmp_path: Path) -> None:
    import numpy as np

    file, outputs = tmp_path / "good.cu", tmp_path / "out.npz"
    file.write_text(GOOD, encoding="utf-8")
    assert main([str(file), *LAUNCH, "--outputs", str(outputs), "f32:4", "f32:4"]) == 0
    with np.load(outputs) as arrays:
        assert set(arrays) == {"file", "allow_pickle"}


def test_letters_that_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert r"\x1b[2J" in run([f"{tmp_path}/{ESCAPE}.cu", *LAUNCH], capsys)
    file = tmp_path / "print.cu"
    file.write_text(r'__global__ void k() { printf("\033[2J%d\n", 1); }', encoding="utf-8")
    assert main([str(file), *LAUNCH]) == 0
    assert capsys.readouterr().out.startswith("\\x1b[2J1\n")


def test_a_text_that_grows_ends_the_command_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "bomb.cu"
    file.write_text(BOMBS["__make_integer_seq"][0], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "simulator", str(file), *LAUNCH, "f32:4", "i32=4"],
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("The compiler needed more than ")
    assert done.stderr.count("\n") == 1
