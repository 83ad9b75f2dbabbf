"""The GPU page: kernels beside each other, on a GPU here or of a cluster, or in a recorded run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from string import Template
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from gpu import bits, recorded
from gpu.bits import BitVerdict
from gpu.candidate import Candidate, choose, variant_title, variants
from gpu.compare import check_memory, request
from gpu.comparison import Comparison, comparison_from
from gpu.cuda.device import Device, Missing, Status, status_from
from gpu.cuda.microbenchmarks import limits
from gpu.cuda.microbenchmarks.limits import Limits, limits_from
from gpu.recorded import RecordedRun
from gpu.scale import recorded as scale_recorded
from gpu.scale.recorded import RecordedScaling
from gpu.trace import job as trace_job
from gpu.trace.trace import Trace, trace_from
from gpu.worker import Job, WorkerError
from simulator.catalogue import catalogue, whole_catalogue
from simulator.language.errors import LaunchError, SourceError
from ui.drawing.palette import PALETTES
from ui.glossary.component import draw_glossary, explain_words
from ui.gpu.gpu_jobs import (
    cluster_workers,
    draw_progress,
    end_job,
    query_status,
    reset_status,
    running_job,
    shared_cluster,
    start_job,
)
from ui.gpu.gpu_results import (
    is_of_few,
    show_bits,
    show_comparison,
    show_limits,
    show_scaling,
    show_shapes,
)
from ui.gpu.grid_section import draw_grid
from ui.gpu.trace_section import draw_recorded_traces, show_live_trace
from ui.gpu_charts import performance
from ui.jobs.settings import GPU_IS_OFF, may_use_gpu
from ui.jobs.workers import WorkerLostError
from ui.run.broken_section import draw_broken, drawn_from, list_broken
from ui.run.cache import compute
from ui.run.compute import judge_bits
from ui.run.mailbox import open_view
from ui.web_page.browser import browser_theme
from ui.web_page.plain_text import plain_text
from ui.web_page.popover import draw_popover
from ui.web_page.press import press
from ui.web_page.style import draw_style, paper_style
from ui.web_page.web_files import read_web

LARGEST = 32768  # of M, N and K
LARGEST_BITS = 1024  # of M, N and K: the simulator computes the product within seconds
BITS_SIZE = (100, 72, 36)
USUAL_KERNEL = "warptiles"  # of those that multiply in float32 the fastest
# Keys of the session state.
JOB, RESULT, PROBLEM = "compare_job", "compare_result", "compare_problem"
BITS, LIMITS, GPU = "compare_bits", "compare_limits", "compare_gpu"
TRACE = "compare_trace"
COMPONENT_NAMES = {"driver": "Driver", "device": "GPU"}
MARKS: Mapping[bool | None, str] = {
    True: ":material/check_circle: found",
    False: ":material/cancel: missing",
    None: ":material/help: not known yet",
}


def draw_page() -> None:
    """Draw the page."""
    draw_style(
        Template(read_web("gpu.css")).substitute(asdict(PALETTES[browser_theme()])) + paper_style()
    )
    explain_words(open_view)
    with st.container(key="title", horizontal=True, vertical_alignment="center"):
        st.title("On the GPU", anchor=False)
        draw_popover(
            "Words", ":material/dictionary:", "gpu_words", partial(draw_glossary, open_view)
        )
    lead = st.container()  # of the recorded run, where no GPU is here
    st.markdown(
        "A kernel is the code that the simulator steps through, compiled for a real GPU. Its "
        "product of random matrices is checked against one in double precision, and its time is "
        "compared with that of cuBLAS, NVIDIA's own library, in the same precision: FP32, which is "
        "`float`, or the type to which a kernel for tensor cores rounds A and B."
    )
    gpu = int(st.session_state.get(GPU, 0))
    workers = cluster_workers()
    status = status_from(query_status(gpu, workers))
    if status.device is not None:
        st.header("On the cluster" if workers else "On this machine", anchor=False)
        draw_live(status.device, status.devices, gpu)
        st.divider()
    draw_recordings(lead, beside_live=status.device is not None)
    draw_recorded_traces()
    draw_scalings()
    draw_grid()
    if not may_use_gpu():
        st.info(GPU_IS_OFF, icon=":material/info:")
    elif status.device is None:
        explain_missing(status, on_cluster=bool(workers))


def explain_missing(status: Status, on_cluster: bool) -> None:
    """Show, folded, which component is missing, and the command that installs it.

    It is missing on the cluster's worker, or on this machine.
    """
    missing = status.missing or Missing("device", "a GPU", "No GPU can be used.", "")
    where = "on the cluster" if on_cluster else "here"
    with st.expander(
        f"What is missing to run kernels {where}: {missing.what}",
        icon=":material/info:",
        key="missing",
    ):
        st.markdown(missing.sentence)
        if missing.command:
            st.code(missing.command, language=None)
        if status.parts:
            columns = st.columns(len(status.parts))
            for column, (part, state) in zip(columns, status.parts.items(), strict=True):
                column.markdown(f"**{COMPONENT_NAMES.get(part, part)}**  \n{MARKS[state]}")
        cluster = shared_cluster()
        if cluster and not on_cluster:
            st.markdown(
                "No worker of the cluster has a GPU. This command turns a machine that has one "
                "into a worker:"
            )
            st.code(cluster.join_command, language=None)
        st.button("Look again", icon=":material/refresh:", on_click=reset_status)


def draw_live(device: Device, devices: Sequence[str], gpu: int) -> None:
    """Draw the controls, run the chosen kernels, and show the results."""
    if len(devices) > 1:
        st.selectbox(
            "GPU", range(len(devices)), key=GPU,
            format_func=lambda number: f"{number}: {devices[number]}",
        )  # fmt: skip
    peak = device.peak_fp32_tflops
    st.markdown(
        f"**{device.name}**, {device.multiprocessors} multiprocessors"
        + (f", {peak:.1f} TFLOP/s FP32 peak" if peak else "")
        + f", driver {device.driver or device.driver_cuda}, CuPy {device.cupy}"
    )
    candidates, size = draw_controls(device)
    job = running_job(JOB)
    if job is not None and job.state.finished:
        collect_result(job)
        job = None
    draw_buttons(candidates, size, gpu, busy=job is not None)
    if job is not None:
        draw_progress(JOB)
    if st.session_state.get(PROBLEM):
        st.error(plain_text(st.session_state[PROBLEM]))
    limits_of_gpu: Limits | None = st.session_state.get(LIMITS, {}).get(gpu)
    result: Comparison | None = st.session_state.get(RESULT)
    if result is not None:
        show_comparison(result, limits_of_gpu, st.container(), st.columns(2), "live")
    elif limits_of_gpu is not None:
        show_limits(limits_of_gpu, "live")
    verdict: BitVerdict | None = st.session_state.get(BITS)
    if verdict is not None:
        show_bits([verdict])
    trace: Trace | None = st.session_state.get(TRACE)
    if trace is not None:
        show_live_trace(trace, device)
    draw_sources(candidates)


def draw_buttons(
    candidates: list[Candidate], size: tuple[int, int, int], gpu: int, busy: bool
) -> None:
    """Draw what a GPU can be asked for, and start the job of what is clicked."""
    runs, traces, compares, measures = st.columns(4)
    if press(
        runs.button, "Compare with cuBLAS", "compare_run", type="primary",
        icon=":material/play_arrow:", width="stretch", disabled=busy or not candidates,
    ):  # fmt: skip
        start(request(size, candidates, gpu))
    with traces.popover(
        "Read the clock", icon=":material/timer:", width="stretch", disabled=busy or not candidates
    ):
        draw_trace_form(candidates, size, gpu)
    with compares.popover(
        "Compare bit for bit", icon=":material/rule:", width="stretch", disabled=busy
    ):
        draw_bits_form(gpu)
    if press(
        measures.button, "Measure this GPU's limits", "compare_limits_run",
        icon=":material/speed:", width="stretch", disabled=busy,
    ):  # fmt: skip
        start(limits.request(gpu))


def draw_trace_form(candidates: list[Candidate], size: tuple[int, int, int], gpu: int) -> None:
    """Draw the form for a trace: one of the chosen kernels, at the chosen size."""
    st.markdown(
        "The kernel runs with reads of its multiprocessor's clock between its statements. They "
        "show how long each phase takes, and which block ran where and when. The kernel is timed "
        "without them, too."
    )
    by_name = {candidate.name: candidate for candidate in candidates}
    if not by_name:
        return
    name = st.selectbox("Kernel", list(by_name), key="trace_kernel", format_func=variant_title)
    if press(st.button, "Trace", "trace_run", type="primary", width="stretch"):
        start(trace_job.request(size, by_name[name], gpu=gpu))


def start(job: Mapping[str, Any]) -> None:
    """Submit a job, and rerun the page."""
    start_job(JOB, job)
    st.session_state[PROBLEM] = None
    if job["job"] == "compare":
        st.session_state[RESULT] = None
    st.rerun()


def draw_bits_form(gpu: int) -> None:
    """Draw the form for a bit-for-bit comparison: a kernel and a small size."""
    st.markdown(
        "The simulator and the GPU multiply the same random matrices; the two results are "
        "compared bit for bit. The size must be one that the simulator computes within seconds."
    )
    name = st.selectbox(
        "Kernel", variants(catalogue()), key="bits_kernel", format_func=variant_title
    )
    M, N, K = (
        int(column.number_input(axis, 1, LARGEST_BITS, usual, step=1, key=f"bits_{axis}"))
        for column, axis, usual in zip(st.columns(3), "MNK", BITS_SIZE, strict=True)
    )
    if press(st.button, "Compare", "bits_run", type="primary", width="stretch"):
        try:
            job = bits.request(choose(name, (M, N, K)), (M, N, K), bits.fresh_seed(), gpu)
        except LaunchError as error:
            st.error(plain_text(str(error)))
        else:
            start(job)


def draw_controls(device: Device) -> tuple[list[Candidate], tuple[int, int, int]]:
    """Draw the controls and return candidates and (M, N, K).

    There are no candidates if a kernel cannot run at this size or memory does not suffice.
    """
    offered = variants(whole_catalogue())
    chosen = st.multiselect(
        "Kernels", offered, default=[name for name in offered if name == USUAL_KERNEL],
        key="compare_kernels", format_func=variant_title,
    )  # fmt: skip
    list_broken(whole_catalogue().broken)
    M, N, K = (
        int(column.number_input(name, 1, LARGEST, 4096, step=1, key=f"compare_{name}"))
        for column, name in zip(st.columns(3), "MNK", strict=True)
    )
    try:
        candidates = [choose(name, (M, N, K)) for name in chosen]
        for candidate in candidates:
            check_memory((M, N, K), candidate.multiplies(), device.memory_bytes)
        return candidates, (M, N, K)
    except LaunchError as error:
        st.error(plain_text(str(error)))
        return [], (M, N, K)


def collect_result(job: Job) -> None:
    """Store a finished job's result, or the sentence of its error."""
    try:
        store_result(job.request, end_job(JOB, job))
    except (WorkerError, WorkerLostError, ValueError, SourceError, LaunchError) as error:
        st.session_state[PROBLEM] = str(error)


