"""The GPU page's section that runs every block of a launch in the simulator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from gpu.bits import fresh_seed
from gpu.candidate import split_variant, variant_title, variants
from simulator import LaunchError, Report, catalogue
from simulator.machine.budget import Progress
from simulator.observers.hazards.findings import Hazard
from ui.gpu.grid_jobs import Checked, Grid, load_candidate
from ui.gpu.grid_run import GridRun, GridRuns
from ui.run import click_cost
from ui.run.broken_section import list_broken
from ui.run.executor import lanes
from ui.web_page.leaving import cancel_when_left, current_session
from ui.web_page.plain_text import plain_text
from ui.web_page.press import press

LARGEST = 2048  # of M, N and K
USUAL = 512  # of each: some seconds
USUAL_KERNEL = "tiled"
RUN = "grid_run"  # of the session's state: the visitor's GridRun
REFRESH_SECONDS = 0.5


@st.cache_resource(show_spinner=False)
def shared_runs() -> GridRuns:
    """The runs of all visitors."""
    return GridRuns(lanes())


def draw_grid() -> None:
    """Draw the controls, then the run that goes on or what the last one found."""
    st.header("The whole grid in the simulator", anchor=False)
    st.markdown(
        "This runs every block of a large launch, counts every access and checks it for hazards. "
        "The app's workers share the blocks, and keep working while you look at another page."
    )
    run: GridRun | None = st.session_state.get(RUN)
    grid = draw_controls(run)
    if grid is not None:
        run = start_run(grid)
    if run is None:
        return
    if run.state.finished:
        draw_outcome(run)
    else:
        draw_progress()


def draw_controls(run: GridRun | None) -> Grid | None:
    """Draw the choice of a launch and the button; the launch once that is pressed.

    The choice begins with that of the visitor's run: Streamlit forgets it on another page.
    """
    busy = run is not None and not run.state.finished
    chosen, sizes = (USUAL_KERNEL, (USUAL,) * 3) if run is None else (run.grid.name, run.grid.size)
    kernel_column, *columns, button = st.columns([4, 2, 2, 2, 3], vertical_alignment="bottom")
    list_broken(catalogue().broken)
    offered = variants(catalogue())
    index = offered.index(chosen) if chosen in offered else 0
    name = kernel_column.selectbox(
        "Kernel", offered, index=index, key="grid_kernel", format_func=variant_title
    )
    M, N, K = (
        int(column.number_input(axis, 1, LARGEST, size, step=1, key=f"grid_{axis}"))
        for column, axis, size in zip(columns, "MNK", sizes, strict=True)
    )
    if not offered:
        return None
    grid = Grid(name, (M, N, K), fresh_seed())
    try:
        candidate = load_candidate(grid)
    except LaunchError as error:
        st.error(plain_text(str(error)))
        return None
    work = click_cost.grid(
        split_variant(name)[0], math.prod(candidate.grid), math.prod(candidate.block), grid.size
    )
    pressed = press(
        button.button, "Run every block", "grid_go", icon=":material/grid_on:", width="stretch",
        disabled=busy or bool(work.refusal),
    )  # fmt: skip
    if note := work.refusal or work.caption:
        st.caption(plain_text(note))
    return grid if pressed and not busy and not work.refusal else None


def start_run(grid: Grid) -> GridRun:
    """Begin the visitor's run, which ends early if they leave the app; rerun the page."""
    visitor = current_session()
    run = shared_runs().start(grid, visitor or None)
    st.session_state[RUN] = run
    if visitor:
        cancel_when_left(run.cancel, lambda: run.state.finished, visitor)
    st.rerun()
    return run


@st.fragment(run_every=REFRESH_SECONDS)
def draw_progress() -> None:
    """Show how far the run is; rerun the whole page when it has finished."""
    run: GridRun | None = st.session_state.get(RUN)
    if run is None or run.state.finished:
        st.rerun()
        return
    left, right = st.columns([5, 1], vertical_alignment="center")
    done, text = describe_progress(run)
    left.progress(done, text=f"**{title(run.grid)}**: {plain_text(text)}")
    if run.progress_message:
        left.caption(plain_text(run.progress_message))
    right.button(
        "Stop", icon=":material/stop:", key="grid_stop", width="stretch", on_click=run.cancel
    )


