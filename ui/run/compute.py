"""What a view is computed into: its kernel, recording, report and scene. Without Streamlit.

The functions run in worker processes (ui.run.executor), in a notebook, or for a film. A process
keeps what it computed last, so that what follows upon it is quick.
"""

from __future__ import annotations

import functools
import hashlib
import io
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from plotly.io.json import to_json_plotly

from compiler.recorded import recorded
from gpu import bits
from gpu.predicted_counters import (
    CompiledPrediction,
    Lines,
    predict,
    predict_compiled,
    predict_lines,
)
from gpu.trace.instrument import instrument
from gpu.trace.recorded import traces_of_one_gpu_first
from simulator import (
    Kernel,
    LaunchError,
    Recording,
    Report,
    SourceError,
    catalogue,
    compile_kernel,
    record,
    simulate,
)
from simulator.broken_file import Broken, BrokenFileError
from simulator.language.tree import MemorySpace
from simulator.launch import Dim3, Launch, ravel
from simulator.machine.budget import Progress
from simulator.machine.schedule import Schedule
from simulator.verdict.launches import build_launch
from ui.analysis.clock import find_clock
from ui.analysis.find_step import corresponding_step
from ui.analysis.pairs import Pair, align, pair_navigation, pair_of_step
from ui.analysis.scene_model import SceneModel, build_scene_model
from ui.drawing.look import Look, Stage
from ui.jobs.job_progress import say
from ui.jobs.result_cache import result_cache
from ui.jobs.settings import check_may_write
from ui.jobs.workers import Marked
from ui.run.click_cost import Work, animation
from ui.run.side_by_side import side_names, side_views
from ui.scene import export, scene
from ui.scene.packed_frames import pack_frames
from ui.view import presets, shown_kernel
from ui.view.view_url import View
from ui.view.what_if import without_faults

SIMULATE_SECONDS = 10.0  # of a launch: a visitor waits no longer for its report, or steps
USER_KERNEL_FILE = "kernel.cu"  # what errors call a user kernel's code
REPORTS = 16  # a process keeps so many, without their arrays, and as many pairs of sides


@dataclass(frozen=True, slots=True)
class Opened:
    """What a page says and asks about a view that has run, whatever its step and its look."""

    sides: tuple[View, ...]  # the views that are shown beside each other, none with a comparison
    grid: Dim3  # of the first side's launch
    block: Dim3  # of the first side's launch
    navigation: Mapping[str, Any]  # scene.navigation's
    reports: tuple[Report, ...]  # of each side, without its arrays


@dataclass(frozen=True, slots=True)
class Picture:
    """The scene of some steps of a view, as the stepper takes it."""

    steps: range
    figure: bytes  # JSON, with its frames packed


def recording_key(view: View) -> View:
    """The view with all fields reset that do not change its recording."""
    return replace(view, thread=(0, 0), z=(view.z[0], 0), step=0, stage=None, comparison=None)


def figure_key(view: View) -> View:
    """The view with all fields reset that do not change its figure, or that the look has."""
    return replace(view, step=0, stage=None)


def launch_key(view: View) -> View:
    """The view with all fields reset that leave the launch's text and size nearly as they are."""
    return replace(
        recording_key(view), edits=(), block=(0, 0), z=(0, 0), schedule=Schedule.LOCKSTEP
    )


def figure_id(view: View, look: Look) -> str:
    """An identifier of a view's figure: 16 hexadecimal digits, the same for all steps."""
    return hashlib.sha256(repr((figure_key(view), look)).encode()).hexdigest()[:16]


def place(function: object, subject: object, *_: object) -> Hashable:
    """Which jobs belong to one process: those of a view and its like, of a lane, of a function."""
    if isinstance(subject, View):
        return launch_key(subject)
    if isinstance(function, Marked) and function.lane is not None:
        return ("lane", function.lane)
    return function


def is_kept(place: Hashable) -> bool:
    """Whether a process keeps a recording of a place, without which a job takes far longer."""
    return isinstance(place, View)


# Jobs: each is a function of a view that a worker process computes for a page.


def open_view(view: View) -> Opened:
    """Run a view's kernels; its step and its look do not matter.

    Raises SourceError or LaunchError, whose sentence the page shows.
    """
    sides = load_sides(view)
    launch = load_recording(recording_key(sides[0])).launch
    reports = tuple(load_report(side) for side in sides)
    return Opened(sides, launch.grid, launch.block, load_navigation(view), reports)


