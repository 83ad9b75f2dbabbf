"""GPUs from a terminal: what is here, a comparison with cuBLAS, limits, a trace, a recording."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpu import bits, recorded
from gpu.candidate import Candidate, check_size, choose, is_meant_for, variants
from gpu.compare import request, with_simulated
from gpu.comparison import Comparison, comparison_from
from gpu.cuda import hardware_counters
from gpu.cuda.device import Device, Missing, Status, status_from
from gpu.cuda.microbenchmarks import limits
from gpu.cuda.microbenchmarks.limits import Limits, limits_from
from gpu.cuda.run_tool import ToolError
from gpu.scale import job as scale_job
from gpu.scale import recorded as scale_recorded
from gpu.scale.scaling import scaling_from
from gpu.shapes import job as shapes_job
from gpu.shapes.shape import Shapes, shapes_from, with_few
from gpu.tables import limits_table, scaling_table, shapes_table, table, trace_table
from gpu.trace import job as trace_job
from gpu.trace import recorded as trace_recorded
from gpu.trace.instrument import instrument
from gpu.trace.job import Whole
from gpu.trace.perfetto import trace_events
from gpu.trace.trace import Level, trace_from
from gpu.user_kernel import clean_candidate
from gpu.worker import Worker, WorkerError
from simulator.catalogue import catalogue, whole_catalogue
from simulator.language.errors import LaunchError, SourceError

# What a recording holds: squares to see speed against size, one oblong, one ragged, and two whose
# time is what reading B, or A, once takes.
RECORDED_SIZES = (
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (8192, 6144, 4096),
    (4095, 4097, 1023),
    (4, 4096, 4096),
    (4096, 4, 4096),
)
COUNTED_SIZES = ((1024, 1024, 1024), (4096, 4096, 4096), (4095, 4097, 1023))
TRACED_SIZES = ((512, 512, 512), (2048, 2048, 2048))
RECORDED_INTERVALS = 8_000  # of the warps of one trace
# Kernels that are timed with and without the L1 cache, and what tells the compiler to do without.
L1_KERNELS = ("naive", "tiled", "tiled:TILE=32", "registers")
L1_SIZE = (4096, 4096, 4096)
BITS_SIZE = (100, 72, 36)  # ragged for every tile, and a second's work for the simulator


class NoGpuError(Exception):
    """Why there is no GPU that can be used, and below that a command that mends it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 fine, 1 when a kernel is not verified, 2 on an error or without a GPU."""
    options = _parser().parse_args(arguments)
    worker = Worker()
    try:
        return int(options.run(options, worker))
    except (NoGpuError, WorkerError, LaunchError, SourceError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 2
    finally:
        worker.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpu", description=__doc__)
    commands = parser.add_subparsers(
        required=True, metavar="status|compare|bits|limits|shapes|scale|trace|record"
    )
    status = commands.add_parser("status", help="which GPU is here, or what is missing")
    status.set_defaults(run=_status)

    compare = commands.add_parser(
        "compare", help="verify kernels, and compare their times with cuBLAS"
    )
    _add_size(compare, (4096, 4096, 4096))
    compare.set_defaults(run=_compare)

    bits = commands.add_parser("bits", help="compare C with the simulator's, bit for bit")
    _add_size(bits, BITS_SIZE)
    bits.set_defaults(run=_bits)

    limits = commands.add_parser("limits", help="measure ceilings and latencies of this GPU")
    limits.set_defaults(run=_limits)

    shapes = commands.add_parser(
        "shapes", help="choose a kernel for each of many shapes, and compare it with cuBLAS"
    )
    _add_shapes_options(shapes)

    scale = commands.add_parser("scale", help="spread a product over several GPUs of this host")
    _add_scale_options(scale)

    trace = _add_trace(commands)
    record = _add_record(commands)

    for command in (status, compare, bits, limits, shapes, trace, record):
        command.add_argument(
            "--gpu", type=int, default=0, metavar="NUMBER", help="which one, as status lists them"
        )
    for command in (status, compare, limits, shapes, scale, trace):
        command.add_argument("--json", action="store_true", help="print one JSON object")
    for command in (compare, bits, limits, shapes, scale, trace, record):
        command.add_argument(
            "--limit", type=_seconds, default=300.0, help="seconds that a job may take"
        )
    for command in (compare, bits, record):
        command.add_argument(
            "--kernels",
            help="names, separated by commas; tiled:TILE=32 sets a macro of one. Default: all",
        )
        command.add_argument(
            "-D", dest="defines", action="append", default=[], metavar="NAME=VALUE",
            help="set a macro in every kernel that has it",
        )  # fmt: skip
    return parser


def _add_size(command: argparse.ArgumentParser, usual: tuple[int, int, int]) -> None:
    for name, extent in zip("mnk", usual, strict=True):
        command.add_argument(f"--{name}", type=int, default=extent, help=f"default {extent}")


def _add_record(commands: Any) -> argparse.ArgumentParser:
    record: argparse.ArgumentParser = commands.add_parser(
        "record",
        help="measure every kernel and keep the figures",
        description="Measure every kernel and keep the figures. With --kernels, measure only "
        "those, and keep the rest of an earlier recording of the same GPU and driver.",
    )
    record.add_argument("--folder", type=Path, default=recorded.FOLDER, help="where to write")
    record.add_argument("--traces", action="store_true", help="only the traces, not the rest")
    record.add_argument(
        "--l1", action="store_true", help="only the kernels' times with and without the L1 cache"
    )
    record.set_defaults(run=_record)
    return record


def _add_shapes_options(shapes: argparse.ArgumentParser) -> None:
    shapes.add_argument(
        "--few",
        action="store_true",
        help="only shapes with few rows or columns, and the kernels for them",
    )
    shapes.set_defaults(run=_shapes)


def _add_scale_options(scale: argparse.ArgumentParser) -> None:
    _add_size(scale, (16384, 16384, 16384))
    scale.add_argument(
        "--gpus", default="", metavar="1,2,4",
        help="how many; default: 1, 2, 4 and so on, up to all GPUs of the host",
    )  # fmt: skip
    scale.add_argument(
        "--record", nargs="?", type=Path, const=scale_recorded.FOLDER, metavar="FOLDER",
        help="keep the figures there, or where the GPU page reads them",
    )  # fmt: skip
    scale.set_defaults(run=_scale, gpu=0)


def _add_trace(commands: Any) -> argparse.ArgumentParser:
    trace: argparse.ArgumentParser = commands.add_parser(
        "trace", help="read the GPU's clock between a kernel's statements"
    )
    trace.add_argument(
        "kernel", metavar="KERNEL", help="tiled or tiled:TILE=32 of the catalogue, or FILE.cu"
    )
    _add_size(trace, (2048, 2048, 2048))
    trace.add_argument(
        "--blocks", type=Whole, choices=tuple(Whole), default=Whole.WAVE,
        help="trace all warps of this many blocks, from the first one on; default wave",
    )  # fmt: skip
    trace.add_argument(
        "--level", type=Level, choices=tuple(Level), default=Level.PHASES,
        help="between which statements to read the clock; default: phases",
    )  # fmt: skip
    trace.add_argument("--perfetto", type=Path, metavar="FILE", help="write Chrome's trace format")
    trace.add_argument(
        "--diff",
        action="store_true",
        help="print what reading the clock changes in the code, and run nothing",
    )
    trace.set_defaults(run=_trace)
    return trace


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 < (seconds := float(text)) < math.inf:
            return seconds
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0.")


def _status(options: argparse.Namespace, worker: Worker) -> int:
    found = worker.status(options.gpu)
    if options.json:
        print(json.dumps(found, indent=1))
    device, names = _usable(status_from(found))
    if not options.json:
        print(_describe(device))
        for number, name in enumerate(names) if len(names) > 1 else ():
            print(f"{f'--gpu {number}:':17}{name}")
    return 0


def _usable(status: Status) -> tuple[Device, tuple[str, ...]]:
    """The GPU that can be used, and the names of all; NoGpuError says what is missing."""
    if status.device is None:
        missing = status.missing or Missing("device", "a GPU", "No GPU can be used.", "")
        raise NoGpuError("\n  ".join(filter(None, (missing.sentence, missing.command))))
    return status.device, status.devices


def _look(options: argparse.Namespace, worker: Worker) -> Device:
    return _usable(status_from(worker.status(options.gpu)))[0]


def _run(options: argparse.Namespace, worker: Worker, job: Mapping[str, Any]) -> dict[str, Any]:
    return dict(worker.submit(job, options.limit).wait(_report))


def _candidates(
    options: argparse.Namespace, size: tuple[int, int, int], usual: Iterable[str]
) -> list[Candidate]:
    return [choose(name, size, _defines(options)) for name in _names(options, usual)]


def _compare(options: argparse.Namespace, worker: Worker) -> int:
    size = (options.m, options.n, options.k)
    candidates = _candidates(options, size, whole_catalogue())
    _look(options, worker)
    comparison = _run_comparison(options, worker, size, candidates)
    print(json.dumps(comparison.to_json(), indent=1) if options.json else table(comparison))
    return 0 if comparison.verified else 1


def _run_comparison(
    options: argparse.Namespace,
    worker: Worker,
    size: tuple[int, int, int],
    candidates: Sequence[Candidate],
) -> Comparison:
    found = _run(options, worker, request(size, candidates, options.gpu))
    return with_simulated(comparison_from(found), lambda message, _done=None, /: _report(message))


def _bits(options: argparse.Namespace, worker: Worker) -> int:
    size = (options.m, options.n, options.k)
    candidates = _candidates(options, size, catalogue())
    _look(options, worker)
    verdicts = _run_bits(options, worker, size, candidates)
    return 0 if all(verdict.identical for verdict in verdicts) else 1


def _run_bits(
    options: argparse.Namespace,
    worker: Worker,
    size: tuple[int, int, int],
    candidates: Sequence[Candidate],
) -> list[bits.BitVerdict]:
    """Compare each kernel's C with the simulator's, and print each verdict as it is found."""
    print("Bit for bit, M, N, K = {}, {}, {}".format(*size))
    verdicts = []
    for candidate in candidates:
        job = bits.request(candidate, size, bits.fresh_seed(), options.gpu)
        verdict = bits.judge(job, _run(options, worker, job))
        print(f"{candidate.name + ':':24}{verdict.sentence}")
        verdicts.append(verdict)
    return verdicts


def _limits(options: argparse.Namespace, worker: Worker) -> int:
    _look(options, worker)
    found = _run(options, worker, limits.request(options.gpu))
    print(json.dumps(found, indent=1) if options.json else limits_table(limits_from(found)))
    return 0


def _shapes(options: argparse.Namespace, worker: Worker) -> int:
    _look(options, worker)
    run = _run_shapes(options, worker, few_alone=options.few)
    print(json.dumps(run.to_json(), indent=1) if options.json else shapes_table(run))
    return 0 if run.verified else 1


def _run_shapes(options: argparse.Namespace, worker: Worker, few_alone: bool) -> Shapes:
    return shapes_from(_run(options, worker, shapes_job.request(options.gpu, few_alone)))


def _scale(options: argparse.Namespace, worker: Worker) -> int:
    size = (options.m, options.n, options.k)
    check_size(size)
    wanted = _counts(options.gpus)
    if options.record:
        _check_folder(options.record)
    _, names = _usable(status_from(worker.status(options.gpu)))
    begun = datetime.now(UTC)
    job = scale_job.request(size, scale_job.choose_counts(wanted, len(names)))
    scaling = scaling_from(_run(options, worker, job))
    print(json.dumps(scaling.to_json(), indent=1) if options.json else scaling_table(scaling))
    if options.record:
        _report(f"Wrote {scale_recorded.write(scaling, options.record, begun)}")
    return 0 if scaling.verified else 1


def _trace(options: argparse.Namespace, worker: Worker) -> int:
    size = (options.m, options.n, options.k)
    candidate = _traced_candidate(options.kernel, size)
    if options.diff:
        code = instrument(candidate.text, candidate.kernel, candidate.defines, options.level)
        print(code.diff())
        return 0
    device = _look(options, worker)
    job = trace_job.request(size, candidate, options.level, options.blocks, gpu=options.gpu)
    trace = trace_from(_run(options, worker, job))
    print(json.dumps(trace.to_json()) if options.json else trace_table(trace, device.name))
    if options.perfetto:
        options.perfetto.write_text(json.dumps(trace_events(trace)), encoding="utf-8")
    return 0 if trace.same_bits else 1


def _traced_candidate(kernel: str, size: tuple[int, int, int]) -> Candidate:
    """A kernel of the catalogue by its name, or one of a file, which must run clean before."""
    if kernel.endswith(".cu"):
        _report(f"Running {kernel} in the simulator")
        return clean_candidate(Path(kernel).read_text(encoding="utf-8"), size)
    return choose(kernel, size)


def _counts(text: str) -> list[int]:
    counts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in counts):
        raise LaunchError(f"--gpus {text} is not a list of numbers of GPUs; write --gpus 1,2,4.")
    return [int(part) for part in counts]


def _check_folder(folder: Path) -> None:
    """Raise LaunchError for a folder that cannot be written, before what takes long."""
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise LaunchError(f"{folder} cannot be written; name another folder.")


def _record(options: argparse.Namespace, worker: Worker) -> int:
    _check_folder(options.folder)
    device = _look(options, worker)
    begun = datetime.now(UTC)
    names = _names(options, variants(whole_catalogue()))
    if options.traces:
        return 0 if _record_traces(options, worker, names, device, begun) else 1
    if options.l1:
        return _record_without_l1(options, worker, device)
    earlier = recorded.same_device(options.folder, device) if options.kernels else None
    found, shapes = _of_device(options, worker, earlier, names)
    simulated = [name for name in names if name.split(":")[0] in catalogue()]
    few = [choose(name, BITS_SIZE, _defines(options)) for name in simulated]
    verdicts = _run_bits(options, worker, BITS_SIZE, few)
    same = all(verdict.identical for verdict in verdicts)
    if earlier:
        verdicts = [*(kept for kept in earlier.bits if kept.name not in names), *verdicts]
    comparisons = list(earlier.comparisons) if earlier else []
    without_l1 = earlier.without_l1 if earlier else _compare_without_l1(options, worker)
    right = True
    for size in RECORDED_SIZES:
        print("M, N, K = {}, {}, {}".format(*size), file=sys.stderr)
        candidates = [
            choose(name, size, _defines(options)) for name in names if is_meant_for(name, size)
        ]
        if not candidates:
            continue
        comparison = _run_comparison(options, worker, size, candidates)
        print(table(comparison), end="\n\n")
        right = right and comparison.verified
        if size in COUNTED_SIZES and hardware_counters.available():
            comparison = _counted(comparison, candidates, options.gpu)
        comparisons = recorded.beside(comparisons, comparison)
        # After each size, so that an interrupted run is not lost.
        path = recorded.write(
            comparisons, options.folder, begun, found, verdicts, shapes, without_l1
        )
    print(f"Wrote {path}")
    same = _record_traces(options, worker, names, device, begun) and same
    return 0 if right and same and (shapes is None or shapes.verified) else 1


def _compare_without_l1(options: argparse.Namespace, worker: Worker) -> Comparison:
    """Some kernels as usual, and compiled for loads that do not keep what they read in L1."""
    usual = [choose(name, L1_SIZE) for name in L1_KERNELS]
    past = [
        replace(one, name=f"{one.name} {recorded.PAST_L1}", options=(recorded.PAST_L1,))
        for one in usual
    ]
    comparison = _run_comparison(options, worker, L1_SIZE, [*usual, *past])
    print(table(comparison), end="\n\n")
    return comparison


def _record_without_l1(options: argparse.Namespace, worker: Worker, device: Device) -> int:
    """Measure that alone, and keep it beside what the GPU's recording has."""
    run = recorded.same_device(options.folder, device)
    if run is None:
        raise LaunchError(
            f"{options.folder} has no recording of this GPU and driver; record all of it first."
        )
    comparison = _compare_without_l1(options, worker)
    path = recorded.write(
        run.comparisons, options.folder, run.when, run.limits, run.bits, run.shapes_run, comparison
    )
    print(f"Wrote {path}")
    return 0 if comparison.verified else 1


