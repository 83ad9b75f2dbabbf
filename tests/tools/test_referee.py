"""What compute-sanitizer's tools print, as findings."""

from __future__ import annotations

import pytest

from gpu.cuda.run_tool import ToolError
from tools.program import FORMS, Case
from tools.referee import ENDLESS, cases, digest, findings, pairs

RACE = """========= COMPUTE-SANITIZER
========= Error: Potential RAW hazard detected at __shared__ 0x47c in block (0,0,0) :
=========     Write Thread (31,0,0) at case_1::kernel_1(float *)+0xe0 in neighbour broken.cu:6
=========     Read Thread (32,0,0) at case_1::kernel_1(float *)+0xf0 in neighbour broken.cu:8
=========     Current Value : 0
=========         Host Frame: main [0xad01] in cases
=========
========= Warning: (Warp Level Programming) Potential WAR hazard detected at __shared__ 0x40 :
=========     Read Thread (1,0,0) at case_1::kernel_1(float *)+0xe0 in neighbour broken.cu:15
=========     Write Thread (0,0,0) at cp_async(void *, const void *)+0x200 in cuda_helpers.h:190
========= RACECHECK SUMMARY: 2 hazards displayed (1 errors, 1 warnings)
"""
ADDRESS = """========= COMPUTE-SANITIZER
========= Invalid __shared__ write of size 4 bytes
=========     at case_83::kernel_83(float *)+0xd0 in columns-of-a-tile broken.cu:4
=========     by thread (7,7,0) in block (0,0,0)
=========     Access to 0x500 is out of bounds
=========
========= Invalid __global__ read of size 8 bytes
=========     at case_97::kernel_97(float *, double *)+0x70 in misaligned-double broken.cu:3
=========     Access to 0x7fbee8800204 is misaligned
=========     and is inside the nearest allocation at 0x7fbee8800200 of size 320 bytes
=========
========= Program hit cudaErrorMisalignedAddress (error 716) due to "misaligned address" on API call
========= ERROR SUMMARY: 3 errors
"""
OTHERS = """========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in warp.
=========     at case_109::kernel_109(float *)+0x80 in barrier-in-a-branch broken.cu:4
=========     by thread (32,0,0) in block (0,0,0)
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at case_99::kernel_99(float *, float *)+0x50 in global-never-written broken.cu:3
========= ERROR SUMMARY: 2 errors
"""
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (RACE, {"read-after-write 6 8": 1, "write-after-read 15 ?": 1}),
        (ADDRESS, {"misaligned 3": 1, "out-of-bounds 4": 1}),
        (OTHERS, {"divergent-barrier 4": 1, "uninitialized-read 3": 1}),
        (CLEAN, {}),
        (ENDLESS, {ENDLESS: 1}),
    ],
)
def test_findings(output: str, expected: dict[str, int]) -> None:
    assert findings(output) == expected


@pytest.mark.parametrize("output", ["", "unrecognised option '--tool'", "== COMPUTE-SANITIZER"])
def test_no_verdict_is_an_error(output: str) -> None:
    with pytest.raises(ToolError, match="no verdict"):
        findings(output)


def test_every_pair_gives_two_kernels() -> None:
    found = cases()
    assert len(found) == 2 * len(pairs())
    for correct, broken in zip(found[::2], found[1::2], strict=True):
        assert correct.name.removesuffix(" correct") == broken.name.removesuffix(" broken")
        assert correct.text != broken.text
        assert correct.form in FORMS
        assert (correct.grid, correct.block) == (broken.grid, broken.block)


def test_a_digest_tells_another_text() -> None:
    case = Case("a", "text", "k", (1, 1, 1), (32, 1, 1), ("f32:32",))
    other = Case("a", "text ", "k", (1, 1, 1), (32, 1, 1), ("f32:32",))
    assert digest(case) == digest(case) != digest(other)
