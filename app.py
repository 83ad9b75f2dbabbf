"""Tilewise's door: `streamlit run app.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # whatever folder Streamlit was started in

from ui.run.waiting import draw_waiting_place  # noqa: E402
from ui.web_page import navigation_query  # noqa: E402  # once it can be found
from ui.web_page.press import forget_presses  # noqa: E402
from ui.web_page.style import draw_style  # noqa: E402
from ui.web_page.web_files import read_web  # noqa: E402

PAGES = ROOT / "ui" / "pages"


def keep_query(first: StreamlitPage, others: Sequence[StreamlitPage]) -> None:
    """Give a page but the first the query of the one before it: the navigation's links have none.

    The browser's Back and Forward have their own, and an empty one is the usual view's. This must
    come before st.navigation(), or the browser's history has the page once more without a query.
    """
    context = get_script_run_ctx()
    page = context.page_script_hash if context else ""  # "" at first: the path names it
    if "lesson" in st.query_params:  # the Learn page's, which no other page is given
        if page in {one._script_hash for one in (first, *others)}:
            # An address that was written by hand may have it.
            st.query_params.clear()
        return
    if page == first._script_hash:
        return
    if st.query_params or (context and context.is_history_navigation):
        navigation_query.keep(st.query_params.to_dict())
    elif query := navigation_query.kept():
        st.query_params.from_dict(query)


def draw() -> None:
    """Draw the page that the address names."""
    # An icon of our own: one of Streamlit's by name would be fetched from the network.
    st.set_page_config(
        page_title="Tilewise", page_icon=str(ROOT / "assets" / "icon.png"), layout="wide"
    )
    pages = [
        st.Page(PAGES / "door.py", title="Tilewise", icon=":material/home:", default=True),
        st.Page(PAGES / "learn.py", title="Learn", icon=":material/school:"),
        st.Page(PAGES / "step.py", title="Step", icon=":material/steps:"),
        st.Page(PAGES / "write.py", title="Write", icon=":material/edit_note:"),
        st.Page(PAGES / "gpu.py", title="GPU", icon=":material/speed:", url_path="compare"),
    ]
    keep_query(pages[0], pages[2:])
    draw_style(read_web("navigation.css"))
    draw_waiting_place()
    st.navigation(pages, position="top").run()
    forget_presses()


if __name__ == "__main__":  # run by Streamlit, for each visitor
    from ui.serving.preload import preload

    preload()
    draw()
elif __name__ != "__mp_main__":  # imported by `streamlit run`, for the server; not by its workers
    from ui.glossary import route as glossary_route
    from ui.jobs.cluster import ClusterError
    from ui.jobs.process_memory import limit_fragments
    from ui.serving import hosts
    from ui.serving.log_rate_limit import limit_log_rate
    from ui.serving.preload import preload
    from ui.serving.start import StartError, check_limits, check_worker, start_worker
    from ui.serving.while_serving import while_serving
    from ui.user_kernel import editor
    from ui.web_page.index_page import routes

    limit_log_rate()
    limit_fragments()
    try:
        middleware = hosts.middleware()
        check_limits()
        answer = start_worker()  # while this process imports
        preload()
        check_worker(answer)
    except (ClusterError, StartError) as error:
        sys.exit(f"error: {error}")
    app = st.App(
        Path(__file__),
        routes=[
            *routes(["", "learn", "step", "write", "compare"]),
            editor.route(),
            *glossary_route.routes(),
        ],
        lifespan=while_serving,
        middleware=middleware,
    )
