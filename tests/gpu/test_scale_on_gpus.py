"""On several real GPUs: whatever way the pieces take, C is right and has the bits of one GPU's."""

from __future__ import annotations

import pytest

from gpu.scale.job import request
from gpu.scale.scaling import Way, scaling_from
from gpu.worker import Worker

pytestmark = pytest.mark.gpu


@pytest.fixture
def gpus(worker: Worker) -> int:
    """How many GPUs there are, at least two."""
    count = len(dict(worker.submit({"job": "status"}, 60).wait())["devices"])
    if count < 2:
        pytest.skip("this machine shows one GPU")
    return count


@pytest.mark.parametrize("size", [(2048, 2048, 2048), (1023, 4097, 515), (130, 260, 21), (1, 1, 1)])
def test_several_gpus_give_the_bits_of_one(
    worker: Worker, gpus: int, size: tuple[int, int, int]
) -> None:
    counts = list(range(1, gpus + 1))
    found = scaling_from(dict(worker.submit(request(size, counts), 300).wait()))
    assert [one.verdict for one in found.runs if not one.verified] == []
    assert [one for one in found.runs if one.same_bits is False] == []
    assert [one.gpus for one in found.runs if one.way is Way.PEER] == counts[1:]
    assert len(found.devices) == gpus
