"""What this process keeps of views that were shown, in tests, where it computes them itself."""

from __future__ import annotations

import streamlit as st

from ui.jobs.result_cache import result_cache
from ui.run import compute


def forget() -> None:
    """Forget all that was computed, so that it is computed anew."""
    st.cache_resource.clear()
    for value in vars(compute).values():
        if hasattr(value, "cache_clear") and value.__module__ == compute.__name__:
            value.cache_clear()
    result_cache().clear()
