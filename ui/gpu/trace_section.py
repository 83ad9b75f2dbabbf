"""The GPU page's section of the GPU's own clock: where kernels' time goes, block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from compiler.headers import uses_tensor_cores
from gpu.candidate import choose
from gpu.comparison import Comparison
from gpu.cuda.device import Device
from gpu.predicted_counters import NotPredictedError
from gpu.recorded import recordings
from gpu.shapes.plan import Table
from gpu.trace.phases import capitalized, compare
from gpu.trace.recorded import RecordedTraces, traces_of_one_gpu_first
from gpu.trace.trace import Level, Trace
from simulator.catalogue import catalogue, whole_catalogue
from simulator.language.errors import SourceError
from ui.gpu.gpu_results import CHART_CONFIG
from ui.gpu_charts import traced_blocks, traced_counts, traced_phases
from ui.gpu_charts.performance import size_name, variant_phrase
from ui.gpu_charts.traced_counts import CountedLaunch
from ui.gpu_charts.traced_phases import trace_label
from ui.jobs.workers import WorkerLostError
from ui.run.broken_section import drawn_from
from ui.run.cache import answers
from ui.run.compute import predict_counters_of_lines, show_reads
from ui.web_page.browser import text_colour
from ui.web_page.plain_text import plain_text

USUAL_SIZE = (2048, 2048, 2048)
USUAL_PAIR = ("transposed:TILE=32", "padded:TILE=32")  # the same copies, and 32-way conflicts
USUAL_KERNEL = "tiled:TILE=32"
PHASES, BESIDES, PLACES, WAVES, COUNTS, NUMBERS = TABS = (
    "Phases", "Outside the inner loop", "Multiprocessors", "Waves", "Counted and clocked",
    "Every number",
)  # fmt: skip
RATIO = "The number with × after a name is the traced kernel's time divided by the plain one's."


@dataclass(frozen=True, slots=True)
class Traced:
    """Traces of one GPU and size, and what else is known of that GPU."""

    # At least one, in the catalogue's order; those of a recording without their blocks.
    traces: tuple[Trace, ...]
    whole: Callable[[Trace], Trace]  # one of them with its blocks
    device: Device
    table: Table | None  # of the chooser's times, measured on a GPU of this name
    comparisons: tuple[Comparison, ...]  # of this GPU, then of others that run the same code
    key: str  # for Streamlit


@st.fragment  # a choice here draws this section alone
def draw_recorded_traces() -> None:
    """Show a recording of the GPU's clock; nothing where there is none."""
    runs = [run for run in traces_of_one_gpu_first() if _of_catalogue(run.outlines)]
    if not runs:
        return
    st.header("By the GPU's own clock", anchor=False)
    by_name = {run.device.name: run for run in runs}
    *left, size_column, first, second = st.columns([3, 2, 3, 3][len(by_name) < 2 :])
    run = runs[0]
    if left:
        run = by_name[left[0].selectbox("Traced on", list(by_name), key="traced_on")]
    with drawn_from(run.file):
        traces = _of_catalogue(run.outlines)
        sizes = {size_name(trace.size): trace.size for trace in traces}
        usual = size_name(USUAL_SIZE) if USUAL_SIZE in sizes.values() else next(iter(sizes))
        size = sizes[usual]
        if len(sizes) > 1:
            size = sizes[
                size_column.selectbox(
                    "M × N × K", list(sizes), index=list(sizes).index(usual), key="traced_size"
                )
            ]
        found = [run.find(trace.kernel, size) for trace in traces if trace.size == size]
        chosen = tuple(trace for trace in found if trace is not None)
        known = _known(
            chosen, lambda one: run.find(one.kernel, one.size, one.level) or one, run.device,
            "traced",
        )  # fmt: skip
        show_traces(known, (first, second), _source(run, size))


def _source(run: RecordedTraces, size: tuple[int, int, int]) -> str:
    device = run.device
    return (
        f"Recorded on {device.name}, {run.when.day} {run.when:%B %Y} at {run.when:%H:%M} UTC, "
        f"{size_name(size)}, driver {device.driver or device.driver_cuda}. Written by `python -m "
        "gpu record`; no figure was entered by hand."
    )


def _of_catalogue(traces: Sequence[Trace]) -> tuple[Trace, ...]:
    """The traces of phases of kernels that the catalogue has, in its order."""
    order = list(whole_catalogue().everything)
    known = [
        trace
        for trace in traces
        if trace.level is Level.PHASES and trace.kernel.split(":")[0] in order
    ]
    return tuple(sorted(known, key=lambda trace: order.index(trace.kernel.split(":")[0])))


