"""Draw the results of a GPU run on the page: sentences, charts and tables."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from gpu.bits import BitVerdict
from gpu.candidate import variant_title
from gpu.compare import with_simulated
from gpu.comparison import Comparison, explain_steadiness
from gpu.cuda.microbenchmarks.ceilings import Ceilings
from gpu.cuda.microbenchmarks.limits import Limits
from gpu.predicted_counters import NotPredictedError
from gpu.scale.recorded import RecordedScaling
from gpu.shapes.plan import Table
from gpu.shapes.shape import Shape
from gpu.user_kernel import NAME
from simulator.catalogue import FEW, catalogue
from ui.gpu_charts import counters, latency, performance, scaling, tiles_over_gpus
from ui.gpu_charts import shapes as shapes_chart
from ui.gpu_charts.gpu_page_charts import CHARTS, ChartData, ComparisonChart, draw_chart
from ui.gpu_charts.performance import Pair
from ui.jobs.workers import WorkerLostError
from ui.run.cache import answers
from ui.run.compute import predict_compiled_counters, predict_counters
from ui.web_page.browser import text_colour
from ui.web_page.plain_text import plain_text

FEW_KERNELS = ("few_rows", "few_columns")
# Shown until a reader chooses others; a run may have none of them. NAME is a user kernel.
# All multiply in float32: beside the bars of TF32 and half, ten times as long, theirs are slivers.
USUAL_KERNELS = (
    NAME, "naive", "tiled", "transposed:TILE=32", "registers", "warptiles", *FEW_KERNELS,
    "cublas",
)  # fmt: skip
USUAL_PAIR: Pair = ("tiled", "naive")
USUAL_SHAPE = (256, 256, 16384)  # its K is split
CHART_CONFIG = {"displayModeBar": False}  # its buttons would lie over labels
COUNTERS = "Predicted and measured"  # the tab of charts, sentences and a table of counters


def predict_elsewhere(
    name: str, text: str, defines: Mapping[str, str], size: tuple[int, int, int]
) -> Mapping[str, int]:
    """The simulator's counters of a launch, which a worker computes once for all visitors."""
    asked = name, text, tuple(sorted(defines.items())), size
    try:
        return answers().ask(predict_counters, *asked)
    except WorkerLostError as error:
        raise NotPredictedError(str(error)) from None


def predict_builds(comparison: Comparison) -> counters.Builds:
    """What is predicted of the machine code of the kernels whose counters a run read."""
    found = {}
    for kernel in counters.profiled_kernels(comparison):
        defines = tuple(sorted(kernel.defines.items()))
        with contextlib.suppress(NotPredictedError, WorkerLostError):
            found[kernel.name] = answers().ask(
                predict_compiled_counters, kernel.name, kernel.source or "", defines,
                comparison.size, comparison.device.architecture,
            )  # fmt: skip
    return {name: one for name, one in found.items() if one is not None}


def is_of_few(comparison: Comparison) -> bool:
    """Whether C has so few rows or columns that a kernel is meant for it."""
    return min(comparison.size[:2]) <= FEW


def choose_pair(comparison: Comparison, columns: Sequence[DeltaGenerator], key: str) -> Pair:
    """Draw the choice of two kernels, each in its column; their names."""
    names = [kernel.name for kernel in comparison.kernels]
    usual = USUAL_PAIR
    if is_of_few(comparison):
        usual = next((name for name in names if name in FEW_KERNELS), usual[0]), "cublas"
    wanted = usual[0] if usual != USUAL_PAIR else st.query_params.get("kernel", usual[0])
    first = next((name for name in (NAME, wanted, usual[0]) if name in names), names[0])
    others = [name for name in (usual[1], usual[0], *names) if name in names]
    second = next((name for name in others if name != first), first)
    left, right = columns
    titles = {kernel.name: performance.kernel_label(kernel) for kernel in comparison.kernels}
    return (
        left.selectbox(
            "Compare", names, index=names.index(first), key=f"{key}_compared",
            format_func=lambda name: titles.get(name, name),
        ),
        right.selectbox(
            "with", names, index=names.index(second), key=f"{key}_base",
            format_func=lambda name: titles.get(name, name),
        ),
    )  # fmt: skip


def explain_pair(pair: Pair) -> str:
    """What the kernels of a pair do: "**Tiled**: a block shares tiles of A and B."."""
    names = dict.fromkeys(variant.partition(":")[0] for variant in pair)
    titles = [catalogue()[name].title for name in names if name in catalogue()]
    if any(name.startswith("cublas") for name in names):
        titles.append("cuBLAS: NVIDIA's own library")
    return "  \n".join(re.sub("^([^:,]+)", r"**\1**", title) + "." for title in titles)


