"""A user kernel on the GPU, beside the ladder: only one that ran clean in the simulator."""

from __future__ import annotations

import streamlit as st

from gpu.candidate import Candidate, choose
from gpu.compare import check_memory, request
from gpu.comparison import Comparison, comparison_from
from gpu.cuda.device import Device, status_from
from gpu.user_kernel import NAME
from gpu.worker import Job, WorkerError
from simulator import LaunchError, SourceError
from simulator.verdict.form import UserKernel
from simulator.verdict.verdict import State
from ui.gpu.gpu_jobs import (
    cluster_workers,
    draw_progress,
    end_job,
    query_status,
    running_job,
    start_job,
)
from ui.gpu.gpu_results import show_comparison
from ui.run.cache import answers
from ui.user_kernel.draft import Checked, Draft
from ui.user_kernel.judged import judge_user_kernel, product_candidate
from ui.web_page.plain_text import plain_text
from ui.web_page.press import press

LADDER = ("naive", "tiled", "registers", "warptiles")  # the kernels it is timed beside
SIZES = (512, 1024, 2048, 4096)  # rows and columns of the square matrices
# Keys of the session state.
JOB, RUN, PROBLEM = "write_job", "write_gpu_run", "write_gpu_problem"


def draw_user_kernel_gpu(draft: Draft, user_kernel: UserKernel | None) -> None:
    """Draw how the kernel is run on a GPU, the run's progress, and its result."""
    job = running_job(JOB)
    if job is not None and job.state.finished:
        _collect(draft, job)
        st.rerun()
    workers = cluster_workers()
    device = status_from(query_status(0, workers)).device
    if device is None:
        st.markdown(
            "There is no GPU here: the GPU page shows a recorded run of the catalogue's kernels."
        )
        return
    _draw_start(device, draft.checked, user_kernel, is_busy=job is not None)
    if job is not None:
        draw_progress(JOB)
    if st.session_state.get(PROBLEM):
        st.error(plain_text(st.session_state[PROBLEM]))
    run: Comparison | None = st.session_state.get(RUN)
    if run is not None:
        show_comparison(run, None, st.container(), st.columns(2), "own")


def _collect(draft: Draft, job: Job) -> None:
    """Keep a job's result; the verdict on the same kernel is given anew with its registers."""
    st.session_state[RUN], st.session_state[PROBLEM] = None, ""
    try:
        run = comparison_from(dict(end_job(JOB, job)))
    except (WorkerError, ValueError) as error:
        st.session_state[PROBLEM] = str(error)
        return
    st.session_state[RUN] = run
    mine = next(kernel for kernel in run.kernels if kernel.name == NAME)
    checked = draft.checked
    if (
        mine.registers is not None
        and checked is not None
        and checked.user_kernel.text == mine.source
    ):
        draft.checked = Checked(
            checked.user_kernel,
            answers().ask(judge_user_kernel, checked.user_kernel, mine.registers, is_long=True),
        )


def _draw_start(
    device: Device, checked: Checked | None, user_kernel: UserKernel | None, is_busy: bool
) -> None:
    """Draw the size and the button; a kernel that did not run clean has none."""
    if checked is None or checked.user_kernel != user_kernel:
        st.markdown(f"**{device.name}**: Check the kernel in the simulator first.")
        return
    if checked.verdict.state is not State.RIGHT:
        st.markdown(
            f"**{device.name}**: only a kernel that is right and has no hazards in the simulator "
            "runs on the GPU."
        )
        return
    size = st.segmented_control(
        "Rows and columns of A, B and C", SIZES, default=SIZES[2], key="write_gpu_size"
    )
    if press(
        st.button, "Compare with cuBLAS", "write_gpu_start", type="primary",
        icon=":material/play_arrow:", disabled=is_busy,
    ):  # fmt: skip
        try:
            candidates = _candidates(checked.user_kernel, int(size or SIZES[2]), device)
        except (LaunchError, SourceError) as error:
            st.session_state[PROBLEM] = str(error)
        else:
            st.session_state[PROBLEM], st.session_state[RUN] = "", None
            start_job(JOB, request((int(size or SIZES[2]),) * 3, candidates))
        st.rerun()


def _candidates(user_kernel: UserKernel, size: int, device: Device) -> list[Candidate]:
    """The kernel and those of the ladder beside it, for square matrices."""
    sizes = (size, size, size)
    mine = answers().ask(product_candidate, user_kernel, sizes)
    check_memory(sizes, mine.precision, device.memory_bytes)
    return [mine, *(choose(name, sizes) for name in LADDER)]
