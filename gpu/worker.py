"""GPU work in a separate process: one job at a time, replaced when it dies or hangs."""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gpu.cuda.errors import explain
from gpu.fair_queue import FairQueue
from gpu.json_data import decode
from gpu.progress import Progress
from simulator.guard import ENDED, Status, tell
from simulator.language.printable import without_folders

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "-m", "gpu.worker")
POLL_SECONDS = 0.1
KILL_SECONDS = 5.0  # a process stuck in the driver may outlive its kill; it is abandoned
STATUS_SECONDS = 60.0  # to look for a GPU
COMPILE_SECONDS = 20.0  # far over any kernel's; source whose macros explode takes memory by then
TOO_LARGE = (
    "The compiler needed too much memory for this code. Something in it grows without limit: "
    "templates, constants or names. Make it smaller."
)

# True FP32 from cuBLAS where it is asked for, whatever the visitor's shell says: no TF32 in its
# place (CuPy's switch) and no float32 made of smaller types (cuBLAS library guide, environment
# variables).
TRUE_FP32 = {"CUPY_TF32": "0", "CUBLAS_EMULATE_SINGLE_PRECISION": "0"}
# Not passed on: 0 forbids TF32 also where it is asked for.
TF32_OVERRIDE = "NVIDIA_TF32_OVERRIDE"

Phase = Literal["waiting", "running", "done", "failed", "cancelled"]
Handler = Callable[[Mapping[str, Any], Progress], Mapping[str, Any]]


class WorkerError(Exception):
    """A job that gave no result: the sentence that says why."""


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job."""

    phase: Phase
    message: str  # a sentence
    before: int = 0  # jobs ahead of it in the queue
    done: float | None = None  # share of a running job that is done, 0 to 1, if known
    result: Mapping[str, Any] | None = None  # of a job that is done

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.phase in ("done", "failed", "cancelled")


def waiting(before: int) -> JobState:
    """The state of a job with some before it in the queue."""
    if not before:
        return JobState("waiting", "Next in the queue")
    jobs = "one job" if before == 1 else f"{before} jobs"
    message = f"Place {before + 1} in the queue, {jobs} before yours"
    return JobState("waiting", message, before)


class Job:
    """One request to the worker, watched and cancelled from any thread."""

    def __init__(self, request: Mapping[str, Any], limit: float) -> None:
        self.request = request
        self.limit = limit
        self.cancelled = threading.Event()
        self._finished = threading.Event()
        self._state = JobState("waiting", "Joining the queue")

    @property
    def state(self) -> JobState:
        """The current state."""
        return self._state

    def move(self, state: JobState) -> None:
        """Change the state; only the worker calls it."""
        self._state = state
        if state.finished:
            self._finished.set()

    def cancel(self) -> None:
        """Ask that the job end; a running one takes its process with it."""
        self.cancelled.set()

    def wait(self, on_message: Callable[[str], None] | None = None) -> Mapping[str, Any]:
        """Wait for the result. Raises WorkerError if there is none.

        `on_message` is called with each new message.
        """
        last = ""
        while not self._finished.wait(POLL_SECONDS):
            if on_message and self.state.message != last:
                last = self.state.message
                on_message(last)
        if self.state.result is None:
            raise WorkerError(self.state.message)
        return self.state.result


@dataclass(frozen=True, slots=True)
class Message:
    """One line that the process sends about job number `id`: progress, a result or an error."""

    id: int
    progress: str | None = None  # what the job is doing
    done: float | None = None  # share of the job that is done, 0 to 1
    result: Mapping[str, Any] | None = None
    error: str | None = None  # a sentence
    fatal: bool = False  # whether the process ends with the error


@dataclass(frozen=True, slots=True)
class Child:
    """A started process and the lines it sends; None marks the end of them."""

    process: subprocess.Popen[str]
    messages: queue.SimpleQueue[Message | None]

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one line. OSError or ValueError where the process is gone."""
        if self.process.stdin is None:
            raise OSError("the process has no input")
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def kill(self) -> int | None:
        """End the process; its exit code, None where it does not end in time."""
        with contextlib.suppress(OSError):
            self.process.kill()
        try:
            return self.process.wait(KILL_SECONDS)
        except subprocess.TimeoutExpired:
            return None