def _record_traces(
    options: argparse.Namespace,
    worker: Worker,
    names: Sequence[str],
    device: Device,
    begun: datetime,
) -> bool:
    """Trace kernels at TRACED_SIZES and keep that; whether each C has the plain kernel's bits."""
    folder = options.folder / trace_recorded.FOLDER.name
    traces = list(trace_recorded.same_device(folder, device)) if options.kernels else []
    try:
        for name, size in itertools.product(names, TRACED_SIZES):
            if not is_meant_for(name, size):
                continue
            candidate = choose(name, size, _defines(options))
            job = trace_job.request(size, candidate, kept=RECORDED_INTERVALS, gpu=options.gpu)
            found = trace_from(_run(options, worker, job))
            print(trace_table(found, device.name), end="\n\n")
            traces = [one for one in traces if (one.kernel, one.size) != (name, size)] + [found]
    finally:  # so that an interrupted run is not lost
        path = trace_recorded.write(traces, device, folder, begun)
    print(f"Wrote {path}")
    return all(trace.same_bits for trace in traces)


def _of_device(
    options: argparse.Namespace,
    worker: Worker,
    earlier: recorded.RecordedRun | None,
    names: Iterable[str],
) -> tuple[Limits | None, Shapes | None]:
    """The GPU's limits and a run over shapes: an earlier recording's, or else measured.

    Shapes with few rows or columns are measured again if one of their kernels is.
    """
    if earlier:
        shapes = earlier.shapes_run
        if shapes and any(whole_catalogue()[name.split(":")[0]].few for name in names):
            again = _run_shapes(options, worker, few_alone=True)
            print(shapes_table(again), end="\n\n")
            shapes = with_few(shapes, again)
        return earlier.limits, shapes
    found = limits_from(_run(options, worker, limits.request(options.gpu)))
    print(limits_table(found), end="\n\n")
    shapes = _run_shapes(options, worker, few_alone=False)
    print(shapes_table(shapes), end="\n\n")
    return found, shapes


