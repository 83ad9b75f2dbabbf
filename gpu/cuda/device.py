"""Which GPU is here, or why none can be used and what would mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu.json_data import decode

DRIVERS = "https://www.nvidia.com/drivers"
OLDEST_DRIVER = {"cupy-cuda12x": 12000, "cupy-cuda13x": 13000}  # CUDA the driver must speak
CUPY_PACKAGES = tuple(OLDEST_DRIVER)

# cudaError_t (CUDA Runtime API, section 6.38)
INSUFFICIENT_DRIVER = 35
NO_DEVICE = 100

# Multiply-adds in float32 a multiprocessor starts each clock (CUDA C++ Programming Guide,
# throughput of native arithmetic instructions), by compute capability.
FP32_LANES: Mapping[tuple[int, int], int] = {
    (5, 0): 128, (5, 2): 128, (5, 3): 128, (6, 0): 64, (6, 1): 128, (6, 2): 128,
    (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64, (8, 6): 128, (8, 7): 128, (8, 9): 128,
    (9, 0): 128, (10, 0): 128, (10, 3): 128, (12, 0): 128, (12, 1): 128,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU and the software that drives it."""

    name: str
    compute_capability: str  # "9.0"
    multiprocessors: int
    memory_bytes: int
    sm_clock_mhz: float  # the highest clock of the multiprocessors
    memory_clock_mhz: float
    memory_bus_bits: int
    l2_bytes: int
    threads_per_multiprocessor: int  # the most that are resident
    shared_bytes_per_block: int  # the most, with opt-in
    peak_fp32_tflops: float | None  # 10^12 operations a second, None for an unknown architecture
    peak_gb_s: float | None  # 10^9 bytes a second through DRAM, None if the driver gives no clock
    driver: str  # release, "580.159.04", empty if unknown
    driver_cuda: str  # the newest CUDA version that the driver supports, "13.0"
    cuda_runtime: str  # version
    nvrtc: str  # version
    cublas: str  # version
    cupy: str  # version

    @property
    def architecture(self) -> str:
        """The architecture that a kernel is compiled for: "sm_90"."""
        return architecture(self.compute_capability)


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found of each requirement of a GPU run."""

    system: str = "linux"  # sys.platform
    distribution: str = ""  # ID of os-release: "ubuntu"
    driver_cuda: int = 0  # the newest CUDA version of the driver, 13000 is 13.0; 0 without a driver
    cupy: str | None = None  # version, None if it cannot be imported
    cupy_package: str | None = None  # the installed distribution: "cupy-cuda12x"
    cupy_fault: str = ""  # why an installed CuPy cannot be imported
    device_status: int | None = None  # cudaError_t of counting devices; None if CuPy is missing
    devices: int = 0  # GPUs
    devices_hidden: bool = False  # by CUDA_VISIBLE_DEVICES
    nvrtc: str | None = None  # version, None if it cannot be loaded
    cublas: bool = False  # whether it can be loaded


@dataclass(frozen=True, slots=True)
class Missing:
    """The first requirement of a GPU run that is missing."""

    part: str  # "driver", "device", "CuPy", "NVRTC" or "cuBLAS"
    what: str  # the missing thing, as a noun
    sentence: str  # why it is missing and what would mend it
    command: str  # what mends it, empty if there is none


@dataclass(frozen=True, slots=True)
class Status:
    """The GPU that can be used, or what is missing."""

    device: Device | None
    missing: Missing | None
    parts: Mapping[str, bool | None]  # requirement: found, missing, or None if it is not known
    devices: tuple[str, ...] = ()  # names of all GPUs, by number


def architecture(compute_capability: str) -> str:
    """The architecture's name as compilers take it, from "9.0" or, as CuPy writes it, "90".

    >>> architecture("9.0"), architecture("120")
    ('sm_90', 'sm_120')
    """
    return "sm_" + compute_capability.replace(".", "")


def peak_fp32_tflops(
    capability: tuple[int, int], multiprocessors: int, clock_mhz: float
) -> float | None:
    """10^12 operations a second if every core did a multiply-add each clock; None if unknown."""
    lanes = FP32_LANES.get(capability)
    return None if lanes is None else 2 * lanes * multiprocessors * clock_mhz * 1e6 / 1e12


def cuda_version(number: int) -> str:
    """12090 as "12.9"."""
    return f"{number // 1000}.{number % 1000 // 10}"


def find_missing(probe: Probe) -> Missing | None:
    """The first part that keeps a kernel from running on a GPU, None when nothing does."""
    if probe.system == "darwin":
        return Missing(
            "driver",
            "a machine with an NVIDIA GPU",
            "There is no CUDA for macOS: NVIDIA's driver and CuPy exist for Linux and Windows. "
            "Everything else in Tilewise works here; open this page on a machine with an "
            "NVIDIA GPU to run kernels.",
            "",
        )
    if not probe.driver_cuda:
        return Missing(
            "driver",
            "an NVIDIA driver",
            "No NVIDIA driver was found on this machine. Install NVIDIA's driver package "
            f"({DRIVERS}), then restart the machine.",
            driver_command(probe),
        )
    if probe.cupy is None:
        return _missing_cupy(probe)
    package = probe.cupy_package or "cupy-cuda12x"
    if probe.device_status == INSUFFICIENT_DRIVER:
        return _old_driver(probe, package)
    if probe.device_status == NO_DEVICE or (probe.device_status == 0 and not probe.devices):
        return _missing_device(probe)
    if probe.device_status:
        return Missing(
            "device",
            "a GPU that starts",
            f"The driver cannot start the GPU (CUDA error {probe.device_status}). See what the "
            "driver itself says; a restart of the machine often helps.",
            "nvidia-smi",
        )
    for part, found, what in (
        ("NVRTC", probe.nvrtc is not None, "the compiler for kernels"),
        ("cuBLAS", probe.cublas, "NVIDIA's matrix product, which kernels are compared with"),
    ):
        if not found:
            return Missing(
                part,
                part,
                f"The library {part}, {what}, was not found. CuPy's package with [ctk] includes "
                "it.",
                f'python -m pip install "{package}[ctk]"',
            )
    return None


def _missing_cupy(probe: Probe) -> Missing:
    package = "cupy-cuda12x"
    if probe.cupy_fault:
        return Missing(
            "CuPy",
            "a CuPy that loads",
            f"CuPy is installed but cannot be loaded: {probe.cupy_fault.rstrip('.')}.",
            f'python -m pip install --force-reinstall "{package}[ctk]"',
        )
    return Missing(
        "CuPy",
        "CuPy",
        "CuPy, which compiles and launches the kernels, is not installed.",
        f'python -m pip install "{package}[ctk]"',
    )


def _old_driver(probe: Probe, package: str) -> Missing:
    speaks = cuda_version(probe.driver_cuda)
    if package == "cupy-cuda13x" and probe.driver_cuda >= OLDEST_DRIVER["cupy-cuda12x"]:
        return Missing(
            "driver",
            "a driver that this CuPy works with",
            f"The NVIDIA driver is too old for {package}: it supports CUDA {speaks}. CuPy for CUDA "
            "12 works with it.",
            f'python -m pip uninstall -y {package} && python -m pip install "cupy-cuda12x[ctk]"',
        )
    needs = cuda_version(OLDEST_DRIVER.get(package, OLDEST_DRIVER["cupy-cuda12x"]))
    return Missing(
        "driver",
        "a newer NVIDIA driver",
        f"The NVIDIA driver is too old: it supports CUDA {speaks}, but {package} needs {needs}. "
        f"Install a newer one ({DRIVERS}) and restart the machine.",
        driver_command(probe),
    )


def _missing_device(probe: Probe) -> Missing:
    if probe.devices_hidden:
        return Missing(
            "device",
            "a GPU that is not hidden",
            "The environment variable CUDA_VISIBLE_DEVICES hides every GPU from this program. "
            "Unset it and start again.",
            "set CUDA_VISIBLE_DEVICES="
            if probe.system == "win32"
            else "unset CUDA_VISIBLE_DEVICES",
        )
    return Missing(
        "device",
        "an NVIDIA GPU",
        "The NVIDIA driver is here, but it sees no GPU. Check that one is fitted and, in a "
        "container or virtual machine, passed through to it. This lists what the driver sees:",
        "nvidia-smi",
    )


def driver_command(probe: Probe) -> str:
    """The command that installs a driver, or opens the page that has it."""
    if probe.system == "win32":
        return f"start {DRIVERS}"
    known = {
        "ubuntu": "sudo ubuntu-drivers install",
        "debian": "sudo apt install nvidia-driver",
        "fedora": "sudo dnf install akmod-nvidia",
        "arch": "sudo pacman -S nvidia",
    }
    return known.get(probe.distribution, f"xdg-open {DRIVERS}")


def parts_of(probe: Probe) -> dict[str, bool | None]:
    """Each requirement by name: found, missing, or None if it is not known yet."""
    counted = probe.device_status is not None
    driver = bool(probe.driver_cuda) and probe.device_status != INSUFFICIENT_DRIVER
    return {
        "driver": driver,
        "device": probe.device_status == 0 and probe.devices > 0 if counted and driver else None,
        "CuPy": probe.cupy is not None,
        "NVRTC": probe.nvrtc is not None if probe.cupy else None,
        "cuBLAS": probe.cublas if probe.cupy else None,
    }


def status_from(found: Mapping[str, Any]) -> Status:
    """A Status from the JSON object that dataclasses.asdict makes of it; or ValueError."""
    return decode(Status, found, "The status")
