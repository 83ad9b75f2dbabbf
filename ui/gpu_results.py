"""Draw the results of a GPU run on the page: charts, tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from gpu.bits import BitVerdict
from gpu.candidate import variant_title
from gpu.compare import with_simulated
from gpu.microbenchmarks.limits import Limits
from gpu.result import Comparison
from ui.gpu_charts import counters, latency, performance, roofline
from ui.palette import CHART_INKS


def text_colour() -> str:
    """The colour of text in the visitor's theme."""
    return CHART_INKS.get(st.context.theme.type or "light", CHART_INKS["light"])


def show_comparison(comparison: Comparison, limits: Limits | None, key: str) -> None:
    """Show a comparison: a sentence, charts, and every number in tables. key is for Streamlit."""
    st.markdown(performance.summarize(comparison))
    for kernel in comparison.kernels:
        if not kernel.verified:
            st.warning(f"{performance.kernel_label(kernel)}: {kernel.verdict}")
    names = ("Speed", "Time", "Share of cuBLAS", "Roofline", "Predicted and measured")
    speed_tab, time_tab, share_tab, roofline_tab, counters_tab = st.tabs(names)
    for tab, name, draw in (
        (speed_tab, "speed", performance.draw_throughput),
        (time_tab, "time", performance.draw_times),
        (share_tab, "share", performance.draw_cublas_share),
    ):
        tab.plotly_chart(
            draw(comparison, text_colour()),
            key=f"{key}_{name}",
            alt=performance.describe(comparison),
        )
    st.table(performance.build_table(comparison), border="horizontal")
    st.caption(
        "Times are medians of at least 20 launches with the L2 cache emptied before each, all "
        "kernels in turn; the spread is the 20th to 80th percentile. Error: the largest error of "
        "an element over the typical size of one, and the norm of all errors over C's; bound: "
        "what rounding explains of the largest for this K. GB/s counts A and B read once and C "
        "written once."
    )
    with st.spinner("The simulator counts each launch's transactions …"):
        comparison = with_simulated(comparison, lambda *_: None)
    if performance.build_resource_table(comparison):
        st.table(performance.build_resource_table(comparison), border="horizontal")
        st.caption(
            "Global sectors of 32 bytes and passes through shared memory are the simulator's, for "
            "this launch: solved exactly from launches of a few tiles."
        )
    with roofline_tab:
        show_roofline(comparison, limits, key)
    with counters_tab:
        show_counters(comparison, key)


def show_roofline(comparison: Comparison, limits: Limits | None, key: str) -> None:
    """Show the roofline chart; limits None draws the ceilings that the device's clocks give."""
    if not roofline.find_points(comparison):
        st.markdown("No float32 kernel of this run has a time and simulated bytes.")
        return
    st.plotly_chart(
        roofline.draw_roofline(comparison, limits, text_colour()), key=f"{key}_roofline",
        alt=roofline.describe(comparison, limits),
    )  # fmt: skip
    st.caption(
        "Across: 2·M·N·K operations over the bytes of all global sectors that the simulator "
        "counts. These are bytes that threads ask for: the caches answer most of them, so that a "
        "kernel may lie above DRAM's line. "
        + (
            "The ceilings were measured on this GPU."
            if limits
            else "The ceilings follow from its clocks, cores and bus; no kernel reaches them fully."
        )
    )


def show_counters(comparison: Comparison, key: str) -> None:
    """Show predicted beside measured counters, if the run read hardware counters."""
    if not counters.profiled_kernels(comparison):
        st.markdown(
            "No hardware counters were read in this run. `python -m gpu record` reads them where "
            "NVIDIA's profiler `ncu` is installed and may count."
        )
        return
    for count in counters.COUNTS:
        st.plotly_chart(
            counters.draw_counts(comparison, count, text_colour()), key=f"{key}_{count}",
            alt=counters.describe(comparison, count),
        )  # fmt: skip
    st.table(counters.build_table(comparison), border="horizontal")
    st.caption(
        "The simulator counts the text as it is written. The compiler may read several "
        "neighbours of a shared array at once, which takes fewer passes."
    )


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
        st.error(f"{variant_title(verdict.name)}: {verdict.sentence}", icon=":material/close:")


def show_limits(limits: Limits, key: str) -> None:
    """Show the device's measured ceilings and latencies."""
    best = limits.ceilings
    st.subheader("What this GPU's cores and memories give at best", anchor=False)
    for column, name, value in zip(
        st.columns(3),
        ("Multiply-adds alone", "Copy within the L2", "Copy through DRAM"),
        (
            f"{best.fp32_tflops:.1f} TFLOP/s",
            f"{best.l2_gb_s:,.0f} GB/s",
            f"{best.dram_gb_s:,.0f} GB/s",
        ),
        strict=True,
    ):
        column.metric(name, value, border=True)
    st.plotly_chart(
        latency.draw_latencies(limits.latency, text_colour()), key=f"{key}_latency",
        alt=latency.describe(limits.latency),
    )  # fmt: skip
    st.caption(
        "One thread follows pointers, each load waiting for the one before; a register's is the "
        "wait of one multiply-add for another. Copies count bytes read and bytes written."
    )
