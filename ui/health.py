"""Says whether the app gives a visitor a scene: `python -m ui.health [URL]`.

It opens a session as a browser does, so it sees what a visitor would: `/_stcore/health` says "ok"
even where no session can be opened. The exit code is 0, or 1 with a sentence on stderr
that says why.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

URL = "http://127.0.0.1:8501"
PAGE = "step"
VIEW = "M=4&N=4&K=4&TILE=2"  # a small one, which the app keeps
SCENE = "-scene"  # ends the identifier of the element
SECONDS = 20.0  # until there is a scene, or a visitor would have gone


class HealthError(Exception):
    """Why there is no scene: a sentence."""


def check(url: str, seconds: float) -> None:
    """Open a session at the app's address and wait for a scene. Raises HealthError."""
    until = time.monotonic() + seconds
    stream = url.rstrip("/").replace("http", "ws", 1) + "/_stcore/stream"
    request = BackMsg()
    request.rerun_script.query_string, request.rerun_script.page_name = VIEW, PAGE
    try:
        with connect(
            stream, subprotocols=[Subprotocol("streamlit")], max_size=None, proxy=None,
            open_timeout=seconds, close_timeout=1,
        ) as socket:  # fmt: skip
            socket.send(request.SerializeToString())
            while not _is_scene(socket.recv(max(until - time.monotonic(), 0))):
                pass
    except TimeoutError:
        raise HealthError(f"There was no scene within {seconds:g} seconds.") from None
    except (OSError, WebSocketException, ValueError) as error:
        raise HealthError(f"No session can be opened at {url}: {error}") from None


def _is_scene(data: str | bytes) -> bool:
    """Whether a message has the scene. Raises HealthError where it cannot come any more."""
    if isinstance(data, str):  # Streamlit sends none
        return False
    message = ForwardMsg.FromString(data)
    is_over = message.WhichOneof("type") == "script_finished"
    if is_over and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
        raise HealthError("The page was drawn without a scene.")
    identifier: str = message.delta.new_element.bidi_component.id
    return identifier.endswith(SCENE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Say whether the app gives a visitor a scene."""
    parser = argparse.ArgumentParser("python -m ui.health", description=__doc__)
    parser.add_argument("url", nargs="?", default=URL, help=f"the app's address, {URL} by default")
    try:
        check(parser.parse_args(arguments).url, SECONDS)
    except HealthError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
