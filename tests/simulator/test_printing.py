"""printf against C's own, its limits, and what ends a launch: assert and traps."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import SourceError, compile_kernel, record, simulate
from simulator.__main__ import main
from simulator.language.print_format import format_text, parse_format
from simulator.sentences.steps import spoken
from tests.simulator.launches import launch_text


def printed(body: str, block: int = 1, grid: int = 1, **arguments: Any) -> list[str]:
    text = f"#include <cstdio>\n__global__ void k(float* x) {{ int i = threadIdx.x; {body} }}"
    kernel, launch = launch_text(
        text, grid=grid, block=block, x=np.arange(64, dtype=np.float32) / 4, **arguments
    )
    return [line.text for line in simulate(kernel, launch).printed]


# Formats with their arguments, as C's own printf writes them.
CALLS = [
    '"%d %5d %-5d| %05d %+d % d %.3d %i", 7, 8, 9, 10, 11, 12, 13, -14',
    '"%u %u %x %X %#x %o %#o %#x", 3000000000u, -1, 255, 255, 255, 8, 8, 0',
    '"%ld %lld %lu %llu %llx %zu", -5L, -6LL, 7UL, 18446744073709551615ULL, -1LL, (size_t)9',
    '"%hhd %hd %hhu", 200, 70000, 300',
    '"%f %.2f %8.3f| %-8.1f| %+.1f %.0f %#.0f", 1.5, 2.25, 3.14159, 4.0, 5.0, 2.5, 3.0',
    '"%e %.2e %E %g %g %g %G", 12345.678, 0.00012, 1e10, 0.0001, 1e-5, 1e6, 1e-10',
    '"%a %A %a %a", 1.0, 0.1, -2.5, 0.0',
    '"%f %F %e %5.1f| %-6f|", INFINITY, -INFINITY, (double)NAN, INFINITY, -INFINITY',
    '"%c%c%c|%3c|%-3c|", 72, 105, 33, 120, 121',
    '"%s, %10s|%-10s|%.2s", "text", "right", "left", "cut"',
    '"%*d|%-*d|%.*f|%*d|", 6, 42, 6, 43, 2, 3.14159, -6, 44',
    '"100%% of %d%%", 50',
    '"%s %s", 1 ? "yes" : "no", 0 ? "yes" : "no"',
    '"a\\tb\\x41\\101\\\\ \\"quoted\\" " "joined %d", 1',
    '"%c is a char and %d a short, %f a float", (char)65, (short)-3, 0.1f',
]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_every_conversion_is_written_as_c_writes_it(tmp_path: Path) -> None:
    program = tmp_path / "print.cpp"
    calls = "\n".join(f'printf({call}); printf("\\n");' for call in CALLS)
    program.write_text(
        f"#include <cstdio>\n#include <cmath>\nint main() {{ {calls} }}", encoding="utf-8"
    )
    subprocess.run(["g++", "-w", "-o", tmp_path / "print", program], check=True)  # noqa: S607
    expected = subprocess.run(
        [tmp_path / "print"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    found = printed(" ".join(f'printf({call}); printf("\\n");' for call in CALLS))
    assert found == expected


def test_lines_come_by_block_thread_and_time() -> None:
    body = 'for (int j = 0; j < 2; j++) { printf("%d.%d", blockIdx.x, i); printf("-%d\\n", j); }'
    assert printed(body, block=40, grid=3) == [
        f"{b}.{i}-{j}" for b in range(3) for i in range(40) for j in range(2)
    ]


def test_only_the_threads_that_come_there_print() -> None:
    assert printed('if (x[i] > 7.5f) printf("%g\\n", x[i]);', block=33) == ["7.75", "8"]


def test_the_first_thousand_lines_are_kept() -> None:
    text = '__global__ void k(int* x) { for (int j = 0; j < 9; j++) printf("%d %d\\n",'
    text += " blockIdx.x * 64 + threadIdx.x, j); }"
    kernel, launch = launch_text(text, grid=40, block=64, x=np.zeros(1, np.int32))
    report = simulate(kernel, launch, "descending")
    assert [line.text for line in report.printed] == [f"{n // 9} {n % 9}" for n in range(1000)]
    assert report.more_printed == 40 * 64 * 9 - 1000


def test_a_pointer_is_printed_as_the_cell_it_points_to() -> None:
    assert printed('printf("%p %12p|", x, x + 3);') == ["&x[0]        &x[3]|"]


def test_what_has_no_argument_stays_as_it_is_and_clang_warns() -> None:
    text = '__global__ void k() { printf("%d %d %s\\n", 1); printf("%d\\n", 2.0); }'
    kernel, launch = launch_text(text, block=1)
    assert [line.text for line in simulate(kernel, launch).printed] == ["1 %d %s", "0"]
    assert any("More '%' conversions than data arguments" in w for w in kernel.warnings)
    assert any("argument has type 'double'" in warning for warning in kernel.warnings)


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ('printf("%1000000d", 1)', "asks for more than 500 characters"),
        ('printf("%.999999999f", 1.0)', "asks for more than 500 characters"),
        ('printf("%n", (int*)0)', "printf takes no %n"),
        ('printf("%y", 1)', "printf takes no %y"),
        ('printf("%", 1)', "not a conversion of C"),
        ("printf(p)", "in quotes"),
        ('printf("%f", make_float2(1, 2))', "print the members of this float2"),
        ('S s; printf("%*d", s, 1)', "print the members of this S"),
        ('fprintf(stderr, "a")', "can print only with printf"),
        ('puts("a")', "can print only with printf"),
    ],
)
def test_a_format_that_is_not_taken_is_refused(call: str, part: str) -> None:
    with pytest.raises(SourceError) as error:
        compile_kernel(
            f"struct S {{ int a; }}; __global__ void k(const char* p) {{ {call}; }}", "k"
        )
    assert part in error.value.message
    assert error.value.span is not None


@pytest.mark.parametrize("width", ["x", "0.0 / 0.0", "1.0 / 0.0", "1ull << 63", '"text"'])
def test_a_width_that_is_no_int_is_read_as_one(width: str) -> None:
    assert printed(f'printf("%*d", {width}, 7);') == ["7"]


def test_arguments_beyond_the_first_32_stay_as_they_are() -> None:
    numbers = range(40)
    (line,) = printed(f'printf("{"%d " * 40}", {", ".join(map(str, numbers))});')
    assert line.split() == [str(n) for n in numbers[:32]] + ["%d"] * 8


def test_a_long_text_is_cut() -> None:
    pieces = parse_format("%400d" * 20)
    assert len(format_text(pieces, range(20), [])) == 4000
    assert len(format_text(parse_format("%*d"), [10**9, 1], [])) == 500


def test_the_value_of_printf_is_how_many_arguments_it_has() -> None:
    assert printed('int n = printf("%d %d\\n", 1, 2); printf("%d\\n", n);') == ["1 2", "2"]


# A body, the kind of its hazard, the lanes, a part of the message.
STOPS = {
    "an assert": ("assert(i < 20);", "failed-assertion", 12, "thread (20, 0)"),
    "its text": ("assert(x[i] < 7 && i != 3);", "failed-assertion", 5,
                 "fails assert(x[i] < 7 && i != 3), which ends the launch"),
    "with commas": ("assert((i, x[i] >= 0) || fmaxf(1, 2) < 0);", "", 0, ""),
    "a trap": ("if (i == 9) __trap();", "trap", 1, "reaches __trap()"),
    "a breakpoint": ("if (i > 29) __brkpt();", "trap", 2, "reaches __brkpt()"),
    "one that holds": ("assert(i < 32);", "", 0, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", STOPS)
def test_what_ends_a_launch_is_a_hazard_with_its_thread(case: str) -> None:
    body, kind, lanes, part = STOPS[case]
    text = f"#include <assert.h>\n__global__ void k(float* x) {{ int i = threadIdx.x;\n{body}\n"
    text += "x[i] = -1; }"
    kernel, launch = launch_text(text, x=np.arange(32, dtype=np.float32) / 4)
    report = simulate(kernel, launch)
    found = [(str(hazard.kind), hazard.lines, hazard.count) for hazard in report.hazards]
    assert found == ([(kind, (3,), lanes)] if kind else [])
    assert all(part in hazard.message for hazard in report.hazards)
    assert (report.arrays["x"][0] == 0) == bool(kind)  # nothing ran after it


def test_an_assert_in_a_function_stops_its_caller() -> None:
    text = """__device__ int check(int n) { assert(n != 5); return n; }
    __global__ void k(int* x) { x[threadIdx.x] = check(threadIdx.x); }"""
    kernel, launch = launch_text(text, x=np.full(32, -1, np.int32))
    report = simulate(kernel, launch)
    assert [hazard.example.thread for hazard in report.hazards] == [(5, 0, 0)]
    assert report.arrays["x"].tolist() == [-1] * 32


def test_ndebug_leaves_asserts_out() -> None:
    kernel = compile_kernel("__global__ void k() { assert(0); }", "k", {"NDEBUG": "1"})
    _, launch = launch_text("__global__ void k() {}")
    assert not simulate(kernel, launch).hazards


def test_steps_say_what_the_thread_prints_and_where_it_ends() -> None:
    text = '__global__ void k(int n) { printf("at %d: %s\\n", threadIdx.x, "ok"); assert(n > 3); }'
    kernel, launch = launch_text(text, block=4, n=2)
    recording = record(kernel, launch)
    prints, asserts = recording.steps
    assert spoken(recording, prints, 3)[0] == 'prints "at 3: ok\\n".'
    said = "asserts that n > 3: that fails, which ends the launch."
    assert spoken(recording, asserts, 0)[0] == said


def test_the_terminal_prints_before_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "hello.cu"
    source.write_text('__global__ void k() { printf("hello %d\\n", threadIdx.x); }')
    command = [str(source), "--kernel", "k", "--grid", "1", "--block", "2"]
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["hello 0", "hello 1"]
    main([*command, "--json"])
    assert json.loads(capsys.readouterr().out)["printed"] == [
        {"block": [0, 0, 0], "thread": [i, 0, 0], "text": f"hello {i}"} for i in range(2)
    ]
