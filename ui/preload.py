"""Whatever a page imports, imported by one thread before the first page is drawn.

Streamlit runs app.py in a thread of its own for each visitor, and libraries look for each other in
sys.modules: while one thread imports pandas, Plotly finds a partially initialized pandas there.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading

# The pages themselves are scripts and cannot be imported.
MODULES = (
    "pandas", "plotly.graph_objects", "gpu.recorded", "gpu.worker", "ui.export", "ui.toolbar",
    "ui.cache", "ui.gpu_results",
)  # fmt: skip
# What Streamlit imports at its first use; another release may not have it.
LAZY_MODULES = ("streamlit.material_icon_names",)
FONT = {"size": 12}
AXIS = {"tickfont": FONT, "title": {"font": FONT, "text": "x"}}
# Every part of a figure that a page draws: Plotly imports a class for each at its first use.
TRACES = (
    {"type": "scatter", "line": {"width": 1}, "marker": {"line": {"width": 1}}, "textfont": FONT},
    {"type": "bar", "error_x": {"array": [1]}, "marker": {"pattern": {"shape": "/"}}},
)
LAYOUT = {
    "annotations": [{"font": FONT}],
    "font": FONT,
    "legend": {"font": FONT},
    "margin": {"t": 0},
    "shapes": [{"line": {"width": 1}}],
    "sliders": [{"currentvalue": {"font": FONT}, "font": FONT, "pad": {"t": 0}, "steps": [{}]}],
    "title": {"font": FONT},
    "updatemenus": [{"buttons": [{}], "font": FONT, "pad": {"t": 0}}],
    "xaxis": AXIS,
    "yaxis": AXIS,
}
KERNEL = "__global__ void store(float* a) { a[threadIdx.x] = 0; }"

LOCK = threading.Lock()


def preload() -> None:
    """Import everything, once in a process; a second thread waits until that is done."""
    with LOCK:
        _preload()


@functools.cache
def _preload() -> None:
    for name in MODULES:
        importlib.import_module(name)
    for name in LAZY_MODULES:
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    _use()


def _use() -> None:
    """Use once what imports parts of itself, or loads a library, at its first use."""
    import numpy as np
    import pandas
    import PIL.Image
    import plotly.graph_objects as go
    import pyarrow
    from pygments.lexers import get_lexer_by_name

    from simulator import compile_kernel

    PIL.Image.preinit()  # by which the page's icon is read
    pyarrow.Table.from_pandas(pandas.DataFrame({"a": [""]}))  # as for a table on a page
    go.Figure([*TRACES, {"type": "scatter", "x": np.zeros(1)}], LAYOUT).to_json()
    list(get_lexer_by_name("cuda").get_tokens(KERNEL))
    compile_kernel(KERNEL, "store")