def draw_picture(view: View, look: Look, steps: range | None = None) -> Picture:
    """Draw the scene of a view at some steps; without them, at those around the view's step.

    Raises what open_view raises. The look has the view's stage.
    """
    if steps is None:
        stops = load_navigation(view)
        steps = scene.first_steps(stops, min(max(view.step, 0), stops["steps"] - 1))
    say("The picture is being drawn.")
    figure = _draw(view, look, steps)
    picture = _to_json({name: figure[name] for name in ("data", "layout")})
    packed = pack_frames(figure["frames"]).encode()
    return Picture(steps, picture[:-1] + b',"frames":' + packed + b"}")


def open_scene(view: View, look: Look) -> tuple[Opened, Picture]:
    """Run a view's kernels and draw its step and some around it: open_view and draw_picture."""
    return open_view(view), draw_picture(view, look)


def draw_frames(view: View, look: Look, steps: range) -> bytes:
    """Draw the frames of some steps of a view's scene, as packed_frames has them."""
    return pack_frames(_draw(view, look, steps)["frames"]).encode()


def find_same_place(before: View, view: View) -> int:
    """The step of a view's scene at the same point of the computation as another view is.

    0 if one of them cannot be run.
    """
    try:
        recordings = [load_recording(recording_key(one)) for one in (before, view)]
        step = corresponding_step(recordings[0], step_of_side(before, 0), recordings[1])
        return scene_step(view, step)
    except (SourceError, LaunchError):
        return 0


def find_stage(view: View, look: Look) -> Stage:
    """The stage that the view's step is shown on."""
    last = load_navigation(view)["steps"] - 1
    return load_drawing(view, look).stage_at(min(view.step, last))


def find_line(view: View) -> int:
    """The line of its kernel that the view's step is at; of two scenes it is the left one's."""
    recording = load_recording(recording_key(load_sides(view)[0]))
    return recording.steps[step_of_side(view, 0)].line


def predict_counters(
    name: str, text: str, defines: tuple[tuple[str, str], ...], size: tuple[int, int, int]
) -> Mapping[str, int]:
    """The simulator's counters of a launch of a kernel, as gpu.predicted_counters has them.

    Raises NotPredictedError.
    """
    return predict(name, text, dict(defines), size)


def predict_counters_of_lines(
    name: str, text: str, defines: tuple[tuple[str, str], ...], size: tuple[int, int, int]
) -> Lines:
    """The same counters, of each line of the kernel. Raises NotPredictedError."""
    return predict_lines(name, text, dict(defines), size)


def predict_compiled_counters(
    name: str,
    text: str,
    defines: tuple[tuple[str, str], ...],
    size: tuple[int, int, int],
    architecture: str,
) -> CompiledPrediction | None:
    """The same counters as a GPU counts the machine code, None where that is not recorded.

    Raises NotPredictedError.
    """
    code = recorded(text, architecture)
    return None if code is None else predict_compiled(code, name, text, dict(defines), size)


def show_reads(text: str, kernel: str, defines: tuple[tuple[str, str], ...]) -> str:
    """What reads of the GPU's clock change in a kernel's code, as a unified diff.

    Raises SourceError.
    """
    return instrument(text, kernel, dict(defines)).diff()


def build_animation(view: View, look: Look) -> bytes:
    """Build the scene of a view, with every step, as an HTML file in UTF-8.

    Raises what open_view raises, and LaunchError where it would take more than a click may: a
    button may be older than the limit.
    """
    animation_work(view).check()
    file = io.BytesIO()
    for piece in write_animation(view, look):
        file.write(piece.encode())
    return file.getvalue()


def judge_bits(job: Mapping[str, Any], found: Mapping[str, Any]) -> bits.BitVerdict:
    """Compare a GPU's result of a job with the simulator's, as gpu.bits.judge."""
    return bits.judge(job, found, say_progress)


def say_progress(progress: Progress) -> None:
    """Say how far a run of the simulator is."""
    say(f"{progress.sentence[:1].upper()}{progress.sentence[1:]}.")


# What the jobs are made of.


def animation_work(view: View) -> Work:
    """What writing the scene of a view as an HTML file takes, now that it has run."""
    sides = load_sides(view)
    threads = load_recording(recording_key(sides[0])).launch.threads
    run_seconds = [load_report(side).seconds for side in sides]
    return animation(view, load_navigation(view)["steps"], threads, run_seconds)