def _counted(comparison: Comparison, candidates: Sequence[Candidate], gpu: int) -> Comparison:
    """The comparison with the hardware's counters, or as it is where the profiler cannot."""
    _report("Reading the hardware's counters with ncu")
    try:
        return hardware_counters.with_counters(comparison, candidates, gpu)
    except ToolError as error:
        _report(f"No hardware counters: {error}")
        return comparison


def _names(options: argparse.Namespace, usual: Iterable[str]) -> list[str]:
    if not options.kernels:
        whole_catalogue().checked()  # else a kernel would be missing without a word
        return list(usual)
    names = [name.strip() for name in str(options.kernels).split(",") if name.strip()]
    if not names:
        raise LaunchError(
            f"--kernels {options.kernels} names no kernel; write --kernels naive,tiled."
        )
    return names


def _defines(options: argparse.Namespace) -> Mapping[str, str]:
    pairs = [text.partition("=") for text in options.defines]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise LaunchError(f"-D {name}{equals}{value} is not a setting; write -D NAME=VALUE.")
        if not any(name in entry.defines for entry in whole_catalogue().values()):
            raise LaunchError(f"No kernel of the catalogue has a macro {name}.")
    return {name: value for name, _, value in pairs}


def _report(message: str) -> None:
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


if __name__ == "__main__":
    sys.exit(main())
