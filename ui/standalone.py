"""A view run and drawn as a file of its own, without Streamlit and its caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

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


def parse_address(address: str) -> View:
    """The view of an address of the Step page, or of what stands in it behind the question mark.

    Raises ValueError, a sentence, for one that cannot be shown.
    """
    query = urlsplit(address).query if "://" in address else address.lstrip("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    if query and not pairs:
        raise ValueError(f"{address!r} is no view; write one as kernel=tiled&M=8&N=8&K=8.")
    return parse_view(dict(pairs))


@dataclass(frozen=True, slots=True)
class Run:
    """A view that was run, to be drawn in any look."""

    title: str  # of its kernel, or of both
    stops: Mapping[str, Any]  # of its steps, as scene.navigation has them
    draw: Callable[[Look], scene.Drawing[Any]]


def run_view(view: View) -> Run:
    """Run a view. SourceError or LaunchError, a sentence, where that is not possible."""
    if view.partner is None:
        model = _build_model(view)
        title, stops = catalogue()[view.kernel].title, scene.navigation(model.recording)
        return Run(title, stops, lambda look: scene.arrange(model, look))
    left, right = side_views(view, _record)
    models = _build_model(left), _build_model(right)
    recordings = models[0].recording, models[1].recording
    pairs, names = align(*recordings), side_names(left, right)
    return Run(
        " | ".join(catalogue()[side.kernel].title for side in (left, right)),
        pair_navigation(*recordings, pairs),
        lambda look: scene.arrange_pair(models, names, pairs, look),
    )


def draw_standalone(view: View, look: Look) -> Standalone:
    """Run a view and draw it. SourceError or LaunchError, a sentence, where it cannot be run."""
    run = run_view(view)
    pieces = export.html(run.draw(look).streamed(), run.stops, run.title, view.step)
    return Standalone(run.stops["steps"], pieces)


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
