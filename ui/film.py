"""Makes a film of a view, for slides: `python -m ui.film VIEW out.mp4`, or out.gif.

VIEW is an address of the Step page, or what it has after the question mark. An installed
Chromium, Chrome or Edge draws the pictures through Playwright (`pip install playwright`). FFmpeg
makes an MP4 of them, Pillow a GIF.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from PIL import Image

from simulator import LaunchError, SourceError
from ui.drawing.look import Look
from ui.drawing.palette import PALETTES
from ui.run.click_cost import format_seconds
from ui.run.standalone import Standalone, draw_standalone, parse_address
from ui.view.view_url import View

RATE = 25  # pictures a second
BEAT, STATEMENT = "beat", "statement"  # what a picture is of
LARGEST = 3840  # pixels
# What a film may take: an hour of a processor, and, as Pillow holds all of a GIF, so many bytes.
MOST_SECONDS = 3600.0
MOST_GIF_BYTES = 2 * 2**30
MOVING_SHARE = 0.25  # of the time of a film, while which values are on their way
FASTEST_MOVING = 4.0  # beats a second, beyond which nothing moves (ui/web/player/motions.js)
PICTURE_SECONDS = 0.2  # of a processor to take a picture of 1280 x 720 and to write it
MARGINS = (16, 200)  # pixels that the window is wider and higher than the picture, for the toolbar
PATIENCE = 120_000  # milliseconds until a scene has failed to be drawn
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
CHANNELS = ("chrome", "msedge")

# Shows a step, and what moves with it; gives how many milliseconds that takes.
SHOW = """
([step, pace]) => {
  player.show(step);
  player.move(pace);
  window.moves = document.querySelector('.motions')?.getAnimations({ subtree: true }) ?? [];
  for (const one of moves) one.pause();
  return Math.max(0, ...moves.map((one) => one.effect.getComputedTiming().endTime));
}
"""
SEEK = "(time) => { for (const one of moves) one.currentTime = time; }"
FINISH = """
() => {
  for (const one of moves) one.finish();
  document.querySelector('.motions')?.remove();
}
"""


class FilmError(Exception):
    """Why no film can be made, as a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Make the film; 0, or 2 where that is not possible."""
    options = _parser().parse_args(arguments)
    try:
        view = parse_address(options.view)
        look = Look(
            theme=options.theme, stage=view.stage, width=options.width,
            height=options.height, presenting=True,
        )  # fmt: skip
        count = make_film(
            view, look, options.out, options.pace, options.steps, options.by == STATEMENT
        )
    except (FilmError, ValueError, SourceError, LaunchError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: {count} steps at {options.pace:g} a second")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ui.film", description="Make a film of a view, for slides."
    )
    parser.add_argument("view", help="an address of the Step page, or kernel=tiled&M=8&…")
    parser.add_argument("out", type=Path, help="the file: .mp4 (needs FFmpeg) or .gif")
    parser.add_argument("--pace", type=_pace, default=1.0, help="beats a second; default 1")
    parser.add_argument("--steps", type=_steps, help="FIRST-LAST, from 1; default all")
    parser.add_argument(
        "--by", choices=(BEAT, STATEMENT), default=BEAT,
        help="show the beats (a copy, a wait, a product, a store), the "
        "default, or all statements; --pace is the rate of whichever is chosen",
    )  # fmt: skip
    parser.add_argument("--width", type=_pixels(720), default=1280, help="pixels; default 1280")
    parser.add_argument("--height", type=_pixels(400), default=720, help="pixels; default 720")
    parser.add_argument("--theme", choices=tuple(PALETTES), default="light")
    return parser


def _pace(text: str) -> float:
    with suppress(ValueError):
        if 0.1 <= (pace := float(text)) <= RATE:
            return pace
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0.1 to {RATE}.")


def _steps(text: str) -> range:
    first, _, last = text.partition("-")
    with suppress(ValueError):
        if 1 <= int(first) <= int(last):
            return range(int(first) - 1, int(last))
    raise argparse.ArgumentTypeError(f"{text!r} is not a range of steps; write it as 10-30.")


def _pixels(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        with suppress(ValueError):
            if least <= (pixels := int(text)) <= LARGEST:
                return pixels
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from {least} to {LARGEST}."
        )

    return parse


def make_film(
    view: View, look: Look, out: Path, pace: float = 1.0, steps: range | None = None,
    by_statements: bool = False,
) -> int:  # fmt: skip
    """Write those of a view's steps that are beats as a film, or all; how many it shows.

    pace is how many it shows a second; steps, counted from 0, are those among which it chooses: all
    of them where none is a beat. Raises FilmError, a sentence, where a program that it needs is
    missing or the steps are not there.
    """
    write = {".mp4": _write_mp4, ".gif": _write_gif}.get(out.suffix.lower())
    if write is None:
        raise FilmError(
            f"{out.name} ends with neither .mp4 nor .gif; give the file one of these endings."
        )
    if write is _write_mp4 and shutil.which("ffmpeg") is None:
        raise FilmError("FFmpeg, which makes an MP4, is not installed; a .gif does not need it.")
    if not out.parent.is_dir():
        raise FilmError(f"There is no folder {out.parent}.")
    if out.is_dir() or not os.access(out if out.exists() else out.parent, os.W_OK):
        raise FilmError(f"{out} cannot be written; name another file.")  # before the work
    drawn = draw_standalone(view, look)
    steps = range(drawn.steps) if steps is None else steps
    if steps.stop > drawn.steps:
        raise FilmError(f"The view has {drawn.steps} steps, not {steps.stop}.")
    shown = () if by_statements else tuple(beat for beat in drawn.beats if beat in steps)
    shown = shown or tuple(steps)
    check_cost(drawn, look, out, pace, len(shown))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scene.html"
        with file.open("w", encoding="utf-8") as html:
            html.writelines(drawn.pieces)
        with _page(look) as page:
            page.goto(file.as_uri())
            page.wait_for_selector(".js-plotly-plot[data-ready]", timeout=PATIENCE)
            write(_pictures(page, shown, pace), out)
    return len(shown)


def check_cost(drawn: Standalone, look: Look, out: Path, pace: float, steps: int) -> None:
    """Raise FilmError where a film of so many steps would take hours, or gigabytes."""
    size = look.width * look.height  # bytes of a picture of a GIF
    moving = MOVING_SHARE * RATE / pace if pace <= FASTEST_MOVING else 0.0
    pictures = steps * (1 + moving)  # one of a step at rest
    seconds = drawn.seconds + pictures * PICTURE_SECONDS * size / (1280 * 720)
    written_bytes = pictures * size if out.suffix.lower() == ".gif" else 0
    if seconds <= MOST_SECONDS and written_bytes <= MOST_GIF_BYTES:
        return
    raise FilmError(
        f"{steps:,} of the view's {drawn.steps:,} steps would take about "
        f"{format_seconds(seconds)}"
        + (f" and {written_bytes / 2**30:.1f} GB of memory" if written_bytes else "")
        + f"; a film may take {format_seconds(MOST_SECONDS)}, a GIF {MOST_GIF_BYTES / 2**30:g} GB. "
        "Choose some of the steps, such as --steps 1-100, a smaller picture, or a higher --pace."
    )


@contextmanager
def _page(look: Look) -> Iterator[Any]:
    """A page of a headless browser that has room for the scene."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise FilmError(
            "Playwright is not installed; `pip install playwright` installs it."
        ) from None
    with sync_playwright() as playwright:
        found = [path for name in BROWSERS if (path := shutil.which(name))]
        chosen: list[dict[str, Any]] = [
            *({"executable_path": path} for path in found),
            *({"channel": name} for name in CHANNELS), {},
        ]  # fmt: skip
        for options in chosen:
            with suppress(Error):
                browser = playwright.chromium.launch(args=["--no-sandbox"], **options)
                break
        else:
            raise FilmError(
                "No Chromium, Chrome or Edge is installed; `playwright install chromium` installs "
                "one."
            )
        width, height = look.width + MARGINS[0], look.height + MARGINS[1]
        yield browser.new_page(viewport={"width": width, "height": height})
        browser.close()


