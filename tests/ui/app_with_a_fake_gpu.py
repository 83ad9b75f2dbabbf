"""The GPU page with a GPU's stand-in, beside an empty page, for `streamlit run`.

Who leaves has half a second to come back.
"""

from __future__ import annotations

import sys

import streamlit as st

import gpu.worker
import ui.web_page.leaving
from tests.browser.app import ROOT


def empty() -> None:
    st.button("Nothing", key="nothing")


gpu.worker.COMMAND = (sys.executable, "-m", "tests.gpu.fake_worker")
ui.web_page.leaving.GRACE_SECONDS = 0.5
st.navigation([st.Page(ROOT / "ui" / "pages" / "gpu.py", default=True), st.Page(empty)]).run()
