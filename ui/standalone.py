"""A view run and drawn as a file of its own, without Streamlit and its caches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulator import Recording, catalogue, compile_kernel, record, simulate
from simulator.launch import ravel
from ui import export, presets, scene
from ui.look import Look
from ui.pairs import align, pair_navigation
from ui.partner import side_names, side_views
from ui.scene_model import SceneModel, build_scene_model
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
    if view.partner is None:
        model = _build_model(view)
        drawing: scene.Drawing[Any] = scene.arrange(model, look)
        stops, title = scene.navigation(model.recording), catalogue()[view.kernel].title
    else:
        left, right = side_views(view, _record)
        models = _build_model(left), _build_model(right)
        recordings = models[0].recording, models[1].recording
        pairs = align(*recordings)
        drawing = scene.arrange_pair(models, side_names(left, right), pairs, look)
        stops = pair_navigation(*recordings, pairs)
        title = " | ".join(catalogue()[side.kernel].title for side in (left, right))
    return Standalone(stops["steps"], export.html(drawing.streamed(), stops, title, view.step))


def _build_model(view: View) -> SceneModel:
    recording, edits = _record(view), without_faults(view.edits)
    right = None if edits == view.edits else _record(replace(view, edits=edits))
    return build_scene_model(
        recording, ravel((*view.thread, 0), recording.launch.block),
        catalogue()[view.kernel].tile(**dict(view.defines)),
        simulate(recording.kernel, recording.launch).hazards, presets.changes(view), right,
    )  # fmt: skip


def _record(view: View) -> Recording:
    entry = catalogue()[view.kernel]
    kernel = compile_kernel(presets.source(view), entry.kernel, filename=entry.file)
    return record(kernel, presets.launch(view), (*view.block, 0), view.schedule)
