"""How well a product spreads over several GPUs: bars beside the ideal, table rows, sentences."""

from __future__ import annotations

import plotly.graph_objects as go

from gpu.scale.plan import Plan
from gpu.scale.scaling import ScaleRun, Scaling, Way
from simulator.catalogue import catalogue
from ui.drawing.palette import COMPARED_COLOUR, REFERENCE_COLOUR
from ui.gpu_charts import rows
from ui.gpu_charts.performance import YES_OR_NO, format_milliseconds, format_percent, size_name


def spread_counts(scaling: Scaling) -> list[int]:
    """How many GPUs the product was spread over, more than one, the most first."""
    return sorted({run.gpus for run in scaling.runs if run.plan and run.gpus > 1}, reverse=True)


def best_run(scaling: Scaling, gpus: int) -> ScaleRun:
    """The fastest run of our kernel over so many GPUs whose pieces move."""
    moving = [run for run in scaling.runs if run.gpus == gpus and run.bytes_moved]
    return min(moving, key=lambda run: run.ms)


def run_label(run: ScaleRun) -> str:
    """The run's name for readers: "2 GPUs, peer copies"."""
    return f"{run.gpus} GPU{'s' if run.gpus > 1 else ''}, {_way(run)}"


def _way(run: ScaleRun) -> str:
    return "alone" if run.gpus == 1 and run.way is Way.IN_PLACE else run.way.value


def draw_bars(scaling: Scaling, of_time: bool, ink: str = rows.INK) -> go.Figure:
    """Draw how many times as fast as one GPU each run is, or its milliseconds, around the ideal.

    The ideal is a hollow bar. Ours are coloured; a run whose C is wrong is hatched and says so.
    """
    runs = scaling.runs
    values = [run.ms if of_time else run.speedup for run in runs]
    ideal = [run.ideal_ms if of_time else float(run.gpus) for run in runs]
    texts = [_bar_text(run) for run in runs]
    at = list(range(len(runs)))
    figure = go.Figure(
        go.Bar(
            x=values, y=at, orientation="h", width=rows.THICKNESS, textposition="none",
            marker={
                "color": [COMPARED_COLOUR if run.plan else REFERENCE_COLOUR for run in runs],
                "pattern": {"shape": ["" if run.verified else "/" for run in runs]},
            },
            customdata=[run_label(run) for run in runs], text=texts,
            hovertemplate="%{customdata}: %{text}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_bar(
        x=ideal, y=at, orientation="h", width=rows.THICKNESS, hoverinfo="skip",
        marker={"color": "rgba(0,0,0,0)", "line": {"color": ink, "width": 2}},
    )  # fmt: skip
    names = [
        rows.Name(run_label(run), text, run.plan is not None and run.gpus > 1)
        for run, text in zip(runs, texts, strict=True)
    ]
    rows.write_names(figure, names, ink)
    title = "milliseconds" if of_time else "times as fast as one GPU"
    reach = 1.02 * max([*values, *ideal])
    rows.draw_axis(figure, ink, f"{title}; hollow: ideal", range=[0, reach], nticks=8)
    figure.update_layout(showlegend=False, barmode="overlay")
    return figure


def _bar_text(run: ScaleRun) -> str:
    text = f"{format_milliseconds(run.ms)}, {run.speedup:.2f} ×"
    if run.gpus > 1:
        text += f", {format_percent(run.efficiency)} of ideal"
    return text if run.verified else f"{text}, C is wrong"


def summarize(scaling: Scaling, gpus: int) -> str:
    """The sentence on the best way over so many GPUs."""
    run = best_run(scaling, gpus)
    sentence = (
        f"**{gpus} GPUs multiply {run.speedup:.2f} times as fast as one**, "
        f"{format_percent(run.efficiency)} of what would be ideal: {scaling.kernel} at "
        f"{size_name(scaling.size)} takes {format_milliseconds(run.ms)}, with {run.way}, "
        f"while {(run.bytes_moved or 0) / 1e9:.2g} GB move."
    )
    return f"{sentence} Its C has the same bits as one GPU's." if run.same_bits else sentence


def explain_loss(scaling: Scaling, gpus: int) -> str:
    """What keeps the best way over so many GPUs from the ideal: the moves, and the last waves."""
    run = best_run(scaling, gpus)
    alone, each = (
        max(waves(scaling, one.plan, gpu) for gpu in range(one.plan.gpus))
        for one in (scaling.runs[0], run)
        if one.plan
    )
    sentence = (
        f"A GPU runs {scaling.resident_blocks:,} blocks at a time. One GPU takes {alone} waves, "
        f"each of {gpus} GPUs {each}: counted in waves, the product can be at most "
        f"{alone / each:.2f} times as fast."
    )
    still = [one for one in scaling.runs if (one.gpus, one.way) == (gpus, Way.IN_PLACE)]
    for one in still:
        sentence += (
            " With every piece in place from the beginning the product takes "
            f"{format_milliseconds(one.ms)}: moving them costs "
            f"{format_percent(max(0.0, run.ms / one.ms - 1))}; a GPU multiplies meanwhile."
        )
    return sentence


def waves(scaling: Scaling, plan: Plan, gpu: int) -> int:
    """How often a GPU is filled with blocks until all of its tile of C are through."""
    rows_of_block, columns_of_block = catalogue()[scaling.kernel].produces()
    blocks = sum(
        -(-one.a.band.extent // rows_of_block) * -(-one.b.band.extent // columns_of_block)
        for one in plan.products()
        if one.gpu == gpu
    )
    return -(-blocks // scaling.resident_blocks)


def build_table(scaling: Scaling) -> list[dict[str, str]]:
    """Build a row for each run, every number formatted as text."""
    return [
        {
            "GPUs": str(run.gpus),
            "How": _way(run),
            "C is right": YES_OR_NO[run.verified],
            "Time, ms": f"{run.ms:#.4g}",
            "20th to 80th": "{:#.4g} to {:#.4g}".format(*run.ms_spread),
            "Ideal, ms": f"{run.ideal_ms:#.4g}",
            "Times as fast": f"{run.speedup:.2f}",
            "Of ideal": format_percent(run.efficiency),
            "TFLOP/s": f"{run.tflops:.1f}",
            "Moved, GB": "–" if run.bytes_moved is None else f"{run.bytes_moved / 1e9:.2f}",
            "Same bits as one GPU": "–" if run.same_bits is None else YES_OR_NO[run.same_bits],
        }
        for run in scaling.runs
    ]


def describe(scaling: Scaling) -> str:
    """Describe the bars in words, for screen readers."""
    return "; ".join(f"{run_label(run)}: {_bar_text(run)}" for run in scaling.runs)
