"""How the progress is kept in a visit and its browser's tab, saved as a file, and opened again."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui.lessons import progress
from ui.lessons.progress import Book, Progress
from ui.web_page.downloads import download_button
from ui.web_page.memory import remember
from ui.web_page.plain_text import plain_text

BOOK = "progress_book"  # the session state's key


def restore_book() -> Book:
    """The visit's book, which all pages share."""
    state = st.session_state
    if BOOK not in state:
        state[BOOK] = Book()
    book: Book = state[BOOK]
    return book


def remember_progress(book: Book) -> None:
    """Let the browser's tab keep what is solved over a reload; draw again what it brings back."""
    kept = remember(book.progress.marks(), asks=not book.is_restored)
    if kept is None:
        return
    book.is_restored = True
    book.progress = progress.from_marks(kept).with_visit(book.progress)
    st.rerun()


def draw_progress_file(book: Book, open_progress: Callable[[Progress], None]) -> None:
    """Draw how the progress is saved, and opened again by a function."""
    download_button(
        "Save the progress", lambda: progress.write(book.progress), progress.FILE_NAME,
        "application/json", ":material/download:",
    )  # fmt: skip
    uploaded = st.file_uploader("Open saved progress", ["json"], max_upload_size=8)
    if uploaded is None or book.opened_file == uploaded.file_id:
        return
    book.opened_file = uploaded.file_id
    try:
        open_progress(progress.read(uploaded.getvalue()))
    except ValueError as error:
        st.error(plain_text(str(error)))
    else:
        st.rerun()