def store_result(job: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Store a job's result; a product is first compared with the simulator's."""
    match job["job"]:
        case "compare":
            st.session_state[RESULT] = comparison_from(dict(answer))
        case "limits":
            known = st.session_state.get(LIMITS, {})
            st.session_state[LIMITS] = known | {job["gpu"]: limits_from(answer)}
        case "trace":
            st.session_state[TRACE] = trace_from(answer)
        case "product":
            with st.spinner("The simulator computes its C …"):
                st.session_state[BITS] = compute(judge_bits, job, answer, on_stop=note_stopped)


def note_stopped() -> None:
    """Say that the visitor has stopped the simulator's part of a comparison."""
    st.session_state[PROBLEM] = "The simulator was stopped before it had computed its C."


def draw_sources(candidates: list[Candidate]) -> None:
    """Show the source of each chosen kernel, as it is compiled."""
    if candidates:
        st.subheader("The code that runs", anchor=False)
        tabs = st.tabs([candidate.name for candidate in candidates])
        for tab, candidate in zip(tabs, candidates, strict=True):
            tab.code(candidate.text, language="cpp", line_numbers=True)


def draw_recordings(lead: DeltaGenerator, beside_live: bool) -> None:
    """Show the comparisons of a recorded run, its sentence in `lead`.

    `beside_live` leaves out their source, and the sentence is with the rest.
    """
    found = recorded.recordings()
    for problem in found.problems:
        draw_broken(problem)
    if not found.runs:
        if not found.problems:
            st.markdown(recorded.NONE_CAME)
        return
    run = found.runs[0]
    if len(found.runs) > 1:
        run = st.selectbox("Recorded on", found.runs, format_func=lambda run: run.device.name)
    with drawn_from(run.file):
        draw_recording(run, None if beside_live else lead)


def _versions(device: Device) -> str:
    """The software of a recorded run. The driver's CUDA, the runtime and NVRTC may differ."""
    return (
        f"driver {device.driver or device.driver_cuda}, CUDA runtime {device.cuda_runtime}, "
        f"NVRTC {device.nvrtc}, cuBLAS {device.cublas}, CuPy {device.cupy}"
    )


def draw_recording(run: RecordedRun, lead: DeltaGenerator | None) -> None:
    """Show the comparisons of a run, and what else was measured in it.

    lead is where its sentence is; None, beside a GPU of this machine, leaves out its source.
    """
    st.header(f"Recorded on {run.device.name}, {run.when.day} {run.when:%B %Y}", anchor=False)
    device = run.device
    st.caption(
        f"{run.when:%Y-%m-%d %H:%M} UTC, {_versions(device)}. "
        "Written by `python -m gpu`; no figure was entered by hand."
    )
    sizes = {performance.size_name(size): index for index, size in enumerate(run.sizes)}
    usual = next((name for name, index in sizes.items() if run.sizes[index] == (4096,) * 3), None)
    size_column, *pair_columns = st.columns([2, 3, 3])
    name = size_column.selectbox(
        "M × N × K", list(sizes), index=list(sizes).index(usual) if usual else 0,
        key="recorded_size",
    )  # fmt: skip
    comparison = run.comparisons[sizes[name]]
    key = "recorded_few" if is_of_few(comparison) else "recorded"  # each has kernels of its own
    show_comparison(
        comparison, run.limits, lead or st.container(), pair_columns, key, run.comparisons
    )
    if run.shapes and run.shape_table:
        show_shapes(run.shapes, run.shape_table)
    if run.bits:
        show_bits(run.bits)
    if lead is not None:
        with st.expander("The code that ran"):
            texts = [kernel for kernel in comparison.kernels if kernel.source]
            for tab, kernel in zip(
                st.tabs([performance.kernel_label(kernel) for kernel in texts]), texts, strict=True
            ):
                tab.code(kernel.source or "", language="cpp", line_numbers=True)


def draw_scalings() -> None:
    """Show a recorded product over several GPUs."""
    runs, problems = scale_recorded.scalings()
    for problem in problems:
        draw_broken(problem)
    if not runs:
        return
    st.header("Several GPUs: the same idea one level up", anchor=False)
    run = runs[0]
    if len(runs) > 1:
        run = st.selectbox(
            "Recorded on", runs, key="scale_recording",
            format_func=lambda run: f"{len(run.scaling.devices)} × {run.scaling.device.name}",
        )  # fmt: skip
    with drawn_from(run.file):
        draw_scaling(run)


def draw_scaling(run: RecordedScaling) -> None:
    """Show a product over several GPUs, and where it was measured."""
    device = run.scaling.device
    st.caption(
        f"Recorded on {len(run.scaling.devices)} × {device.name} of one host, "
        f"{run.when:%Y-%m-%d %H:%M} UTC, {_versions(device)}. "
        "Written by `python -m gpu scale --record`; no figure was entered by hand."
    )
    show_scaling(run)


if __name__ == "__main__":  # run by Streamlit; not by a test's workers, which import it
    draw_page()
