"""Figures as lines of text for a terminal."""

from __future__ import annotations

import dataclasses

from gpu.comparison import Comparison, KernelResult, explain_steadiness
from gpu.cuda.microbenchmarks.limits import Limits
from gpu.precision import short_name
from gpu.predicted_counters import global_sectors, shared_wavefronts
from gpu.scale.scaling import ScaleRun, Scaling
from gpu.shapes.shape import Shape, Shapes, geometric_mean
from gpu.trace.trace import Trace, TracedPhase
from simulator.catalogue import FEW


def table(comparison: Comparison) -> str:
    """A comparison as two tables: how fast and how right, and what each kernel takes."""
    lines = [
        "{} x {} x {} (M, N, K) on {}".format(*comparison.size, comparison.device.name),
        f"{'kernel':20}{'type':>8}{'verified':>9}{'ms':>10}{'p20':>10}{'p80':>10}{'TFLOP/s':>9}"
        f"{'of cuBLAS':>11}{'of peak':>9}{'GB/s':>7}{'max error':>11}{'error':>9}{'bound':>9}",
        *(_speed(kernel) for kernel in comparison.kernels),
        *explain_steadiness(comparison, lambda kernel: kernel.name),
    ]
    taking = [_resources(kernel) for kernel in comparison.kernels if kernel.registers is not None]
    if taking:
        lines += [
            f"{'':20}{'registers':>9}{'shared, B':>10}{'occupancy':>10}"
            f"{'global sectors*':>18}{'shared wavefronts*':>20}",
            *taking,
            "* of this launch, as the simulator counts them",
        ]
    return "\n".join(lines)


def _speed(kernel: KernelResult) -> str:
    if kernel.ms is None or kernel.ms_spread is None:
        return f"{kernel.name:20}{'':8}{'no':>9}  {kernel.verdict}"
    low, high = kernel.ms_spread
    row = (
        f"{kernel.name:20}{short_name(kernel.element):>8}"
        f"{'yes' if kernel.verified else 'NO':>9}{kernel.ms:10.4f}{low:10.4f}"
        f"{high:10.4f}{kernel.tflops or 0:9.2f}{kernel.cublas_ratio or 0:11.1%}"
        f"{_text(kernel.peak_share, '.1%'):>9}{_text(kernel.gb_per_s, '.0f'):>7}"
        f"{_text(kernel.max_rel_error, '.2g'):>11}{_text(kernel.rel_norm_error, '.2g'):>9}"
        f"{_text(kernel.error_bound, '.2g'):>9}"
    )
    return row if kernel.verified else f"{row}\n    {kernel.verdict}"


def _resources(kernel: KernelResult) -> str:
    counted = kernel.simulated
    sectors = "not predicted" if counted is None else _count(global_sectors(counted))
    wavefronts = "not predicted" if counted is None else _count(shared_wavefronts(counted))
    return (
        f"{kernel.name:20}{_text(kernel.registers, 'd'):>9}{_text(kernel.shared_bytes, ',d'):>10}"
        f"{_text(kernel.occupancy, '.0%'):>10}{sectors:>18}{wavefronts:>20}"
    )


