"""What the class has asked for, computed once: results by their function and arguments."""

from __future__ import annotations

import functools
import pickle
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, TypeVar, TypeVarTuple, cast

import streamlit as st

from gpu.predicted_counters import NotPredictedError
from simulator import LaunchError, SourceError
from simulator.verdict.form import UserKernel
from ui.drawing.look import Look
from ui.jobs.lanes import Lanes
from ui.jobs.work import guess_work, is_short
from ui.jobs.workers import Marked, Running, Workers
from ui.run.compute import (
    Opened,
    Picture,
    build_animation,
    draw_picture,
    figure_key,
    open_scene,
    open_view,
    place,
)
from ui.run.executor import executor, lanes
from ui.run.waiting import QUIET_SECONDS, wait, wait_quietly
from ui.view.view_url import View
from ui.web_page.leaving import GRACE_SECONDS, current_session

LARGEST = 64 * 2**20  # bytes of the results that are kept: what a class asks for in six minutes
OTHERS = 2**15  # bytes that a result without a picture is taken for, at least
# Errors that would come again, and none.
LASTING = (NoneType, SourceError, LaunchError, NotPredictedError)

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


@dataclass(slots=True, eq=False)
class Answer:
    """A result on its way, or there."""

    future: Future[Any]
    waiting: int = 0  # visitors
    size: int = 0  # bytes, once it is there


