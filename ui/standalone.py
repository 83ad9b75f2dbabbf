"""A view run and drawn as a file of its own, without Streamlit and its caches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from simulator import Recording, catalogue, compile_kernel, record, simulate
from simulator.launch import ravel
from ui import export, presets, scene
from ui.look import Look
from ui.view_url import View, from_query
from ui.what_if import without_faults


@dataclass(frozen=True, slots=True)
class Standalone:
    """A scene as an HTML file."""

    steps: int
    pieces: Iterator[str]  # of the file; they are built as they are read


def parse_view(query: Mapping[str, str]) -> View:
    """The view of an address's parameters. ValueError, a sentence, for one that cannot be shown."""
    view, notices = from_query(query)
    if notices:
        raise ValueError(" ".join(notices))
    return view


def draw_standalone(view: View, look: Look) -> Standalone:
    """Run a view and draw it. SourceError or LaunchError, a sentence, where it cannot be run."""
    entry, recording = catalogue()[view.kernel], _record(view)
    edits = without_faults(view.edits)
    right = None if edits == view.edits else _record(replace(view, edits=edits))
    drawing = scene.draw(
        recording, ravel((*view.thread, 0), recording.launch.block), look,
        entry.tile(**dict(view.defines)), simulate(recording.kernel, recording.launch).hazards,
        presets.changes(view), right,
    )  # fmt: skip
    pieces = export.html(drawing.streamed(), scene.navigation(recording), entry.title, view.step)
    return Standalone(len(recording.steps), pieces)


def _record(view: View) -> Recording:
    entry = catalogue()[view.kernel]
    kernel = compile_kernel(presets.source(view), entry.kernel, filename=entry.file)
    return record(kernel, presets.launch(view), (*view.block, 0), view.schedule)
