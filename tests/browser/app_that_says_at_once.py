"""The app, where whoever waits sees at once how far a run is."""

from __future__ import annotations

import streamlit as st

from tests.browser.app import ROOT
from ui.glossary import route as glossary_route
from ui.run import waiting
from ui.web_page.index_page import routes

waiting.SPINNER_SECONDS = 0.2

app = st.App(ROOT / "app.py", routes=[*routes(["step"]), *glossary_route.routes()])
