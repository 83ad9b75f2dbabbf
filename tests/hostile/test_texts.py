"""Hostile texts in a worker process: each gives sentences, and the next job runs.

Those that take seconds of the compiler run with --deep, but for one of each kind. Times are not
asserted: under TIMEOUT seconds is, where 3 are the aim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator import LaunchError, SourceError
from simulator.language.printable import printable
from tests.hostile.judge import judge
from tests.hostile.texts import BOMBS, QUICK
from tests.memory import peak_bytes
from tests.simulator.test_bad_input import TEXTS
from ui.jobs.workers import Workers
from ui.user_kernel.examine import examine

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 30
MOST_MEMORY = 10**9  # bytes of the worker process
OF_THE_SERVER = re.compile(rf"{re.escape(str(ROOT))}|/usr/|/tmp/|\.cuh|Traceback|<unknown>")
BY_DEFAULT = ("a tree of templates", "__make_integer_seq")
LONGEST = 12_000  # letters of all that is said of a text
LONG_NAME = re.compile(r"\w{82}")


@pytest.fixture(scope="module", autouse=True)
def _little_memory(workers: Workers) -> Iterator[None]:
    yield
    assert workers.submit(peak_bytes).result(TIMEOUT) < MOST_MEMORY


def sentences(workers: Workers, text: str) -> str:
    try:
        return workers.submit(judge, text).result(TIMEOUT)
    except (SourceError, LaunchError) as error:  # the process has ended
        return str(error)


def check(said: str, part: str) -> None:
    assert part in said
    assert len(said) < LONGEST
    assert not OF_THE_SERVER.search(said)
    assert not LONG_NAME.search(said)
    assert printable(said) == said
    assert all(line.endswith((".", "?")) for line in said.splitlines())


@pytest.mark.parametrize("case", QUICK)
@pytest.mark.sample(8)
def test_text(workers: Workers, case: str) -> None:
    text, part = QUICK[case]
    check(sentences(workers, text), part)
    for problem in workers.submit(examine, text, "").result(TIMEOUT).problems:
        check(" ".join(filter(None, (problem.message, problem.hint))), "")


@pytest.mark.deep
@pytest.mark.parametrize(
    "case",
    [case if case in BY_DEFAULT else pytest.param(case, marks=pytest.mark.deep) for case in BOMBS],
)
def test_text_that_grows(workers: Workers, case: str) -> None:
    text, part = BOMBS[case]
    check(sentences(workers, text), part)


@pytest.mark.deep
@pytest.mark.parametrize("case", TEXTS)
def test_text_of_the_terminals_table(workers: Workers, case: str) -> None:
    check(sentences(workers, TEXTS[case][0]), "")  # which it is that table says


@pytest.mark.deep
def test_another_visitor_goes_on_meanwhile() -> None:
    workers = Workers(2, lambda _, text: text)
    good = "__global__ void k(float* x) { x[threadIdx.x] = 1; }"
    other = "__global__ void k(int* x) { x[threadIdx.x] = 1; }"
    for first in [workers.submit(judge, text) for text in (good, other, good, other)]:
        first.result(TIMEOUT)
    bomb = workers.submit(judge, BOMBS["a tree of templates"][0])
    for number in (2, 3, 4):
        workers.submit(judge, good.replace("= 1", f"= {number}")).result(TIMEOUT)
    assert not bomb.done()
    with pytest.raises(SourceError, match="more than 2 seconds"):
        bomb.result(TIMEOUT)
    workers.shutdown()
