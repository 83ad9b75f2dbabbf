"""Pages in tests compute in the test's own process, so that a test can put in what it likes."""

from __future__ import annotations

import math
import os

import pytest

from ui.executor import VARIABLE

os.environ[VARIABLE] = "0"


@pytest.fixture(autouse=True)
def _draw_closed_popovers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw what popovers hold though they are closed, so that a test finds every control."""
    monkeypatch.setattr("ui.popover.CLOSING_SECONDS", math.inf)
