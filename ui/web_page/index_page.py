"""Streamlit's page, sent with scripts that run before its own, and what it loads late early.

One script reports the viewport of a first visit, see ui/web/first_viewport.js; one lets a double
click press a popover's button once, see ui/web/double_click.js. The third keeps the requests of a
direct link, such as /compare, from failing: Streamlit's script looks for its server beneath the
page's address first, at /compare/_stcore/health, and finds it one folder up only after that
answered "404 Not Found" (issue 7074 of streamlit/streamlit). It asks nowhere else when
`window.__streamlit` names the server's address. Should a later release know that name no longer, it
looks around as before.

Streamlit's script loads the modules of a page's elements when the first message with one has come,
and then the browser needs half a second for Plotly's. Here it loads them, what they import, and the
font of code from the start, and runs Plotly's while the server draws. Should a later release name
its files otherwise, they are loaded late as before.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path
from string import Template

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ui.web_page.web_files import read_web

INDEX = Path(st.__file__).parent / "static" / "index.html"
# Relative to the page's own address, since a proxy may have put a folder before the app's.
SERVER_ADDRESS = (
    "<script>window.__streamlit = Object.assign(window.__streamlit ?? {}, "
    '{BACKEND_BASE_URL: new URL(".", window.location.href).href})</script>'
)
# Other names of pages, which someone may type: after what the navigation, and this app, call them.
OTHER_NAMES = {
    "gpu": "compare", "GPU": "compare", "lessons": "learn", "lesson": "learn", "exercises": "write",
    "home": "", "door": "",
}  # fmt: skip


FOLDER = "static/js"  # of its modules, beside index.html
PLOTLY = "PlotlyChart"  # the module that brings window.Plotly, and is run early, too
MODULES = ("Html", "Selectbox", "BidiComponent", PLOTLY)
IMPORTS = re.compile(r'\b(?:from|import) ?"\./([\w.-]+\.js)"')
CODE_FONT = "SourceCodeVF-Upright.*.woff2"  # a scene drawn before it has come is laid out twice
# Once the server has been asked for the page: before, it would wait while Plotly's script is run.
RUN_PLOTLY = """
window.bringPlotly = () => import("$file");
window.WebSocket = class extends WebSocket {
  constructor(...all) {
    super(...all);
    this.addEventListener("open", () => (window.requestIdleCallback ?? setTimeout)(bringPlotly));
  }
};
"""
HEAD = 20_000  # characters of a module, which has its imports first


def routes(pages: Iterable[str]) -> list[Route]:
    """A route for each page, named as in its address, "" for the first; none without index.html.

    A page's other names lead to its address. All hold for the folder of the setting
    server.baseUrlPath.
    """
    if not INDEX.is_file():
        return []
    found = [Route(f"{prefix()}/{page}", send_index if page else send_first) for page in pages]
    for name in OTHER_NAMES:
        found.append(Route(f"{prefix()}/{name}", send_to_page))
        found.append(Route(f"{prefix()}/{name}/", send_to_page))
    return found


def prefix() -> str:
    """What comes before the app's paths in an address: "" or a folder, "/lectures"."""
    folder = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{folder}" if folder else ""


def send_first(request: Request) -> Response:
    """The first page's; an address with a view, as links had it before, is the Step page's."""
    if request.url.query:
        return RedirectResponse(f"step?{request.url.query}")
    return send_index(request)


def send_to_page(request: Request) -> Response:
    """The address of the page that another name means, with the query: /gpu leads to /compare."""
    _, name, *slash = request.url.path.removeprefix(prefix()).split("/")
    page = OTHER_NAMES[name]
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{'..' if slash else '.'}/{page}{query}")


def send_index(_: Request) -> HTMLResponse:
    """Streamlit's index.html with the scripts, which must come before its own."""
    index = INDEX.read_text(encoding="utf-8")
    scripts = f"{SERVER_ADDRESS}<script>{read_web('first_viewport.js', 'double_click.js')}</script>"
    index = index.replace("<head>", f"<head>{scripts}", 1)
    return HTMLResponse(
        index.replace("</head>", f"{early_modules(INDEX)}</head>", 1),
        headers={"Cache-Control": "no-cache"},
    )


@functools.cache
def early_modules(index: Path) -> str:
    """The elements that load Streamlit's modules; none for a file that this release lacks."""
    found = [one for name in MODULES if (one := module(index, name))]
    listed = index.read_text(encoding="utf-8") if found else ""  # what the page loads anyway
    for one in found:  # a growing list: a browser asks for imports once it has their module
        head = (index.parent / FOLDER / one).read_text(encoding="utf-8")[:HEAD]
        found += dict.fromkeys(
            name for name in IMPORTS.findall(head) if name not in listed and name not in found
        )
    links = "".join(
        f'<link rel="modulepreload" crossorigin href="./{FOLDER}/{one}">' for one in found
    )
    for font in (index.parent / "static" / "media").glob(CODE_FONT):
        links += (
            f'<link rel="preload" as="font" type="font/woff2" crossorigin '
            f'href="./static/media/{font.name}">'
        )
    plotly = module(index, PLOTLY)
    if plotly is None:
        return links
    return f"{links}<script>{Template(RUN_PLOTLY).substitute(file=f'./{FOLDER}/{plotly}')}</script>"


def module(index: Path, name: str) -> str | None:
    """The file of one of Streamlit's modules; None where this release has no such one."""
    return next((one.name for one in (index.parent / FOLDER).glob(f"{name}.*.js")), None)
