"""A verdict as an HTML file, as `--report` writes it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from simulator.__main__ import main

RACE = """
#define T 4
__global__ void product(const float* x, const float* y, float* z, int n) {
    __shared__ float a[T][T], b[T][T];  // </script><b>"&amp;
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    for (int t = 0; t < (n + T - 1) / T; ++t) {
        a[ty][tx] = row < n && t * T + tx < n ? x[row * n + t * T + tx] : 0;
        b[ty][tx] = col < n && t * T + ty < n ? y[(t * T + ty) * n + col] : 0;
        for (int i = 0; i < T; ++i) sum += a[ty][i] * b[i][tx];
        __syncthreads();
    }
    if (row < n && col < n) z[row * n + col] = sum;
}
"""
LARGE = "__global__ void fill(float* x) { x[blockIdx.x * 256 + threadIdx.x] = 1; }"


def report(folder: Path, text: str, *words: str) -> tuple[int, str]:
    """Judge a file with --report: the exit code, and the page that was written."""
    file, page = folder / "kernel.cu", folder / "out.html"
    file.write_text(text)
    code = main([str(file), "--report", str(page), *words])
    return code, page.read_text(encoding="utf-8")


def test_a_report_has_the_verdict_the_text_and_the_scene_at_the_hazard(tmp_path: Path) -> None:
    code, page = report(tmp_path, RACE)
    assert code == 1
    before, _, scene = page.partition("<iframe")
    assert "read-after-write" in before
    assert before.count('<li class="marked"') == 3
    assert "// &lt;/script&gt;&lt;b&gt;&quot;&amp;amp;" in before
    inside = unescape(scene.partition('srcdoc="')[2].rpartition('"></iframe>')[0])
    assert inside.startswith("<!doctype html>")
    assert inside.endswith("</html>\n")
    start = re.search(r"start = (\d+);", inside)
    assert start is not None
    assert int(start[1]) > 0
    assert not re.search(r"(?:src|href)=.?(?:https?:)?//", before)


def test_an_exercise_s_report_has_its_requirements(tmp_path: Path) -> None:
    code, page = report(tmp_path, "__global__ void barriers() {}", "--exercise", "barriers")
    assert code == 2
    assert "Place the barriers" in page
    assert "The parameters of barriers are" in page


def test_a_launch_too_large_for_a_scene_is_said(tmp_path: Path) -> None:
    code, page = report(tmp_path, LARGE, "--grid", "100", "--block", "256", "f32:25600")
    assert code == 0
    assert "There is no scene: " in page


@pytest.mark.parametrize("name", ["", "."])
def test_a_report_needs_a_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kernel.cu").write_text(LARGE)
    assert main([str(tmp_path / "kernel.cu"), "--report", name]) == 2
    assert "--report" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kernel.cu").write_text(LARGE)
    assert main([str(tmp_path / "kernel.cu"), "--report", str(tmp_path / "no" / "o.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_report_names_the_file_of_a_line(tmp_path: Path) -> None:
    (tmp_path / "move<.cuh").write_text(
        "__device__ void move(float* x) {\n    x[threadIdx.x] = x[threadIdx.x + 1];\n}\n"
    )
    text = '#include "move<.cuh"\n__global__ void k(float* x) { move(x); }\n'
    code, page = report(tmp_path, text, "-I", str(tmp_path))
    assert code == 1
    before, _, _ = page.partition("<iframe")
    assert "line 5 (line 2 of move&lt;.cuh): thread" in before
    assert 'class="marked" title="' in before
    assert re.search(r'title="[^"]*line 5 \(line 2 of move&lt;\.cuh\)', before)
