"""Which part is missing, told from what was found: a table of findings and answers."""

from __future__ import annotations

import dataclasses
import json

import pytest

from gpu.cuda.device import (
    Probe,
    Status,
    cuda_version,
    find_missing,
    parts_of,
    peak_fp32_tflops,
    status_from,
)
from gpu.cuda.probe import check_index
from simulator.language.errors import LaunchError

FINE = Probe(
    driver_cuda=13000, cupy="14.2.0", cupy_package="cupy-cuda12x", device_status=0, devices=1,
    nvrtc="12.9", cublas=True,
)  # fmt: skip
CTK = 'python -m pip install "cupy-cuda12x[ctk]"'

TABLE = [
    ({"system": "darwin"}, "driver", ""),
    (
        {"driver_cuda": 0, "device_status": 35, "distribution": "ubuntu"},
        "driver",
        "sudo ubuntu-drivers install",
    ),
    ({"driver_cuda": 0, "cupy": None, "distribution": "debian"}, "driver", "nvidia-driver"),
    ({"driver_cuda": 0, "system": "win32"}, "driver", "start https://www.nvidia.com/drivers"),
    ({"driver_cuda": 0, "distribution": "gentoo"}, "driver", "xdg-open https://"),
    ({"cupy": None, "device_status": None}, "CuPy", CTK),
    ({"cupy": None, "cupy_fault": "libfoo is missing"}, "CuPy", "--force-reinstall"),
    ({"driver_cuda": 11040, "device_status": 35, "distribution": "debian"}, "driver", "apt"),
    (
        {"driver_cuda": 12040, "device_status": 35, "cupy_package": "cupy-cuda13x"},
        "driver",
        "pip uninstall -y cupy-cuda13x",
    ),
    ({"device_status": 100, "devices": 0}, "device", "nvidia-smi"),
    ({"devices": 0}, "device", "nvidia-smi"),
    ({"devices": 0, "devices_hidden": True}, "device", "unset CUDA_VISIBLE_DEVICES"),
    ({"device_status": 999}, "device", "nvidia-smi"),
    ({"nvrtc": None}, "NVRTC", CTK),
    ({"nvrtc": None, "cupy_package": "cupy-cuda13x"}, "NVRTC", "cupy-cuda13x[ctk]"),
    ({"cublas": False}, "cuBLAS", CTK),
]


@pytest.mark.parametrize(("found", "part", "command"), TABLE)
def test_first_missing_part_and_its_mend(found: dict[str, object], part: str, command: str) -> None:
    missing = find_missing(dataclasses.replace(FINE, **found))  # type: ignore[arg-type]
    assert missing is not None
    assert missing.part == part
    assert command in missing.command
    assert bool(command) == bool(missing.command), "where nothing can be done, nothing is offered"
    assert missing.what
    assert missing.sentence[0].isupper()
    assert missing.sentence.rstrip()[-1] in ".:"


def test_nothing_is_missing_when_all_is_there() -> None:
    assert find_missing(FINE) is None
    assert all(parts_of(FINE).values())


def test_an_old_driver_is_told_from_a_missing_one() -> None:
    old = find_missing(dataclasses.replace(FINE, driver_cuda=11040, device_status=35))
    none = find_missing(dataclasses.replace(FINE, driver_cuda=0, device_status=35))
    assert old is not None
    assert none is not None
    assert "too old: it supports CUDA 11.4" in old.sentence
    assert "No NVIDIA driver" in none.sentence


def test_what_cannot_be_asked_is_neither_found_nor_missing() -> None:
    parts = parts_of(Probe())
    assert parts == {"driver": False, "device": None, "CuPy": False, "NVRTC": None, "cuBLAS": None}


@pytest.mark.parametrize(
    ("capability", "multiprocessors", "mhz", "peak"),
    [((9, 0), 132, 1980, 66.9), ((8, 9), 128, 2520, 82.6), ((7, 5), 40, 1590, 8.1)],
)
def test_peak_is_that_of_the_data_sheet(
    capability: tuple[int, int], multiprocessors: int, mhz: float, peak: float
) -> None:
    assert peak_fp32_tflops(capability, multiprocessors, mhz) == pytest.approx(peak, abs=0.06)


def test_an_unknown_multiprocessor_has_no_peak() -> None:
    assert peak_fp32_tflops((99, 0), 100, 1000) is None


def test_versions_read_as_people_write_them() -> None:
    assert [cuda_version(n) for n in (12090, 13000, 11040)] == ["12.9", "13.0", "11.4"]


def test_a_status_survives_json() -> None:
    status = Status(None, find_missing(Probe()), parts_of(Probe()))
    assert status_from(json.loads(json.dumps(dataclasses.asdict(status)))) == status


@pytest.mark.parametrize(
    ("index", "count", "sentence"),
    [
        (0, 1, None),
        (3, 4, None),
        (1, 1, "no GPU number 1: this machine shows one GPU, number 0"),
        (8, 8, "no GPU number 8: this machine shows 8 GPUs, numbers 0 to 7"),
        (-1, 2, "no GPU number -1"),
    ],
)
def test_a_gpu_is_chosen_by_its_number(index: int, count: int, sentence: str | None) -> None:
    if sentence is None:
        check_index(index, count)
    else:
        with pytest.raises(LaunchError, match=sentence):
            check_index(index, count)


def test_a_status_names_every_gpu() -> None:
    status = Status(None, None, {"driver": True}, ("A", "B"))
    assert status_from(json.loads(json.dumps(dataclasses.asdict(status)))) == status
