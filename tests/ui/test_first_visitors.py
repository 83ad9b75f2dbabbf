"""The first visitors after a start: they come together, each with a link of their own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import pytest

from simulator import catalogue
from tests.browser.app import running_app
from tests.hostile.texts import BOMBS
from tests.protocol_client import ServerError, run, visitor
from tests.ui.user_kernels import USER_KERNELS
from ui.view import user_kernel_link
from ui.view.presets import presets
from ui.view.view_url import to_query

VISITORS = 30
PAGES = ("step.py", "learn.py", "write.py", "gpu.py")

ROOT = Path(__file__).resolve().parents[2]
# Prints the modules that the pages import after preload(), one list for each page.
IMPORTED = """
import json, sys
from streamlit.testing.v1 import AppTest
AppTest.from_string("").run()  # what tests alone import
from ui.serving.preload import preload
preload()
before = set(sys.modules)
app = AppTest.from_file(f"{sys.argv[1]}/app.py", default_timeout=60).run()
for page in sys.argv[2:]:
    app.switch_page(f"ui/pages/{page}").run()
    assert len(app.main) and not app.exception
    print(json.dumps([page, sorted(set(sys.modules) - before)]))
"""


def links() -> list[tuple[str, str]]:
    """Thirty different links, each as its page's path and its query."""
    user_kernel = [
        (page, urlencode({user_kernel_link.PARAMETER: user_kernel_link.encode(USER_KERNELS[name])}))
        for page in ("step", "write")
        for name in ("saxpy", "race", "transpose", "scan", "histogram")
    ]
    others = ("own=oh&exercise=oh", "own=file", "exercise=barriers")
    written = [("write", query) for query in others]
    views = [("step", urlencode(to_query(preset.view))) for preset in presets()]
    kernels = [("step", urlencode({"kernel": name})) for name in catalogue()]
    sizes = [("step", urlencode({"M": M})) for M in range(1, VISITORS)]
    return [
        ("", ""),
        ("compare", ""),
        ("learn", ""),
        *user_kernel,
        *written,
        *views,
        *kernels,
        *sizes,
    ][:VISITORS]


async def opened(address: str, page: str, query: str, together: asyncio.Barrier) -> str:
    """What goes wrong when a link is opened, as Streamlit's client is sent it; "" if nothing."""
    async with visitor(address, query, page) as one:
        await together.wait()
        try:
            await one.rerun()
        except ServerError as error:
            return str(error)
        return "" if page != "step" or "scene" in one.widgets else "no scene"


async def visited(links: Sequence[tuple[str, str]], address: str) -> dict[tuple[str, str], str]:
    """What goes wrong for each of the visitors who open these links at once."""
    together = asyncio.Barrier(len(links))
    found = await asyncio.gather(*(opened(address, *link, together) for link in links))
    return {link: wrong for link, wrong in zip(links, found, strict=True) if wrong}


@pytest.mark.deep
def test_a_class_may_come_together_right_after_a_start() -> None:
    assert len(set(links())) == VISITORS
    with running_app() as address:
        assert run(visited(links(), address)) == {}
        assert run(stepped_meanwhile(address))


async def stepped_meanwhile(address: str) -> bool:
    """Whether a visitor can step while the compiler is busy with the text of another."""
    async with visitor(address) as student, visitor(address, "", "write") as attacker:
        await student.rerun()
        await attacker.rerun()
        document = json.loads(attacker.find("editor").json)["document"]["number"]
        text = {"number": document, "version": 2, "text": BOMBS["a tree of templates"][0]}
        attack = asyncio.create_task(attacker.report("editor", text=text))
        for step in range(5):
            await student.report_step(step)
        is_first = not attack.done()
        await attack
        [problem] = json.loads(attacker.find("editor").json)["checked"]["problems"]
        assert "more than 2 seconds" in problem["message"]
        return is_first


@pytest.mark.deep
def test_no_page_imports_what_was_not_imported_before_it() -> None:
    found = subprocess.run(
        [sys.executable, "-c", IMPORTED, str(ROOT), *PAGES],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    pages = [json.loads(line) for line in found.stdout.splitlines()]
    assert pages == [[page, []] for page in PAGES]


def test_no_sources_are_watched_for_each_visitor() -> None:
    settings = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert tomllib.loads(settings)["server"]["fileWatcherType"] == "none"
