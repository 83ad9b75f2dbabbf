"""A product over several GPUs, moved and multiplied by a stand-in for CuPy over NumPy arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu.comparison import comparison_from
from gpu.cuda.compile import Binary, Loaded, Resources
from gpu.cuda.device import Status
from gpu.progress import Progress
from gpu.scale import job
from gpu.scale.cublas_xt import CublasXtError
from gpu.scale.job import choose_counts, request
from gpu.scale.placement import Placement
from gpu.scale.plan import make_plan
from gpu.scale.scaling import Scaling, Way, scaling_from
from simulator.language.errors import LaunchError
from tests.gpu import fake_cupy
from tests.gpu.fake_cupy import Host

CANNED = Path(__file__).with_name("comparison.json")
UNIT = (32, 64)
SIZES = [(128, 256, 64), (175, 325, 33), (33, 65, 8), (1, 3, 5), (320, 64, 16)]
MOVING = [Way.PEER, Way.NCCL]


def silent(_message: str, _done: float | None = None, /) -> None:
    """Progress that nobody reads."""


def matrices(size: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng()
    M, N, K = size
    return rng.integers(-9, 9, (M, K)).astype("f4"), rng.integers(-9, 9, (K, N)).astype("f4")


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", MOVING)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("gpus", [1, 2, 3, 4, 6, 8])
def test_the_pieces_arrive_and_c_is_the_product(
    monkeypatch: pytest.MonkeyPatch, gpus: int, size: tuple[int, int, int], way: Way
) -> None:
    plan = make_plan(size, gpus, UNIT)
    a, b = matrices(size)
    for seed in range(5):  # as many orders of copies and products
        host = fake_cupy.install(monkeypatch, gpus, seed)
        placement = Placement(plan, host.array(a), host.array(b))
        for _ in range(2):
            placement.clear()
            host.moved.clear()
            host.products.clear()
            placement.queue(way, host.multiply)
            placement.wait()
            C, wrote_outside = placement.gather()
            assert np.array_equal(C, a @ b)
            assert not wrote_outside
            assert sum(moved for *_, moved in host.moved) == plan.bytes_moved
            assert {gpu for gpu, _ in host.products} == {one.gpu for one in plan.products()}


def test_nothing_moves_in_place_and_nothing_is_there_before_it_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = fake_cupy.install(monkeypatch, 4, 1)
    a, b = matrices((128, 256, 64))
    placement = Placement(make_plan((128, 256, 64), 4, UNIT), host.array(a), host.array(b))
    placement.queue(Way.IN_PLACE, host.multiply)
    placement.wait()
    C, _ = placement.gather()
    tiles = np.isnan(C).reshape(4, 32, 4, 64).any(axis=(1, 3))
    assert tiles.sum() == 16 - 4  # each of 4 GPUs has the pieces of one of its 4 parts
    placement.fetch()
    host.moved.clear()
    placement.queue(Way.IN_PLACE, host.multiply)
    placement.wait()
    assert host.moved == []
    assert np.array_equal(placement.gather()[0], a @ b)


def test_a_cell_beside_a_part_of_c_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    host = fake_cupy.install(monkeypatch, 2, 1)
    a, b = matrices((64, 128, 16))
    placement = Placement(make_plan((64, 128, 16), 2, UNIT), host.array(a), host.array(b))

    def stray(gpu: int, a: Any, b: Any, c: Any, /) -> None:
        host.multiply(gpu, a, b, c)
        if gpu == 1:
            host.queue(lambda: c.base.__setitem__(-1, 0.0))

    placement.queue(Way.PEER, stray)
    placement.wait()
    assert placement.gather()[1]


@pytest.fixture
def canned_device(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], Host]:
    """A host of so many GPUs, with or without NCCL and cuBLASXt, whose kernel is NumPy's."""
    device = comparison_from(json.loads(CANNED.read_text(encoding="utf-8"))).device
    resources = Resources(0, 0, 0, 1, 1.0)

    monkeypatch.setattr(job, "LINK_BYTES", 1024)
    monkeypatch.setattr("gpu.cuda.timing.MOST_ROUNDS", 20)

    def install(gpus: int, complete: bool = True) -> Host:
        host = fake_cupy.install(monkeypatch, gpus, 3, nccl=complete)
        function = host.launch
        monkeypatch.setattr("gpu.cuda.probe.use", lambda _gpu: device)
        monkeypatch.setattr(
            "gpu.cuda.probe.status", lambda: Status(device, None, {}, (device.name,) * gpus)
        )
        monkeypatch.setattr(job, "compile_text", lambda *_: Binary("warptiles", b"", ""))
        monkeypatch.setattr(job, "load", lambda *_: Loaded(None, function, resources))

        class Spread:
            def __init__(self, _gpus: object) -> None:
                if not complete:
                    raise CublasXtError("cuBLASXt cannot be had: no such file.")

            def multiply(self, _gpu: int, a: Any, b: Any, c: Any, /) -> None:
                np.matmul(a, b, out=c)

        monkeypatch.setattr(job, "CublasXt", Spread)
        return host

    return install


def run(size: tuple[int, int, int], gpus: list[int], progress: Progress = silent) -> Scaling:
    return scaling_from(json.loads(json.dumps(job.scale_product(request(size, gpus), progress))))