def choose_shown(comparison: Comparison, pair: Pair, key: str) -> Comparison:
    """Draw the choice of the kernels that charts and tables show, and keep these alone.

    The compared pair is always among them. None chosen means all of them.
    """
    titles = {kernel.name: performance.kernel_label(kernel) for kernel in comparison.kernels}
    chosen = st.multiselect(
        "Kernels in charts and tables; the list also has some for tensor cores", list(titles),
        default=[name for name in USUAL_KERNELS if name in titles], key=f"{key}_kernels",
        format_func=lambda name: titles.get(name, name), placeholder="All kernels",
    )  # fmt: skip
    return performance.choose_kernels(comparison, {*chosen, *pair} if chosen else ())


def show_comparison(
    whole: Comparison,
    limits: Limits | None,
    lead: DeltaGenerator,
    columns: Sequence[DeltaGenerator],
    key: str,
    sizes: Sequence[Comparison] = (),
) -> None:
    """Show a comparison: what to compare, a sentence on it, charts, latencies and tables.

    limits are the device's, if measured; lead holds the sentence and what it names, columns the
    choice of two kernels; sizes are comparisons of the same run, for a chart against the size; key
    is for Streamlit.
    """
    pair = choose_pair(whole, columns, key)
    with lead.container(key=f"{key}_sentence"):
        st.markdown(performance.compare_pair(whole, pair))
    lead.markdown(explain_pair(pair))
    for kernel in whole.kernels:
        if not kernel.verified:
            st.warning(f"{performance.kernel_label(kernel)}: {kernel.verdict}")
    comparison = choose_shown(whole, pair, key)
    st.markdown(performance.summarize(comparison))
    kept = {kernel.name for kernel in comparison.kernels}
    squares = tuple(
        performance.choose_kernels(one, kept) for one in sizes if len(set(one.size)) == 1
    )
    data = ChartData(comparison, squares, limits, pair, text_colour())
    charts = [chart for chart in CHARTS if chart.is_offered(data)]
    names = [*(chart.tab for chart in charts), COUNTERS]
    tabs = dict(zip(names, st.tabs(names), strict=True))
    for chart in charts:
        if not chart.needs_simulated:
            with tabs[chart.tab]:
                show_chart(chart, data, key)
    if limits is not None:
        show_limits(limits, key)
    with st.spinner("The simulator counts each launch's transactions …"):
        comparison = with_simulated(comparison, lambda *_: None, predict_elsewhere)
        builds = predict_builds(comparison)
    data = replace(data, comparison=comparison)
    for chart in charts:
        if chart.needs_simulated:
            with tabs[chart.tab]:
                show_chart(chart, data, key)
    with tabs[COUNTERS]:
        show_counters(comparison, builds, pair, key)
    show_tables(comparison)


def show_chart(chart: ComparisonChart, data: ChartData, key: str) -> None:
    """Show a chart with the choice of its unit and its caption, or why it cannot be drawn."""
    missing = chart.missing(data)
    if missing:
        st.markdown(missing)
        return
    if chart.units:
        unit = st.segmented_control(
            "Unit", chart.units, default=chart.units[0], key=f"{key}_{chart.tab}_unit",
            required=True,
        )  # fmt: skip
        data = replace(data, unit=unit)
    st.plotly_chart(
        draw_chart(chart, data), key=f"{key}_{chart.tab}", config=CHART_CONFIG, alt=chart.alt(data)
    )
    caption = chart.caption(data)
    if caption:
        st.caption(caption)


def show_tables(comparison: Comparison) -> None:
    """Show every number of the kernels shown."""
    st.subheader("Every number", anchor=False)
    st.table(
        performance.build_table(comparison), border="horizontal",
        alt="Times, speeds and errors of the kernels shown",
    )  # fmt: skip
    st.caption(
        "Times are medians of at least 20 launches with the L2 cache emptied before each, all "
        "kernels in turn; the spread is the 20th to 80th percentile. Error: the norm of "
        "all errors divided by the norm of C; error, largest: the largest error of an element "
        "divided by the typical size of an element; "
        "bound: the largest error that rounding explains for this K. GB/s counts A and B read once "
        "and C written once."
    )
    for sentence in explain_steadiness(comparison, performance.kernel_label):
        st.caption(plain_text(sentence))
    if performance.build_resource_table(comparison):
        st.table(
            performance.build_resource_table(comparison), border="horizontal",
            alt="Resources and predicted transactions of the kernels shown",
        )  # fmt: skip
        st.caption(
            "Sectors of global memory (32 bytes each) and wavefronts of shared memory are the "
            "simulator's counts for this launch, computed exactly from launches of a few tiles."
        )