def _count(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _text(value: float | None, form: str) -> str:
    return "none" if value is None else format(value, form)


def limits_table(limits: Limits) -> str:
    """Ceilings and latencies, one a line."""
    found = limits.ceilings
    cycles = ", ".join(
        f"{name} {value:.0f}" for name, value in dataclasses.asdict(limits.latency).items()
    )
    tensor = (
        f"Tensor cores alone: TF32 {found.tf32_tflops:.0f} TFLOP/s, half {found.half_tflops:.0f} "
        "TFLOP/s.\n"
        if found.tf32_tflops and found.half_tflops
        else ""
    )
    if found.tf32_group_tflops and found.half_group_tflops:
        tensor += (
            f"With warpgroup instructions: TF32 {found.tf32_group_tflops:.0f} TFLOP/s, half "
            f"{found.half_group_tflops:.0f} TFLOP/s.\n"
        )
    return (
        f"Multiply-adds alone: {found.fp32_tflops:.1f} TFLOP/s. Copy through DRAM: "
        f"{found.dram_gb_s:,.0f} GB/s, within the L2: {found.l2_gb_s:,.0f} GB/s.\n"
        f"{tensor}Latency in cycles: {cycles}."
    )


def shapes_table(run: Shapes) -> str:
    """A run over shapes: each one's chosen kernel beside cuBLAS, and how near all come to it."""
    lines = [
        f"{'M x N x K':>20}{'verified':>9}{'ms':>10}{'cuBLAS, ms':>12}{'of cuBLAS':>11}"
        f"{'GB/s':>7}{'of a copy':>11}  chosen",
        *map(_shape, run.shapes),
    ]
    few = [shape for shape in run.shapes if shape.is_random and shape.is_few]
    others = [shape for shape in run.shapes if shape.is_random and not shape.is_few]
    for drawn, which in ((others, ""), (few, f"with at most {FEW} rows or columns ")):
        if drawn:
            worst = min(drawn, key=lambda shape: shape.cublas_ratio)
            lines.append(
                f"{len(drawn)} shapes {which}drawn at random on {run.device.name}: geometric mean "
                f"{geometric_mean(drawn):.3f} of cuBLAS, worst {worst.cublas_ratio:.3f}"
            )
    return "\n".join(lines)


def _shape(shape: Shape) -> str:
    copied = "" if shape.copy_ratio is None else f"{shape.copy_ratio:.1%}"
    return (
        f"{' x '.join(map(str, shape.size)):>20}{'yes' if shape.verified else 'NO':>9}"
        f"{shape.ms:10.4f}{shape.cublas_ms:12.4f}{shape.cublas_ratio:11.1%}{shape.gb_per_s:7.0f}"
        f"{copied:>11}  {shape.kernel}: {shape.plan.reason}"
    )


def scaling_table(scaling: Scaling) -> str:
    """A product over several GPUs: how fast each way is, beside what would be ideal."""
    count = len(scaling.devices)
    link = f"; a copy between two: {scaling.peer_gb_s:.0f} GB/s" if scaling.peer_gb_s else ""
    return "\n".join(
        [
            "{} x {} x {} (M, N, K)".format(*scaling.size)
            + f", {scaling.kernel} on {count} x {scaling.device.name}{link}",
            f"{'GPUs':>4}  {'':12}{'verified':>9}{'ms':>10}{'p20':>10}{'p80':>10}{'ideal ms':>10}"
            f"{'TFLOP/s':>9}{'speed-up':>10}{'efficiency':>12}{'MB moved':>10}{'same bits':>11}",
            *map(_scale_run, scaling.runs),
            *scaling.notes,
        ]
    )


def _scale_run(run: ScaleRun) -> str:
    low, high = run.ms_spread
    moved = None if run.bytes_moved is None else run.bytes_moved / 1e6
    same = "" if run.same_bits is None else "yes" if run.same_bits else "NO"
    row = (
        f"{run.gpus:4}  {run.way:12}{'yes' if run.verified else 'NO':>9}{run.ms:10.3f}{low:10.3f}"
        f"{high:10.3f}{run.ideal_ms:10.3f}{run.tflops:9.1f}{run.speedup:10.2f}"
        f"{run.efficiency:12.1%}{_text(moved, ',.0f'):>10}{same:>11}"
    )
    return row if run.verified else f"{row}\n    {run.verdict}"


def trace_table(trace: Trace, device: str) -> str:
    """A trace as a table: how many cycles a warp takes for each phase, and how far to trust it."""
    places = {block.multiprocessor for block in trace.blocks}
    last = max((block.end for block in trace.blocks), default=0)
    lines = [
        "{}, {} x {} x {} (M, N, K) on ".format(trace.kernel, *trace.size) + device,
        f"{'phase':32}{'lines':>10}{'cycles':>10}{'p20':>10}{'p80':>10}{'times':>10}{'share':>8}",
        *map(_traced_phase, trace.phases),
        f"With reads of the clock the kernel takes {trace.ratio:.2f} times as long"
        f"{', so its phases may differ from the plain ones' if trace.is_disturbed else ''}; "
        f"its C has {'the same bits' if trace.same_bits else 'OTHER BITS'}. An empty read of "
        f"{trace.empty_read_cycles:.0f} cycles is subtracted each time.",
        f"The phases add up to {abs(trace.sum_error):.1%} "
        f"{'more' if trace.sum_error > 0 else 'less'} than a block's lifetime: "
        f"they {'account' if trace.tells_all else 'do not account'} for all of it.",
        f"{len(trace.blocks):,} blocks ran on {len(places)} multiprocessors in "
        f"{last / 1e3:,.1f} microseconds; {len(trace.whole_blocks)} of them are traced by warps.",
    ]
    return "\n".join([*lines, trace.left_out] if trace.left_out else lines)


def _traced_phase(phase: TracedPhase) -> str:
    low, high = phase.spread
    name = phase.name if phase.k is None else f"    {phase.name}"
    lines = f"{phase.first_line}-{phase.last_line}"
    return (
        f"{name[:31]:32}{lines:>10}{phase.cycles:10,.0f}{low:10,.0f}{high:10,.0f}"
        f"{phase.visits:10,.1f}{phase.share:8.1%}"
    )
