"""Predicted and measured counters: the simulator's beside the hardware's, as chart and table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from gpu.comparison import Comparison, KernelResult
from gpu.predicted_counters import RETRIES, CompiledPrediction, global_sectors, shared_wavefronts
from ui.drawing.palette import REFERENCE_COLOUR
from ui.gpu_charts import performance, rows
from ui.gpu_charts.performance import NO_PAIR, Pair

CountFunction = Callable[[Mapping[str, int]], int | None]
Builds = Mapping[str, CompiledPrediction]  # by kernel, of which machine code is recorded

COUNTS: Mapping[str, CountFunction] = {
    "Global sectors": global_sectors,
    "Shared wavefronts": shared_wavefronts,
}
NO_BUILDS: Builds = {}
# Pixels: where all agree, a diamond is on a bar within a ring, and each is seen.
RING_SIZE, BAR_SIZE, DIAMOND_SIZE = 22, 17, 11

AGREEMENT = 0.02  # predicted and measured agree when they differ by no more, as a share


def profiled_kernels(comparison: Comparison) -> list[KernelResult]:
    """The kernels that have simulated counters and hardware counters."""
    return [
        kernel
        for kernel in comparison.kernels
        if kernel.simulated is not None and kernel.counters is not None
    ]


def predicted_count(kernel: KernelResult, count: str) -> int | None:
    """The simulator's value of an entry of COUNTS, None if a counter of it was not recorded."""
    return COUNTS[count](kernel.simulated or {})


def measured_count(kernel: KernelResult, count: str) -> int | None:
    """The hardware's value of an entry of COUNTS, None if a counter of it was not recorded."""
    return COUNTS[count](kernel.counters or {})


@dataclass(frozen=True, slots=True)
class BuildCount:
    """What a kernel's machine code asks of memory, as predicted."""

    value: int
    is_least: bool  # whether the hardware may count more

    @property
    def text(self) -> str:
        """The number, and whether it is the least."""
        return f"{'at least ' if self.is_least else ''}{performance.format_count(self.value)}"


def build_count(kernel: KernelResult, count: str, builds: Builds) -> BuildCount | None:
    """An entry of COUNTS of a kernel's machine code, None where it is not known."""
    build = builds.get(kernel.name)
    if build is None:
        return None
    known = {name: value for name, value in build.counters.items() if value is not None}
    value = COUNTS[count]({**known, **build.at_least})
    return None if value is None else BuildCount(value, COUNTS[count](known) is None)


