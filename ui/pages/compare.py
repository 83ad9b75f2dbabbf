"""The GPU page: a kernel beside cuBLAS on this machine's GPU, or a recorded run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from gpu import recorded
from gpu.compare import Contestant, choose, request, variants
from gpu.device import Device, Missing, Status, status_from
from gpu.result import Comparison, comparison_from
from gpu.worker import Job, Worker, WorkerError
from simulator.catalogue import catalogue
from simulator.tree import LaunchError
from ui import charts

LIMIT_SECONDS = 120
LARGEST = 32768
JOB, RESULT, PROBLEM = "compare_job", "compare_result", "compare_problem"
INKS = {"light": "#1d2330", "dark": "#f2f3f5"}
NAMES = {"driver": "Driver", "device": "GPU"}
MARKS: Mapping[bool | None, str] = {
    True: ":material/check_circle: found",
    False: ":material/cancel: missing",
    None: ":material/help: not known yet",
}


@st.cache_resource
def worker() -> Worker:
    """Give the one GPU process that all visitors share."""
    return Worker()


@st.cache_data(show_spinner="Looking for a GPU…")
def found_status() -> dict[str, Any]:
    """Ask the GPU process what is here; a process that fails is a reason like any other."""
    try:
        return dict(worker().submit({"job": "status"}, 60).wait())
    except WorkerError as error:
        missing = {
            "part": "device", "what": "a working GPU process", "sentence": str(error),
            "command": "",
        }  # fmt: skip
        return {"device": None, "missing": missing, "parts": {}}


def look_again() -> None:
    """Forget what was found, and the process that found it."""
    worker().close()
    found_status.clear()


def page() -> None:
    """Draw the page."""
    st.title("On the GPU")
    st.markdown(
        "The text that the simulator steps through is compiled for a real GPU, checked against "
        "a float64 product on fresh random inputs, and timed beside NVIDIA's own "
        "matrix product, cuBLAS, in true FP32."
    )
    status = status_from(found_status())
    if status.device is not None:
        live(status.device)
        st.divider()
    else:
        explain(status)
    recordings(beside_live=status.device is not None)


def explain(status: Status) -> None:
    """Say which part is missing and the command that mends it."""
    missing = status.missing or Missing("device", "a GPU", "No GPU can be used.", "")
    with st.container(border=True):
        st.subheader(f"Missing to run kernels here: {missing.what}", anchor=False)
        st.markdown(missing.sentence)
        if missing.command:
            st.code(missing.command, language="bash")
        if status.parts:
            columns = st.columns(len(status.parts))
            for column, (part, found) in zip(columns, status.parts.items(), strict=True):
                column.markdown(f"**{NAMES.get(part, part)}**  \n{MARKS[found]}")
        st.button("Look again", icon=":material/refresh:", on_click=look_again)


def live(device: Device) -> None:
    """Choose kernels and a size, run them, and show what came out."""
    peak = device.peak_fp32_tflops
    st.markdown(
        f"**{device.name}**, {device.multiprocessors} multiprocessors"
        + (f", {peak:.1f} TFLOP/s FP32 peak" if peak else "")
        + f", driver {device.driver or device.driver_cuda}, CuPy {device.cupy}"
    )
    contestants, size = controls()
    job: Job | None = st.session_state.get(JOB)
    if job is not None and job.state.finished:
        settle(job)
        job = None
    if st.button(
        "Run beside cuBLAS", type="primary", icon=":material/play_arrow:",
        disabled=job is not None or not contestants, key="compare_run",
    ):  # fmt: skip
        job = worker().submit(request(size, contestants), LIMIT_SECONDS)
        st.session_state[JOB] = job
        st.session_state[RESULT] = st.session_state[PROBLEM] = None
        st.rerun()
    if job is not None:
        follow()
    if st.session_state.get(PROBLEM):
        st.error(st.session_state[PROBLEM])
    result: Comparison | None = st.session_state.get(RESULT)
    if result is not None:
        show(result, "live")
    sources(contestants)


def controls() -> tuple[list[Contestant], tuple[int, int, int]]:
    """Kernels and M, N, K; no contestants where they do not fit together."""
    offered = variants()
    chosen = st.multiselect(
        "Kernels", offered, default=offered[-1:], key="compare_kernels", format_func=title
    )
    M, N, K = (
        int(column.number_input(name, 1, LARGEST, 4096, step=1, key=f"compare_{name}"))
        for column, name in zip(st.columns(3), "MNK", strict=True)
    )
    try:
        return [choose(name, (M, N, K)) for name in chosen], (M, N, K)
    except LaunchError as error:
        st.error(str(error))
        return [], (M, N, K)


def title(variant: str) -> str:
    """What a kernel is called, with the macros that are set in it."""
    name, *settings = variant.split(":")
    return ", ".join([catalogue()[name].title, *(one.replace("=", " ") for one in settings)])


@st.fragment(run_every=0.5)
def follow() -> None:
    """Show how far the job is; draw the whole page again once it has ended."""
    job: Job | None = st.session_state.get(JOB)
    if job is None or job.state.finished:
        st.rerun()
        return
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.info(f"{job.state.message} …", icon=":material/hourglass_top:")
    if right.button("Cancel", icon=":material/stop:", key="compare_cancel", width="stretch"):
        job.cancel()


def settle(job: Job) -> None:
    """Keep what an ended job gave, or why it gave nothing."""
    st.session_state[JOB] = None
    try:
        st.session_state[RESULT] = comparison_from(dict(job.wait()))
    except (WorkerError, ValueError) as error:
        st.session_state[PROBLEM] = str(error)


def ink() -> str:
    """The colour of text on the visitor's theme."""
    return INKS.get(st.context.theme.type or "light", INKS["light"])


