"""Tilewise's door: `streamlit run app.py`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # whatever folder Streamlit was started in

# A recording is a hundred thousand objects, none of them garbage: looking for some after every 700
# new ones took a third of the time until a long one was drawn.
gc.set_threshold(50_000)

from ui.preload import preload  # noqa: E402  # the folder above holds it

preload()

# An icon of our own: one of Streamlit's by name would be fetched from the network.
st.set_page_config(
    page_title="Tilewise", page_icon=str(ROOT / "assets" / "icon.png"), layout="wide"
)
PAGES = ROOT / "ui" / "pages"
st.navigation(
    [
        st.Page(PAGES / "step.py", title="Step", icon=":material/steps:", default=True),
        st.Page(PAGES / "compare.py", title="GPU", icon=":material/speed:"),
    ],
    position="top",
).run()
