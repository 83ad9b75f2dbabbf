"""Shows and plays a scene in a notebook, without Streamlit.

>>> from ui.notebook import show
>>> show("tiled", M=8, N=8, K=8)
Scene of tiled: 53 steps
"""

from __future__ import annotations

import html
from dataclasses import dataclass

from ui.drawing.look import Look
from ui.run.standalone import draw_standalone
from ui.view.view_url import parse_view

WIDTH, HEIGHT = 1000, 600  # pixels of the figure; its toolbar is below it
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
    the Step page: M, N, K, the kernel's macros, edits, step, bx, by, tx, ty, and "with" for a
    second scene beside it. Without a step it begins at the kernel's first beat. Raises ValueError,
    a sentence, for one that the scene cannot show.
    """
    query = {name: str(value) for name, value in parameters.items()}
    view = parse_view({"kernel": kernel, **query})
    drawn = draw_standalone(
        view, Look(stage=view.stage, width=width, height=height), begins="step" not in query
    )
    return Animation(kernel, drawn.steps, "".join(drawn.pieces), height + TOOLBAR)
