"""Random kernels of the language: the simulator's results beside a C++ compiler's, bit for bit."""

from __future__ import annotations

import pytest

from tests.fuzz.constructs import CONSTRUCTS, count
from tests.fuzz.differential import findings, host_compiler
from tests.fuzz.generator import generate

KERNELS = 2000  # in which every construct comes several times
RUN, BATCH, FEW = 600, 50, 16  # of them are run, together, and by default
SOME = 800  # kernels that have every construct at least once
COMPILER = host_compiler()


@pytest.mark.skipif(COMPILER is None, reason="needs Linux and g++ or another c++")
@pytest.mark.parametrize(
    "seeds",
    [range(FEW), *(pytest.param(range(max(at, FEW), at + BATCH), marks=pytest.mark.deep)
                   for at in range(0, RUN, BATCH))],
    ids=lambda seeds: str(seeds.start),
)  # fmt: skip
def test_simulator_agrees_with_the_compiler(seeds: range) -> None:
    assert COMPILER is not None
    reports = findings([generate(seed) for seed in seeds], COMPILER)
    assert not reports, "\n\n".join(reports)


def test_a_seed_always_gives_the_same_kernel() -> None:
    assert generate(5) == generate(5)
    assert generate(5).text != generate(6).text


@pytest.mark.deep
@pytest.mark.parametrize(
    ("kernels", "least"), [(SOME, 1), pytest.param(KERNELS, 3, marks=pytest.mark.deep)]
)
def test_kernels_have_every_construct(kernels: int, least: int) -> None:
    found = count(generate(seed).text for seed in range(kernels))
    assert {name for name, number in found.items() if number >= least} == set(CONSTRUCTS)
