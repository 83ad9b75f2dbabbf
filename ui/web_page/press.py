"""Buttons whose click is heard whatever else the browser reports at that moment.

Streamlit gives a click to one run of the script. Another report, such as that of a text that was
typed just before, ends this run at its next call of Streamlit and begins one without the click. A
callback has run by then, but what a page does at a click needs what it draws before the button.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

PRESSED = "pressed"  # the session state's key


def press(button: Callable[..., bool], label: str, key: str, **options: Any) -> bool:
    """Draw a button by a function of Streamlit's; return whether there was a click on it.

    A button that is disabled now was not when it was clicked: that counts for nothing.
    """
    # A callback that uses the session state may be ended itself: it gets the set.
    pressed: set[str] = st.session_state.setdefault(PRESSED, set())
    button(label, key=key, on_click=pressed.add, args=(key,), **options)
    is_pressed = key in pressed and not options.get("disabled")
    pressed.discard(key)
    return is_pressed


def forget_presses() -> None:
    """Leave out clicks on buttons that a whole run of the script has not drawn any more."""
    st.session_state.setdefault(PRESSED, set()).clear()
