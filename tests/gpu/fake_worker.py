"""A worker's process with jobs that need no GPU: they answer, hang, die and raise on demand."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gpu.worker import serve
from simulator.tree import LaunchError

Request = Mapping[str, Any]
Progress = Callable[[str], None]
CANNED = Path(__file__).with_name("comparison.json")


class FakeCudaError(RuntimeError):
    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"status {status}")


def echo(request: Request, progress: Progress) -> dict[str, Any]:
    print("noise on stdout that is no message")
    for text in request.get("progress", []):
        progress(text)
    return {"said": request.get("say"), "process": os.getpid()}


def sleep(request: Request, progress: Progress) -> dict[str, Any]:
    progress(request.get("doing", "Running endless and checking its C"))
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


def status(_request: Request, _progress: Progress) -> dict[str, Any]:
    device = json.loads(CANNED.read_text(encoding="utf-8"))["device"]
    return {"device": device, "missing": None, "parts": {}}


def compare(request: Request, progress: Progress) -> dict[str, Any]:
    """The canned comparison under the names and the size that were asked for."""
    canned: dict[str, Any] = json.loads(CANNED.read_text(encoding="utf-8"))
    names = [kernel["name"] for kernel in request["kernels"]]
    for name in names:
        progress(f"Running {name} and checking its C")
        time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
    by_name = {kernel["name"]: kernel for kernel in canned["kernels"]}
    canned["kernels"] = [by_name.get(name, by_name["tiled"] | {"name": name}) for name in names]
    canned["kernels"].append(by_name["cublas"])
    return canned | {"size": request["size"]}


JOBS = {
    "echo": echo, "sleep": sleep, "die": die, "cuda": cuda, "refuse": refuse, "fault": fault,
    "hog": hog, "status": status, "compare": compare,
}  # fmt: skip

if __name__ == "__main__":
    serve(JOBS)
