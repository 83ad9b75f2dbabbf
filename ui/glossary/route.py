"""How browsers get the words, and the picture of one when it is asked for."""

from __future__ import annotations

import functools
import hashlib

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from simulator import LaunchError, SourceError
from simulator.broken_file import BrokenFileError, log
from ui.drawing.palette import PALETTES
from ui.glossary import entry
from ui.glossary.chart import draw_sentence, draw_small_chart
from ui.glossary.entry import SmallScene, glossary
from ui.glossary.picture import draw_word
from ui.jobs.workers import WorkerLostError
from ui.lessons.markup import inline
from ui.run.cache import answers
from ui.view import small_kernels
from ui.web_page.index_page import prefix

EVERYDAY = {"beat", "half", "pair"}  # words that texts mostly use in another sense
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
AN_HOUR = {"Cache-Control": "public, max-age=3600"}  # a newer Tilewise may draw it otherwise


@functools.cache
def folder() -> str:
    """The folder of the words beneath the app's address; other words have another one."""
    files = (file for file in (entry.FILE, small_kernels.FILE) if file.is_file())
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    return f"tilewise/glossary/{digest.hexdigest()[:12]}"


def picture_path(name: str, theme: str) -> str:
    """The address of a word's picture beneath the app's; theme is a key of palette.PALETTES."""
    return f"{folder()}/{theme}/{name}.svg"


def routes() -> list[Route]:
    """The routes of the words and of their pictures."""
    start = f"{prefix()}/tilewise/glossary/{{digest}}"
    return [
        Route(f"{start}/words.json", _send_words),
        Route(f"{start}/{{theme}}/{{name}}.svg", _send_picture),
    ]


def _send_words(_: Request) -> JSONResponse:
    """Each word's definition as HTML, whether texts link it, its picture, and if that opens."""
    words = {
        word.term: {
            "text": inline(word.text),
            "linked": word.term not in EVERYDAY,
            "picture": word.shown_picture and word.name,
            "opens": isinstance(word.shown_picture, SmallScene),
        }
        for word in glossary().values()
    }
    return JSONResponse(words, headers=FOREVER)


def _send_picture(request: Request) -> Response:
    """A word's picture; 404 for one that there is not, or that cannot be drawn."""
    theme, name = request.path_params["theme"], request.path_params["name"]
    picture = next((word.shown_picture for word in glossary().values() if word.name == name), None)
    if picture is None or theme not in PALETTES:
        return Response(status_code=404)
    try:
        if isinstance(picture, SmallScene):
            svg = answers().ask(draw_word, picture.view, picture.mark, theme)
        else:
            svg = answers().ask(draw_small_chart, picture, theme)
    except BrokenFileError as error:
        log(error.broken)
        svg = draw_sentence(f"This cannot be shown: {error.broken}", theme)
        return Response(svg, media_type="image/svg+xml")
    except (SourceError, LaunchError, WorkerLostError):
        return Response(status_code=404)
    return Response(svg, media_type="image/svg+xml", headers=AN_HOUR)
