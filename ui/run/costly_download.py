"""A download that may take long: what it takes is said before the click, and too much refused."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui.run.click_cost import Work
from ui.web_page.downloads import download_button


def draw_costly_download(
    work: Work, label: str, make: Callable[[], bytes], name: str, icon: str
) -> None:
    """Draw a button that downloads an HTML file, and what making it takes where that is notable.

    Where it is more than a click may take, the button is disabled and a sentence says why.
    """
    if work.refusal:
        st.button(label, icon=icon, disabled=True, width="stretch", key=f"refused {label}")
    else:
        download_button(label, make, name, "text/html", icon)
    if note := work.refusal or work.caption:
        st.caption(note)
