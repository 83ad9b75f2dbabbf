"""The GPU from a terminal: what is here, a comparison with cuBLAS, a recording."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpu import recorded
from gpu.compare import choose, request, variants
from gpu.device import Device, Status, status_from
from gpu.result import Comparison, KernelResult, comparison_from
from gpu.worker import Worker, WorkerError
from simulator.catalogue import catalogue
from simulator.tree import LaunchError

# What a recording holds: squares to see speed against size, one oblong, one ragged.
RECORDED_SIZES = (
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (8192, 6144, 4096),
    (4095, 4097, 1023),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 fine, 1 when a kernel is not verified, 2 on an error or without a GPU."""
    options = _parser().parse_args(arguments)
    worker = Worker()
    try:
        return int(options.run(options, worker))
    except (WorkerError, LaunchError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 2
    finally:
        worker.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpu", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="status|compare|record")
    status = commands.add_parser("status", help="which GPU is here, or what is missing")
    status.add_argument("--json", action="store_true", help="print one JSON object")
    status.set_defaults(run=_status)

    compare = commands.add_parser("compare", help="verify and time kernels beside cuBLAS")
    for name in "mnk":
        compare.add_argument(f"--{name}", type=int, default=4096, help="default 4096")
    compare.add_argument("--json", action="store_true", help="print one JSON object")
    compare.set_defaults(run=_compare)

    record = commands.add_parser("record", help="measure every kernel and keep the figures")
    record.add_argument("--folder", type=Path, default=recorded.FOLDER, help="where to write")
    record.set_defaults(run=_record)

    for command in (compare, record):
        command.add_argument(
            "--kernels",
            help="names with commas between; tiled:TILE=32 sets a macro of one. Default: all",
        )
        command.add_argument(
            "-D", dest="defines", action="append", default=[], metavar="NAME=VALUE",
            help="set a macro in every kernel that has it",
        )  # fmt: skip
        command.add_argument(
            "--limit", type=float, default=300.0, help="seconds a comparison may take"
        )
    return parser


def _status(options: argparse.Namespace, worker: Worker) -> int:
    found = worker.submit({"job": "status"}, 60).wait()
    if options.json:
        print(json.dumps(found, indent=1))
    status = status_from(found)
    if status.device is None:
        _explain(status)
        return 2
    if not options.json:
        print(_describe(status.device))
    return 0


def _explain(status: Status) -> None:
    if status.missing:
        print(status.missing.sentence, file=sys.stderr)
        if status.missing.command:
            print(f"  {status.missing.command}", file=sys.stderr)


def _usable(worker: Worker) -> bool:
    status = status_from(worker.submit({"job": "status"}, 60).wait())
    _explain(status)
    return status.device is not None


def _compare(options: argparse.Namespace, worker: Worker) -> int:
    size = (options.m, options.n, options.k)
    job = request(size, [choose(name, size, _defines(options)) for name in _names(options)])
    if not _usable(worker):
        return 2
    found = worker.submit(job, options.limit).wait(_tell)
    comparison = comparison_from(dict(found))
    print(json.dumps(found, indent=1) if options.json else _table(comparison))
    return 0 if comparison.verified else 1


def _record(options: argparse.Namespace, worker: Worker) -> int:
    if not _usable(worker):
        return 2
    comparisons, begun = [], datetime.now(UTC)
    for size in RECORDED_SIZES:
        print("M, N, K = {}, {}, {}".format(*size), file=sys.stderr)
        names = _names(options) if options.kernels else variants()
        job = request(size, [choose(name, size, _defines(options)) for name in names])
        comparison = comparison_from(dict(worker.submit(job, options.limit).wait(_tell)))
        print(_table(comparison), end="\n\n")
        comparisons.append(comparison)
        path = recorded.write(comparisons, options.folder, begun)  # kept if the next is cut off
    print(f"Wrote {path}")
    return 0 if all(comparison.verified for comparison in comparisons) else 1


def _names(options: argparse.Namespace) -> list[str]:
    if not options.kernels:
        return list(catalogue())
    return [name.strip() for name in str(options.kernels).split(",") if name.strip()]


def _defines(options: argparse.Namespace) -> Mapping[str, str]:
    pairs = [text.partition("=") for text in options.defines]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise LaunchError(f"-D {name}{equals}{value} is no setting; write -D NAME=VALUE.")
        if not any(name in entry.defines for entry in catalogue().values()):
            raise LaunchError(f"No kernel of the catalogue has a macro {name}.")
    return {name: value for name, _, value in pairs}


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def _describe(device: Device) -> str:
    peak = f"{device.peak_fp32_tflops:.1f} TFLOP/s" if device.peak_fp32_tflops else "not known"
    rows: dict[str, Any] = {
        "GPU": f"{device.name}, compute capability {device.compute_capability}",
        "Multiprocessors": f"{device.multiprocessors} at up to {device.sm_clock_mhz:.0f} MHz",
        "FP32 peak": peak,
        "Memory": f"{device.memory_bytes / 2**30:.0f} GiB",
        "Driver": f"{device.driver or 'unknown'} (CUDA {device.driver_cuda})",
        "CUDA runtime": device.cuda_runtime,
        "NVRTC": device.nvrtc,
        "cuBLAS": device.cublas,
        "CuPy": device.cupy,
    }
    return "\n".join(f"{name + ':':17}{value}" for name, value in rows.items())


def _table(comparison: Comparison) -> str:
    lines = [
        "{} x {} x {} (M, N, K) on {}".format(*comparison.size, comparison.device.name),
        f"{'kernel':16}{'verified':>9}{'ms':>10}{'p20':>10}{'p80':>10}{'TFLOP/s':>9}"
        f"{'of cuBLAS':>11}{'max error':>11}{'bound':>9}",
    ]
    return "\n".join(lines + [_row(kernel) for kernel in comparison.kernels])


def _row(kernel: KernelResult) -> str:
    if kernel.ms is None or kernel.ms_spread is None:
        return f"{kernel.name:16}{'no':>9}  {kernel.verdict}"
    low, high = kernel.ms_spread
    error = "none" if kernel.max_rel_error is None else f"{kernel.max_rel_error:.2g}"
    row = (
        f"{kernel.name:16}{'yes' if kernel.verified else 'NO':>9}{kernel.ms:10.4f}{low:10.4f}"
        f"{high:10.4f}{kernel.tflops or 0:9.2f}{kernel.cublas_ratio or 0:11.1%}"
        f"{error:>11}{kernel.error_bound or 0:9.2g}"
    )
    return row if kernel.verified else f"{row}\n    {kernel.verdict}"


if __name__ == "__main__":
    sys.exit(main())
