"""GPU jobs of a page: where they run, how far one is, and its result or the sentence of its error.

A page has a job at a time, under a name of its own in the session state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from gpu.worker import Job, Worker, WorkerError
from ui.gpu.gpu_cluster import GpuCluster
from ui.jobs.cluster import Cluster
from ui.jobs.settings import GPU_IS_OFF, may_use_gpu
from ui.run.executor import executor
from ui.web_page.leaving import cancel_when_left, current_session

TIMEOUT_SECONDS = 120


@st.cache_resource
def shared_worker() -> Worker:
    """Create the GPU process that all visitors share."""
    return Worker()


@st.cache_resource
def shared_cluster() -> GpuCluster | None:
    """The cluster that the app computes on, if there is one."""
    found = executor()
    return GpuCluster(found.client) if isinstance(found, Cluster) else None


def cluster_workers() -> tuple[str, ...]:
    """The addresses of the cluster's workers with a GPU; none without a cluster."""
    cluster = shared_cluster()
    return cluster.workers() if cluster else ()


def gpus(workers: tuple[str, ...]) -> Worker | GpuCluster:
    """The cluster's GPUs where some of its workers have one, else this machine's.

    Raises WorkerError where work on a GPU is switched off.
    """
    if not may_use_gpu():
        raise WorkerError(GPU_IS_OFF)
    cluster = shared_cluster()
    return cluster if cluster and workers else shared_worker()


@st.cache_data(show_spinner="Looking for a GPU…")
def query_status(gpu: int, workers: tuple[str, ...]) -> dict[str, Any]:
    """Query for the device and for what is missing; a failure counts as missing."""
    try:
        return dict(gpus(workers).status(gpu))
    except WorkerError as error:
        missing = {
            "part": "device", "what": "a working GPU process", "sentence": str(error),
            "command": "",
        }  # fmt: skip
        return {"device": None, "missing": missing, "parts": {}}


def reset_status() -> None:
    """Close the GPU process and clear the cached status, so that the next run queries again."""
    shared_worker().close()
    query_status.clear()


def start_job(name: str, request: Mapping[str, Any]) -> None:
    """Submit a page's job to the cluster's GPUs or this machine's."""
    visitor = current_session()
    job = gpus(cluster_workers()).submit(request, TIMEOUT_SECONDS, visitor)
    st.session_state[name] = job
    cancel_when_left(job.cancel, lambda: job.state.finished, visitor)


def running_job(name: str) -> Job | None:
    """A page's job, None without one. It may have finished: end_job() takes it then."""
    return st.session_state.get(name)


def end_job(name: str, job: Job) -> Mapping[str, Any]:
    """The answer to a job that has finished. Raises WorkerError."""
    st.session_state[name] = None
    return job.wait()


@st.fragment(run_every=0.5)
def draw_progress(name: str) -> None:
    """Show the progress of a page's job; rerun the whole page when it has finished."""
    job = running_job(name)
    if job is None or job.state.finished:
        st.rerun()
        return
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.progress(job.state.done or 0.0, text=f"{job.state.message} …")
    right.button(
        "Cancel", icon=":material/stop:", key=f"{name}_cancel", width="stretch", on_click=job.cancel
    )
