"""Tilewise's door: `streamlit run app.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # whatever folder Streamlit was started in

PAGES = ROOT / "ui" / "pages"


def keep_query() -> None:
    """Give a page the query of the one before it: the navigation's links have none.

    The browser's Back and Forward have their own, and an empty one is the usual view's. This must
    come before st.navigation(), or the browser's history has the page once more without a query.
    """
    state, context = st.session_state, get_script_run_ctx()
    if st.query_params or (context and context.is_history_navigation):
        state["query"] = st.query_params.to_dict()
    elif state.get("query"):
        st.query_params.from_dict(state["query"])


def draw() -> None:
    """Draw the page that the address names."""
    # An icon of our own: one of Streamlit's by name would be fetched from the network.
    st.set_page_config(
        page_title="Tilewise", page_icon=str(ROOT / "assets" / "icon.png"), layout="wide"
    )
    keep_query()
    st.navigation(
        [
            st.Page(PAGES / "step.py", title="Step", icon=":material/steps:", default=True),
            st.Page(PAGES / "learn.py", title="Learn", icon=":material/school:"),
            st.Page(PAGES / "write.py", title="Write", icon=":material/edit_note:"),
            st.Page(PAGES / "compare.py", title="GPU", icon=":material/speed:"),
        ],
        position="top",
    ).run()


if __name__ == "__main__":  # run by Streamlit, for each visitor
    from ui.preload import preload

    preload()
    draw()
elif __name__ != "__mp_main__":  # imported by `streamlit run`, for the server; not by its workers
    from ui import editor
    from ui.cluster import ClusterError
    from ui.executor import executor
    from ui.glossary import route as glossary_route
    from ui.index_page import routes
    from ui.preload import preload

    try:
        executor()  # its first process starts while this one imports
    except ClusterError as error:
        sys.exit(f"error: {error}")
    preload()
    app = st.App(
        Path(__file__),
        routes=[
            *routes(["", "learn", "write", "compare"]),
            editor.route(),
            *glossary_route.routes(),
        ],
    )
