"""The verdict in a terminal: its text, its JSON, its XML, its exit codes and its errors."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from simulator import catalogue
from simulator.__main__ import main
from simulator.exercises.exercise import exercises

TILED = catalogue()["tiled"].source(TILE=4)
DOCS = (Path(__file__).resolve().parents[2] / "docs/terminal.md").read_text(encoding="utf-8")
GUARD = "    if (row < M && col < N)\n"
ADD = "__global__ void add(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] += n; }"
pytestmark = pytest.mark.usefixtures("_time_for_all_sizes")


def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *options: str
) -> tuple[int, str, str]:
    file = tmp_path / "mine.cu"
    file.write_text(text, encoding="utf-8")
    code = main([str(file), *options])
    found = capsys.readouterr()
    return code, found.out, found.err


def test_a_right_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(tmp_path, capsys, TILED, "--verdict")
    assert (code, err) == (0, "")
    assert out.startswith("tiled: right\nC = A · B: right at 8 sizes, no hazards.\n")
    assert "launch: <<<((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, 1), (TILE, TILE, 1)>>>" in out
    assert "M = 5, N = 3, K = 5    right" in out
    assert "Tiled, 4 x 4" in out
    assert "hazards: none" in out


def test_a_faulty_kernel_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(tmp_path, capsys, TILED.replace(GUARD, ""), "--verdict", "--json")
    found = json.loads(out)
    assert code == 1
    assert set(found) == {
        "kernel", "form", "state", "next_step", "repair", "checks", "hazards", "counters", "lines",
        "neighbours", "costliest", "occupancy", "notes", "files", "in_files",
    }  # fmt: skip
    assert found["state"] == "hazard"
    assert found["next_step"].startswith("Guard line 30: `if (row < M && col < N)`.")
    assert found["repair"]["fixes"][0]["text"] == "if (row < M && col < N) "
    assert found["form"]["grid"][0] == "(N + TILE - 1) / TILE"
    hazard = found["hazards"][0]
    assert (hazard["kind"], hazard["lines"]) == ("out-of-bounds", [30])
    assert hazard["sizes"] == {"M": 5, "N": 3, "K": 5}
    assert [check["state"] for check in found["checks"]][:2] == ["right", "right"]
    assert [row["name"] for row in found["neighbours"]][:2] == ["", "naive"]


@pytest.mark.deep
def test_a_wrong_cell_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        tmp_path, capsys, TILED.replace("Bs[k][tx]", "Bs[tx][k]"), "--task", "product", "--json"
    )
    assert code == 1
    wrong = json.loads(out)["checks"][0]["wrong"]
    assert (wrong["array"], wrong["index"], wrong["expected"]) == ("C", [0, 0], 178.0)
    assert (wrong["thread"], wrong["line"]) == ([0, 0, 0], 31)
    assert wrong["reads"][0]["needed"] == "B[2][0]"
    assert wrong["said"].startswith("C[0][0] is 107 but should be 178.")


@pytest.mark.deep
def test_sizes_grid_block_and_arguments_that_are_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(tmp_path, capsys, TILED, "--M", "12", "--N", "4", "--K", "8")
    assert code == 0
    assert "M = 12, N = 4, K = 8 " in out
    arrays = ("f32:12x8", "f32:8x4", "f32:12x4", "i32=12", "i32=4", "i32=8")
    assert "M = 12, N = 4, K = 8 " in run(tmp_path, capsys, TILED, "--verdict", *arrays)[1]
    naive = catalogue()["naive"].source()
    code, out, _ = run(tmp_path, capsys, naive, "--verdict", "--block", "8,4")
    assert code == 0
    assert "<<<((N + 8 - 1) / 8, (M + 4 - 1) / 4, 1), (8, 4, 1)>>>" in out
    code, out, _ = run(tmp_path, capsys, naive, "--verdict", "--grid", "1")
    assert code == 1  # too few blocks for more than one tile
    assert "No thread stores it." in out


BARE = (
    "__global__ void k(const float* x, float* y, int n)"
    "{ int i = blockIdx.x * 64 + threadIdx.x; y[i] = 2 * x[i] + x[i]; }"
    " int main() { k<<<n / 64, 64>>>(x, y, 128); }"
)


def test_a_kernel_that_asks_for_whole_tiles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BARE.replace("2 * x[i] + x[i]", "x[i]")
    code, out, _ = run(tmp_path, capsys, text, "--verdict")
    assert (code, out.split("\n")[:2]) == (
        0, ["k: limited", "Right where 64 divides n. For other sizes guard line 1."]
    )  # fmt: skip
    assert run(tmp_path, capsys, text, "--verdict", "--strict")[0] == 1


def test_what_no_task_explains_is_not_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, capsys, BARE, "--verdict")[1].startswith("k: unchecked\n")


def test_a_task_that_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(tmp_path, capsys, TILED, "--task", "none")
    assert code == 0
    assert out.startswith("tiled: unchecked\nIt runs without hazards, and here C = A · B holds.")
    text = (
        "__global__ void k(const float* x, const float* y, float* z, int n)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = x[i] + y[i]; }"
    )
    code, out, _ = run(tmp_path, capsys, text, "--task", "sum")
    assert (code, out.split("\n")[0]) == (0, "k: right")


def test_a_launch_that_does_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(tmp_path, capsys, TILED, "--verdict", "--block", "64,64")
    assert code == 2
    assert "It does not run: A block of 64 x 64 x 1 has 4,096 threads" in out


def read_suite(file: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The counts of a test suite, and the failures by name of the case; "" for those that pass."""
    suite = ElementTree.parse(file).getroot()  # noqa: S314  # our own file
    failures = {
        case.attrib["name"]: found.attrib["message"]
        if (found := case.find("failure")) is not None
        else ""
        for case in suite.iter("testcase")
    }
    return dict(suite.attrib), failures


