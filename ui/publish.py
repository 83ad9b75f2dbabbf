"""Writes scenes as pages that need no server and no Python: `python -m ui.publish FOLDER [VIEW …]`.

FOLDER gets an index, a page for each preset and each VIEW, and one copy of what the pages share. It
opens from a file, or from any web server that it is copied to. A VIEW is an address of the Step
page, or what it has after the question mark.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import html
import itertools
import os
import re
import signal
import sys
import threading
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from plotly.offline import get_plotlyjs

from simulator import LaunchError, SourceError
from ui.drawing.palette import PALETTES, css_colours
from ui.drawing.svg import draw_svg
from ui.drawing.viewport import USUAL, VIEWPORTS
from ui.run.click_cost import format_seconds
from ui.run.standalone import Run, parse_address, run_view
from ui.scene import export
from ui.view.presets import every_preset, presets
from ui.view.shown_kernel import idea, short_name, title
from ui.view.view_url import View, to_query
from ui.web_page.web_files import read_script, read_web

MADE = "Made by Tilewise: python -m ui.publish"  # at the start of each file
HEAD = 200  # bytes of a file that have it
INDEX = "index.html"
SHARED = "tilewise"  # the folder of what the pages share
ICON = Path(__file__).resolve().parent.parent / "assets" / "icon.png"
MOST_SECONDS = 600.0  # of a processor that a page may take, as it has all steps in every look
STOPPED = 130  # the exit code of what Ctrl-C has ended


class PublishError(Exception):
    """Why nothing can be published, as a sentence."""


@dataclass(frozen=True, slots=True)
class Page:
    """A view that gets a page."""

    file: str  # its name in the folder
    name: str  # the page's heading
    text: str  # what to look at
    view: View
    group: str  # the heading that it is under in the index


def main(arguments: list[str] | None = None) -> int:
    """Write the pages; 0, or 2 where that is not possible, or STOPPED."""
    parser = argparse.ArgumentParser(
        prog="python -m ui.publish",
        description="Write the presets as pages that need no server and no Python.",
    )
    parser.add_argument(
        "folder", type=Path, help="where the pages go; created if it does not exist"
    )
    parser.add_argument(
        "views", nargs="*", help="further views: addresses of the Step page, or kernel=tiled&M=8&…"
    )
    options = parser.parse_args(arguments)
    written, pages = 0, list[Page]()
    stopped = _note_interrupts()
    try:
        every_preset().checked()
        views = [parse_address(address) for address in options.views]
        for view in views:  # before any page is written
            check_cost(view)
        pages = list_pages(views)
        for written, page in enumerate(publish(options.folder, pages), 1):
            print(f"{written} of {len(pages)}: {page.name}", file=sys.stderr)
            if stopped.is_set():
                raise KeyboardInterrupt
    except (PublishError, ValueError, SourceError, LaunchError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            f"Stopped after {written} of {len(pages)} pages. What is there is whole; "
            "run it again for the rest.",
            file=sys.stderr,
        )
        return STOPPED
    print(f"{options.folder / INDEX}: {len(pages)} scenes")
    return 0


def _note_interrupts() -> threading.Event:
    """What is set once Ctrl-C was pressed: Python loses its exception in a callback of libclang."""
    pressed = threading.Event()

    def note(*_: object) -> None:
        pressed.set()
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():  # only it may set a handler
        signal.signal(signal.SIGINT, note)
    return pressed


def check_cost(view: View) -> None:
    """Raise PublishError where the page of a view would take too long to write.

    Raises SourceError or LaunchError for a view that cannot be run.
    """
    run = run_view(view)
    seconds = run.seconds * len(VIEWPORTS) * len(PALETTES)
    if seconds > MOST_SECONDS:
        raise PublishError(
            f"{_name(view)} has {run.stops['steps']:,} steps, and its page, which has them for "
            f"phones and wide windows, light and dark, would take about {format_seconds(seconds)}; "
            f"a page may take {format_seconds(MOST_SECONDS)}. Choose smaller sizes."
        )


def list_pages(views: Iterable[View]) -> list[Page]:
    """A page for each preset, and for each further view."""
    pages: dict[str, Page] = {}
    for preset in presets():
        group = "One kernel" if preset.view.comparison is None else "Two kernels beside each other"
        file = _file_name(preset.name, pages)
        pages[file] = Page(file, preset.name, preset.text, preset.view, group)
    for view in dict.fromkeys(views):
        settings = (f"{name} {value}" for name, value in _settings(view))
        file = _file_name(" ".join([short_name(view), *settings]), pages)
        pages[file] = Page(file, _name(view), idea(view), view, "More")
    return list(pages.values())


def _name(view: View) -> str:
    """The kernel's title, and all that is not as usual."""
    heading = title(view)
    others = [f"{name} = {value}" for name, value in _settings(view)]
    return f"{heading} ({', '.join(others)})" if others else heading


def _settings(view: View) -> list[tuple[str, str]]:
    return [pair for pair in to_query(view).items() if pair[0] not in ("kernel", "step", "own")]


def _file_name(text: str, taken: Container[str]) -> str:
    """A file's name of a text's letters and digits that is not taken."""
    plain = re.sub("[^a-z0-9]+", "-", text.lower().replace("×", "x")).strip("-") or "scene"
    name, number = f"{plain}.html", 1
    while name == INDEX or name in taken:
        number += 1
        name = f"{plain}-{number}.html"
    return name


