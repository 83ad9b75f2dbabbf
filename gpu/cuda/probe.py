"""Probes this machine for its driver, GPU, CuPy, NVRTC and cuBLAS."""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from typing import Any

from gpu.cuda.device import (
    CUPY_PACKAGES,
    Device,
    Probe,
    Status,
    cuda_version,
    find_missing,
    parts_of,
    peak_fp32_tflops,
)
from simulator.language.errors import LaunchError


def status(index: int = 0) -> Status:
    """What this machine has. Starts CUDA where it can, so call it in a process of its own.

    LaunchError where there are GPUs, but none of number `index`.
    """
    probe = take_probe()
    missing = find_missing(probe)
    if missing:
        return Status(None, missing, parts_of(probe))
    check_index(index, probe.devices)
    return Status(describe(index, probe), None, parts_of(probe), _names(probe.devices))


def check_index(index: int, count: int) -> None:
    """LaunchError unless one of `count` GPUs has the number `index`."""
    if not 0 <= index < count:
        here = "one GPU, number 0" if count == 1 else f"{count} GPUs, numbers 0 to {count - 1}"
        raise LaunchError(f"There is no GPU number {index}: this machine shows {here}.")


def use(index: int) -> Device:
    """Make GPU number `index` the one that this process works on. LaunchError if it cannot be."""
    found = status(index)
    if found.device is None:
        raise LaunchError(found.missing.sentence if found.missing else "No GPU can be used.")
    import cupy

    cupy.cuda.Device(index).use()
    return found.device


def _names(count: int) -> tuple[str, ...]:
    from cupy.cuda import runtime

    names = [runtime.getDeviceProperties(index)["name"] for index in range(count)]
    return tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names)


def take_probe() -> Probe:
    """Probe each requirement of a GPU run in turn."""
    found: dict[str, Any] = {
        "system": sys.platform,
        "distribution": _distribution(),
        "driver_cuda": _driver_cuda(),
        "cupy_package": _cupy_package(),
        "devices_hidden": os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1"),
    }
    try:
        import cupy
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            found["cupy_fault"] = str(error)
        return Probe(**found)
    except Exception as error:  # a broken installation raises whatever its libraries raise
        found["cupy_fault"] = str(error).strip().splitlines()[0] if str(error) else repr(error)
        return Probe(**found)
    found["cupy"] = str(cupy.__version__)
    found |= _count_devices() | {"nvrtc": _nvrtc(), "cublas": _has_cublas()}
    return Probe(**found)


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("ID", "")
    except (OSError, AttributeError):
        return ""


def _driver_cuda() -> int:
    """The CUDA version that the driver speaks, 0 without one (cuDriverGetVersion)."""
    names = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
    for name in names:
        try:
            library = ctypes.CDLL(name)
            number = ctypes.c_int(0)
            if library.cuDriverGetVersion(ctypes.byref(number)) == 0:
                return number.value
        except (OSError, AttributeError):
            continue
    return 0


def _cupy_package() -> str | None:
    for package in CUPY_PACKAGES:
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        return package
    return None


def _count_devices() -> dict[str, int]:
    from cupy.cuda import runtime

    found = {"devices": 0, "device_status": 0}
    try:
        found["driver_cuda"] = int(runtime.driverGetVersion())
        found["devices"] = int(runtime.getDeviceCount())
    except runtime.CUDARuntimeError as error:
        found["device_status"] = int(error.status)
    return found


def _nvrtc() -> str | None:
    try:
        from cupy.cuda import nvrtc

        return "{}.{}".format(*nvrtc.getVersion())
    except Exception:  # the loader's error has a class of its own in every release
        return None


def _has_cublas() -> bool:
    try:
        from cupy.cuda import cublas

        cublas.destroy(cublas.create())
    except ImportError:
        return False
    except Exception as error:  # the library is there and says that it finds no device
        return type(error).__name__ == "CUBLASError"
    return True


def describe(index: int, probe: Probe) -> Device:
    """GPU number `index`, read from the driver."""
    import cupy
    from cupy.cuda import cublas, runtime

    def attribute(name: str) -> int:
        return int(runtime.deviceGetAttribute(getattr(runtime, f"cudaDevAttr{name}"), index))

    with cupy.cuda.Device(index):
        memory = int(runtime.memGetInfo()[1])
        properties = runtime.getDeviceProperties(index)
        handle = cublas.create()
        library = int(cublas.getVersion(handle))
        cublas.destroy(handle)
    capability = (properties["major"], properties["minor"])
    clock, memory_clock = attribute("ClockRate") / 1e3, attribute("MemoryClockRate") / 1e3
    multiprocessors, bus = attribute("MultiProcessorCount"), attribute("GlobalMemoryBusWidth")
    return Device(
        name=_names(index + 1)[index],
        compute_capability="{}.{}".format(*capability),
        multiprocessors=multiprocessors,
        memory_bytes=memory,
        sm_clock_mhz=clock,
        memory_clock_mhz=memory_clock,
        memory_bus_bits=bus,
        l2_bytes=attribute("L2CacheSize"),
        threads_per_multiprocessor=attribute("MaxThreadsPerMultiProcessor"),
        shared_bytes_per_block=attribute("MaxSharedMemoryPerBlockOptin"),
        peak_fp32_tflops=peak_fp32_tflops(capability, multiprocessors, clock),
        # two transfers a clock on every pin of the bus
        peak_gb_s=2 * memory_clock * 1e6 * bus / 8 / 1e9 if memory_clock and bus else None,
        driver=_driver_release(),
        driver_cuda=cuda_version(probe.driver_cuda),
        cuda_runtime=cuda_version(int(runtime.runtimeGetVersion())),
        nvrtc=probe.nvrtc or "",
        cublas=f"{library // 10000}.{library // 100 % 100}.{library % 100}",
        cupy=probe.cupy or "",
    )


def _driver_release() -> str:
    """The driver's own number ("580.159.04"), empty where nvidia-smi does not report it."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    query = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return next(iter(done.stdout.split()), "")
