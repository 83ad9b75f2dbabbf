"""The app, where whoever waits sees at once how far a run is."""

from __future__ import annotations

import runpy

from tests.browser.app import ROOT
from ui import waiting

waiting.SPINNER_SECONDS = 0.2

if __name__ == "__main__":
    runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