def publish(folder: Path, pages: Sequence[Page]) -> Iterator[Page]:
    """Write pages into a folder, with an index and what they share; yield each once it is there.

    Every file is written whole or not at all, and the index last. Files that are not Tilewise's
    stay as they are: raises PublishError, a sentence, where one is in the way, and where the folder
    cannot be written. Raises SourceError or LaunchError for a view that cannot be run.
    """
    shared = {
        "plotly.js": f"/* {MADE} */\n{get_plotlyjs()}",
        "player.js": f"/* {MADE} */\n{read_script('published.js')}",
        "style.css": f"/* {MADE} */\n{css_colours()}{read_web('stepper.css', 'published.css')}",
    }
    links = {name: _link(name, text) for name, text in shared.items()}
    try:
        _check(
            folder,
            [
                *(f"{SHARED}/{name}" for name in shared),
                *(page.file for page in pages),
                *(_picture(page, theme) for page in pages for theme in PALETTES),
                INDEX,
            ],
        )
        (folder / SHARED).mkdir(parents=True, exist_ok=True)
        for name, text in shared.items():
            _write(folder / SHARED / name, [text])
        steps = {}
        for page in pages:
            run = run_view(page.view)
            steps[page] = run.stops["steps"]
            _write(folder / page.file, _page_html(page, run, links))
            for theme in PALETTES:
                _write(folder / _picture(page, theme), picture_svg(page, run, theme))
            yield page
        _write(folder / INDEX, [_index_html(steps, links)])
    except OSError as error:
        raise PublishError(
            f"{folder} cannot be written: {error.strerror}. "
            "Name a folder that can be written, or one that does not exist yet."
        ) from None


def _check(folder: Path, names: Iterable[str]) -> None:
    if folder.exists() and not folder.is_dir():
        raise PublishError(f"{folder} is a file; name a folder.")
    for name in names:
        file = folder / name
        if file.exists() and not _is_made_here(file):
            raise PublishError(
                f"{file} is there already and was not made by Tilewise; name another folder, or "
                "move it away."
            )


def _is_made_here(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return MADE.encode() in content.read(HEAD)


def _write(file: Path, pieces: Iterable[str]) -> None:
    """Write a file under another name, and give it its own once it is whole."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as content:
            content.writelines(pieces)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _link(name: str, text: str) -> str:
    """The address of a shared file, which is another one once the file is."""
    return f"{SHARED}/{name}?{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _icon() -> str:
    return f"data:image/png;base64,{base64.b64encode(ICON.read_bytes()).decode()}"


def _page_html(page: Page, run: Run, links: Mapping[str, str]) -> Iterator[str]:
    yield Template(read_web("published.html")).substitute(
        made=MADE, icon=_icon(), style=links["style.css"], name=html.escape(page.name),
        text=html.escape(page.text), markup=read_web("stepper.html"),
    )  # fmt: skip
    yield f"<script>{export.navigation_script(run.stops, page.view.step)}</script>\n"
    for name, viewport in VIEWPORTS.items():
        for theme in PALETTES:
            look = replace(viewport, theme=theme, stage=page.view.stage)
            yield f'<script type="application/json" id="{name}-{theme}">'
            yield from export.figure_json(run.draw(look).streamed())
            yield "</script>\n"
    # The player first: it leaves the picture its space while the library comes.
    for name in ("player.js", "plotly.js"):
        yield f'<script src="{links[name]}"></script>\n'
    yield "</body>\n</html>\n"


def _picture(page: Page, theme: str) -> str:
    """The file of a page's picture in the index."""
    return f"{SHARED}/{Path(page.file).stem}-{theme}.svg"


def picture_svg(page: Page, run: Run, theme: str) -> Iterator[str]:
    """The lecture at the step that the page begins with."""
    yield f"<!-- {MADE} -->\n"
    step = min(page.view.step, run.stops["steps"] - 1)
    drawing = run.draw(replace(USUAL, theme=theme, stage=page.view.stage))
    yield draw_svg(drawing.plain(range(step, step + 1)))


def _index_html(steps: Mapping[Page, int], links: Mapping[str, str]) -> str:
    """The index of pages, each with the number of its steps."""
    lists = []
    for group, pages in itertools.groupby(steps, key=lambda page: page.group):
        items = "".join(_item_html(page, steps[page]) for page in pages)
        lists.append(f"<h2>{group}</h2>\n<ul>\n{items}</ul>\n")
    return Template(read_web("published_index.html")).substitute(
        made=MADE, icon=_icon(), style=links["style.css"], lists="".join(lists)
    )


def _item_html(page: Page, steps: int) -> str:
    view, (light, dark) = page.view, (_picture(page, theme) for theme in ("light", "dark"))
    return (
        f'<li><a href="{page.file}">'
        f'<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
        f'<img src="{light}" alt="" loading="lazy" width="{USUAL.width}" height="{USUAL.height}">'
        f"</picture>\n<div><strong>{html.escape(page.name)}</strong>\n"
        f"<p>{html.escape(page.text)}</p>\n"
        f"<small>M = {view.M}, N = {view.N}, K = {view.K}; {steps:,} steps</small></div></a></li>\n"
    )


if __name__ == "__main__":
    sys.exit(main())
