"""The GPU process: it answers, it may hang, die or break, and the next job runs."""

from __future__ import annotations

import pkgutil
import re
import sys
import threading
import time
from pathlib import Path

import pytest

from gpu.cuda.errors import explain
from gpu.worker import PLACES, TOO_LARGE, Child, Worker, start
from simulator.guard import ENDED
from tests.gpu.jobs import failure

LIMIT = 60  # seconds that a job may take; far more than any but an endless one needs


def process_of(worker: Worker) -> int:
    return int(worker.submit({"job": "echo"}, LIMIT).wait()["process"])


def test_one_process_serves_many_jobs(fake: Worker) -> None:
    assert fake.submit({"job": "echo", "say": "übung"}, LIMIT).wait()["said"] == "übung"
    assert process_of(fake) == process_of(fake)


def test_progress_is_heard(fake: Worker) -> None:
    job = fake.submit({"job": "sleep", "seconds": 0.5, "doing": "Running slowly"}, LIMIT)
    heard: list[str] = []
    job.wait(heard.append)
    assert "Running slowly" in heard
    assert job.state.phase == "done"


def test_the_share_that_is_done_is_heard(fake: Worker) -> None:
    job = fake.submit({"job": "sleep", "doing": "Running slowly", "done": 0.25}, LIMIT)
    seen = {}
    while "Running slowly" not in seen:
        assert not job.state.finished, job.state
        seen[job.state.message] = job.state.done
        time.sleep(0.001)
    assert seen.pop("Running slowly") == 0.25
    assert set(seen.values()) <= {None}, "before it tells its share there is none"
    job.cancel()


def test_a_process_that_has_ended_before_it_is_asked_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ended(command: tuple[str, ...]) -> Child:
        child = start(command)
        child.process.wait()
        return child

    monkeypatch.setattr("gpu.worker.start", ended)
    worker = Worker((sys.executable, "-S", "-c", "raise SystemExit(3)"))
    assert "GPU process ended (exit code 3)" in failure(worker.submit({"job": "echo"}, LIMIT))


@pytest.mark.parametrize("place", PLACES.values())
def test_a_job_has_a_function(place: str) -> None:
    assert callable(pkgutil.resolve_name(place))


def test_limits_are_a_job(fake: Worker) -> None:
    assert fake.submit({"job": "limits"}, LIMIT).wait()["latency"]["shared"] == 29.0


def test_a_hanging_job_is_ended_at_its_limit_and_the_next_runs(fake: Worker) -> None:
    before = process_of(fake)
    sentence = failure(fake.submit({"job": "sleep"}, 1))
    assert sentence.startswith("Running endless and checking its C did not end within 1 seconds")
    assert process_of(fake) != before


def test_a_compilation_has_a_limit_of_its_own(
    fake: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu.worker.COMPILE_SECONDS", 0.5)
    job = {"job": "sleep", "seconds": 2 * LIMIT, "doing": "Compiling bomb"}
    state = failure(fake.submit(job, LIMIT))
    seconds = re.match(r"Compiling bomb did not end within (\d+) seconds", state)
    assert seconds, state
    assert int(seconds[1]) < LIMIT, "the job as a whole had time left"


def test_a_process_that_dies_is_replaced(fake: Worker) -> None:
    before = process_of(fake)
    sentence = failure(fake.submit({"job": "die", "code": 7}, LIMIT))
    assert "ended (exit code 7) at: Running deadly" in sentence
    assert process_of(fake) != before


def test_a_process_that_dies_while_idle_is_replaced(fake: Worker) -> None:
    before = process_of(fake)
    child = fake._child
    assert child is not None
    child.process.kill()
    child.process.wait(5)
    assert process_of(fake) != before


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("status", "state"),
    [(700, "outside its arrays"), (719, "launch failure"), (2, "out of memory"), (4242, "4242")],
)
def test_a_broken_context_costs_the_process_and_is_explained(
    fake: Worker, status: int, state: str
) -> None:
    before = process_of(fake)
    sentence = failure(fake.submit({"job": "cuda", "status": status}, LIMIT))
    assert sentence.startswith("Running stray and checking its C: ")
    assert state in sentence
    assert process_of(fake) != before


def test_a_refusal_keeps_the_process(fake: Worker) -> None:
    before = process_of(fake)
    assert failure(fake.submit({"job": "refuse"}, LIMIT)) == "The block is too large."
    assert process_of(fake) == before


