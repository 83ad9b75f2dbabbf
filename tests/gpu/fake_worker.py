"""A worker's process with jobs that need no GPU: they answer, hang, die and raise on demand."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpu.bits import ProductJob, encode_array, simulated_product
from gpu.cuda.device import Device
from gpu.cuda.probe import check_index
from gpu.json_data import decode
from gpu.progress import Progress
from gpu.scale.plan import make_plan
from gpu.scale.scaling import ScaleRun, Scaling, Way
from gpu.trace.job import TraceJob
from gpu.trace.trace import Block, Interval, Kind, Trace, TracedPhase
from gpu.worker import serve
from simulator.language.errors import LaunchError
from tests.gpu.fake_shapes import shapes_of

Request = Mapping[str, Any]
CANNED = Path(__file__).with_name("comparison.json")


class FakeCudaError(RuntimeError):
    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"status {status}")


def echo(request: Request, progress: Progress) -> dict[str, Any]:
    print("noise on stdout that is no message")
    for text in request.get("progress", []):
        progress(text)
    return {"said": request.get("say"), "process": os.getpid(), "at": time.monotonic()}


def sleep(request: Request, progress: Progress) -> dict[str, Any]:
    progress(request.get("doing", "Running endless and checking its C"), request.get("done"))
    time.sleep(float(request.get("seconds", 60)))
    return {"process": os.getpid()}


def die(request: Request, progress: Progress) -> dict[str, Any]:
    progress("Running deadly and checking its C")
    os._exit(int(request.get("code", 7)))


def cuda(request: Request, progress: Progress) -> dict[str, Any]:
    progress("Running stray and checking its C")
    raise FakeCudaError(int(request["status"]))


def refuse(_request: Request, _progress: Progress) -> dict[str, Any]:
    raise LaunchError("The block is too large.")


def fault(_request: Request, _progress: Progress) -> dict[str, Any]:
    return {"lost": dict[str, str]()["key"]}


def hog(_request: Request, progress: Progress) -> dict[str, Any]:
    """Take the GPU's memory twice over with plain allocations."""
    import cupy

    progress("Running hog and checking its C")
    total = int(cupy.cuda.runtime.memGetInfo()[1])
    kept = [cupy.empty(total // 2, dtype=cupy.uint8) for _ in range(4)]
    return {"took": len(kept)}


def status(request: Request, _progress: Progress) -> dict[str, Any]:
    """As many GPUs as FAKE_GPUS says, each named by its number but the first."""
    device = json.loads(CANNED.read_text(encoding="utf-8"))["device"]
    count, index = int(os.environ.get("FAKE_GPUS", "1")), int(request.get("gpu", 0))
    check_index(index, count)
    names = [device["name"], *(f"{device['name']} {number}" for number in range(1, count))]
    device = device | {"name": names[index]}
    return {"device": device, "missing": None, "parts": {}, "devices": names}


def compare(request: Request, progress: Progress) -> dict[str, Any]:
    """The canned comparison under the names and the size that were asked for."""
    canned: dict[str, Any] = json.loads(CANNED.read_text(encoding="utf-8"))
    names = [kernel["name"] for kernel in request["kernels"]]
    for place, name in enumerate(names):
        progress(f"Running {name} and checking its C", place / len(names))
        time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
    by_name = {kernel["name"]: kernel for kernel in canned["kernels"]}
    canned["kernels"] = [
        by_name.get(one["name"], by_name["tiled"] | {"name": one["name"]})
        | {"source": one["text"], "defines": one["defines"]}
        for one in request["kernels"]
    ]
    canned["kernels"].append(by_name["cublas"])
    device = canned["device"] | {"name": status(request, progress)["device"]["name"]}
    return canned | {"size": request["size"], "device": device}


def product(request: Request, progress: Progress) -> dict[str, Any]:
    """The simulator's own C; the text "wrong" in FAKE_BITS turns the last bit of C[1, 2]."""
    job = decode(ProductJob, request, "The job")
    progress(f"Running {job.kernel.name} for its C", 0.5)
    C = simulated_product(job.kernel, job.size, job.seed)
    if os.environ.get("FAKE_BITS") == "wrong":
        C.view(f"u{C.dtype.itemsize}")[1, 2] ^= 1
    return {"C": encode_array(C)}


def limits(_request: Request, progress: Progress) -> dict[str, Any]:
    progress("Running multiply-adds alone", 0.2)
    return {
        "ceilings": {"fp32_tflops": 0.9, "dram_gb_s": 50.0, "l2_gb_s": 150.0},
        "latency": {"register": 4.0, "shared": 29.0, "l1": 39.0, "l2": 288.0, "dram": 686.0},
    }


def shapes(_request: Request, progress: Progress) -> dict[str, Any]:
    progress("Timing 4096 x 4096 x 4096", 0.5)
    return shapes_of(1.05, 0.9).to_json()


def scale(request: Request, progress: Progress) -> dict[str, Any]:
    """Times that fall with the GPUs, each 10% over ideal; FAKE_SCALE=wrong makes a C wrong."""
    device = status(request, progress)["device"]
    counts, size = request["gpus"], tuple(request["size"])
    runs = [
        ScaleRun(
            gpus=gpus, way=way, verified=right, verdict="C is right." if right else "C is wrong.",
            same_bits=right, ms=ms, ms_spread=(0.99 * ms, 1.02 * ms), repeats=20,
            tflops=50.0 * gpus, speedup=100 / ms, efficiency=100 / ms / gpus, ideal_ms=100 / gpus,
            bytes_moved=0 if way is Way.IN_PLACE else plan.bytes_moved, max_rel_error=1e-5,
            rel_norm_error=1e-6, error_bound=1e-4, plan=plan,
        )
        for gpus in counts
        for way in ([Way.IN_PLACE] if gpus == 1 else [Way.PEER, Way.IN_PLACE])
        for plan in [make_plan(size, gpus, (128, 256))]
        for ms in [100.0 if gpus == 1 else 110.0 / gpus]
        for right in [gpus == 1 or os.environ.get("FAKE_SCALE") != "wrong"]
    ]  # fmt: skip
    names = tuple(status(request, progress)["devices"][: counts[-1]])
    return Scaling(
        decode(Device, device, "The device"), names, size, "warptiles", {}, "text", 132, 400.0,
        tuple(runs), ("NCCL was not found.",),
    ).to_json()  # fmt: skip


def trace(request: Request, progress: Progress) -> dict[str, Any]:
    """A trace of one block of one warp; FAKE_TRACE=wrong gives C other bits."""
    job = decode(TraceJob, request, "The job")
    progress(f"Running {job.kernel.name} for its trace", 0.9)
    phases = (
        TracedPhase("copy", Kind.LOAD, 19, 22, 733.0, (700.0, 800.0), 16.0, 0.26),
        TracedPhase("inner loop", Kind.COMPUTE, 25, 26, 2064.0, (2000.0, 2100.0), 16.0, 0.7),
    )
    warp = (Interval(0, 0, 10, 710), Interval(1, 0, 730, 2724))
    blocks = (Block(0, 0, 17, 0, 5120, (warp,)), Block(1, 0, 3, 32, 5184))
    same = os.environ.get("FAKE_TRACE") != "wrong"
    return Trace(
        job.kernel.name, job.size, job.level, 1.06, same, phases, -0.04, blocks, 21.0, "Half of it."
    ).to_json()  # fmt: skip


JOBS = {
    "echo": echo, "sleep": sleep, "die": die, "cuda": cuda, "refuse": refuse, "fault": fault,
    "hog": hog, "status": status, "compare": compare, "product": product,
    "limits": limits, "scale": scale, "shapes": shapes, "trace": trace,
}  # fmt: skip

if __name__ == "__main__":
    serve(JOBS)