def show_counters(comparison: Comparison, builds: counters.Builds, pair: Pair, key: str) -> None:
    """Show predicted beside measured counters and why they differ, if the run read any."""
    if not counters.profiled_kernels(comparison):
        st.markdown(
            "No hardware counters were read in this run. `python -m gpu record` reads them where "
            "NVIDIA's profiler `ncu` is installed and has permission to read them."
        )
        return
    for count in counters.COUNTS:
        st.subheader(count, anchor=False)
        said = counters.explain(comparison, count)
        for sentence in (*said, *counters.explain_builds(comparison, count, builds)):
            st.markdown(sentence)
        st.plotly_chart(
            counters.draw_counts(comparison, count, text_colour(), pair, builds),
            key=f"{key}_{count}", config=CHART_CONFIG,
            alt=f"{count}. {counters.describe(comparison, count, builds)}",
        )  # fmt: skip
    st.table(
        counters.build_table(comparison, builds), border="horizontal",
        alt="Predicted and measured counters of the kernels shown",
    )  # fmt: skip


def show_bits(verdicts: Sequence[BitVerdict]) -> None:
    """Show whether the simulator's C and the GPU's have the same bits."""
    M, N, K = verdicts[0].size
    st.subheader(f"Bit for bit, {M:,} × {N:,} × {K:,}", anchor=False)
    differing = [verdict for verdict in verdicts if not verdict.identical]
    same = [verdict.name.replace(":", " ") for verdict in verdicts if verdict.identical]
    if same:
        st.success(
            f"Identical: the simulator's C and the GPU's have the same bits. ({', '.join(same)})",
            icon=":material/check:",
        )
    for verdict in differing:
        sentence = plain_text(f"{variant_title(verdict.name)}: {verdict.sentence}")
        st.error(sentence, icon=":material/close:")


def show_limits(limits: Limits, key: str) -> None:
    """Show the device's measured latencies and ceilings."""
    best = limits.ceilings
    st.subheader("How far away each memory is, and its highest rate", anchor=False)
    st.markdown(latency.summarize(limits.latency))
    st.plotly_chart(
        latency.draw_latencies(limits.latency, text_colour()), key=f"{key}_latency",
        config=CHART_CONFIG, alt=latency.describe(limits.latency),
    )  # fmt: skip
    metrics = {
        "Multiply-adds alone": f"{best.fp32_tflops:.1f} TFLOP/s",
        "Copy within the L2": f"{best.l2_gb_s:,.0f} GB/s",
        "Copy through DRAM": f"{best.dram_gb_s:,.0f} GB/s",
    }
    if best.best_tf32_tflops and best.best_half_tflops:
        metrics["Tensor cores, TF32"] = f"{best.best_tf32_tflops:,.0f} TFLOP/s"
        metrics["Tensor cores, half"] = f"{best.best_half_tflops:,.0f} TFLOP/s"
    for column, (name, value) in zip(st.columns(len(metrics)), metrics.items(), strict=True):
        column.metric(name, value, border=True)
    st.caption(
        "Cycles: one thread follows pointers, so that each load waits for the one before; for a "
        "register, one multiply-add waits for another. Copies count bytes read and bytes written."
        + _of_one_warp(best)
    )


def _of_one_warp(best: Ceilings) -> str:
    """A sentence on tensor cores by instructions of one warp, where those of four give more."""
    if not (best.tf32_group_tflops and best.tf32_tflops and best.half_tflops):
        return ""
    return (
        " The tensor cores' rates are those of instructions that four warps issue together; "
        "those of a single warp reach "
        f"{best.tf32_tflops:,.0f} TFLOP/s in TF32 and {best.half_tflops:,.0f} in half precision."
    )