def draw_counts(
    comparison: Comparison,
    count: str,
    ink: str = rows.INK,
    pair: Pair = NO_PAIR,
    builds: Builds = NO_BUILDS,
) -> go.Figure:
    """Draw an entry of COUNTS for each kernel, on a log scale.

    Predicted of the source is a ring, of the machine code a bar, measured a diamond. A line joins
    ring and diamond, so that its length is the difference. An unknown count has no marker; the
    text above the row says which is unknown.
    """
    shown = [
        kernel for kernel in profiled_kernels(comparison) if predicted_count(kernel, count) != 0
    ]
    numbers = list(range(len(shown)))
    figure = go.Figure()
    measured = [measured_count(kernel, count) for kernel in shown]
    predicted = [predicted_count(kernel, count) for kernel in shown]
    made = [build_count(kernel, count, builds) for kernel in shown]
    built = [None if one is None else one.value for one in made]
    for name, symbol, size, values in (
        ("measured by the hardware", "diamond", DIAMOND_SIZE, measured),
        *([("predicted for the machine code", "line-ns", BAR_SIZE, built)] if any(made) else []),
        ("predicted for the source", "circle-open", RING_SIZE, predicted),
    ):
        figure.add_scatter(
            x=values, y=numbers, mode="markers", name=name,
            marker={
                "symbol": symbol, "size": size, "color": ink, "line": {"width": 2.5, "color": ink},
            },
            customdata=[performance.kernel_label(kernel) for kernel in shown],
            hovertemplate="%{customdata}: %{x:,}<extra>" + name + "</extra>",
        )  # fmt: skip
    for row, ends in enumerate(zip(measured, predicted, strict=True)):
        if None not in ends:
            figure.add_shape(
                type="line", x0=ends[0], x1=ends[1], y0=row, y1=row, layer="below",
                line={"color": REFERENCE_COLOUR, "width": 3},
            )  # fmt: skip
    rows.write_names(
        figure,
        [
            rows.Name(
                performance.kernel_label(kernel), _row_text(kernel, count), kernel.name in pair
            )
            for kernel in shown
        ],
        ink,
    )
    title = f"{count.lower()} of one launch"
    rows.draw_axis(figure, ink, title, type="log", dtick=1, exponentformat="SI")
    rows.place_legend(figure, ink, len(figure.data) * rows.LEGEND_HEIGHT // 2)
    return figure


def _row_text(kernel: KernelResult, count: str) -> str:
    """Measured as a share of predicted for the source, or which of the two is unknown."""
    predicted, measured = predicted_count(kernel, count), measured_count(kernel, count)
    unknown = [
        f"{name} unknown"
        for name, value in {"predicted": predicted, "measured": measured}.items()
        if value is None
    ]
    if unknown or not predicted or measured is None:
        return ", ".join(unknown)
    return f"{measured / predicted:.0%} of predicted"


@dataclass(frozen=True, slots=True)
class Difference:
    """A kernel whose measured count is not the predicted one."""

    kernel: KernelResult
    ratio: float  # measured over predicted

    def share(self, counter: str) -> float | None:
        """What the hardware counted of one of the simulator's counters, as a share of it."""
        written = (self.kernel.simulated or {}).get(counter)
        counted = (self.kernel.counters or {}).get(counter)
        return counted / written if written and counted is not None else None

    @property
    def has_wider_loads(self) -> bool:
        """Whether the compiled code has fewer shared loads, and fewer passes through them."""
        return _is_less(self.share("shared_load_requests")) and _is_less(
            self.share("shared_load_wavefronts")
        )


def find_differences(comparison: Comparison, count: str) -> list[Difference]:
    """The kernels whose counts differ by more than AGREEMENT, the largest difference first."""
    found = []
    for kernel in profiled_kernels(comparison):
        predicted, measured = predicted_count(kernel, count), measured_count(kernel, count)
        if predicted and measured and abs(measured / predicted - 1) > AGREEMENT:
            found.append(Difference(kernel, measured / predicted))
    return sorted(found, key=lambda difference: abs(math.log(difference.ratio)), reverse=True)


def explain(comparison: Comparison, count: str) -> list[str]:
    """Sentences on why measured and predicted differ, from the counters; [] with no counters.

    The compiler joins neighbouring shared loads into a wider one: then the hardware counts fewer
    load instructions than the text has. It counts no shared store where a copy goes from global
    to shared memory without a register.
    """
    compared = [kernel for kernel in profiled_kernels(comparison) if predicted_count(kernel, count)]
    if not compared:
        return []
    differences = find_differences(comparison, count)
    if not differences:
        return [f"Measured and predicted agree within {AGREEMENT:.0%} for every kernel shown."]
    wider: list[Difference] = []
    uncounted: list[Difference] = []
    others: list[Difference] = []
    for one in differences:
        if count == "Shared wavefronts" and one.has_wider_loads:
            wider.append(one)
        elif count == "Shared wavefronts" and _is_less(one.share("shared_store_requests")):
            uncounted.append(one)
        else:
            others.append(one)
    sentences = []
    if wider:
        most = wider[0]
        sentences.append(
            f"{_list(wider, count)}: **optimised code reads shared memory in wider words**. The "
            "compiler joins a thread's loads of neighbouring words into one of 64 or 128 bits, "
            "which takes fewer wavefronts: for 100 shared loads in the source, "
            f"{performance.phrase(most.kernel)} executes "
            f"{100 * (most.share('shared_load_requests') or 0):.0f}."
        )
    if uncounted:
        sentences.append(
            f"{_list(uncounted, count)}: an asynchronous copy from global to shared memory passes "
            "through no register, and the hardware does not count it as a shared store. It "
            f"counted only {uncounted[0].share('shared_store_requests') or 0:.0%} of the shared "
            f"stores that the source of {performance.phrase(uncounted[0].kernel)} implies."
        )
    if others:
        sentences.append(
            f"{_list(others, count)}: the recorded counters do not say why. The simulator counts "
            "the code as it is written, the hardware what the compiler made of it."
        )
    return sentences


def explain_builds(comparison: Comparison, count: str, builds: Builds) -> list[str]:
    """Sentences on what is predicted of the machine code; [] with none of any kernel shown."""
    compared = [kernel for kernel in profiled_kernels(comparison) if predicted_count(kernel, count)]
    made = [(kernel, build_count(kernel, count, builds)) for kernel in compared]
    known = [
        (measured, one)
        for measured, one in ((measured_count(kernel, count), one) for kernel, one in made)
        if measured is not None and one is not None and one.value
    ]
    if not known:
        return []
    shares = [measured / one.value for measured, one in known]
    least, most = f"{min(shares):.1%}", f"{max(shares):.1%}"
    counted = least if least == most else f"{least} to {most}"
    sentences = [
        f"The hardware counted {counted} of what the instructions of the **machine code** predict, "
        "in the number and widths that the compiler chose."
    ]
    if any(one.is_least for _, one in known):
        sentences.append(f"{RETRIES} For stores the prediction is therefore a lower bound.")
    sentences += [
        f"Nothing is predicted for the machine code of {performance.phrase(kernel)}: "
        f"{builds[kernel.name].reasons[0]}"
        for kernel, one in made
        if one is None and kernel.name in builds
    ]
    return sentences


def _is_less(share: float | None) -> bool:
    """Whether a share is known and less than all."""
    return share is not None and share < 1 - AGREEMENT


def _list(differences: Sequence[Difference], count: str) -> str:
    """The kernels with their ratios: "transposed (TILE 32) shows 28% of the predicted ..."."""
    first, *rest = differences
    text = (
        f"{performance.phrase(first.kernel)} shows {first.ratio:.0%} of the predicted "
        f"{count.lower()}"
    )
    if rest:
        others = ", ".join(f"{performance.phrase(one.kernel)} {one.ratio:.0%}" for one in rest)
        text += f" ({others})"
    return text


def build_table(comparison: Comparison, builds: Builds = NO_BUILDS) -> list[dict[str, str]]:
    """Build a row for each kernel: each count predicted, measured, and measured over predicted.

    With builds, there is what is predicted of the machine code, too.
    """
    table = []
    for kernel in profiled_kernels(comparison):
        row = {"Kernel": performance.kernel_label(kernel)}
        for count in COUNTS:
            simulated, hardware = predicted_count(kernel, count), measured_count(kernel, count)
            row |= {
                f"{count}, predicted": performance.format_count(simulated),
                f"{count}, measured": performance.format_count(hardware),
                f"{count}, measured over predicted": _ratio(hardware, simulated),
            }
            if builds:
                made = build_count(kernel, count, builds)
                row[f"{count}, predicted for the machine code"] = (
                    "unknown" if made is None else made.text
                )
        table.append(row)
    return table


def _ratio(hardware: int | None, simulated: int | None) -> str:
    """Measured over predicted as a percentage, "–" when nothing was predicted."""
    if hardware is None or simulated is None:
        return "unknown"
    return f"{hardware / simulated:.1%}" if simulated else "–"


def describe(comparison: Comparison, count: str, builds: Builds = NO_BUILDS) -> str:
    """Describe the chart in words, for screen readers."""
    parts = []
    for kernel in profiled_kernels(comparison):
        made = build_count(kernel, count, builds)
        of_build = f"{made.text} predicted for the machine code, " if made else ""
        parts.append(
            f"{performance.kernel_label(kernel)}: "
            f"{performance.format_count(predicted_count(kernel, count))} predicted, {of_build}"
            f"{performance.format_count(measured_count(kernel, count))} measured"
        )
    return "; ".join(parts)