def title(grid: Grid) -> str:
    """A launch's kernel and size, as Markdown."""
    M, N, K = grid.size
    return plain_text(f"{variant_title(grid.name)} at {M:,} × {N:,} × {K:,}")


def describe_progress(run: GridRun) -> tuple[float, str]:
    """The share that is done, 0 to 1, and a text: blocks, time, an estimate of the rest."""
    state = run.state
    if state.phase == "waiting":
        return 0.0, "Others' runs come first …"
    if state.phase == "checking":
        return 1.0, "All blocks are done; C is being compared with NumPy's product …"
    if state.progress is None:
        return 0.0, "The first blocks are running …"
    progress = state.progress
    share = progress.blocks_done / progress.blocks
    text = f"{progress.blocks_done:,} of {progress.blocks:,} blocks, {progress.seconds:.0f} s"
    return share, text + time_left(progress)


def time_left(progress: Progress) -> str:
    """An estimate of the time that is left, once some blocks are done.

    >>> time_left(Progress(30.0, 256, 1024, None, ()))
    ', about 90 s left'
    """
    if not progress.blocks_done:
        return ""
    seconds = progress.seconds * (progress.blocks / progress.blocks_done - 1)
    return (
        f", about {seconds / 60:.0f} min left" if seconds > 120 else f", about {seconds:.0f} s left"
    )


def draw_outcome(run: GridRun) -> None:
    """Show what the last run has found."""
    state = run.state
    if state.phase == "stopped":
        st.info(f"**{title(run.grid)}**: this run was stopped.")
    elif state.report is None or state.checked is None:
        st.error(f"**{title(run.grid)}**: {plain_text(state.problem)}")
    else:
        draw_report(run, state.report, state.checked)


def draw_report(run: GridRun, report: Report, checked: Checked) -> None:
    """Show a run's time, hazards, C and counters."""
    workers = "1 worker" if run.workers == 1 else f"{run.workers} workers"
    count = math.prod(load_candidate(run.grid).grid)
    blocks = "1 block" if count == 1 else f"{count:,} blocks"
    st.markdown(f"**{title(run.grid)}**: {blocks} in {report.seconds:.1f} s on {workers}.")
    draw_hazards(report.hazards)
    (st.success if checked.verdict.verified else st.error)(plain_text(checked.verdict.sentence))
    st.markdown(plain_text(compare_counters(report.counters, checked.predicted)))
    st.table(
        counter_rows(report.counters, checked.predicted), border="horizontal",
        alt="Counters of this run and those predicted",
    )  # fmt: skip


def draw_hazards(hazards: Sequence[Hazard]) -> None:
    """Show each hazard in its sentences, or that there is none."""
    if not hazards:
        st.success(
            "No hazards: no race, no access outside an array, no read of a cell without a value."
        )
    for hazard in hazards:
        sentence = f"{hazard.kind}, {hazard.how_often}: {hazard.message}"
        st.error(plain_text(sentence))
        if hazard.witness is not None:
            st.caption(plain_text(hazard.witness.sentence))


def compare_counters(counters: Mapping[str, int], predicted: Mapping[str, int] | str) -> str:
    """A sentence on whether the counters of every block are those predicted from a few."""
    if isinstance(predicted, str):
        return f"There is no prediction to compare the counters with: {predicted}"
    wrong = [name.replace("_", " ") for name in counters if counters[name] != predicted[name]]
    if not wrong:
        return "All counters are exactly what was predicted from launches of a few tiles."
    return f"These counters are not what was predicted: {', '.join(wrong)}."


def counter_rows(
    counters: Mapping[str, int], predicted: Mapping[str, int] | str
) -> list[dict[str, str]]:
    """A row for each counter: its name, what was counted, and what was predicted."""
    return [
        {
            "Counter": name.replace("_", " "),
            "Every block": f"{count:,}",
            "Predicted": "" if isinstance(predicted, str) else f"{predicted[name]:,}",
        }
        for name, count in counters.items()
    ]
