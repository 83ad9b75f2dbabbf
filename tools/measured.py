"""What is measured on a GPU by hand: kernels to start, and the files that results go into."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from gpu.cuda.run_tool import ToolError, run


def compiled(text: str, *options: str) -> Any:
    """CuPy's module of a text, which may include the toolkit's headers."""
    import cupy

    from compiler.headers import toolkit_folders

    folders = (f"--include-path={folder}" for folder in toolkit_folders())
    return cupy.RawModule(code=text, options=("-std=c++17", *options, *folders))


def digest(array: np.ndarray[Any, Any]) -> str:
    """What tells arrays apart, bit by bit."""
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()


def machine() -> dict[str, str]:
    """Which GPU, driver and toolkit are here, and today's date."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    lines = run(query, 60).stdout.splitlines()
    if not lines or "," not in lines[0]:
        raise ToolError("nvidia-smi names no GPU here.")
    gpu, driver = (field.strip() for field in lines[0].split(",")[:2])
    release = re.search(r"release ([\d.]+)", run(["nvcc", "--version"], 60).stdout)
    return {
        "gpu": gpu,
        "driver": driver,
        "cuda": release[1] if release else "?",
        "date": datetime.now(UTC).date().isoformat(),
    }


def write(path: Path, result: Mapping[str, Any]) -> None:
    """The result as JSON, each entry of its last list or object on a line of its own."""
    *head, (last, rows) = result.items()
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head]
    if isinstance(rows, Mapping):
        (begin, end), entries = "{}", [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items()]
    else:
        (begin, end), entries = "[]", [json.dumps(row) for row in rows]
    body = ",\n".join(f"  {entry}" for entry in entries)
    text = "\n".join(["{", *lines, f" {json.dumps(last)}: {begin}", body, f" {end}", "}"])
    path.write_text(text + "\n", encoding="utf-8")
