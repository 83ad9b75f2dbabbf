"""Films of a view: `python -m ui.film`."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from tests.browser.app import chromium
from ui import film

pytestmark = pytest.mark.browser

VIEW = "kernel=tiled&M=4&N=4&K=4&TILE=2"
SMALL = ("--width", "720", "--height", "400")


@pytest.fixture(autouse=True)
def _browser() -> None:
    chromium()


def make(arguments: list[str]) -> int:
    """Make a film in a thread of its own: Playwright runs once in each, and tests have one open."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(film.main, arguments).result()


def test_a_gif_has_each_beat_and_values_on_their_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "copy.gif"
    code = make([f"http://host:1/?{VIEW}", str(out), "--steps", "9-12", "--pace", "2", *SMALL])
    assert code == 0
    assert "3 steps at 2 a second" in capsys.readouterr().out
    with Image.open(out) as image:
        assert image.size == (720, 400)
        durations, pictures = [], []
        for number in range(image.n_frames):
            image.seek(number)
            durations.append(image.info["duration"])
            pictures.append(image.convert("RGB"))
    assert sum(durations) == pytest.approx(1500, abs=20)
    assert len(pictures) > 4  # a value that flies is in several
    assert all(
        ImageChops.difference(one, other).getbbox() for one, other in itertools.pairwise(pictures)
    )


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="FFmpeg is not installed.")
def test_an_mp4_lasts_as_long_as_its_steps(tmp_path: Path) -> None:
    out = tmp_path / "copy.mp4"
    assert (
        make([VIEW, str(out), "--steps", "9-12", "--pace", "4", "--by", "statement", *SMALL]) == 0
    )
    said = subprocess.run(
        [shutil.which("ffprobe"), "-v", "error", "-show_entries", "stream=width,height,duration",
         "-of", "json", str(out)],  # whichever FFmpeg is installed
        capture_output=True, check=True,
    )  # fmt: skip
    [stream] = json.loads(said.stdout)["streams"]
    assert (stream["width"], stream["height"]) == (720, 400)
    assert float(stream["duration"]) == pytest.approx(1, abs=0.05)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("options", "count"),
    [((), 13), (("--steps", "9-13"), 3), (("--by", "statement"), 41), (("--steps", "1-5"), 5)],
)
def test_a_film_shows_beats_or_statements(
    options: tuple[str, ...], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(film, "_pictures", lambda page, steps, pace: iter(steps))
    monkeypatch.setattr(film, "_write_gif", lambda pictures, out: out.write_text(f"{[*pictures]}"))
    assert make([VIEW, str(tmp_path / "a.gif"), *options, *SMALL]) == 0
    assert f"{count} steps at 1 a second" in capsys.readouterr().out
    shown = json.loads((tmp_path / "a.gif").read_text())
    assert len(shown) == count
    assert shown == list(range(5)) or 9 in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kernel=nope", "a.gif"], "kernel = “nope” is none of"),
        (["http://host/?M=999999", "a.gif"], "M = "),
        ([VIEW, "a.avi"], "neither .mp4 nor .gif"),
        ([VIEW, "missing/a.gif"], "There is no folder"),
        ([VIEW, "folder.gif"], "folder.gif cannot be written; name another file."),
        ([VIEW, "a.gif", "--steps", "1-9999"], "The view has"),
    ],
)
def test_what_cannot_be_filmed_is_said_in_a_sentence(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.gif").mkdir()
    assert film.main(arguments) == 2
    assert said in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["folder.gif"]


@pytest.mark.parametrize(
    "option", [("--pace", "0"), ("--pace", "nan"), ("--steps", "4-2"), ("--width", "64")]
)
def test_a_wrong_option_is_refused(
    option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        film.main([VIEW, "a.gif", *option])
    assert stopped.value.code == 2
    assert f"argument {option[0]}: {option[1]!r} is not a" in capsys.readouterr().err


def test_without_ffmpeg_an_mp4_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(film.shutil, "which", lambda name: None)
    assert film.main([VIEW, str(tmp_path / "a.mp4")]) == 2
    assert "FFmpeg, which makes an MP4, is not installed" in capsys.readouterr().err