def test_a_fault_of_our_own_is_a_sentence_too(fake: Worker) -> None:
    assert "KeyError" in failure(fake.submit({"job": "fault"}, LIMIT))
    assert process_of(fake)


def test_a_running_job_can_be_cancelled(fake: Worker) -> None:
    job = fake.submit({"job": "sleep"}, LIMIT)
    while job.state.message != "Running endless and checking its C":
        assert not job.state.finished, job.state
        time.sleep(0.05)
    job.cancel()
    assert failure(job) == "Cancelled."
    assert job.state.phase == "cancelled"
    assert process_of(fake)


def test_jobs_take_turns_and_know_their_place(fake: Worker) -> None:
    first = fake.submit({"job": "sleep"}, LIMIT)
    second = fake.submit({"job": "echo", "say": 2}, LIMIT)
    third = fake.submit({"job": "echo", "say": 3}, LIMIT)
    while third.state.message != "Place 3 in the queue, 2 jobs before yours":
        assert not first.state.finished, first.state
        time.sleep(0.01)
    assert third.state.before == 2
    third.cancel()
    assert failure(third) == "Cancelled before it started."
    assert not first.state.finished
    assert not second.state.finished
    first.cancel()
    assert second.wait()["said"] == 2
    assert first.state.phase == "cancelled"


def test_owners_take_turns(fake: Worker) -> None:
    names = ["a1", "a2", "a3", "b1", "c1", "b2"]
    first = fake.submit({"job": "sleep"}, LIMIT, "a")
    jobs = [fake.submit({"job": "echo", "say": name}, LIMIT, name[0]) for name in names]
    while [job.state.before for job in jobs] != [3, 5, 6, 1, 2, 4]:
        assert not first.state.finished, first.state
        time.sleep(0.01)
    first.cancel()
    at = {str(job.wait()["said"]): job.wait()["at"] for job in jobs}
    assert sorted(names, key=lambda name: at[name]) == ["b1", "c1", "a1", "b2", "a2", "a3"]


def test_closing_ends_what_runs(fake: Worker) -> None:
    job = fake.submit({"job": "sleep"}, LIMIT)
    time.sleep(0.5)
    fake.close()
    assert failure(job).startswith("Cancelled")


def test_a_compiler_that_takes_too_much_memory_is_told(fake: Worker) -> None:
    sentence = failure(fake.submit({"job": "die", "code": ENDED}, LIMIT))
    assert sentence == f"Running deadly and checking its C: {TOO_LARGE}"
    assert process_of(fake)


def test_a_process_that_cannot_start_is_a_sentence(tmp_path: Path) -> None:
    worker = Worker((str(tmp_path / "nothing"),))
    said = failure(worker.submit({"job": "echo"}, 5))
    assert "could not be started" in said
    assert str(tmp_path) not in said


def test_an_error_of_others_shows_no_folder_and_no_letter_that_steers() -> None:
    error = ImportError("\x1b[31mlibx.so: /usr/lib/x/liby.so.1 is too old, in '/root/.cupy/a b'")
    sentence, is_fatal = explain(error)
    assert sentence.endswith(r"ImportError: \x1b[31mlibx.so: liby.so.1 is too old, in 'a b'")
    assert is_fatal


def test_the_process_ends_with_its_parent() -> None:
    """The parent dies while its worker is busy; the worker's process must not stay."""
    import subprocess

    parent = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, sys, time\n"
            "from gpu.worker import Worker\n"
            "w = Worker((sys.executable, '-m', 'tests.gpu.fake_worker'))\n"
            "print(w.submit({'job': 'echo'}, 60).wait()['process'], flush=True)\n"
            "w.submit({'job': 'sleep'}, 60)\n"
            "time.sleep(0.5)\n"
            "os._exit(0)\n",
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    process = int(parent.stdout)
    ended = threading.Event()
    for _ in range(300):
        if not _alive(process):
            ended.set()
            break
        time.sleep(0.1)
    assert ended.is_set()


def _alive(process: int) -> bool:
    import os

    if sys.platform == "win32":
        import subprocess

        listed = subprocess.run(
            ["tasklist", "/FI", f"PID eq {process}"],  # noqa: S607 (Windows' own)
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return str(process) in listed.stdout
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not (status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] == "Z")
