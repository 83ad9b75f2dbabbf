"""What a visitor has requested to see next, kept apart from what the controls show."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ui.run.displayed_hazard import DisplayedHazard
from ui.view.view_url import View, to_query

STEP_PAGE = "ui/pages/step.py"


@dataclass(frozen=True, slots=True)
class Requested:
    """What to show from the next script run on."""

    view: View
    notices: tuple[str, ...]
    displayed: DisplayedHazard | None  # the hazard at which it begins
    line: int | None  # the line of the text at which its thread begins; else the view's own step
    begins: bool  # at its first beat, which only its run tells, instead of the view's own step


@dataclass(slots=True)
class Mailbox:
    """Holds the view that was requested last.

    A click's callback writes here and not into the session state: Streamlit may end a callback
    whenever it uses that, and does not repeat it.
    """

    requested: Requested | None = None

    def request(
        self, view: View, notices: tuple[str, ...] = (), displayed: DisplayedHazard | None = None,
        line: int | None = None, begins: bool = False,
    ) -> None:  # fmt: skip
        """Show a view from the next script run on."""
        self.requested = Requested(view, notices, displayed, line, begins)


def open_view(view: View) -> None:
    """Go from another page to the Step page, to a view's scene.

    With its query the address needs no other entry of the browser's history: Back leads from the
    scene to the page that opened it.
    """
    mailbox().request(view)
    st.switch_page(STEP_PAGE, query_params=to_query(view))


def mailbox() -> Mailbox:
    """The session's mailbox."""
    if "mailbox" not in st.session_state:
        st.session_state["mailbox"] = Mailbox()
    return st.session_state["mailbox"]  # type: ignore[no-any-return]  # a Mailbox, as above
