"""python -m simulator: options, JSON, exit codes, and sentences on stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.__main__ import main
from simulator.catalogue import FOLDER
from simulator.observers.counters import FIELDS

SIZE = ["i32=20", "i32=30", "i32=17"]
TILED = [str(FOLDER / "tiled.cu"), "--kernel", "tiled", "--grid", "8,5", "--block", "4,4",
         "-D", "TILE=4"]  # fmt: skip
ARRAYS = ["f32:20x17", "f32:17x30", "f32:20x30"]


def test_json_of_a_clean_kernel_in_a_process_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simulator", *TILED, "--json", *ARRAYS, *SIZE],
        capture_output=True, text=True, check=False, cwd=FOLDER.parent.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["kernel"] == "tiled"
    assert set(found["counters"]) == set(FIELDS)
    assert found["hazards"] == []
    assert found["seconds"] > 0
    assert found["counters"]["shared_store_requests"] == 8 * 5 * 5 * 2


def test_inputs_and_outputs(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    A = random.standard_normal((20, 17), dtype=np.float32)
    B = random.standard_normal((17, 30), dtype=np.float32)
    np.savez(tmp_path / "in.npz", A=A, B=B)
    files = ["--inputs", str(tmp_path / "in.npz"), "--outputs", str(tmp_path / "out.npz")]
    assert main([*TILED, *files, "f32:20x30", *SIZE]) == 0
    with np.load(tmp_path / "out.npz") as out:
        assert sorted(out.files) == ["A", "B", "C"]
        assert np.allclose(out["C"], A @ B, atol=1e-5)
        assert np.array_equal(out["A"], A)


# What np.savez and np.load take themselves, what an archive's own object has, and letters of C++.
ODD_NAMES = ["file", "allow_pickle", "args", "kwds", "self", "f", "files", "arr_0", "größe", "_"]


def test_arrays_of_any_name_are_written_and_read(tmp_path: Path) -> None:
    parameters = ", ".join(f"float* {name}" for name in ODD_NAMES)
    body = "".join(f"{name}[threadIdx.x] += {i};" for i, name in enumerate(ODD_NAMES))
    file, first, second = tmp_path / "odd.cu", tmp_path / "first.npz", tmp_path / "second.npz"
    file.write_text(f"__global__ void k({parameters}) {{ {body} }}", encoding="utf-8")
    command = [str(file), "--kernel", "k", "--grid", "1", "--block", "32"]
    assert main([*command, "--outputs", str(first), *["f32:32"] * len(ODD_NAMES)]) == 0
    assert main([*command, "--inputs", str(first), "--outputs", str(second)]) == 0
    with np.load(first) as before, np.load(second) as after:
        assert sorted(before.files) == sorted(after.files) == sorted(ODD_NAMES)
        for i, name in enumerate(ODD_NAMES):
            assert np.array_equal(after[name], before[name] + np.float32(i)), name


def test_outputs_get_the_suffix_of_an_archive(tmp_path: Path) -> None:
    assert main([*TILED, "--outputs", str(tmp_path / "out"), *ARRAYS, *SIZE]) == 0
    with np.load(tmp_path / "out.npz") as out:
        assert sorted(out.files) == ["A", "B", "C"]


def run(
    folder: Path, *options: str | bytes, text: str = "float* x", **settings: Any
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, for a kernel with these parameters."""
    (folder / "k.cu").write_text(f"__global__ void k({text}) {{ }}", encoding="utf-8")
    command = [sys.executable, "-m", "simulator", folder / "k.cu", "--kernel", "k",
               "--grid", "1", "--block", "32", *options]  # fmt: skip
    return subprocess.run(
        command, stderr=subprocess.PIPE, text=True, check=False, cwd=FOLDER.parent.parent,
        encoding="utf-8", **settings,
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_report_that_cannot_be_written(tmp_path: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = run(tmp_path, "f32:32", stdout=full)
    assert done.returncode == 2
    assert done.stderr == "The report cannot be written: No space left on device.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
def test_reader_of_the_report_that_has_gone(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run(tmp_path, "f32:32", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_report_in_letters_that_the_terminal_lacks(tmp_path: Path) -> None:
    (tmp_path / "größe.cu").write_text(
        "__global__ void größe(float* x) { x[32] = 1; int breite; }", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "simulator", tmp_path / "größe.cu", "--kernel", "größe",
         "--grid", "1", "--block", "1", "f32:32"],
        capture_output=True, check=False, cwd=FOLDER.parent.parent,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.startswith(rb"gr\xf6\xdfe: ")


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are text there")
def test_macro_with_bytes_that_are_no_text(tmp_path: Path) -> None:
    done = run(tmp_path, "-D", b"N=\xff", "f32:32", stdout=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "code is plain" in done.stderr


@pytest.mark.sample(3)
@pytest.mark.parametrize("given", ["f32=1e300", "f64=1e300", "f32=1e400"])
def test_number_too_large_for_a_float_is_infinite(given: str, tmp_path: Path) -> None:
    done = run(tmp_path, "f32:32", given, text="float* x, float y", stdout=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, "")


def test_hazards_give_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (FOLDER / "tiled.cu").read_text(encoding="utf-8").replace("__syncthreads();", "", 1)
    (tmp_path / "broken.cu").write_text(text, encoding="utf-8")
    arguments = [str(tmp_path / "broken.cu"), *TILED[1:], "-D", "TILE=16", *ARRAYS, *SIZE]
    arguments[arguments.index("4,4")] = "16,16"
    assert main([*arguments, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {hazard["kind"] for hazard in found["hazards"]} >= {"read-after-write"}
    assert all({"kind", "lines", "message"} <= set(hazard) for hazard in found["hazards"])
    (race, *_) = (hazard for hazard in found["hazards"] if hazard["witness"])
    assert list(race) == [
        "kind", "lines", "array", "space", "message", "count", "example", "wrong_order", "witness",
        "places", "in_files",
    ]  # fmt: skip
    assert list(race["example"]) == [
        "block", "thread", "other_block", "other", "cell", "iterations",
    ]  # fmt: skip
    assert list(race["witness"]) == [
        "order", "against", "thread", "read", "read_against", "output", "value", "value_against",
        "said",
    ]  # fmt: skip
    assert race["wrong_order"] == race["witness"]["order"]
    assert main(arguments) == 1
    assert "read-after-write" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["missing.cu", *TILED[1:], *ARRAYS, *SIZE], "missing.cu cannot be read"),
        ([*TILED, *ARRAYS], "needs 6 arguments"),
        ([*TILED, *ARRAYS, "i32=20", "i32=30", "x"], "neither an array"),
        ([*TILED, *ARRAYS, "i32=20", "i32=30", "i32=1e3"], "is not a valid i32"),
        ([*TILED, "f64:20x17", *ARRAYS[1:], *SIZE], "must hold float32"),
        ([*TILED, "f32:99999x99999", *ARRAYS[1:], *SIZE], "MiB"),
        ([*TILED[:-2], "--block", "64,64", *ARRAYS, *SIZE], "4,096 threads"),
        ([*TILED, "--grid", "a", *ARRAYS, *SIZE], "whole numbers"),
        ([*TILED, "--schedule", "sideways", *ARRAYS, *SIZE], "invalid choice"),
        ([*TILED, "-D", "TILE=16)", *ARRAYS, *SIZE], "line "),
        ([*TILED, "-D", "TILE=1000000", *ARRAYS, *SIZE], "shared memory"),
        ([*TILED, "--inputs", "missing.npz", *ARRAYS, *SIZE], "cannot be read"),
        ([*TILED, "--seed", "-4", *ARRAYS, *SIZE], "whole number, 0 or more"),
        ([TILED[0], "--kernel", "tilde", *TILED[3:], *ARRAYS, *SIZE], "no kernel named tilde"),
    ],
)
def test_errors_give_exit_2_and_a_sentence(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert part in output.err
    assert "Traceback" not in output.err
