"""A check of the app's health opens a session and sees a scene, or says why it does not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol

from ui import health


@contextmanager
def server(answer: Callable[[ServerConnection], object]) -> Iterator[str]:
    """The address of a server that takes a request to run a script and gives its own answer."""

    def handle(socket: ServerConnection) -> None:
        socket.recv()
        answer(socket)

    with serve(handle, "127.0.0.1", 0, subprotocols=[Subprotocol("streamlit")]) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.socket.getsockname()[1]}"
        served.shutdown()


def messages(*, scene: bool) -> list[bytes]:
    """What Streamlit sends of a page that is drawn twice, with a scene or without one."""
    early, drawn, other, end = ForwardMsg(), ForwardMsg(), ForwardMsg(), ForwardMsg()
    early.script_finished = ForwardMsg.FINISHED_EARLY_FOR_RERUN
    drawn.delta.new_element.bidi_component.id = "$$ID-0a-scene" if scene else "$$ID-0a-glossary"
    other.delta.new_element.markdown.body = "The scene"
    end.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
    return [message.SerializeToString() for message in (early, other, drawn, end)]


def send(answers: list[bytes]) -> Callable[[ServerConnection], object]:
    return lambda socket: [socket.send(answer) for answer in answers]


@pytest.mark.parametrize(
    ("answer", "seconds", "why"),
    [
        (send(messages(scene=True)), 20, ""),
        (send(messages(scene=False)), 20, "error: The page was drawn without a scene."),
        (lambda socket: socket.close(), 20, "error: No session can be opened at http://127.0.0.1:"),
        (lambda socket: socket.recv(), 0.2, "error: There was no scene within 0.2 seconds."),
    ],
)
def test_a_scene_is_awaited(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: Callable[[ServerConnection], object],
    seconds: float,
    why: str,
) -> None:
    monkeypatch.setattr(health, "SECONDS", seconds)
    with server(answer) as address:
        assert health.main([address]) == bool(why)
    said = capsys.readouterr().err
    assert said.startswith(why)
    assert bool(said) == bool(why)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "127.0.0.1", "http://[::1", ""])
def test_an_address_without_an_app_is_told(
    capsys: pytest.CaptureFixture[str], address: str
) -> None:
    assert health.main([address]) == 1
    assert capsys.readouterr().err.startswith(f"error: No session can be opened at {address}: ")
