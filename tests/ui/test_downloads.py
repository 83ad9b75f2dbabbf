"""Files that a visitor downloads: there until the browser has them, and not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from ui.web_page import downloads
from ui.web_page.downloads import hand_out


class Server:
    """Streamlit's files, and the buttons that make them."""

    def __init__(self) -> None:
        self.storage = MemoryMediaFileStorage("/media")
        self.files = MediaFileManager(self.storage)

    def click(self, make: Callable[[], bytes], name: str) -> str:
        """Click a button that makes a file: the file's address."""
        made = lambda: hand_out(make, name, "text/html")  # noqa: E731
        file_id = self.files.add_deferred(made, "text/html", "button", name)
        return self.files.execute_deferred(file_id).removeprefix("/media/")

    def end_script_runs(self, count: int) -> None:
        """Some visitors' script runs end."""
        for _ in range(count):
            self.files.remove_orphaned_files()

    def fetch(self, address: str) -> bytes:
        return self.storage.get_file(address).content


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    found = Server()
    manager = SimpleNamespace(media_file_mgr=found.files)
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: manager)
    downloads.shelf.cache_clear()
    yield found
    downloads.shelf.cache_clear()


def test_a_file_stays_while_a_whole_class_steps(server: Server) -> None:
    address = server.click(lambda: b"a scene", "scene.html")
    server.end_script_runs(60)
    assert server.fetch(address) == b"a scene"


def test_two_visitors_get_their_own_files(server: Server) -> None:
    first, second = (server.click(name.encode, f"{name}.html") for name in "ab")
    server.end_script_runs(3)
    assert (server.fetch(first), server.fetch(second)) == (b"a", b"b")


def test_one_file_for_a_whole_class_takes_the_place_of_no_other(server: Server) -> None:
    other = server.click(lambda: b"another scene", "other.html")
    addresses = {server.click(lambda: b"a scene", "scene.html") for _ in range(30)}
    server.end_script_runs(3)
    assert {server.fetch(one) for one in addresses} == {b"a scene"}
    assert server.fetch(other) == b"another scene"


def test_the_oldest_files_go_while_visitors_only_download(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "LARGEST", 3000)
    for number in range(12):
        address = server.click(lambda number=number: bytes([number]) * 1000, f"{number}.html")
        [held] = server.storage.get_stats()["cache_memory_bytes"]
        assert held.byte_length <= 5000  # Streamlit lets go of a file at the second opportunity
    assert server.fetch(address) == bytes([11]) * 1000


def test_a_file_is_let_go_of_after_a_while(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "SECONDS", 0.05)
    server.click(lambda: b"a scene", "scene.html")
    until = time.monotonic() + 20
    while server.storage.get_stats().get("cache_memory_bytes") and time.monotonic() < until:
        time.sleep(0.05)
        server.end_script_runs(1)
    assert not server.storage.get_stats().get("cache_memory_bytes")