def show_scaling(run: RecordedScaling) -> None:
    """Show a product over several GPUs: a sentence, a picture of each step, bars, every number."""
    counts = scaling.spread_counts(run.scaling)
    left, middle, right = st.columns(3)
    gpus = left.segmented_control(
        "GPUs", counts, default=counts[0], key="scale_gpus", required=True
    )
    best = scaling.best_run(run.scaling, gpus)
    with st.container(key="scale_sentence"):
        st.markdown(scaling.summarize(run.scaling, gpus))
    if best.plan is not None:
        steps = range(len(best.plan.steps))
        step = middle.segmented_control(
            "Step", steps, default=0, key=f"scale_step_{gpus}", required=True,
            format_func=lambda step: str(step + 1),
        )  # fmt: skip
        sentence = tiles_over_gpus.describe_step(best.plan, step)
        st.markdown(sentence)
        st.plotly_chart(
            tiles_over_gpus.draw_plan(best.plan, step, text_colour()), key="scale_plan",
            config=CHART_CONFIG, alt=sentence,
        )  # fmt: skip
        st.caption(
            "Here a GPU takes the place of a block, and its memory that of shared memory. Its "
            "panel of B is above its tile of C, its panel of A to the left; K is drawn short. A1 "
            "is the piece of A that GPU 1 has from the beginning. Filled: in this GPU's memory; "
            "dashed: on its way; thick outline in C: being computed. K is not cut, so the kernel's "
            "code is unchanged."
        )
    of_time = right.segmented_control(
        "Bars", ("Times as fast", "Milliseconds"), default="Times as fast", key="scale_unit",
        required=True,
    ) == "Milliseconds"  # fmt: skip
    st.plotly_chart(
        scaling.draw_bars(run.scaling, of_time, text_colour()), key="scale_bars",
        config=CHART_CONFIG, alt=scaling.describe(run.scaling),
    )  # fmt: skip
    st.markdown(scaling.explain_loss(run.scaling, gpus))
    for note in run.scaling.notes:
        st.markdown(plain_text(note))
    st.table(
        scaling.build_table(run.scaling), border="horizontal",
        alt="Times, speed-ups and bytes moved of each way over several GPUs",
    )  # fmt: skip
    link = run.scaling.peer_gb_s
    st.caption(
        "Medians of at least 20 products in turn, by the host's clock until every GPU has "
        "finished; the spread is the 20th to 80th percentile. Alone: our kernel on one GPU; ideal: "
        "its time divided by the number of GPUs. cuBLASXt, NVIDIA's cuBLAS for "
        "several GPUs, has its matrices on the first GPU."
        + (f" A copy from one GPU to the next goes at {link:.0f} GB/s." if link else "")
    )


def show_shapes(shapes: Sequence[Shape], table: Table) -> None:
    """Show how near the chosen kernels come to cuBLAS, and why one of them was chosen."""
    st.subheader("Every shape", anchor=False)
    st.markdown(shapes_chart.summarize(shapes))
    st.plotly_chart(
        shapes_chart.draw_map(shapes, text_colour()), key="shapes_map", config=CHART_CONFIG,
        alt=shapes_chart.describe(shapes),
    )  # fmt: skip
    st.caption(
        "A mark is a shape, larger for more work; blue is faster than cuBLAS, orange slower. The "
        "kernel for each shape was chosen from the times of waves, measured beforehand, and its "
        "C was verified; its time includes filling C with zeros, and copying rows of B so "
        "that each begins at a multiple of 16 bytes."
    )
    by_name = {performance.size_name(shape.size): shape for shape in shapes}
    known = list(by_name)
    usual = performance.size_name(USUAL_SHAPE)
    name = st.selectbox(
        "Why this kernel", known, index=known.index(usual) if usual in known else 0,
        key="shapes_size",
    )  # fmt: skip
    shape = by_name[name]
    copied = ""
    if shape.is_few and shape.copy_ratio is not None:
        copied = f" ({performance.format_percent(shape.copy_ratio)} of a copy of as many bytes)"
    st.markdown(
        f"**{performance.format_percent(shape.cublas_ratio)} of cuBLAS**, "
        f"{performance.format_milliseconds(shape.ms)}, {shape.gb_per_s:,.0f} GB/s{copied}, with "
        f"{plain_text(shape.kernel)}. {plain_text(shape.plan.reason)}"
    )
    before = shapes_chart.usual_plan(table, shape)
    drawn = [("Chosen", shape.plan)]
    if before is not None and before.kernel != shape.plan.kernel:
        drawn.insert(0, ("The ladder's last kernel", before))
    for column, (title, plan) in zip(st.columns(len(drawn)), drawn, strict=True):
        with column:
            sentence = shapes_chart.explain_waves(plan, table.multiprocessors)
            st.markdown(f"**{title}.** {sentence}")
            st.plotly_chart(
                shapes_chart.draw_waves(plan, table.multiprocessors, text_colour()),
                key=f"shapes_waves_{title}", config=CHART_CONFIG, alt=sentence,
            )  # fmt: skip
