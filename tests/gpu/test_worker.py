"""The GPU process: it answers, it may hang, die or break, and the next job runs."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from gpu.worker import Job, Worker, WorkerError


def finish(job: Job) -> str:
    """The sentence of a job that must not succeed."""
    with pytest.raises(WorkerError) as caught:
        job.wait()
    return str(caught.value)


def process_of(worker: Worker) -> int:
    return int(worker.submit({"job": "echo"}, 20).wait()["process"])


def test_one_process_serves_many_jobs(fake: Worker) -> None:
    assert fake.submit({"job": "echo", "say": "übung"}, 20).wait()["said"] == "übung"
    assert process_of(fake) == process_of(fake)


def test_progress_is_heard(fake: Worker) -> None:
    job = fake.submit({"job": "sleep", "seconds": 0.5, "doing": "Running slowly"}, 20)
    heard: list[str] = []
    job.wait(heard.append)
    assert "Running slowly" in heard
    assert job.state.phase == "done"


def test_the_share_that_is_done_is_heard(fake: Worker) -> None:
    job = fake.submit({"job": "limits"}, 20)
    seen = set()
    while not job.state.finished:
        seen.add((job.state.message, job.state.done))
        time.sleep(0.001)
    assert {done for message, done in seen if message.startswith("Running")} <= {0.2}
    assert all(done is None for message, done in seen if message.startswith("Starting"))
    assert job.wait()["latency"]["shared"] == 29.0


def test_a_hanging_job_is_ended_at_its_limit_and_the_next_runs(fake: Worker) -> None:
    before = process_of(fake)
    started = time.monotonic()
    sentence = finish(fake.submit({"job": "sleep"}, 1))
    assert time.monotonic() - started < 8
    assert sentence.startswith("Running endless and checking its C did not end within 1 seconds")
    assert process_of(fake) != before


def test_a_compilation_has_a_limit_of_its_own(
    fake: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu.worker.COMPILE_SECONDS", 0.5)
    started = time.monotonic()
    assert "Compiling bomb" in finish(fake.submit({"job": "sleep", "doing": "Compiling bomb"}, 60))
    assert time.monotonic() - started < 10


def test_a_process_that_dies_is_replaced(fake: Worker) -> None:
    before = process_of(fake)
    sentence = finish(fake.submit({"job": "die", "code": 7}, 20))
    assert "ended (exit code 7) at: Running deadly" in sentence
    assert process_of(fake) != before


def test_a_process_that_dies_while_idle_is_replaced(fake: Worker) -> None:
    before = process_of(fake)
    child = fake._child
    assert child is not None
    child.process.kill()
    child.process.wait(5)
    assert process_of(fake) != before


@pytest.mark.parametrize(
    ("status", "told"),
    [(700, "outside its arrays"), (719, "launch failure"), (2, "out of memory"), (4242, "4242")],
)
def test_a_broken_context_costs_the_process_and_is_explained(
    fake: Worker, status: int, told: str
) -> None:
    before = process_of(fake)
    sentence = finish(fake.submit({"job": "cuda", "status": status}, 20))
    assert sentence.startswith("Running stray and checking its C: ")
    assert told in sentence
    assert process_of(fake) != before


def test_a_refusal_keeps_the_process(fake: Worker) -> None:
    before = process_of(fake)
    assert finish(fake.submit({"job": "refuse"}, 20)) == "The block is too large."
    assert process_of(fake) == before


def test_a_fault_of_our_own_is_a_sentence_too(fake: Worker) -> None:
    assert "KeyError" in finish(fake.submit({"job": "fault"}, 20))
    assert process_of(fake)


def test_a_running_job_can_be_cancelled(fake: Worker) -> None:
    job = fake.submit({"job": "sleep"}, 60)
    while job.state.message != "Running endless and checking its C":
        time.sleep(0.05)
    job.cancel()
    assert finish(job) == "Cancelled."
    assert job.state.phase == "cancelled"
    assert process_of(fake)


def test_jobs_take_turns_and_know_their_place(fake: Worker) -> None:
    first = fake.submit({"job": "sleep", "seconds": 1.5}, 20)
    second = fake.submit({"job": "echo", "say": 2}, 20)
    third = fake.submit({"job": "echo", "say": 3}, 20)
    time.sleep(0.5)
    assert (second.state.before, third.state.before) == (1, 2)
    assert third.state.message == "Waiting for 2 jobs before this one"
    third.cancel()
    assert finish(third) == "Cancelled before it started."
    assert second.wait()["said"] == 2
    assert first.state.phase == "done"


def test_closing_ends_what_runs(fake: Worker) -> None:
    job = fake.submit({"job": "sleep"}, 60)
    time.sleep(0.5)
    fake.close()
    assert finish(job).startswith("Cancelled")


def test_a_process_that_cannot_start_is_a_sentence(tmp_path: Path) -> None:
    worker = Worker((str(tmp_path / "nothing"),))
    assert "could not be started" in finish(worker.submit({"job": "echo"}, 5))


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
            "print(w.submit({'job': 'echo'}, 20).wait()['process'], flush=True)\n"
            "w.submit({'job': 'sleep'}, 60)\n"
            "time.sleep(0.5)\n"
            "os._exit(0)\n",
        ],
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    process = int(parent.stdout)
    ended = threading.Event()
    for _ in range(50):
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
