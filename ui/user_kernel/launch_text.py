"""A launch as CUDA C writes it."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.verdict.form import ArrayArgument, LaunchForm


def summarize_launch(kernel: str, form: LaunchForm) -> str:
    """A launch as CUDA C writes it.

    >>> from simulator.verdict.form import NumberArgument
    >>> form = LaunchForm(("2", "1", "1"), ("32", "1", "1"), "0", (NumberArgument("n", "64"),))
    >>> summarize_launch("fill", form)
    'fill<<<2, 32>>>(64)'
    """
    sizes = ", ".join(_dim3(one) for one in (form.grid, form.block))
    shared = f", {form.shared_bytes}" if form.shared_bytes.strip() != "0" else ""
    arguments = ", ".join(
        one.name if isinstance(one, ArrayArgument) else one.value for one in form.arguments
    )
    return f"{kernel}<<<{sizes}{shared}>>>({arguments})"


def _dim3(sizes: Sequence[str]) -> str:
    used = [size.strip() for size in sizes]
    while len(used) > 1 and used[-1] == "1":
        used.pop()
    return used[0] if len(used) == 1 else f"dim3({', '.join(used)})"