def _known(
    traces: tuple[Trace, ...], whole: Callable[[Trace], Trace], device: Device, key: str
) -> Traced:
    """The traces with what a recorded run of a GPU of the same name has."""
    alike = [run for run in recordings().runs if run.device.architecture == device.architecture]
    alike.sort(key=lambda run: run.device.name != device.name)
    same = alike[0] if alike and alike[0].device.name == device.name else None
    return Traced(
        traces, whole, device, same.shape_table if same else None,
        tuple(comparison for run in alike for comparison in run.comparisons), key,
    )  # fmt: skip


def show_live_trace(trace: Trace, device: Device) -> None:
    """Show a trace that was just measured, and what was read where in the kernel's code."""
    st.subheader(
        f"{trace_label(trace)} by the GPU's own clock, {size_name(trace.size)}", anchor=False
    )
    show_traces(_known((trace,), lambda one: one, device, "live_trace"), ())
    chosen = choose(trace.kernel, trace.size)
    with st.expander("What reading the clock changes in the code"):
        asked = chosen.text, chosen.kernel, tuple(sorted(chosen.defines.items()))
        try:
            st.code(answers().ask(show_reads, *asked), language="diff")
        except (SourceError, WorkerLostError) as error:
            st.markdown(plain_text(str(error)))


def show_traces(found: Traced, columns: Sequence[DeltaGenerator], source: str = "") -> None:
    """Show a sentence on two kernels, and the pictures of all, of which one is open.

    columns are where the two are chosen, source says where the traces are from.
    """
    pair = None
    if len(found.traces) > 1:
        pair = _choose_pair(found, columns)
        with st.container(key=f"{found.key}_sentence"):
            names = [variant_phrase(trace.kernel) for trace in pair]
            st.markdown(f"**{capitalized(names[0])} compared with {names[1]}.** {compare(*pair)}")
    sampled = [found.whole(trace) for trace in pair or found.traces]
    measured = [
        traced_phases.explain_measuring(found.traces),
        traced_phases.explain_sample(sampled),
    ]
    st.caption(" ".join([source, *map(plain_text, measured)]).strip())
    names = [name for name in TABS if pair or name not in (BESIDES, COUNTS)]
    tabs = st.tabs(names, key=f"{found.key}_tabs", on_change="rerun")
    for name, tab in zip(names, tabs, strict=True):
        if tab.open:
            with tab:
                _show_tab(name, found, pair)


def _show_tab(name: str, found: Traced, pair: tuple[Trace, Trace] | None) -> None:
    if name in (PHASES, BESIDES):
        _show_phases(name, found)
    elif name in (PLACES, WAVES):
        _show_blocks(name, found)
    elif name == COUNTS and pair is not None:
        _show_counts(found, pair)
    else:
        st.table(
            traced_phases.build_table(found.traces), border="horizontal",
            alt="Cycles of each phase of the traced kernels",
        )  # fmt: skip
        st.caption(plain_text(traced_phases.explain_left_out(found.traces)))


def _choose_pair(found: Traced, columns: Sequence[DeltaGenerator]) -> tuple[Trace, Trace]:
    """Draw the choice of two traces, each in its column."""
    names = [trace.kernel for trace in found.traces]
    first = USUAL_PAIR[0] if USUAL_PAIR[0] in names else names[0]
    second = next(name for name in (USUAL_PAIR[1], *names) if name in names and name != first)
    left, right = columns
    return (
        _choose(left, "Traced kernel", found, first, f"{found.key}_clocked"),
        _choose(right, "compared with", found, second, f"{found.key}_beside"),
    )


def _choose(place: DeltaGenerator, label: str, found: Traced, usual: str, key: str) -> Trace:
    """Draw the choice of a trace."""
    by_name = {trace.kernel: trace for trace in found.traces}
    names = list(by_name)
    chosen = place.selectbox(
        label, names, index=names.index(usual) if usual in names else 0, key=key,
        format_func=lambda name: trace_label(by_name[name]),
    )  # fmt: skip
    return by_name[chosen]


def usual_kernels(traces: Sequence[Trace]) -> list[str]:
    """Of each rung that multiplies in float32, without tensor cores, the last traced setting."""
    rungs: dict[str, str] = {}
    for trace in traces:
        entry = catalogue().get(trace.kernel.split(":")[0])
        if (
            entry
            and entry.rung
            and entry.precision == "float32"
            and not uses_tensor_cores(entry.source())
        ):
            rungs[entry.name] = trace.kernel
    return list(rungs.values())


