"""Random texts, addresses and archives: each gives sentences or runs, and none ends its process.

`FUZZ_EXAMPLES=100000 python -m pytest --deep tests/hostile/test_fuzz.py` ends after all of them.
"""

from __future__ import annotations

import io
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator import LaunchError, SourceError, catalogue
from simulator.archive import read_arrays
from simulator.frontend.directives import MAX_FILE_BYTES
from simulator.language.printable import printable
from tests.hostile.judge import judge
from tests.hostile.texts import QUICK, kernel
from ui.jobs.workers import Workers
from ui.view.view_url import PARAMETERS, from_query

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "100"))
TIMEOUT = 30
TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
SEEDS = [text for text, _ in QUICK.values() if len(text) < 1500]
PIECES = sorted({piece for text in SEEDS for piece in TOKEN.findall(text)})
FREELY = settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck),
    derandomize=False,  # in CI too, where a seed of the commit says which
)  # fmt: skip
pytestmark = pytest.mark.deep


@st.composite
def spliced(draw: st.DrawFn, seeds: list[str]) -> str:
    """A text with some of its tokens left out, repeated, or replaced by others'."""
    pieces = TOKEN.findall(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(pieces)))
        left_out = draw(st.integers(0, 3))
        new = draw(st.lists(st.sampled_from(PIECES), max_size=4)) * draw(
            st.sampled_from([1, 1, 40])
        )
        pieces[place : place + left_out] = new
    return "".join(pieces)[:MAX_FILE_BYTES]


def check(workers: Workers, text: str) -> None:
    try:
        said = workers.submit(judge, text).result(TIMEOUT)
    except (SourceError, LaunchError) as error:
        said = str(error)
    assert "compiler has ended" not in said
    assert printable(said) == said
    assert all(line.endswith((".", "?", "!")) for line in said.splitlines()), said


@FREELY
@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join))
def test_front_end(workers: Workers, body: str) -> None:
    check(workers, kernel(body))


@FREELY
@given(spliced([*SEEDS, *(entry.source() for entry in catalogue().values())]))
def test_whole_text(workers: Workers, text: str) -> None:
    check(workers, text)


NAMES = st.sampled_from([*PARAMETERS, "TILE", "BM", "nonsense"])
NUMBERS = st.integers().map(str) | st.floats().map(str)
WORDS = st.sampled_from([*catalogue(), "padded", "lockstep", "counting", "product", "follows"])


@FREELY
@given(st.dictionaries(NAMES, st.text() | NUMBERS | WORDS | st.lists(st.text(), min_size=1)))
def test_address(query: dict[str, str | list[str]]) -> None:
    view, notices = from_query(query)
    assert view.kernel in catalogue()
    assert all(notice.endswith(".") for notice in notices)


@FREELY
@given(st.integers(0, 2**32), st.integers(1, 8), st.booleans())
def test_archive(
    tmp_path_factory: pytest.TempPathFactory, seed: int, changes: int, packed: bool
) -> None:
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, x=np.arange(9.0), n=np.int32(3))
    data, chance = bytearray(file.getvalue()), random.Random(seed)  # noqa: S311 -- no secret
    for _ in range(changes):
        place = chance.randrange(len(data))
        data[place : place + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    path = Path(tmp_path_factory.getbasetemp()) / "fuzz.npz"
    path.write_bytes(data)
    try:
        arrays = read_arrays(str(path))
    except LaunchError:
        return  # a sentence; any other error fails here
    assert all(array.dtype.kind in "biufc" for array in arrays.values())