def show(comparison: Comparison, key: str) -> None:
    """A comparison: a sentence, bars, and every figure in a table."""
    st.markdown(charts.summary(comparison))
    for kernel in comparison.kernels:
        if not kernel.verified:
            st.warning(f"{charts.label(kernel)}: {kernel.verdict}")
    if charts.measured(comparison):
        names = ("Speed", "Time", "Share of cuBLAS")
        figures = (charts.throughput, charts.times, charts.cublas_share)
        for tab, name, figure in zip(st.tabs(names), names, figures, strict=True):
            tab.plotly_chart(
                figure(comparison, ink()), key=f"{key}_{name}", alt=charts.description(comparison)
            )
    st.table(charts.table(comparison), border="horizontal")
    st.caption(
        "Times are medians of at least 20 launches with the L2 cache emptied before each, all "
        "kernels in turn; the spread is the 20th to 80th percentile. Error: the largest error of "
        "an element over the typical size of one; bound: what float32 rounding explains for this "
        "K. GB/s counts A and B read once and C written once."
    )


def sources(contestants: list[Contestant]) -> None:
    """The text of each chosen kernel, as it is compiled."""
    if contestants:
        st.subheader("The text that runs", anchor=False)
        for tab, one in zip(st.tabs([one.name for one in contestants]), contestants, strict=True):
            tab.code(one.text, language="cpp", line_numbers=True)


def recordings(beside_live: bool) -> None:
    """Comparisons that were measured earlier, and on what."""
    kept = recorded.recordings()
    for problem in kept.problems:
        st.warning(problem)
    if not kept.runs:
        st.markdown("No recorded run came with this copy of Tilewise.")
        return
    run = kept.runs[0]
    if len(kept.runs) > 1:
        run = st.selectbox("Recorded on", kept.runs, format_func=lambda one: one.device.name)
    st.header(f"Recorded on {run.device.name}, {run.when.day} {run.when:%B %Y}", anchor=False)
    device = run.device
    st.caption(
        f"{run.when:%Y-%m-%d %H:%M} UTC, driver {device.driver or device.driver_cuda}, CUDA "
        f"{device.cuda_runtime}, cuBLAS {device.cublas}, CuPy {device.cupy}. "
        "Written by `python -m gpu record`; no figure was entered by hand."
    )
    sizes = {charts.size_name(size): place for place, size in enumerate(run.sizes)}
    usual = next((name for name, at in sizes.items() if run.sizes[at] == (4096,) * 3), None)
    name = st.selectbox(
        "M × N × K", list(sizes), index=list(sizes).index(usual) if usual else 0,
        key="recorded_size",
    )  # fmt: skip
    comparison = run.comparisons[sizes[name]]
    show(comparison, "recorded")
    if len({size for size in run.sizes if len(set(size)) == 1}) > 1:
        st.subheader("Speed against size", anchor=False)
        st.plotly_chart(
            charts.against_size(run.comparisons, ink()), key="recorded_sizes",
            alt="TFLOP/s of each kernel for every recorded square size; the table above has the "
            "figures of the chosen one.",
        )  # fmt: skip
    if not beside_live:
        with st.expander("The text that ran"):
            texts = [kernel for kernel in comparison.kernels if kernel.source]
            for tab, kernel in zip(
                st.tabs([charts.label(kernel) for kernel in texts]), texts, strict=True
            ):
                tab.code(kernel.source or "", language="cpp", line_numbers=True)


page()
