"""Repeated messages of the server are logged once per period, with how many were suppressed."""

from __future__ import annotations

import logging

import pytest

from ui.serving import log_rate_limit


def test_a_message_comes_once_in_a_while_with_a_count(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 100.0
    monkeypatch.setattr(log_rate_limit.time, "monotonic", lambda: now)
    monkeypatch.setattr(log_rate_limit, "LOGGERS", ("tests.log_rate_limit",))
    log_rate_limit.limit_log_rate()
    logger = logging.getLogger("tests.log_rate_limit")
    for number in range(3000):
        logger.error("out of resource\nsocket %d", number)
    logger.error("another")
    now += log_rate_limit.SECONDS
    logger.error("out of resource\nsocket %d", 3000)
    logger.error("another")
    assert [record.getMessage() for record in caplog.records] == [
        "out of resource\nsocket 0",
        "another",
        "out of resource\nsocket 3000 (and 2999 more like this before)",
        "another",
    ]


def test_messages_that_all_differ_are_not_remembered_for_ever() -> None:
    rate_limit = log_rate_limit.RateLimitFilter()
    for number in range(3 * log_rate_limit.MOST):
        assert rate_limit.filter(logging.makeLogRecord({"msg": f"number {number}"}))
    assert len(rate_limit._suppressed) <= log_rate_limit.MOST
