"""Two Cs bit for bit: what is identical, where they differ, and how C travels."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from gpu import bits
from gpu.__main__ import main
from gpu.bits import BitVerdict
from gpu.candidate import choose
from gpu.json_data import decode
from gpu.worker import Worker
from simulator.language.ctype import Array
from simulator.language.errors import LaunchError
from tests.gpu.jobs import FAKE

SIZE = (2, 3, 4)
NAN = np.float32(np.nan)


def product(**changes: float) -> Array:
    C = np.arange(6, dtype=np.float32).reshape(2, 3)
    for place, value in changes.items():
        C[int(place[1]), int(place[2])] = value
    return C


@pytest.mark.parametrize(
    ("ours", "theirs", "differing", "place", "hexes"),
    [
        (product(), product(), 0, None, None),
        (product(_11=NAN), product(_11=NAN), 0, None, None),
        (product(_00=0.0), product(_00=-0.0), 1, (0, 0), ("0x00000000", "0x80000000")),
        (
            product(),
            product(_12=np.nextafter(np.float32(5), np.float32(6))),
            1,
            (1, 2),
            ("0x40a00000", "0x40a00001"),
        ),
        (product(_02=7, _10=8), product(), 2, (0, 2), ("0x40e00000", "0x40000000")),
        (
            product().astype(np.float64),
            product(_10=4).astype(np.float64),
            1,
            (1, 0),
            ("0x4008000000000000", "0x4010000000000000"),
        ),
    ],
)
def test_the_first_difference_is_found(
    ours: Array,
    theirs: Array,
    differing: int,
    place: tuple[int, int] | None,
    hexes: tuple[str, str] | None,
) -> None:
    verdict = bits.compare_bits("tiled", SIZE, ours, theirs)
    assert (verdict.differing, verdict.identical) == (differing, not differing)
    if verdict.first is None:
        assert place is None
        assert verdict.sentence == "Identical: all 6 elements of C have the same bits."
    else:
        assert (verdict.first.row, verdict.first.column) == place
        assert (verdict.first.simulated_bits, verdict.first.real_bits) == hexes


def test_the_sentence_names_place_values_and_bits() -> None:
    theirs = product(_12=np.nextafter(np.float32(5), np.float32(6)))
    assert bits.compare_bits("tiled", SIZE, product(), theirs).sentence == (
        "1 of 6 elements differ, the first in row 1, column 2: the simulator has 5.0 "
        "(0x40a00000), the GPU 5.0000005 (0x40a00001)."
    )


def test_two_cs_must_be_alike() -> None:
    with pytest.raises(ValueError, match="float32"):
        bits.compare_bits("tiled", SIZE, product(), product().astype(np.float64))
    with pytest.raises(ValueError, match="the other"):
        bits.compare_bits("tiled", SIZE, product(), product().T)


def test_a_verdict_survives_json() -> None:
    for theirs in (product(), product(_11=NAN)):
        verdict = bits.compare_bits("tiled", SIZE, product(), theirs)
        text = json.dumps(dataclasses.asdict(verdict), allow_nan=False)
        assert decode(BitVerdict, json.loads(text), "It") == verdict
    damaged = {"name": "x", "size": [1, 2, 3], "differing": 1, "first": {}}
    with pytest.raises(ValueError, match="It's first lacks row"):
        decode(BitVerdict, damaged, "It")


@pytest.mark.parametrize("element", ["float32", "float64"])
def test_inputs_are_the_same_for_a_seed_and_c_travels_whole(element: str) -> None:
    seed = bits.fresh_seed()
    A, B = bits.inputs(seed, (5, 6, 7), element)
    again, _ = bits.inputs(seed, (5, 6, 7), element)
    other, _ = bits.inputs(seed + 1, (5, 6, 7), element)
    assert (A.shape, B.shape, str(A.dtype)) == ((5, 7), (7, 6), element)
    assert A.tobytes() == again.tobytes() != other.tobytes()
    assert np.unique(np.floor(np.log10(np.abs(A)))).size > 3
    back = bits.decode_array(bits.encode_array(A))
    assert (back.dtype, back.tobytes()) == (A.dtype, A.tobytes())


def test_too_large_a_c_is_a_sentence() -> None:
    with pytest.raises(LaunchError, match="up to 1,048,576"):
        bits.request(choose("tiled", (2048, 1024, 4)), (2048, 1024, 4), 1)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["naive", "tiled_double:TILE=4", "registers"])
def test_the_simulators_c_is_the_product(name: str) -> None:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    size = (33, 20, 17)
    seed = bits.fresh_seed()
    C = bits.simulated_product(choose(name, size), size, seed)
    A, B = bits.inputs(seed, size, str(C.dtype))
    expected = A.astype(np.float64) @ B.astype(np.float64)
    bound = np.abs(A.astype(np.float64)) @ np.abs(B.astype(np.float64)) * 17 * 2.0**-23
    assert (np.abs(C - expected) <= bound).all()


def test_a_job_is_judged(fake: Worker) -> None:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    size = (9, 10, 11)
    one = choose("tiled:TILE=4", size)
    job = bits.request(one, size, 5)
    found = fake.submit(job, 60).wait()
    assert bits.judge(job, found).identical
    assert bits.judge(job | {"seed": 6}, found).differing > 80


@pytest.mark.sample(2)
@pytest.mark.parametrize(("what", "code"), [("right", 0), ("wrong", 1)])
def test_the_command_tells_where_c_differs(
    what: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    monkeypatch.setattr("gpu.worker.COMMAND", FAKE)
    monkeypatch.setenv("FAKE_BITS", what)
    assert main(["bits", "--m", "8", "--n", "9", "--k", "5", "--kernels", "naive"]) == code
    printed = capsys.readouterr().out
    assert ("Identical: all 72" in printed) == (code == 0)
    assert ("1 of 72 elements differ, the first in row 1, column 2" in printed) == (code == 1)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["naive", "tiled", "tiled_double", "vectors", "warptiles"])
def test_a_gpus_c_is_the_simulators(worker: Worker, name: str) -> None:
    size = (70, 140, 36)
    job = bits.request(choose(name, size), size, bits.fresh_seed())
    verdict = bits.judge(job, worker.submit(job, 120).wait())
    assert verdict.identical, verdict.sentence
