"""The first visitors after a start: they come together, each with a link of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from simulator import catalogue
from tests.browser.app import running_app
from ui.presets import presets
from ui.view_url import to_query

STARTS = 2
VISITORS = 10
MOST = 256 * 2**20  # bytes of a message
SECONDS = 60  # without a message

ROOT = Path(__file__).resolve().parents[2]
# Prints the modules that the pages import after preload(), one list for each page.
IMPORTED = """
import json, sys
from streamlit.testing.v1 import AppTest
AppTest.from_string("").run()  # what tests alone import
from ui.preload import preload
preload()
before = set(sys.modules)
app = AppTest.from_file(f"{sys.argv[1]}/app.py", default_timeout=60).run()
for page in sys.argv[2:]:
    app.switch_page(f"ui/pages/{page}").run()
    assert len(app.main) and not app.exception
    print(json.dumps([page, sorted(set(sys.modules) - before)]))
"""


def links() -> list[tuple[str, str]]:
    """Ten different links, each as its page's path and its query."""
    views = [("", urlencode(to_query(preset.view))) for preset in presets()]
    kernels = [("", urlencode({"kernel": name})) for name in catalogue()]
    return [("compare", ""), *views, *kernels][:VISITORS]


def opened(address: str, page: str, query: str, together: Barrier) -> list[str]:
    """What goes wrong when a link is opened, as Streamlit's client is sent it."""
    wrong: list[str] = []
    stream = address.replace("http", "ws", 1) + "/_stcore/stream"
    with connect(stream, subprotocols=["streamlit"], max_size=MOST) as socket:  # type: ignore[list-item]
        asked = BackMsg()
        asked.rerun_script.query_string = query
        asked.rerun_script.page_name = page
        together.wait()
        socket.send(asked.SerializeToString())
        while True:
            message = ForwardMsg.FromString(socket.recv(SECONDS))  # type: ignore[arg-type]
            if message.delta.new_element.WhichOneof("type") == "exception":
                wrong.append(message.delta.new_element.exception.message)
            if message.WhichOneof("type") == "script_finished":
                if message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                    wrong.append(ForwardMsg.ScriptFinishedStatus.Name(message.script_finished))
                return wrong


def visited(links: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """What goes wrong for each of the visitors who open these links at once, after a start."""
    together = Barrier(len(links))
    with running_app() as address, ThreadPoolExecutor(len(links)) as visitors:
        runs = {link: visitors.submit(opened, address, *link, together) for link in links}
        return {link: found for link, run in runs.items() if (found := run.result())}


@pytest.mark.parametrize(
    "start", [0, *(pytest.param(n, marks=pytest.mark.deep) for n in range(1, STARTS))]
)
def test_the_first_visitors_may_come_together(start: int) -> None:
    assert visited(links()) == {}, f"start {start + 1}"


def test_no_page_imports_what_was_not_imported_before_it() -> None:
    found = subprocess.run(
        [sys.executable, "-c", IMPORTED, str(ROOT), "step.py", "compare.py"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    pages = [json.loads(line) for line in found.stdout.splitlines()]
    assert pages == [["step.py", []], ["compare.py", []]]
