"""The app, where whoever waits sees at once how far a run is."""

from __future__ import annotations

import streamlit as st

from tests.browser.app import ROOT
from ui import waiting
from ui.glossary import route as glossary_route
from ui.index_page import routes

waiting.SPINNER_SECONDS = 0.2

app = st.App(ROOT / "app.py", routes=[*routes(["step"]), *glossary_route.routes()])
