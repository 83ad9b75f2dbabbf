"""The compiler, where it is here."""

from __future__ import annotations

import pytest

from compiler.toolchain import Toolchain, ToolchainError, find_toolchain


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """Skip where NVRTC or nvdisasm is not installed."""
    try:
        return find_toolchain()
    except ToolchainError as error:
        pytest.skip(str(error))