class Worker:
    """Runs jobs one after another in a process that it starts when needed and keeps."""

    def __init__(self, command: tuple[str, ...] | None = None) -> None:
        self._command = command or COMMAND
        self._turn = threading.Condition()
        self._queue = FairQueue[Job]()
        self._child: Child | None = None
        self._number = 0
        self._found: dict[int, Mapping[str, Any]] = {}  # by a GPU's number: what status found

    def submit(self, request: Mapping[str, Any], limit: float, owner: Hashable = None) -> Job:
        """Queue a job (a JSON object with a "job" key) that may run `limit` seconds.

        Owners take turns; without one, each job is an owner's own.
        """
        job = Job(request, limit)
        with self._turn:
            self._queue.join(job, owner)
        threading.Thread(target=self._serve, args=(job,), daemon=True).start()
        return job

    def status(self, gpu: int = 0) -> Mapping[str, Any]:
        """A GPU of this machine, or what is missing: a `gpu.cuda.device.Status` as JSON.

        A GPU that was found once is there until `close`. Raises WorkerError.
        """
        if gpu not in self._found:
            found = self.submit({"job": "status", "gpu": gpu}, STATUS_SECONDS).wait()
            if found["device"] is None:
                return found
            self._found[gpu] = found
        return self._found[gpu]

    def close(self) -> None:
        """End the process and whatever it runs; a later job starts another."""
        with self._turn:
            for job in self._queue:
                job.cancel()
            self._turn.notify_all()
            self._turn.wait_for(lambda: not list(self._queue), timeout=KILL_SECONDS + 1)
        self._replace()
        self._found.clear()

    def _serve(self, job: Job) -> None:
        with self._turn:
            while (before := self._queue.before(job)) and not job.cancelled.is_set():
                job.move(waiting(before))
                self._turn.wait(POLL_SECONDS)
            if not job.cancelled.is_set():
                self._queue.start(job)
        try:
            job.move(self._run(job))
        except Exception as error:
            traceback.print_exc()
            why = without_folders(str(error))
            job.move(JobState("failed", f"Tilewise could not run this on the GPU: {why}"))
        finally:
            with self._turn:
                self._queue.leave(job)
                self._turn.notify_all()

    def _run(self, job: Job) -> JobState:
        """Send the job and follow it to its last state."""
        if job.cancelled.is_set():
            return JobState("cancelled", "Cancelled before it started.")
        job.move(JobState("running", "Starting the GPU process"))
        started = time.monotonic()
        self._number += 1
        try:
            child = self._send({**job.request, "id": self._number})
        except (OSError, ValueError) as error:
            self._replace()
            why = without_folders(str(error))
            return JobState("failed", f"The GPU process could not be started: {why}.")
        deadline = phase_end = started + job.limit
        while True:
            now = time.monotonic()
            if job.cancelled.is_set():
                self._replace()
                return JobState("cancelled", "Cancelled.")
            if now >= min(deadline, phase_end):
                seconds = now - started if phase_end < deadline else job.limit
                self._replace()
                return JobState(
                    "failed",
                    f"{job.state.message} did not end within {seconds:.0f} seconds, so its "
                    "process was ended. Does the kernel's loop end? A smaller size takes less.",
                )
            try:
                wait = min(POLL_SECONDS, max(0.0, min(deadline, phase_end) - now))
                message = child.messages.get(timeout=wait)
            except queue.Empty:
                continue
            if message is None:
                return self._died(job)
            if message.id != self._number:
                continue
            if message.progress is not None:
                job.move(JobState("running", message.progress, done=message.done))
                compiling = job.state.message.startswith("Compiling")
                phase_end = time.monotonic() + COMPILE_SECONDS if compiling else deadline
            elif message.result is not None:
                return JobState("done", "Done", result=message.result)
            elif message.error is not None:
                if message.fatal:
                    self._replace()
                return JobState("failed", _where(job.state.message, message.error))

    def _send(self, message: Mapping[str, Any]) -> Child:
        """Hand the message to the process; one that died while idle is replaced once."""
        if self._child is not None and self._child.process.poll() is None:
            try:
                self._child.send(message)
            except (OSError, ValueError):
                self._replace()
            else:
                return self._child
        self._replace()
        self._child = start(self._command)
        with contextlib.suppress(OSError):  # it has ended already, as its messages say
            self._child.send(message)
        return self._child

    def _died(self, job: Job) -> JobState:
        code = self._replace()
        if code == ENDED:
            return JobState("failed", f"{job.state.message}: {TOO_LARGE}")
        reason = f" (exit code {code})" if code is not None else ""
        return JobState(
            "failed",
            f"The GPU process ended{reason} at: {job.state.message}. The next run starts another.",
        )

    def _replace(self) -> int | None:
        """End the process, if there is one; the next job starts another."""
        child, self._child = self._child, None
        return child.kill() if child else None


