"""A visitor without a browser, who speaks Streamlit's protocol as its JavaScript client does."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

MOST = 256 * 2**20  # bytes of a message
SECONDS = 120.0  # without a message, until the server has failed
MOST_RUNS = 2  # that a message may be referred to after its latest use
ELEMENT_ID = re.compile(r"\$\$ID-[0-9a-f]+-(?P<key>.*)", re.DOTALL)  # with the key that a page gave
EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN  # another run of the script follows
WHOLE = ForwardMsg.FINISHED_SUCCESSFULLY
COMPLETE = (WHOLE, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


T = TypeVar("T")


class ServerError(Exception):
    """A script run that ended in an error, or a page that shows an exception."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request."""

    seconds: float  # until the script run had finished
    received: int  # bytes
    messages: int


@dataclass(slots=True)
class Visitor:
    """One session: its widgets as last drawn, and what it has entered."""

    socket: ClientConnection
    query: str
    page: str = ""
    widgets: dict[str, Any] = field(default_factory=dict)  # element by its key
    fragments: dict[str, str] = field(default_factory=dict)  # of an element, by its key
    states: dict[str, WidgetState] = field(default_factory=dict)  # by id
    drawn: set[str] = field(default_factory=set)  # keys of what is on the page
    _drawing: set[str] = field(default_factory=set)  # of what the present run has drawn
    errors: list[str] = field(default_factory=list)  # that the page shows since the last request
    cache: dict[str, ForwardMsg] = field(default_factory=dict)  # messages that may be referred to
    used: dict[str, int] = field(default_factory=dict)  # the whole run that last used one, by hash
    runs: int = 0  # whole ones that have ended
    page_hash: str = ""
    session: str = ""

    async def rerun(self, fragment: str = "", trigger: WidgetState | None = None) -> Answer:
        """Request a script run, or a fragment's, with the entered values; wait for its end."""
        begun = time.perf_counter()
        await self._send(fragment, trigger)
        received, messages = 0, 0
        while True:
            message, size = await self._receive()
            received, messages = received + size, messages + 1
            if message.WhichOneof("type") == "script_finished":
                if message.script_finished in COMPLETE:
                    self._settle(is_whole=message.script_finished == WHOLE)
                    return Answer(time.perf_counter() - begun, received, messages)
                if message.script_finished != EARLY:
                    raise ServerError(ForwardMsg.ScriptFinishedStatus.Name(message.script_finished))

    async def begin(self, trigger: WidgetState | None = None) -> None:
        """Request a script run; wait for the first thing that it draws, after its callbacks."""
        await self._send("", trigger)
        while (await self._receive())[0].WhichOneof("type") != "delta":
            pass

    def _settle(self, is_whole: bool) -> None:
        """Leave out what a whole run has not drawn, and messages that some have not used."""
        if is_whole:
            self.drawn.clear()
            self.runs += 1
        self.drawn |= self._drawing
        for name in [name for name in self.cache if self.runs - self.used[name] > MOST_RUNS]:
            del self.cache[name], self.used[name]

    async def _send(self, fragment: str, trigger: WidgetState | None) -> None:
        self.errors.clear()
        request = BackMsg()
        rerun = request.rerun_script
        rerun.query_string, rerun.page_name = self.query, self.page
        rerun.page_script_hash, rerun.fragment_id = self.page_hash, fragment
        rerun.widget_states.widgets.extend(self.states.values())
        if trigger is not None:
            rerun.widget_states.widgets.append(trigger)
        rerun.cached_message_hashes.extend(self.cache)
        await self.socket.send(request.SerializeToString())

    async def choose(self, key: str, value: str | float | bool) -> Answer:
        """Enter a value into the control whose key begins with a name; open a popover by True."""
        self.enter(key, value)
        return await self.rerun()

    def enter(self, key: str, value: str | float | bool) -> None:
        """Enter a value, of which the server hears with the next request, as in a form."""
        element = self.find(key)
        state = WidgetState(id=element.id)
        match value:
            case bool():
                state.bool_value = value
            case float() | int():
                state.double_value = value
            case str():
                state.string_value = value
        self.states[element.id] = state

    async def press(self, key: str) -> Answer:
        """Press the button whose key begins with a name."""
        return await self.rerun(trigger=WidgetState(id=self.find(key).id, trigger_value=True))

    async def report(self, key: str, **values: Any) -> Answer:
        """Let a component report its state, as JSON."""
        element = self.find(key)
        self.states[element.id] = WidgetState(id=element.id, json_value=json.dumps(values))
        return await self.rerun(self.fragments.get(element.id, ""))

    async def report_step(self, step: int, requested: int = -1) -> Answer:
        """Let the stepper report a step of the scene that it shows, and one that it lacks."""
        header = self.header("scene")
        place = {"scene": header["id"], "order": header["order"], "step": step}
        return await self.report("scene", at={**place, "requested": requested})

    async def download(self, key: str) -> str:
        """Click a button that makes a file: the file's path on the server."""
        request = BackMsg()
        asked = request.backend_operation_request
        asked.request_id, asked.session_id = "download", self.session
        asked.deferred_file.file_id = self.find(key).deferred_file_id
        await self.socket.send(request.SerializeToString())
        while True:
            message, _ = await self._receive()
            if message.WhichOneof("type") == "backend_operation_response":
                answer = message.backend_operation_response
                if answer.error_msg:
                    raise ServerError(answer.error_msg)
                return answer.deferred_file.url

    def cut(self) -> None:
        """End the connection without a word, as a network that fails."""
        self.socket.transport.abort()

    def fall_silent(self) -> None:
        """Take no messages and answer no ping, as a laptop that sleeps; the connection stays."""
        self.socket.transport.pause_reading()

    def find(self, key: str) -> Any:
        """The latest element whose key is, or begins with, a name."""
        found = [one for name, one in self.widgets.items() if f"{name}:".startswith(f"{key}:")]
        return found[-1]

    def header(self, key: str) -> dict[str, Any]:
        """The first line of a component's data, which is a JSON object."""
        data = self.find(key).bytes
        found: dict[str, Any] = json.loads(data[: data.index(b"\n")])
        return found

    async def _receive(self) -> tuple[ForwardMsg, int]:
        """The next message, which is taken into account, and its bytes."""
        async with asyncio.timeout(SECONDS):  # wait_for() may lose a cancellation, in Python 3.11
            data = await self.socket.recv(decode=False)
        message = ForwardMsg.FromString(data)
        match message.WhichOneof("type"):
            case "new_session":
                self.page_hash = message.new_session.page_script_hash
                self.session = message.new_session.initialize.session_id
                self._drawing.clear()
            case "navigation":
                self.page_hash = message.navigation.page_script_hash
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "ref_hash":
                self.used[message.ref_hash] = self.runs
                self._take(self.cache[message.ref_hash])
            case "delta":
                if message.metadata.cacheable:
                    self.cache[message.hash] = message
                    self.used[message.hash] = self.runs
                self._take(message)
        return message, len(data)

    def _take(self, message: ForwardMsg) -> None:
        is_block = message.delta.WhichOneof("type") == "add_block"
        element = message.delta.add_block if is_block else message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise ServerError(element.exception.message)
        if kind == "alert" and element.alert.format == Alert.ERROR:
            self.errors.append(element.alert.body)
        found = None if kind is None else getattr(element, kind)
        name = ELEMENT_ID.fullmatch(getattr(found, "id", "") or "")
        if found is not None and name is not None:
            self.widgets.pop(name["key"], None)  # the latest is the last
            self.widgets[name["key"]] = found
            self._drawing.add(name["key"])
            self.fragments[found.id] = message.delta.fragment_id


def run(visit: Coroutine[Any, Any, T]) -> T:
    """The result of a visit; in a thread of its own, for Playwright's loop runs in a test's."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, visit).result()


@asynccontextmanager
async def visitor(
    address: str, query: str = "", page: str = "step", cookie: str = "", session: str = ""
) -> AsyncIterator[Visitor]:
    """A visitor of the app at an address, who has not requested anything yet.

    One whose connection was cut comes back to a session by its name.
    """
    stream = address.replace("http", "ws", 1) + "/_stcore/stream"
    protocols = ["streamlit", "no_token", session] if session else ["streamlit"]
    async with connect(
        stream, subprotocols=protocols, max_size=MOST, compression=None,  # type: ignore[arg-type]
        additional_headers={"Cookie": cookie} if cookie else {},
        ping_interval=None,  # a browser sends none
    ) as socket:  # fmt: skip
        yield Visitor(socket, query, page)
