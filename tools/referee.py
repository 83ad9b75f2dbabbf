"""compute-sanitizer's verdict on small kernels: `python -m tools.referee --out FILE`.

The kernels come in pairs, a correct one and the same broken one way; the simulator's findings
are held to what these tools say on a real GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gpu.cuda.run_tool import EndlessError, ToolError, run
from simulator.launch import dim3
from tools.measured import machine, write
from tools.program import Case, build

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "referee"
TABLES = ("races.toml", "loops.toml", "global.toml", "memory.toml", "barriers.toml", "lanes.toml")
TOOLS: Mapping[str, tuple[str, ...]] = {
    "racecheck": ("--racecheck-report", "hazard", "--racecheck-detect-level", "info"),
    "memcheck": (),
    "synccheck": (),
    "initcheck": (),
}
ALL_SPACES = ("--initcheck-address-space", "all")  # where the tool's version has it
SECONDS = 20  # a kernel that waits at a barrier for ever is ended then
ALL_SECONDS = 120  # for all correct kernels in one process
ENDLESS = "does not end"
FINDINGS: Mapping[str, str] = {  # what begins a finding in the tools' output, and our word for it
    r"Potential RAW hazard": "read-after-write",
    r"Potential WAR hazard": "write-after-read",
    r"Potential WAW hazard": "write-after-write",
    r"Uninitialized .* read": "uninitialized-read",
    r"Invalid __\w+__ ": "out-of-bounds",  # or misaligned, as a later line tells
    r"Barrier error detected": "divergent-barrier",
}
HOW = (
    "compute-sanitizer, each tool on each kernel, shared arrays volatile (form: volatile) or built "
    "with -G (form: debug); a finding is its kind and the lines of the kernel's source, ? for one "
    "outside it, with how often the tool said so: racecheck once a byte, the others once a thread."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask every tool about every kernel and write what it said; 2 on an error."""
    parser = argparse.ArgumentParser(prog="python -m tools.referee", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="where the verdicts go")
    parser.add_argument("--log", type=Path, help="where the tools' own words go")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            result, log = referee(Path(folder))
    except ToolError as error:
        print(error, file=sys.stderr)
        return 2
    write(options.out, result)
    if options.log:
        options.log.write_text(log, encoding="utf-8")
    return 0


def pairs() -> dict[str, Mapping[str, Any]]:
    """The tables' entries by name."""
    found: dict[str, Mapping[str, Any]] = {}
    for table in TABLES:
        found |= tomllib.loads((FOLDER / table).read_text(encoding="utf-8"))
    return found


def cases() -> list[Case]:
    """Every kernel of the tables: the correct ones, each followed by its broken twin.

    Raises ToolError where an entry's edit does not fit its text.
    """
    found = []
    for name, pair in pairs().items():
        old, new = pair["edit"]
        if pair["text"].count(old) != 1:
            raise ToolError(f"{name}: {old!r} must be in the text once.")
        for state, text in (("correct", pair["text"]), ("broken", pair["text"].replace(old, new))):
            found.append(
                Case(
                    f"{name} {state}", text, "k", dim3(*pair.get("grid", [1])),
                    dim3(*pair["block"]), tuple(pair["arguments"]), pair.get("shared", 0),
                    pair.get("form", "volatile"),
                )
            )  # fmt: skip
    return found


def referee(folder: Path) -> tuple[dict[str, Any], str]:
    """All verdicts as one object ready for JSON, and the tools' output."""
    chosen = cases()
    program = build(chosen, folder)
    version = run(["compute-sanitizer", "--version"], SECONDS).stdout.split()
    usage = run(["compute-sanitizer", "--help"], SECONDS).stdout
    tools = dict(TOOLS)
    if ALL_SPACES[0] in usage:
        tools["initcheck"] = ALL_SPACES

    def ask(tool: str, numbers: Iterable[int], seconds: float = SECONDS) -> str:
        command = ["compute-sanitizer", "--tool", tool, *tools[tool], "--print-limit", "2000"]
        try:
            done = run([*command, str(program), *map(str, numbers)], seconds)
        except EndlessError:
            return ENDLESS
        return done.stdout + done.stderr

    outputs: dict[tuple[int, str], str] = {}
    with ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool:
        # Most correct kernels have nothing to report: one process asks about them all.
        correct = [n for n, case in enumerate(chosen) if case.name.endswith(" correct")]
        texts = pool.map(lambda tool: ask(tool, correct, ALL_SECONDS), tools)
        together = dict(zip(tools, texts, strict=True))
        clean = {tool: text for tool, text in together.items() if not findings(text)}
        alone = [
            (number, tool)
            for number in range(len(chosen))
            for tool in tools
            if not (number in correct and tool in clean)
        ]
        outputs.update(zip(alone, pool.map(lambda one: ask(one[1], [one[0]]), alone), strict=True))
    outputs.update({(number, tool): text for tool, text in clean.items() for number in correct})
    verdicts = {
        case.name: {
            "form": case.form,
            "text": digest(case),
            **{tool: findings(outputs[number, tool]) for tool in tools},
        }
        for number, case in enumerate(chosen)
    }
    log = "".join(
        f"##### {chosen[number].name} {tool}\n{outputs[number, tool]}\n" for number, tool in alone
    )
    sanitizer = next((word for word in version if re.match(r"\d+\.\d", word)), "?")
    looked = "global, shared and local" if ALL_SPACES[0] in usage else "global"
    return {
        **machine(),
        "compute-sanitizer": sanitizer,
        "how": f"{HOW} initcheck of this version looks at {looked} memory.",
        "verdicts": verdicts,
    }, log


def digest(case: Case) -> str:
    """Tells whether a verdict is of a kernel as it stands in the tables."""
    return hashlib.sha256(repr(case).encode()).hexdigest()[:12]


def findings(output: str) -> dict[str, int]:
    """What a tool's output finds, as "kind line" or "kind line line", and how often.

    Empty where all is well; ENDLESS where the kernel was ended from outside. Raises ToolError
    where the tool came to no verdict.
    """
    if output == ENDLESS:
        return {ENDLESS: 1}
    if "COMPUTE-SANITIZER" not in output or "SUMMARY" not in output:
        raise ToolError(f"compute-sanitizer gave no verdict:\n{output[:2000]}")
    found: list[list[str]] = []
    wanted = 0  # lines of the text that the present finding has still to name
    for line in output.splitlines():
        kind = next((word for start, word in FINDINGS.items() if re.search(start, line)), None)
        place = re.search(r":(\d+)\s*$", line)
        file = line[: place.start()].rpartition(":")[2].partition(" in ")[2] if place else ""
        if kind:
            found.append([kind])
            wanted = 2 if "after" in kind else 1
        elif wanted and place and file:
            own = file.endswith((" correct.cu", " broken.cu"))
            found[-1].append(place[1] if own else "?")
            wanted -= 1
        elif found and re.search(r"Access to \w+ is misaligned", line):
            found[-1][0] = "misaligned"
    return dict(sorted(Counter(" ".join(finding) for finding in found).items()))


if __name__ == "__main__":
    sys.exit(main())
