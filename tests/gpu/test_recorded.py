"""Recordings: what is written is read back, newest first, and damage is reported, not drawn."""

from __future__ import annotations

import dataclasses
import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gpu import recorded
from gpu.bits import BitVerdict, Difference
from gpu.comparison import Comparison, comparison_from
from gpu.cuda.microbenchmarks.ceilings import Ceilings
from gpu.cuda.microbenchmarks.latency import Latency
from gpu.cuda.microbenchmarks.limits import Limits
from gpu.scale.recorded import scalings
from gpu.shapes.shape import geometric_mean
from simulator.broken_file import BrokenFileError

LATENCY = {"register": 4.0, "shared": 29.0, "l1": 39.0, "l2": 288.0, "dram": 686.0}
CANNED = json.loads(Path(__file__).with_name("comparison.json").read_text(encoding="utf-8"))


@pytest.fixture
def comparison() -> Comparison:
    return comparison_from(CANNED)


def test_a_comparison_survives_json(comparison: Comparison) -> None:
    assert comparison.to_json()["size"] == [512, 512, 512]
    assert comparison_from(json.loads(json.dumps(comparison.to_json()))) == comparison
    assert not comparison.verified


def test_the_names_that_programs_read_are_there(comparison: Comparison) -> None:
    kernels = comparison.to_json()["kernels"]
    assert [kernel["name"] for kernel in kernels][-1] == "cublas"
    wanted = {
        "name", "ms", "ms_spread", "tflops", "cublas_ratio", "max_rel_error", "verified",
        "error_bound", "peak_share", "gb_per_s", "registers", "shared_bytes", "occupancy",
    }  # fmt: skip
    assert all(wanted <= set(kernel) for kernel in kernels)


def test_recordings_come_newest_first(tmp_path: Path, comparison: Comparison) -> None:
    other = dataclasses.replace(
        comparison, device=dataclasses.replace(comparison.device, name="NVIDIA Other 1")
    )
    recorded.write([comparison], tmp_path, datetime(2026, 1, 2, tzinfo=UTC))
    path = recorded.write([other, other], tmp_path, datetime(2026, 3, 4, tzinfo=UTC))
    found = recorded.recordings(tmp_path)
    assert path.name == "nvidia-other-1.json"
    assert [run.device.name for run in found.runs] == ["NVIDIA Other 1", "Test GPU"]
    assert found.runs[0].when == datetime(2026, 3, 4, tzinfo=UTC)
    assert len(found.runs[0].comparisons) == 2
    assert found.problems == ()


def test_limits_and_bits_are_recorded_too(tmp_path: Path, comparison: Comparison) -> None:
    limits = Limits(Ceilings(60.5, 4000.0, 9000.0), Latency(4.0, 29.0, 39.0, 288.0, 686.0))
    first = Difference(1, 2, "nan", "0.5", "0x7fc00000", "0x3f000000")
    bits = [BitVerdict("naive", (4, 5, 6), 0, None), BitVerdict("tiled", (4, 5, 6), 3, first)]
    path = recorded.write([comparison], tmp_path, datetime(2026, 1, 2, tzinfo=UTC), limits, bits)
    assert {"ceilings", "latency", "bits"} <= set(json.loads(path.read_text(encoding="utf-8")))
    run = recorded.read(path)
    assert (run.limits, run.bits) == (limits, tuple(bits))


def test_kernels_are_measured_again_beside_the_others(comparison: Comparison) -> None:
    naive, tiled, cublas = comparison.kernels
    fresh = [dataclasses.replace(kernel, ms=7.5) for kernel in comparison.kernels]
    half = dataclasses.replace(tiled, name="half", element="float16")
    of_half = dataclasses.replace(cublas, name="cublas-half", element="float16")
    later = dataclasses.replace(comparison, kernels=(fresh[1], half, fresh[2], of_half))
    other = dataclasses.replace(comparison, size=(8, 8, 8))
    merged, same = recorded.beside([comparison, other], later)
    assert merged.kernels == (naive, fresh[1], half, cublas, of_half)  # naive's ratio is to cublas
    assert same == other
    all_again = dataclasses.replace(comparison, kernels=tuple(fresh))
    assert recorded.beside([merged], all_again)[0].kernels == (*fresh[:2], half, fresh[2], of_half)
    assert recorded.beside([other], later) == [other, later]


def test_another_driver_is_another_recording(tmp_path: Path, comparison: Comparison) -> None:
    assert recorded.same_device(tmp_path, comparison.device) is None
    path = recorded.write([comparison], tmp_path, datetime(2026, 1, 2, tzinfo=UTC))
    found = recorded.same_device(tmp_path, comparison.device)
    assert found == recorded.read(path)
    newer = dataclasses.replace(comparison.device, driver="9.9")
    assert recorded.same_device(tmp_path, newer) is None
    path.write_text("{", encoding="utf-8")
    with pytest.raises(BrokenFileError, match=path.name):
        recorded.same_device(tmp_path, comparison.device)


def damaged(**changes: Any) -> dict[str, Any]:
    whole = {"format": 1, "recorded": "2026-01-02T03:04:05+00:00", "comparisons": [CANNED]}
    return whole | changes


