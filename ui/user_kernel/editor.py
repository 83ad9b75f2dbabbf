"""The editor of the Write page: a text, and what is wrong with it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Route

from ui.user_kernel.problems import Problem
from ui.web_page.component import component
from ui.web_page.index_page import prefix
from ui.web_page.reported import parse
from ui.web_page.web_files import FOLDER, read_web

BUNDLE = "codemirror.js"


@dataclass(frozen=True, slots=True)
class Document:
    """Source that an editor opens with, instead of what it had."""

    number: int  # another one is another text
    text: str
    name: str  # for a screen reader


@dataclass(frozen=True, slots=True)
class Edited:
    """What is in an editor."""

    number: int  # the document's
    version: int  # of the text, that grows with each change
    text: str


@functools.cache
def bundle_path() -> str:
    """The address of CodeMirror's module beneath the app's; another file has another one."""
    digest = hashlib.sha256((FOLDER / BUNDLE).read_bytes()).hexdigest()[:12]
    return f"tilewise/{digest}/{BUNDLE}"


def route() -> Route:
    """The route by which browsers get CodeMirror; they may keep it for ever."""
    return Route(f"{prefix()}/{bundle_path()}", _send_bundle)


def _send_bundle(_: Request) -> FileResponse:
    return FileResponse(
        FOLDER / BUNDLE, media_type="text/javascript",
        headers={"Cache-Control": "public, max-age=31536000, immutable"},
    )  # fmt: skip


def draw_editor(
    document: Document, edited: Edited | None, problems: Sequence[Problem], ask: Callable[[], None]
) -> Edited | None:
    """Draw the editor with the problems of an edited source; return what is in it now.

    That is None until the browser has told it. At Ctrl+Enter the function `ask` is called, as a
    callback: Streamlit may end it where it uses the session state.
    """
    checked = None
    if edited is not None:
        checked = {
            "number": edited.number, "version": edited.version,
            "problems": [asdict(problem) for problem in problems],
        }  # fmt: skip
    result = component("editor", "editor.js", read_web("editor.html"), ("editor.css",))(
        key="editor",
        data={"module": bundle_path(), "document": asdict(document), "checked": checked},
        default={"text": None}, on_text_change=lambda: None, on_asked_change=ask,
    )  # fmt: skip
    found = parse(Edited, result.text)
    if found is None:
        return None
    # Half a letter is none.
    return replace(found, text=found.text.encode(errors="replace").decode())