class Answers:
    """Results of functions, each computed once however many visitors ask for it together.

    The latest are kept, and so are a kernel's and a launch's errors, but not what another run on
    this machine may find otherwise. What nobody waits for any more is stopped, unless somebody
    asks for it again within GRACE_SECONDS: a page's next run does.
    """

    def __init__(self, workers: Executor, lanes: Lanes | None = None) -> None:
        self._workers = workers
        self._lanes = Lanes(workers, 1) if lanes is None else lanes
        self._lock = threading.RLock()
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._left: queue.SimpleQueue[tuple[float, Hashable, Answer]] = queue.SimpleQueue()
        threading.Thread(target=self._stop_left, name="left answers", daemon=True).start()

    def ask(
        self,
        function: Callable[[*Arguments], Result],
        *arguments: *Arguments,
        is_kept: bool = True,
        is_long: bool = False,
        on_stop: Callable[[], None] | None = None,
        is_quiet: bool = False,
        is_ahead: bool = False,
    ) -> Result:
        """The result of a function, which workers compute; its error is raised.

        The arguments are hashable. A script run that another has replaced ends here. With on_stop
        the visitor may stop it, unless others wait for it too. A long one waits for its turn in a
        lane. A quiet one is usually soon done: the page stays as it is for QUIET_SECONDS. So it
        always does for what is asked ahead, which whoever waits to see something goes before.
        """
        key = (function, arguments)
        with self._lock:
            answer = self._answers.get(key)
            if answer is None:
                called = Marked(function, is_ahead=True) if is_ahead else function
                answer = Answer(self._submit(called, arguments, is_long))
                self._answers[key] = answer
                finish = functools.partial(self._finish, key, answer, is_kept)
                answer.future.add_done_callback(finish)
            else:
                self._answers.move_to_end(key)
            answer.waiting += 1
        try:
            if is_ahead:
                wait_quietly(answer.future)
            elif not (is_quiet and wait_quietly(answer.future, QUIET_SECONDS)):
                wait(answer.future, on_stop and functools.partial(self._stop, key, answer, on_stop))
        finally:
            with self._lock:
                answer.waiting -= 1
            if not answer.waiting and not answer.future.done():
                self._left.put((time.monotonic() + GRACE_SECONDS, key, answer))
        error = answer.future.exception()
        if error is not None:
            raise error.with_traceback(None)  # else each raise would extend the traceback
        return cast(Result, answer.future.result())

    def _submit(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], is_long: bool
    ) -> Future[Any]:
        if is_long or self._is_first_run(function, arguments):
            owner, work = current_session(), guess_work(arguments)
            return self._lanes.submit(function, *arguments, owner=owner, work=work)
        return self._workers.submit(function, *arguments)

    def _is_first_run(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
        """Whether a job may take long: it runs a user kernel that no worker remembers."""
        is_user_kernel = any(
            isinstance(one, View) and one.user_kernel is not None for one in arguments
        )
        if not is_user_kernel or is_short(arguments):
            return False
        workers = self._workers
        return not (isinstance(workers, Workers) and workers.remembers(place(function, *arguments)))

    def _stop(self, key: Hashable, answer: Answer, on_stop: Callable[[], None]) -> None:
        """Stop what nobody waits for now, and say so to the visitor who did."""
        self._end(key, answer)
        on_stop()

    def _stop_left(self) -> None:
        """Stop what nobody waits for any more."""
        while True:
            until, key, answer = self._left.get()
            time.sleep(max(0.0, until - time.monotonic()))
            self._end(key, answer)

    def _end(self, key: Hashable, answer: Answer) -> None:
        with self._lock:
            if answer.waiting or answer.future.done():
                return
            if self._answers.get(key) is answer:
                del self._answers[key]  # whoever asks from now on has it computed anew
        end(answer.future)

    def knows(self, function: Callable[..., Any], *arguments: Any) -> bool:
        """Whether a result is there."""
        with self._lock:
            answer = self._answers.get((function, arguments))
            return answer is not None and answer.future.done()

    def keep(self, result: object, function: Callable[..., Any], *arguments: Any) -> None:
        """Keep the result of a function that was computed with another's."""
        answer = Answer(Future())
        answer.future.set_result(result)
        with self._lock:
            self._answers[function, arguments] = answer
            self._finish((function, arguments), answer, True, answer.future)

    def _finish(self, key: Hashable, answer: Answer, is_kept: bool, done: Future[Any]) -> None:
        """Keep a result, or an error that would come again, and drop the oldest beyond LARGEST."""
        with self._lock:
            if self._answers.get(key) is not answer:
                return
            if not (is_kept and _is_lasting(done)):
                del self._answers[key]
                return
            answer.size = OTHERS if done.exception() else _size(done.result())
            answer.size += _letters(key)
            total = sum(one.size for one in self._answers.values())
            for old, one in list(self._answers.items()):
                if total <= LARGEST:
                    break
                if one.size:
                    total -= one.size
                    del self._answers[old]


def end(future: Future[Any]) -> None:
    """Take a job back that nobody waits for, or end the process that computes it."""
    if isinstance(future, Running):
        future.stop()
    else:
        future.cancel()


def _is_lasting(done: Future[Any]) -> bool:
    """Whether the same would come again: not what a stop, a lost process or the time has ended."""
    if done.cancelled():
        return False
    error = done.exception()
    found = done.result() if error is None else error
    return isinstance(error, LASTING) and not getattr(found, "depends_on_machine", False)


def _letters(key: Hashable) -> int:
    """The letters of the user kernels' code among a key's arguments, which it keeps."""
    arguments = key[1] if isinstance(key, tuple) else ()
    texts = (one.text if isinstance(one, UserKernel) else one for one in arguments)
    return sum(len(text) for text in texts if isinstance(text, str))


def _size(result: object) -> int:
    """Bytes that a result takes, about: it has come pickled from a worker."""
    picture = result.figure if isinstance(result, Picture) else result
    if isinstance(picture, bytes):
        return len(picture)
    with suppress(Exception):  # of a thread of a test
        return max(OTHERS, len(pickle.dumps(result)))
    return OTHERS


@st.cache_resource(show_spinner=False)
def answers() -> Answers:
    """What the class has asked this app for."""
    return Answers(executor(), lanes())


def compute(
    function: Callable[[*Arguments], Result], *arguments: *Arguments, on_stop: Callable[[], None]
) -> Result:
    """The result of a function for this visitor alone, who may stop it; a worker computes it."""
    future = lanes().submit(function, *arguments, owner=current_session())

    def stop() -> None:
        end(future)
        on_stop()

    try:
        wait(future, stop)
    finally:
        end(future)  # unless it is there
    return future.result()


def is_known(view: View) -> bool:
    """Whether a view's kernels have run."""
    return answers().knows(open_view, figure_key(view))


def load_opened(view: View, look: Look, on_stop: Callable[[], None] | None = None) -> Opened:
    """Run a view's kernels; where it is new, draw the picture of its step with them.

    on_stop is called where the visitor stops it. Raises SourceError or LaunchError, whose sentence
    the page shows.
    """
    known, key = answers(), figure_key(view)
    if is_known(view):
        return known.ask(open_view, key)
    opened, picture = known.ask(open_scene, replace(key, step=view.step), look, on_stop=on_stop)
    known.keep(opened, open_view, key)
    known.keep(picture, draw_picture, key, look, picture.steps)
    return opened


def load_picture(view: View, look: Look, steps: range) -> bytes:
    """Draw the scene of a view at some steps, as JSON; it does not depend on view.step.

    The look has the view's stage.
    """
    return answers().ask(draw_picture, figure_key(view), look, steps).figure


def load_animation(view: View, look: Look) -> bytes:
    """Build the scene of a view, with every step, as an HTML file in UTF-8.

    Visitors who request the same file while it is being built share it; it is not kept. A browser
    gives up after three minutes.
    """
    return answers().ask(build_animation, figure_key(view), look, is_kept=False, is_long=True)