def kernel(**changes: Any) -> list[dict[str, Any]]:
    return [CANNED | {"kernels": [CANNED["kernels"][0] | changes]}]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ("[]", "format 1"),
        (json.dumps(damaged(format=2)), "format 1"),
        (json.dumps(damaged(comparisons=[])), "no comparisons"),
        (json.dumps(damaged(recorded="yesterday")), "yesterday"),
        (json.dumps(damaged(recorded="2026-01-02")), "time zone"),
        (json.dumps(damaged(comparisons=[{}])), "comparisons[0] lacks device"),
        (
            json.dumps(damaged(comparisons=[CANNED | {"size": [1, 2]}])),
            "size is wrong: expected array of length 3",
        ),
        (json.dumps(damaged(comparisons=[CANNED | {"device": {}}])), "device lacks name"),
        (
            json.dumps(damaged(comparisons=[CANNED | {"kernels": []}])),
            "expected array of length >= 1",
        ),
        (json.dumps(damaged(comparisons=kernel(ms="fast"))), "ms is wrong: expected float"),
        (json.dumps(damaged(comparisons=kernel(ms_spread=[1]))), "ms_spread"),
        (json.dumps(damaged(comparisons=kernel(verified=1))), "verified"),
        (json.dumps(damaged(comparisons=kernel(simulated={"a": 1.5}))), "simulated[...] is wrong"),
        (json.dumps(damaged(comparisons=kernel(counters={"a": "x"}))), "counters[...] is wrong"),
        (json.dumps(damaged(latency={})), "latency lacks register"),
        (json.dumps(damaged(latency=LATENCY)), "lacks ceilings"),
        (json.dumps(damaged(bits={})), "bits is wrong: expected array"),
        (json.dumps(damaged(bits=[{"name": "x"}])), "bits[0] lacks size"),
    ],
)
def test_a_damaged_recording_is_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "broken.json").write_text(text, encoding="utf-8")
    found = recorded.recordings(tmp_path)
    assert found.runs == ()
    assert sentence in found.problems[0].sentence
    assert found.problems[0].file == "broken.json"


def test_what_comes_with_tilewise_can_be_read() -> None:
    found = recorded.recordings()
    assert found.problems == ()
    assert found.runs
    for run in found.runs:
        assert all(comparison.verified for comparison in run.comparisons)
        assert all(comparison.device == run.device for comparison in run.comparisons)


def test_the_scalings_that_come_with_tilewise_can_be_read() -> None:
    runs, problems = scalings()
    assert problems == ()
    assert runs
    for run in runs:
        assert run.when.tzinfo
        assert run.scaling.verified
        assert max(one.gpus for one in run.scaling.runs) == len(run.scaling.devices)
        for one in run.scaling.runs:
            assert one.plan is None or one.plan.gpus == one.gpus
            assert one.same_bits is not False


def test_what_is_written_of_several_gpus_is_what_was_recorded() -> None:
    written = (recorded.FOLDER.parents[1] / "docs" / "measured.md").read_text(encoding="utf-8")
    paragraph = written.partition("**Several GPUs.**")[2].partition("\n\n")[0]
    for run in scalings()[0]:
        ours = [one for one in run.scaling.runs if one.plan]
        fastest = [one for one in ours if one.gpus == max(other.gpus for other in ours)]
        for one in (ours[0], min(fastest, key=lambda one: one.ms)):
            assert f"{one.ms:.1f}" in paragraph, run.file
        assert f"{max(one.speedup for one in ours):.2f}" in paragraph, run.file


def test_what_is_written_of_few_rows_and_columns_is_what_was_recorded() -> None:
    run = recorded.newest()
    folder = recorded.FOLDER.parents[1]
    few = {shape.size: shape for shape in run.shapes if shape.is_few}
    drawn = [shape for shape in few.values() if shape.is_random]
    places = (
        ("docs/measured.md", "**Few rows or columns**", (1, 8)),
        ("assets/kernels/NOTES.md", "Recorded: bandwidth in GB/s", (1, 2, 4, 8)),
    )
    for file, heading, counts in places:
        text = (folder / file).read_text(encoding="utf-8").partition(heading)[2]
        said = text.partition("\n- **" if file.startswith("docs") else "\n## ")[0]
        for count, side in itertools.product(counts, (4096, 8192)):
            for size in ((count, side, side), (side, count, side)):
                assert f"{few[size].gb_per_s:,.0f}" in said, (file, size)
        assert f"{geometric_mean(drawn):.2f} of" in said
        assert f"{min(shape.cublas_ratio for shape in drawn):.3f}" in said
    assert run.shape_table is not None
    assert {kernel.few for kernel in run.shape_table.kernels} == {"", "rows", "columns"}


def test_a_damaged_scaling_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text(
        json.dumps(damaged(scaling={"device": {}})), encoding="utf-8"
    )
    runs, problems = scalings(tmp_path)
    assert runs == ()
    [problem] = problems
    assert problem.file == "broken.json"
    assert problem.sentence.endswith("The recording's scaling.device lacks name.")


@pytest.mark.parametrize(
    ("name", "file"),
    [("NVIDIA H200", "nvidia-h200"), ("NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"),
     ("../../x", "x"), ("", "gpu")],
)  # fmt: skip
def test_a_gpus_name_as_a_files(name: str, file: str) -> None:
    assert recorded.slug(name) == file