def _where(doing: str, sentence: str) -> str:
    """The error's sentence, led by what was being done if a kernel was."""
    known = ("Compiling", "Running", "Warming", "Timing")
    return f"{doing}: {sentence}" if doing.startswith(known) else sentence


def start(command: tuple[str, ...]) -> Child:
    """Start a process that speaks JSON lines, and a thread that reads them.

    A thread, because Windows cannot wait on pipes. OSError where the process cannot start.
    """
    process = subprocess.Popen(  # noqa: S603 (this Python, this program)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != TF32_OVERRIDE}
        | TRUE_FP32,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    child = Child(process, queue.SimpleQueue())
    threading.Thread(target=_read, args=(child,), daemon=True).start()
    return child


def _read(child: Child) -> None:
    if child.process.stdout is not None:
        for line in child.process.stdout:
            with contextlib.suppress(ValueError):  # a line that is no message
                child.messages.put(decode(Message, json.loads(line), "A message"))
    child.messages.put(None)


def serve(handlers: Mapping[str, Handler]) -> None:
    """Be the worker's process: take jobs from stdin until it closes, answer on stdout.

    A thread reads stdin, so that the process also ends when its parent does in the middle of a
    kernel. Whatever else prints goes to stderr.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    tell(Status())  # the parent reads how the process ends
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin.buffer:
            requests.put(json.loads(line))
        os._exit(0)

    def answer(message: Mapping[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    threading.Thread(target=read, daemon=True).start()
    while True:
        request = requests.get()
        number = request.get("id")

        def progress(text: str, done: float | None = None, /, number: Any = number) -> None:
            answer({"id": number, "progress": text, "done": done})

        try:
            answer({"id": number, "result": handlers[request["job"]](request, progress)})
        except Exception as error:
            sentence, fatal = explain(error)
            if sentence.startswith("A fault in Tilewise"):
                traceback.print_exc()
            answer({"id": number, "error": sentence, "fatal": fatal})
            if fatal:
                os._exit(1)


@dataclass(frozen=True, slots=True)
class StatusJob:
    """The job that looks for a GPU, as JSON."""

    gpu: int = 0  # the GPU's number


def _status(request: Mapping[str, Any], _progress: Progress) -> Mapping[str, Any]:
    import dataclasses

    from gpu.cuda.probe import status

    return dataclasses.asdict(status(decode(StatusJob, request, "The job").gpu))


def _loaded_late(place: str) -> Handler:
    """The function at a place, whose module is loaded with the first of its jobs."""
    return lambda request, progress: pkgutil.resolve_name(place)(request, progress)


# The function of each job.
PLACES: Mapping[str, str] = {
    "compare": "gpu.compare:compare", "product": "gpu.bits:product",
    "limits": "gpu.cuda.microbenchmarks.limits:limits", "scale": "gpu.scale.job:scale_product",
    "shapes": "gpu.shapes.job:run_shapes", "trace": "gpu.trace.job:trace",
}  # fmt: skip
JOBS: Mapping[str, Handler] = {
    "status": _status, **{name: _loaded_late(place) for name, place in PLACES.items()}
}  # fmt: skip

if __name__ == "__main__":
    serve(JOBS)
