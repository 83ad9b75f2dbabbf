"""Texts of several files: what is found, in which order it is read, and where its errors are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from simulator import Launch, SourceError, compile_kernel, simulate
from simulator.__main__ import main
from simulator.language.files import (
    MAX_BYTES,
    MAX_FILES,
    file_at,
    files_of,
    with_file_names,
    with_included,
)
from simulator.verdict.launches import macro_values

MAIN = """#include <stdio.h>
#include "size.h"
#include "ops/scale.h"
__global__ void k(float* x) { x[threadIdx.x] = scale(x[threadIdx.x]) + é(1); }
int main() { k<<<1, SIZE>>>(0); }
"""
SIZE = """#pragma once
// größe
#define SIZE 4
#define CHECK(x) do { fprintf(stderr, "%s {", #x); } while (0)
void on_the_host() { std::cout << "x"; }
__device__ int é(int i) { return i; }
"""
SCALE = """#ifndef SCALE_H
#define SCALE_H
#include "../size.h"
__device__ float scale(float v)
{
    return SIZE * v;
}
#endif
"""
FILES = {"size.h": SIZE, "ops/scale.h": SCALE}


def behind(main_text: str, files: dict[str, str]) -> str:
    return main_text + "".join(f"// ==== file: {name} ====\n{text}" for name, text in files.items())


TEXT = behind(MAIN, FILES)


def test_a_text_of_several_files_runs() -> None:
    kernel = compile_kernel(TEXT)
    launch = Launch((1, 1, 1), (4, 1, 1), {"x": np.arange(4, dtype=np.float32)})
    assert simulate(kernel, launch).arrays["x"].tolist() == [1, 5, 9, 13]
    assert kernel.text == TEXT
    skipped, parts, host = kernel.notes
    assert "stdio.h:" in skipped
    assert "size.h is in lines 7–12, ops/scale.h is in lines 14–21" in parts
    assert "on_the_host" in host
    assert macro_values(TEXT)["SIZE"] == 4
    assert [file_at(TEXT, line) for line in (5, 7, 19)] == [
        ("", 5), ("size.h", 1), ("ops/scale.h", 6)
    ]  # fmt: skip


# What is changed in the text, and the error's file with its line, or "" and the text's line.
WRONG = {
    "in a header, for clang": ("SIZE * v", "SIZE * w", ("ops/scale.h", 6), "identifier 'w'"),
    "in a header, for us": ("return SIZE * v;", "asm(\"exit;\");", ("ops/scale.h", 6), "assembly"),
    "in a header, a directive": ("// größe", "#import <a>", ("size.h", 2), "not allowed"),
    "in the main file": ("+ é(1)", "+ w", None, "identifier 'w'"),
    "a header that is missing": ('"size.h"', '"sizes.h"', None, "from sizes.h (line 2): give"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_placed_in_its_file(name: str) -> None:
    before, after, file, said = WRONG[name]
    text = TEXT.replace(before, after)
    with pytest.raises(SourceError) as caught:
        compile_kernel(text.replace('"../size.h"', '"sizes.h"') if "missing" in name else text)
    error = caught.value.errors[0]
    assert error.file == file
    assert said in str(error)
    place = "line 4" if file is None else f"{file[0]}, line {file[1]}"
    assert caught.value.with_lines(text).startswith(place)


HOSTILE = {
    "a cycle": {"a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n'},
    "itself": {"a.h": '#include "a.h"\n'},
    "a bomb": {f"{name}.h": f'#include "{after}.h"\n' * 9
               for name, after in zip("abcdef", "bcdefg", strict=True)} | {"g.h": "int i;\n"},
    "a long one, often": {"a.h": '#include "b.h"\n' * 200, "b.h": " " * 10_000 + "\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_files_without_end_are_refused(name: str) -> None:
    text = '#include "a.h"\n__global__ void k(float* x) { x[0] = 1; }\n'
    with pytest.raises(SourceError, match=r"included again and again here: begin it with #pragma"):
        compile_kernel(behind(text, HOSTILE[name]))


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../../../etc/passwd", "..\\..\\etc\\passwd", "/dev/zero", "~/.ssh"]
)
def test_no_file_of_the_host_is_read(name: str) -> None:
    text = f'#include "{name}"\n__global__ void k(float* x) {{ x[0] = root; }}\n'
    with pytest.raises(SourceError) as caught:
        compile_kernel(behind(text, {"passwd.h": "int root;\n"}))
    assert "identifier 'root'" in caught.value.message
    given = behind(text, {"etc/passwd": "__device__ int root;\n"})
    if "passwd" in name:  # it is a name like any other
        assert compile_kernel(given).globals[0].variable.name == "root"


def test_a_condition_decides_what_is_included() -> None:
    text = '#ifdef FAST\n#include "fast.h"\n#else\n#include "slow.h"\n#endif\n'
    text += "__global__ void k(int* x) { x[0] = SPEED; }\n"
    both = behind(text, {"fast.h": "#define SPEED 9\n", "slow.h": "#define SPEED 1\n"})
    for defines, speed in (({}, 1), ({"FAST": "1"}, 9)):
        launch = Launch((1, 1, 1), (1, 1, 1), {"x": np.zeros(1, np.int32)})
        kernel = compile_kernel(both, defines=defines)
        assert simulate(kernel, launch).arrays["x"][0] == speed
        name, line = ("fast.h", 8) if defines else ("slow.h", 10)
        assert f"part of this code: {name} is in line {line}." in kernel.notes[-1]


def test_a_kernel_may_be_in_a_header_beside_a_list_read_twice() -> None:
    files = {
        "kernel.cuh": "#pragma once\nstruct T {\n#define M(n) int n;\n#include \"list.h\"\n"
        "#undef M\n};\n__global__ void k(int* x)\n{\n  T t;\n  int s = 0;\n"
        "#define M(n) t.n = 2; s += t.n;\n#include \"list.h\"\n  x[0] = s;\n}\n",
        "list.h": "M(a)\nM(b)\n",
    }  # fmt: skip
    kernel = compile_kernel(behind('#include "kernel.cuh"\nint main() {}\n', files))
    launch = Launch((1, 1, 1), (1, 1, 1), {"x": np.zeros(1, np.int32)})
    assert simulate(kernel, launch).arrays["x"][0] == 4
    assert file_at(kernel.text, kernel.body.span.line) == ("kernel.cuh", 8)


def test_what_no_kernel_uses_of_large_headers_does_not_count() -> None:
    files = {f"{name}.h": "// nothing for a kernel\n" * 8_000 for name in "ab"}
    text = '#include "a.h"\n#include "b.h"\n__global__ void k(float* x) { x[0] = 1; }\n'
    assert compile_kernel(behind(text, files)).body.span.line == 3


def find_in(files: dict[str, str]) -> Callable[[str, str], tuple[str, str] | None]:
    return lambda asked, _: (asked[1:-1], files[asked[1:-1]]) if asked[1:-1] in files else None


def test_limits_of_what_is_included_are_sentences() -> None:
    many = {f"{number}.h": f'#include "{number + 1}.h"\n' for number in range(MAX_FILES + 2)}
    with pytest.raises(ValueError, match=f"k.cu includes more than {MAX_FILES} files"):
        with_included('#include "0.h"\n', "k.cu", find_in(many), ())
    with pytest.raises(ValueError, match="have more than 1,048,576 bytes"):
        with_included('#include "a.h"\n', "k.cu", find_in({"a.h": " " * MAX_BYTES}), ())
    with pytest.raises(SourceError, match="more than 100 files"):
        compile_kernel(behind("", {f"{n}.h": "" for n in range(MAX_FILES)}))
    with pytest.raises(SourceError, match=r"a\.h has 300,001 bytes; a file may be at most 262,144"):
        compile_kernel(behind("", {"a.h": " " * 300_000 + "\n"}))
    with pytest.raises(SourceError, match=r"with all its files; at most 1,048,576"):
        compile_kernel(behind("", {f"{n}.h": " " * 250_000 + "\n" for n in range(5)}))


def test_headers_of_a_terminal_are_those_of_its_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "inc").mkdir()
    for name, text in FILES.items():
        (tmp_path / "inc" / name.replace("ops/", "")).write_text(text, encoding="utf-8")
    (tmp_path / "secret.h").write_text("#define é(i) i\n", encoding="utf-8")
    source = tmp_path / "ops" / "k.cu"
    source.write_text(MAIN, encoding="utf-8")
    run = [str(source), "--grid", "1", "--block", "4", "f32:4"]
    assert main([*run, "-I", str(tmp_path / "inc")]) == 0
    assert "size.h is in lines" in capsys.readouterr().out
    assert main(run) == 2
    assert "scale.h (line 3): give that file's folder with -I FOLDER" in capsys.readouterr().err
    source.write_text(MAIN.replace("size.h", "../secret.h"), encoding="utf-8")
    (tmp_path / "inc" / "secret.h").symlink_to(tmp_path / "secret.h")
    assert main([*run, "-I", str(tmp_path / "inc")]) == 0  # the other header brings size.h
    assert "Skipped #include of stdio.h, ../secret.h" in capsys.readouterr().out
    source.write_text(f'{MAIN}#include "{"n" * 300}"\n#include "a\0b"\n', encoding="utf-8")
    assert main([*run, "-I", str(tmp_path / "inc")]) == 2  # the zero byte is in the text
    source.write_text(f'{MAIN}#include "{"n" * 300}"\n', encoding="utf-8")
    assert main([*run, "-I", str(tmp_path / "inc")]) == 0
    assert main([*run, "-I", str(tmp_path / "none")]) == 2
    assert "there is no such folder" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--grid", "1", "--block", "4", "f32:4"], ["--verdict"]])
def test_a_terminal_names_the_file_of_a_line(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "move.cuh").write_text(
        "__device__ void move(float* x) {\n    x[threadIdx.x] = x[threadIdx.x + 1];\n}\n",
        encoding="utf-8",
    )
    source = tmp_path / "k.cu"
    source.write_text(
        '#include "move.cuh"\n__global__ void k(float* x) { move(x); }\n', encoding="utf-8"
    )
    assert main([str(source), *option, "-I", str(tmp_path)]) == 1
    assert "line 2 of move.cuh: thread" in capsys.readouterr().out
    assert main([str(source), *option, "-I", str(tmp_path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    hazard = found["hazards"][0]
    assert set(hazard["lines"]) == {5}
    assert hazard["places"][0] == {"file": "move.cuh", "line": 2}
    assert "line 5: thread" in hazard["message"]
    assert "line 2 of move.cuh: thread" in hazard["in_files"]
    assert found["files"] == [
        {"name": None, "first_line": 1, "lines": 2},
        {"name": "move.cuh", "first_line": 4, "lines": 3},
    ]


@pytest.mark.parametrize(
    ("sentence", "own", "both"),
    [
        ("Lines 3 and 11 wait.", "Line 3 and line 5 of size.h wait.",
         "Lines 3 and 11 (line 3 and line 5 of size.h) wait."),
        ("It is in lines 8 to 9.", "It is in lines 2 to 3 of size.h.",
         "It is in lines 8 to 9 (lines 2 to 3 of size.h)."),
        ("size.h is in lines 7–12.", "size.h is in lines 7–12.", "size.h is in lines 7–12."),
        ("Lines 2 and 4 wait.", "Lines 2 and 4 wait.", "Lines 2 and 4 wait."),
    ],
)  # fmt: skip
def test_lines_of_a_sentence_have_their_files(sentence: str, own: str, both: str) -> None:
    assert with_file_names(sentence, TEXT) == own
    assert with_file_names(sentence, TEXT, keeps_numbers=True) == both


def test_what_stands_in_a_text_already_is_not_looked_for() -> None:
    read: list[str] = []
    found = with_included(TEXT, "k.cu", lambda asked, _: read.append(asked), {"stdio.h"})
    assert (found, read) == (TEXT, [])
    assert [file.name for file in files_of(found)] == ["", *FILES]
