"""Import all that a page needs, in a single thread, before the first page is drawn.

The imported objects are then left out of garbage collections, which become rarer.

Streamlit runs app.py in a separate thread for each visitor, and libraries look for each other in
sys.modules: while a thread imports pandas, Plotly finds a partially initialized pandas there.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading

from ui.jobs.process_memory import rarely_collect_garbage

# The pages themselves are scripts and cannot be imported.
MODULES = (
    "pandas", "plotly.graph_objects", "gpu.recorded", "gpu.trace.job", "gpu.worker",
    "ui.gpu.gpu_jobs", "ui.gpu.gpu_results", "ui.gpu.grid_section", "ui.gpu.trace_section",
    "ui.lessons.charts", "ui.lessons.export", "ui.lessons.progress_section",
    "ui.lessons.question_section", "ui.user_kernel.editor", "ui.user_kernel.exercise_section",
    "ui.user_kernel.gpu_section", "ui.user_kernel.launch_section", "ui.user_kernel.launch_text",
    "ui.user_kernel.uploads", "ui.user_kernel.verdict_section", "ui.step.downloads",
    "ui.step.scene_section", "ui.web_page.announcer", "ui.web_page.index_page",
    "ui.web_page.leaving", "ui.web_page.style", "ui.web_page.write_style",
)  # fmt: skip
# Imported by Streamlit, or to start a worker process, at their first use; another release or system
# may not have them.
LAZY_MODULES = (
    "streamlit.material_icon_names", "multiprocessing.popen_spawn_posix",
    "multiprocessing.resource_tracker", "multiprocessing.sharedctypes",
    "multiprocessing.synchronize",
)  # fmt: skip
FONT = {"size": 12}
AXIS = {"tickfont": FONT, "title": {"font": FONT, "text": "x"}}
# Every component of a figure that a page draws: Plotly imports its class at the first use.
TRACES = (
    {
        "type": "scatter",
        "line": {"width": 1},
        "marker": {"colorbar": {"tickfont": FONT, "title": {"font": FONT}}, "line": {"width": 1}},
        "textfont": FONT,
    },
    {
        "type": "bar",
        "error_x": {"array": [1]},
        "marker": {"pattern": {"shape": "/"}, "line": {"width": 1}},
    },
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
    """Import everything, once in a process; other threads wait until that is done."""
    with LOCK:
        _preload()


@functools.cache
def _preload() -> None:
    for name in MODULES:
        importlib.import_module(name)
    for name in LAZY_MODULES:
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    _call_lazy_imports()
    rarely_collect_garbage()


def _call_lazy_imports() -> None:
    """Call what imports further modules, or loads a library, at its first use."""
    import numpy as np
    import pandas
    import PIL.Image
    import plotly.graph_objects as go
    import pyarrow
    from pygments.lexers import get_lexer_by_name

    from simulator import compile_kernel

    PIL.Image.preinit()  # reads the page's icon
    pyarrow.Table.from_pandas(pandas.DataFrame({"a": [""]}))  # converts a table on a page
    go.Figure([*TRACES, {"type": "scatter", "x": np.zeros(1)}], LAYOUT).to_json()
    list(get_lexer_by_name("cuda").get_tokens(KERNEL))
    compile_kernel(KERNEL, "store")
