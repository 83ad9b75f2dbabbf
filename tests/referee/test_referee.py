"""The simulator's hazards beside what compute-sanitizer found in the same kernels on a GPU."""

from __future__ import annotations

import json
import re

import pytest

from simulator import compile_kernel, simulate
from tools.program import Case, launch
from tools.referee import FOLDER, TOOLS, cases, digest, pairs

VERDICTS = json.loads((FOLDER / "verdicts.json").read_text(encoding="utf-8"))
PAIRS = pairs()
CASES = {case.name: case for case in cases()}
SCHEDULES = ("ascending", "descending", "random")


def expected(case: Case, key: str) -> set[str]:
    """What the table says of a kernel: nothing of a correct one."""
    name, state = case.name.rsplit(" ", 1)
    return set(PAIRS[name].get(key, ())) if state == "broken" else set()


def test_the_verdicts_are_of_these_kernels() -> None:
    assert {case.name: digest(case) for case in CASES.values()} == {
        name: verdict["text"] for name, verdict in VERDICTS["verdicts"].items()
    }
    assert all(VERDICTS[key] for key in ("gpu", "driver", "date", "compute-sanitizer", "how"))
    assert len(CASES) == 2 * len(PAIRS) >= 40


@pytest.mark.sample(8)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", CASES)
def test_the_simulator_finds_what_the_table_says(name: str, schedule: str) -> None:
    case = CASES[name]
    kernel = compile_kernel(case.text, case.kernel)
    hazards = simulate(kernel, launch(case, kernel), schedule).hazards
    found = {f"{hazard.kind} {' '.join(map(str, hazard.lines))}" for hazard in hazards}
    wanted = expected(case, "finds") | expected(case, "ours")
    if schedule != "ascending":  # a read that now comes before its write finds the cell unset
        found -= {f"uninitialized-read {f.split()[-1]}" for f in wanted if "after-write" in f}
    assert found == wanted


@pytest.mark.parametrize("name", CASES)
def test_the_tools_find_what_the_table_says(name: str) -> None:
    wanted = expected(CASES[name], "finds") | expected(CASES[name], "theirs")
    found = {finding for tool in TOOLS for finding in VERDICTS["verdicts"][name][tool]}
    for finding in [f for f in found if "?" in f]:  # a line within the toolkit's own functions
        pattern = re.escape(finding).replace(r"\?", r"\d+")
        found.remove(finding)
        found |= {w for w in wanted if re.fullmatch(pattern, w)} or {finding}
    assert found == wanted


@pytest.mark.parametrize("name", PAIRS)
def test_a_difference_has_a_reason(name: str) -> None:
    pair = PAIRS[name]
    assert {"finds", "ours", "theirs"} & pair.keys(), "a broken kernel has a finding"
    assert ("note" in pair) == ("ours" in pair or "theirs" in pair)
    assert pair.get("note", ".").endswith(".")