def test_xml_for_a_grader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.xml"
    assert run(tmp_path, capsys, TILED, "--junit", str(file))[0] == 0
    counts, cases = read_suite(file)
    assert counts == {"name": "tiled", "tests": "9", "failures": "0", "skipped": "0"}
    assert set(cases.values()) == {""}
    wrong = TILED.replace("K + TILE - 1) / TILE", "K) / TILE")
    assert run(tmp_path, capsys, wrong, "--junit", str(file))[0] == 1
    counts, cases = read_suite(file)
    assert cases["M = 8, N = 8, K = 8"] == ""
    assert cases["M = 5, N = 3, K = 5"].startswith("C[0][1] is ")
    assert int(counts["failures"]) == sum(map(bool, cases.values()))


def test_xml_of_a_text_that_does_not_compile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out.xml"
    text = ADD.replace("x[i]", "x[\x1b]")
    code, out, err = run(tmp_path, capsys, text, "--junit", str(file))
    assert (code, out) == (2, "")
    counts, cases = read_suite(file)
    assert counts["failures"] == "1"
    (message,) = cases.values()
    assert message.split(":")[0] in err
    assert "\x1b" not in file.read_text(encoding="utf-8")


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["load_the_tile", "sum_of_a_row"])
def test_an_exercise(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exercise = exercises()[name]
    file = tmp_path / "out.xml"
    options = ("--exercise", name, "--junit", str(file))
    code, out, _ = run(tmp_path, capsys, exercise.solution, *options)
    assert code == 0
    assert out.startswith(f"{exercise.title}: solved\n  met ")
    assert not any(read_suite(file)[1].values())
    code, out, _ = run(tmp_path, capsys, exercise.start, *options, "--json")
    assert code == 1
    found = json.loads(out)["exercise"]
    assert (found["name"], found["solved"]) == (name, False)
    assert any(not one["met"] for one in found["requirements"])
    assert any(read_suite(file)[1].values())


def test_an_exercise_that_does_not_compile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = next(iter(exercises()))
    file = tmp_path / "out.xml"
    code, out, _ = run(tmp_path, capsys, "int x", "--exercise", name, "--junit", str(file))
    assert code == 2
    assert "not solved" in out
    assert all(read_suite(file)[1].values())


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (TILED, ["--task", "sorting"], "'sorting' is not a task; the tasks are product"),
        (ADD, ["--task", "product"], "For C = A · B a kernel needs 3 pointers to numbers"),
        (TILED, ["--M", "0"], "--M 0: give a whole number, 1 or more."),
        (ADD, ["--M", "8"], "--M 8: M is not a size of this kernel."),
        (TILED, ["--verdict", "--inputs", "a.npz"], "--inputs belongs to a run of one launch"),
        (TILED, ["--verdict", "f32:64"], "Kernel tiled needs 6 arguments"),
        (ADD, ["--verdict", "i32=4", "i32=4"], "'i32=4' for x, float*: give an array"),
        (TILED, ["--verdict", *["f32:4"] * 3, *["i32=8"] * 3], "A has 4 elements; for product"),
        (TILED, ["--exercise", "none"], "--exercise none: there are "),
        (TILED, ["--junit", ""], "--junit needs the name of a file"),
        (TILED, ["--junit", "."], "--junit . is a folder"),
        (TILED, ["--junit", "no/such/folder.xml"], "--junit no/such/folder.xml cannot be written"),
    ],
)
def test_errors(
    text: str, options: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(tmp_path, capsys, text, *options)
    assert (code, out) == (2, "")
    assert sentence in err


def test_the_homework_of_the_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = next(line for line in DOCS.splitlines() if "homework.cu --exercise" in line)
    words = line.partition("-m simulator ")[2].split()
    exercise = exercises()[words[words.index("--exercise") + 1]]
    monkeypatch.chdir(tmp_path)
    Path("homework.cu").write_text(exercise.solution, encoding="utf-8")
    assert main(words) == 0
    assert capsys.readouterr().out.startswith(f"{exercise.title}: solved")
    assert Path("grade.xml").exists()
