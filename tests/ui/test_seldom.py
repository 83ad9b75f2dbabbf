"""What the server says again and again is written once in a while, with how often it came."""

from __future__ import annotations

import logging

import pytest

from ui.serving import seldom


def test_a_message_comes_once_in_a_while_with_a_count(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 100.0
    monkeypatch.setattr(seldom.time, "monotonic", lambda: now)
    monkeypatch.setattr(seldom, "LOGGERS", ("tests.seldom",))
    seldom.bound_log()
    logger = logging.getLogger("tests.seldom")
    for number in range(3000):
        logger.error("out of resource\nsocket %d", number)
    logger.error("another")
    now += seldom.SECONDS
    logger.error("out of resource\nsocket %d", 3000)
    logger.error("another")
    assert [record.getMessage() for record in caplog.records] == [
        "out of resource\nsocket 0",
        "another",
        "out of resource\nsocket 3000 (and 2999 more like this before)",
        "another",
    ]


def test_messages_that_all_differ_are_not_remembered_for_ever() -> None:
    quiet = seldom.Seldom()
    for number in range(3 * seldom.MOST):
        assert quiet.filter(logging.makeLogRecord({"msg": f"number {number}"}))
    assert len(quiet._silent) <= seldom.MOST
