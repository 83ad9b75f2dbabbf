"""Shows and plays a scene in a notebook, without Streamlit.

>>> from ui.notebook import show
>>> show("tiled", M=8, N=8, K=8)
Scene of tiled: 53 steps
"""

from __future__ import annotations

import html
from dataclasses import dataclass

from simulator import catalogue, compile_kernel, record, simulate
from simulator.launch import ravel
from ui import export, presets, scene
from ui.look import Look
from ui.view_url import from_query

WIDTH, HEIGHT = 1000, 600  # pixels of the figure; its toolbar stands above it
TOOLBAR = 60  # pixels


@dataclass(frozen=True, slots=True, repr=False)
class Animation:
    """A scene as a notebook displays it: the exported file in a frame of its own."""

    kernel: str
    steps: int
    content: str  # HTML
    height: int  # pixels

    def __repr__(self) -> str:
        """What it is, where a notebook shows only text."""
        return f"Scene of {self.kernel}: {self.steps} steps"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.content)}" title="{html.escape(repr(self))}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


def show(
    kernel: str = "tiled", width: int = WIDTH, height: int = HEIGHT, **parameters: int | str
) -> Animation:
    """Run a kernel of the catalogue and return its scene, which a notebook displays and plays.

    width and height are pixels of the figure. The other parameters are named as in an address of
    the Step page: M, N, K, the kernel's macros, edits, step, bx, by, tx, ty. Raises ValueError, a
    sentence, for one that the scene cannot show.
    """
    query = {name: str(value) for name, value in parameters.items()}
    view, notices = from_query({"kernel": kernel, **query})
    if notices:
        raise ValueError(" ".join(notices))
    entry = catalogue()[view.kernel]
    compiled = compile_kernel(presets.source(view), entry.kernel, filename=entry.file)
    launch = presets.launch(view)
    recording = record(compiled, launch, (*view.block, 0), view.schedule)
    look = Look(sheet=view.sheet, stage=view.stage, width=width, height=height)
    drawing = scene.draw(
        recording, ravel((*view.thread, 0), launch.block), look,
        entry.tile(**dict(view.defines)), simulate(compiled, launch).hazards,
        presets.changes(view),
    )  # fmt: skip
    figure = drawing.streamed()
    pieces = export.html(figure, scene.navigation(recording), entry.title, view.step)
    return Animation(kernel, len(recording.steps), "".join(pieces), height + TOOLBAR)