def _show_phases(name: str, found: Traced) -> None:
    shown = found.traces
    if len(shown) > 1:
        by_name = {trace.kernel: trace for trace in shown}
        chosen = st.multiselect(
            "Kernels", list(by_name), default=usual_kernels(found.traces),
            key=f"{found.key}_kernels_{name}", placeholder="All kernels",
            format_func=lambda kernel: trace_label(by_name[kernel]),
        )  # fmt: skip
        shown = tuple(trace for trace in shown if trace.kernel in chosen) or shown
    if name == PHASES:
        figure, alt = traced_phases.draw_phases(shown, text_colour()), traced_phases.describe_phases
        caption = (
            f"{'Every row has the same length and' if len(shown) > 1 else 'A row'} is a block's "
            "whole life, however long that was, and its parts are phases in the order of the code; "
            "those of the loop over tiles stand for all tiles. Colours are as in the scene's "
            "timeline. The wait for values from global memory is part of the copying: they must "
            f"arrive before they can be stored in shared memory. {RATIO}"
        )
    else:
        st.markdown(traced_phases.summarize(shown))
        figure, alt = traced_phases.draw_work(shown, text_colour()), traced_phases.describe_work
        caption = (
            "All at one scale: cycles of a warp's life divided by the multiply-adds of one of its "
            "threads, so that tiles of any size can be compared. The other warps of a "
            f"multiprocessor work meanwhile. {RATIO}"
        )
    _plot(figure, f"{found.key}_{name}", alt(shown))
    st.caption(f"{caption} {traced_phases.explain_loading(shown)}".strip())


def _show_blocks(name: str, found: Traced) -> None:
    trace = found.traces[0]
    if len(found.traces) > 1:
        trace = _choose(st.container(), "Kernel", found, USUAL_KERNEL, f"{found.key}_kernel_{name}")
    launch = traced_blocks.launched(found.whole(trace), found.device.multiprocessors)
    if name == PLACES:
        sentence = traced_blocks.explain_blocks(launch)
        st.markdown(sentence)
        _plot(traced_blocks.draw_blocks(launch, text_colour()), f"{found.key}_{name}", sentence)
        st.caption(traced_blocks.caption_blocks(launch))
        return
    planned = traced_blocks.plan_waves(launch, found.table)
    st.markdown(traced_blocks.explain_running(launch, planned))
    _plot(
        traced_blocks.draw_running(launch, planned, text_colour()), f"{found.key}_{name}",
        traced_blocks.describe_running(launch, planned),
    )  # fmt: skip


def _show_counts(found: Traced, pair: tuple[Trace, Trace]) -> None:
    try:
        with st.spinner("The simulator counts what each line asks for …"):
            one, base = (_counted(found, trace) for trace in pair)
    except NotPredictedError as error:
        st.markdown(plain_text(str(error)))
        return
    compared = traced_counts.compare_phases(one, base)
    if not compared:
        st.markdown("These two have no phase in common that accesses global or shared memory.")
        return
    for sentence in traced_counts.explain(compared, one, base):
        st.markdown(sentence)
    _plot(
        traced_counts.draw_compared(compared, text_colour()), f"{found.key}_{COUNTS}",
        traced_counts.describe_compared(compared),
    )  # fmt: skip
    st.table(
        traced_counts.build_table(compared, one, base), border="horizontal",
        alt="What a warp asks for in each phase, and its cycles",
    )  # fmt: skip
    for side in (one, base):
        elsewhere = traced_counts.explain_elsewhere(side)
        if elsewhere:
            st.caption(elsewhere)
    st.caption(
        "Counted: what a warp asks for, each time it goes through a phase, as the simulator "
        "counts it at the size that was traced. Clocked: the median of the same warps on the GPU. "
        "The same work: the same number of multiply-adds. Traced time divided by plain: "
        + ", ".join(f"{trace_label(trace)} {trace.ratio:.2f} ×" for trace in pair)
    )


def _counted(found: Traced, trace: Trace) -> CountedLaunch:
    """A trace with its lines' counts, which a worker computes once for all visitors."""
    chosen = choose(trace.kernel, trace.size)
    asked = trace.kernel, chosen.text, tuple(sorted(chosen.defines.items())), trace.size
    try:
        lines = answers().ask(predict_counters_of_lines, *asked)
    except WorkerLostError as error:
        raise NotPredictedError(str(error)) from None
    launch = traced_blocks.launched(found.whole(trace), found.device.multiprocessors)
    return traced_counts.with_counts(launch, lines, found.comparisons)


def _plot(figure: Any, key: str, alt: str) -> None:
    st.plotly_chart(figure, key=key, config=CHART_CONFIG, alt=alt)
