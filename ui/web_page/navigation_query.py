"""The query that the navigation's links, which have none, are given on every page."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

KEY = "query"  # of the session state


def keep(query: Mapping[str, str]) -> None:
    """Keep the query of what the visitor sees."""
    st.session_state[KEY] = dict(query)


def kept() -> dict[str, str]:
    """The query that was kept last; an empty one at first."""
    query: dict[str, str] = st.session_state.get(KEY, {})
    return query
