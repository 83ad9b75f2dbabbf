"""The Step page's address: it opens a view, and a link to it opens the view again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from ui.run.cache import answers
from ui.run.compute import figure_key
from ui.run.displayed_hazard import hazardous_view, view_at_line
from ui.run.mailbox import Requested, mailbox
from ui.scene.stepper import Place, read_stepper
from ui.step.state import KERNEL, control_key, step_state
from ui.view import user_kernel_link
from ui.view.view_url import View, from_query
from ui.web_page import navigation_query
from ui.web_page.browser import is_history_navigation
from ui.web_page.popover import close_popovers


def restore_view() -> View:
    """Return the view to draw: a new URL's, a requested one, else the current view."""
    state, query = step_state(), st.query_params.to_dict()
    if state.applied is None:
        if mailbox().requested is None:  # else another page asks for a view
            mailbox().request(*read_address(query))
    elif is_history_navigation() or not state.has_recent_address(query):
        view, notices = read_address(query)
        if notices or is_history_navigation() or not is_same_but_step(view, state.view):
            mailbox().request(view, notices)
        else:  # the stepper writes its step into the address
            state.view = view
    else:
        store_step(read_stepper().place)
    requested = mailbox().requested
    if requested is not None and requested is not state.applied:
        show_requested(requested)
    elif control_key(KERNEL) not in st.session_state:
        state.order += 1  # the visitor returns from another page: draw it anew
    return state.view


def read_address(query: Mapping[str, str]) -> tuple[View, tuple[str, ...]]:
    """The view of an address; a kernel that is too long for one comes from the session."""
    return from_query(query, st.session_state.get(user_kernel_link.SESSION_KEY))


def is_same_but_step(view: View, other: View) -> bool:
    """Whether two views differ in their step at most."""
    return replace(view, step=0) == replace(other, step=0)


def show_requested(requested: Requested) -> None:
    """Set every control to a requested view, and close the popovers."""
    view = requested.view
    if requested.displayed is not None:
        view = answers().ask(hazardous_view, figure_key(view), requested.displayed)
        view = replace(view, stage=requested.view.stage)
    if requested.line is not None:
        view = answers().ask(view_at_line, figure_key(view), requested.line)
    close_popovers()
    step_state().show(requested, view)  # last, for a run that ends before it begins anew


def store_step(place: Place) -> None:
    """Store the step that the stepper reports, if it reports on what was last drawn."""
    state = step_state()
    if place.order == state.order:
        store_view(replace(state.view, step=max(place.step, 0)))


def store_view(view: View) -> None:
    """Store the view in the session state, and in the URL, so that a link reopens it.

    A choice is an entry of the browser's history. A step is none: the stepper itself writes it
    into the address.
    """
    state, query = step_state(), st.query_params.to_dict()
    before, address = state.view, state.store(view)
    if view.user_kernel is not None:
        # For an address that cannot hold it.
        st.session_state[user_kernel_link.SESSION_KEY] = view.user_kernel
    navigation_query.keep(address)
    mended = bool(state.notices) and query.get("step") != address.get("step")
    # The address of a choice may have reached the browser after it went back.
    is_uncertain = mended or is_history_navigation()
    if (
        is_uncertain
        or without_step(query) != without_step(address)
        or not is_same_but_step(before, view)
    ):
        st.query_params.from_dict(address)


def without_step(query: Mapping[str, str]) -> dict[str, str]:
    """A query without its step."""
    return {name: text for name, text in query.items() if name != "step"}