def write_animation(view: View, look: Look, start: int | None = None) -> Iterator[str]:
    """Write the scene of a view as an HTML file, frame by frame.

    It begins at a step, from 0; without one at the first beat.
    """
    if start is None:
        start = first_beat(load_navigation(view))
    title = scene_title(load_sides(view))
    figure = load_drawing(view, look).streamed()
    figure.layout.meta |= {"scene": figure_id(view, look)}
    return export.html(figure, load_navigation(view), title, start)


def first_beat(navigation: Mapping[str, Any]) -> int:
    """The step at which a scene begins that is to begin at no other: its first beat."""
    return next(iter(navigation["beat"]), 0)


def scene_title(sides: Sequence[View]) -> str:
    """The title of a scene of one view, or of two beside each other: their kernels'."""
    return " | ".join(shown_kernel.title(side) for side in sides)


def load_kernel(view: View) -> Kernel:
    """Compile the view's kernel, its macros defined and its edits applied.

    Raises SourceError, or LaunchError where user kernels are switched off; BrokenFileError
    for one of the catalogue that does not compile as it is.
    """
    if view.user_kernel is not None:
        check_may_write()
        return _keep_kernel(presets.source(view), view.user_kernel.kernel, USER_KERNEL_FILE)
    entry = catalogue()[view.kernel]
    try:
        return _keep_kernel(presets.source(view), entry.kernel, entry.file)
    except SourceError as error:
        if view.edits:
            raise
        line = error.span.line if error.span else 1
        raise BrokenFileError(Broken(entry.file, line, error.message)) from None


def _keep_kernel(text: str, name: str, file: str) -> Kernel:
    return result_cache().get_or_compute((text, name, file), _compile, text, name, file)


def _compile(text: str, name: str, file: str) -> Kernel:
    return compile_kernel(text, name, filename=file)


def load_launch(view: View) -> Launch:
    """Build the launch of the view's kernel.

    Raises SourceError or LaunchError; of a user kernel also where an array is too large
    for a scene.
    """
    if view.user_kernel is None:
        return presets.launch(view)
    kernel = load_kernel(view)
    launch = build_launch(kernel, view.user_kernel.form)
    of_device = {
        one.variable.name: one.first for one in kernel.globals if one.space is MemorySpace.GLOBAL
    }
    for name, value in (of_device | dict(launch.arguments)).items():
        array = np.asarray(value)
        count = array.size if array.dtype.names is None else array.nbytes // 4
        if count > shown_kernel.LARGEST_ARRAY:
            raise LaunchError(
                f"{name} has {count:,} numbers; a scene draws arrays of up to "
                f"{shown_kernel.LARGEST_ARRAY:,}, such as 128 x 128. Choose smaller sizes on the "
                "Write page: a few blocks show how the kernel works."
            )
    return launch


def load_recording(view: View) -> Recording:
    """Record every step of the view's block; the view is a recording_key.

    Raises SourceError or LaunchError, whose sentence the page shows.
    """
    result = result_cache().get_or_compute(view, _record, view)
    if isinstance(result, Recording):
        return result
    raise result.with_traceback(None)  # else each raise would extend the traceback


def _record(view: View) -> Recording | SourceError | LaunchError:
    """Record, or return the error if it would come again, so that a failed run is cached too."""
    say(f"Block {view.block} is being recorded.")
    try:
        launch = load_launch(view)
        recording = record(
            load_kernel(view), launch, _block_in_grid(view, launch), view.schedule,
            on_progress=say_progress, seconds=SIMULATE_SECONDS,
        )  # fmt: skip
        if not recording.steps:
            raise LaunchError(
                f"{recording.kernel.name} does nothing: there is nothing to step through."
            )
        return recording
    except (SourceError, LaunchError) as error:
        if error.depends_on_machine:
            raise error.with_traceback(None) from None
        return error.with_traceback(None)  # a traceback refers to all that was recorded


def _block_in_grid(view: View, launch: Launch) -> Dim3:
    """The view's block; of a user kernel, whose grid no address knows, the nearest."""
    if view.user_kernel is None:
        return view.block_index
    x, y, z = (min(i, n - 1) for i, n in zip(view.block_index, launch.grid, strict=True))
    return x, y, z


def load_report(view: View) -> Report:
    """Counters and hazards of a view's launch, shared by all its blocks and schedules.

    Without the launch's arrays.
    """
    return _cached_simulate(replace(launch_key(view), edits=view.edits))


