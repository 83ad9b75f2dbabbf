"""What the browser's tab keeps over a reload, of which a visitor's session knows nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ui.web_page.component import component


def remember(marks: Mapping[str, object], asks: bool) -> object:
    """Let the tab keep plain data; with asks return what it kept of an earlier session, or None.

    Empty data is not kept. Anybody may have written what comes back; what is no JSON is empty.
    """
    result = component("memory", "memory.js", css=("memory.css",))(
        key="memory", data={"marks": dict(marks), "asks": asks}, default={"remembered": None},
        on_remembered_change=lambda: None,
    )  # fmt: skip
    if not asks or result.remembered is None:
        return None
    try:
        return json.loads(result.remembered) or {}
    except (TypeError, ValueError, RecursionError):
        return {}