def test_every_way_is_verified_and_timed(canned_device: Callable[..., Host]) -> None:
    canned_device(4)
    size = (300, 700, 40)
    found = run(size, [1, 2, 4])
    assert [(one.gpus, one.way.value) for one in found.runs] == [
        (1, "in place"), (1, "cuBLAS"),
        (2, "peer copies"), (2, "NCCL"), (2, "in place"), (2, "cuBLASXt"),
        (4, "peer copies"), (4, "NCCL"), (4, "in place"), (4, "cuBLASXt"),
    ]  # fmt: skip
    assert found.verified
    assert (found.kernel, found.size, len(found.devices), found.notes) == ("warptiles", size, 4, ())
    assert found.peer_gb_s
    assert found.resident_blocks == found.device.multiprocessors
    alone = found.runs[0].ms
    for one in found.runs:
        assert one.repeats >= 20
        assert one.ms_spread[0] <= one.ms <= one.ms_spread[1]
        assert one.speedup == pytest.approx(alone / one.ms)
        assert one.efficiency == pytest.approx(alone / one.ms / one.gpus)
        assert one.ideal_ms == pytest.approx(alone / one.gpus)
        assert one.tflops == pytest.approx(2 * 300 * 700 * 40 / (one.ms / 1e3) / 1e12)
        ours = not one.way.startswith("cuBLAS")
        assert (one.plan is not None, one.same_bits is not None) == (ours, ours)
        match one.way:
            case Way.PEER | Way.NCCL:
                assert one.plan
                assert one.bytes_moved == one.plan.bytes_moved > 0
            case Way.IN_PLACE:
                assert one.bytes_moved == 0
            case _:
                assert one.bytes_moved is None
    assert scaling_from(json.loads(json.dumps(found.to_json()))) == found


def test_what_a_host_lacks_is_a_note(canned_device: Callable[..., Host]) -> None:
    canned_device(2, False)
    found = run((128, 256, 8), [1, 2])
    assert [one.way.value for one in found.runs] == [
        "in place", "cuBLAS", "peer copies", "in place",
    ]  # fmt: skip
    assert found.notes == (
        "NCCL was not found by CuPy, so nothing went through it.",
        "cuBLASXt cannot be had: no such file.",
    )


def test_a_wrong_kernel_is_not_verified(
    canned_device: Callable[..., Host], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = canned_device(2)

    def wrong(grid: Any, block: Any, arguments: Any) -> None:
        host.launch(grid, block, arguments)
        if host.current == 1:
            c = arguments[2]
            host.queue(lambda: c.__setitem__((0, 0), 5.0))

    loaded = Loaded(None, wrong, Resources(0, 0, 0, 1, 1.0))
    monkeypatch.setattr(job, "load", lambda *_: loaded)
    found = run((256, 512, 64), [1, 2])
    by_name = {(one.gpus, one.way): one for one in found.runs}
    assert not found.verified
    assert by_name[1, Way.IN_PLACE].verified
    for way in (*MOVING, Way.IN_PLACE):
        assert not by_name[2, way].verified
        assert not by_name[2, way].same_bits
        assert "C is wrong" in by_name[2, way].verdict


def test_too_large_a_product_is_refused_in_a_sentence(canned_device: Callable[..., Host]) -> None:
    canned_device(2)
    with pytest.raises(LaunchError, match=r"GB on the first GPU.*are free\. Choose a smaller"):
        run((46340, 46340, 46340), [1, 2])


@pytest.mark.parametrize(
    ("wanted", "found", "counts"),
    [([], 2, [1, 2]), ([], 3, [1, 2]), ([], 4, [1, 2, 4]), ([], 8, [1, 2, 4, 8]),
     ([3], 4, [1, 3]), ([4, 2], 4, [1, 2, 4]), ([1], 1, [1])],
)  # fmt: skip
def test_the_counts_of_gpus(wanted: list[int], found: int, counts: list[int]) -> None:
    assert choose_counts(wanted, found) == counts


@pytest.mark.parametrize(
    ("wanted", "found", "sentence"),
    [([], 1, "shows one GPU; scale spreads a product over two or more"),
     ([4], 2, "shows 2 GPUs; a product cannot be spread over 4."),
     ([2], 1, "shows one GPU; a product cannot be spread over 2."),
     ([0], 2, "cannot be spread over 0")],
)  # fmt: skip
def test_too_few_gpus_are_a_sentence(wanted: list[int], found: int, sentence: str) -> None:
    with pytest.raises(LaunchError, match=sentence):
        choose_counts(wanted, found)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [({"runs": []}, "A scaling's runs is wrong"), ({"size": [1, 2]}, "size is wrong"),
     ({"peer_gb_s": "fast"}, "peer_gb_s is wrong")],
)  # fmt: skip
def test_damage_is_a_sentence(
    canned_device: Callable[..., Host], damage: dict[str, Any], sentence: str
) -> None:
    canned_device(2)
    whole = json.loads(json.dumps(run((128, 256, 8), [1, 2]).to_json()))
    with pytest.raises(ValueError, match=sentence):
        scaling_from(whole | damage)