@functools.lru_cache(REPORTS)
def _cached_simulate(view: View) -> Report:
    say("The whole grid is running.")
    report = simulate(
        load_kernel(view), load_launch(view), seconds=SIMULATE_SECONDS, on_progress=say_progress
    )
    return replace(report, arrays={})


def load_sides(view: View) -> tuple[View, ...]:
    """The views that a scene shows beside each other, none with a comparison: one or two.

    Raises SourceError or LaunchError, as load_recording.
    """
    return (view,) if view.comparison is None else _cached_sides(figure_key(view))


@functools.lru_cache(REPORTS)
def _cached_sides(view: View) -> tuple[View, View]:
    return side_views(view, lambda side: load_recording(recording_key(side)))


def load_pairs(view: View) -> tuple[Pair, ...]:
    """The pairs of steps of a view with a comparison, which are its scene's steps."""
    left, right = map(recording_key, load_sides(view))
    return result_cache().get_or_compute(left, _align, left, right)


def _align(left: View, right: View) -> tuple[Pair, ...]:
    return align(load_recording(left), load_recording(right))


def step_of_side(view: View, side: int) -> int:
    """The step that a side, 0 or 1, is at, at the scene's step of a view, or at the last."""
    if view.comparison is None:
        return min(view.step, len(load_recording(recording_key(view)).steps) - 1)
    pairs = load_pairs(view)
    return pairs[min(view.step, len(pairs) - 1)].sides[side].number


def scene_step(view: View, step: int, side: int = 0) -> int:
    """The scene's step at which a side of a view comes to a step of its own."""
    return step if view.comparison is None else pair_of_step(load_pairs(view), side, step)


def load_navigation(view: View) -> Mapping[str, Any]:
    """The navigation of a view's scene, for the toolbar."""
    sides = tuple(map(recording_key, load_sides(view)))
    return result_cache().get_or_compute(sides[0], _navigate, sides)


def _navigate(sides: tuple[View, ...]) -> Mapping[str, Any]:
    recordings = [load_recording(side) for side in sides]
    if len(sides) == 1:
        return scene.navigation(recordings[0])
    left, right = sides
    return pair_navigation(
        recordings[0], recordings[1], result_cache().get_or_compute(left, _align, left, right)
    )


def load_drawing(view: View, look: Look) -> scene.Drawing[Any]:
    """Arrange the scene of a view, in the look that its page has."""
    return result_cache().get_or_compute(recording_key(view), _arrange, figure_key(view), look)


def _arrange(view: View, look: Look) -> scene.Drawing[Any]:
    if view.comparison is None:
        return scene.arrange(load_model(view), look)
    left, right = load_sides(view)
    models = load_model(left), load_model(right)
    # Not load_pairs: a model may have been recorded anew since, and its steps be others.
    pairs = align(models[0].recording, models[1].recording)
    return scene.arrange_pair(models, side_names(left, right), pairs, look)


def load_model(side: View) -> SceneModel:
    """The model of a view without a comparison."""
    recording = load_recording(recording_key(side))
    hazards, right = load_report(side).hazards, load_right(side)
    thread = ravel(side.thread_index, recording.launch.block)
    if side.user_kernel is not None:
        nearest = min(thread, recording.launch.threads - 1)
        return build_scene_model(
            recording, nearest, None, hazards, presets.changes(side), right, side.user_kernel.form
        )
    tile = catalogue()[side.kernel].tile(**dict(side.defines))
    model = build_scene_model(recording, thread, tile, hazards, presets.changes(side), right)
    return replace(model, clock=find_clock(recording, model.phases, traces_of_one_gpu_first()))


def load_right(view: View) -> Recording | None:
    """The recording of a view without the faults of its what-ifs; None if it has none."""
    edits = without_faults(view.edits)
    if edits == view.edits:
        return None
    try:
        return load_recording(recording_key(replace(view, edits=edits)))
    except (SourceError, LaunchError):
        return None


def _draw(view: View, look: Look, steps: range) -> dict[str, Any]:
    """Draw the scene of a view at some steps: "data", "layout", "frames"."""
    figure = load_drawing(view, look).plain(steps)
    figure["layout"]["meta"]["scene"] = figure_id(view, look)
    return figure


def _to_json(plain: Any) -> bytes:
    text: str = to_json_plotly(plain, engine="json")
    return text.encode()