def _pictures(page: Any, steps: Sequence[int], pace: float) -> Iterator[tuple[bytes, float]]:
    """The film's pictures as PNG, each with the seconds that it is shown."""
    stage = page.locator(".stage")
    for count, step in enumerate(steps):
        moves = page.evaluate(SHOW, [step, pace]) / 1000
        for number in range(int(moves * RATE)):
            page.evaluate(SEEK, 1000 * number / RATE)
            yield stage.screenshot(), 1 / RATE
        page.evaluate(FINISH)
        yield stage.screenshot(), 1 / pace - int(moves * RATE) / RATE
        if sys.stderr.isatty():
            print(f"\r{count + 1} of {len(steps)} steps", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def _write_mp4(pictures: Iterator[tuple[bytes, float]], out: Path) -> None:
    command = [
        "ffmpeg", "-y", "-loglevel", "error", "-f", "image2pipe", "-framerate", str(RATE),
        "-c:v", "png", "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264",
        "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(out.resolve()),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as log:
        ffmpeg = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log)  # noqa: S603
        assert ffmpeg.stdin is not None
        try:
            shown = 0.0
            written = 0
            for picture, seconds in pictures:
                shown += seconds
                while written < round(shown * RATE):
                    ffmpeg.stdin.write(picture)
                    written += 1
            ffmpeg.stdin.close()
        except BrokenPipeError:
            pass  # what FFmpeg says follows
        finally:
            code = ffmpeg.wait()
        if code:
            log.seek(0)
            reason = log.read().decode(errors="replace").strip().splitlines()
            raise FilmError(f"FFmpeg failed: {reason[-1] if reason else f'exit status {code}'}")


def _write_gif(pictures: Iterator[tuple[bytes, float]], out: Path) -> None:
    images, durations = [], []
    for picture, seconds in pictures:
        with Image.open(io.BytesIO(picture)) as image:
            images.append(image.convert("RGB").quantize(64, dither=Image.Dither.NONE))
        durations.append(round(1000 * seconds))
    images[0].save(out, save_all=True, append_images=images[1:], duration=durations, loop=0)


if __name__ == "__main__":
    sys.exit(main())
