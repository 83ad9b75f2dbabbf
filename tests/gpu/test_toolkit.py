"""Tools that are missing, do not end, or say something."""

from __future__ import annotations

import sys

import pytest

from gpu.cuda.run_tool import EndlessError, ToolError, run


def test_a_tool_that_is_missing() -> None:
    with pytest.raises(ToolError, match="CUDA Toolkit"):
        run(["no-such-tool-anywhere"], 5)


def test_a_tool_that_does_not_end() -> None:
    with pytest.raises(EndlessError, match="more than"):
        run([sys.executable, "-c", "import time; time.sleep(60)"], 0.2)


def test_what_a_tool_says() -> None:
    done = run([sys.executable, "-c", "print('said'); raise SystemExit(3)"], 30)
    assert (done.stdout.strip(), done.returncode) == ("said", 3)
