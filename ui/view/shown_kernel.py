"""What a view's kernel is called and reads like: one of the catalogue, or a user kernel."""

from __future__ import annotations

from simulator.catalogue import catalogue
from ui.view.view_url import View
from ui.view.what_if import Edit, applicable_edits

# Beyond these a user kernel's code has no what-ifs: their patterns are for texts like the
# catalogue's, and may take long on others.
LONGEST_LINE = 400  # letters
MOST_LINES = 1500
LARGEST_ARRAY = 128 * 128  # numbers of a user kernel's array that a scene draws


def title(view: View) -> str:
    """What a page calls the kernel."""
    return (
        catalogue()[view.kernel].title
        if view.user_kernel is None
        else f"User kernel: {view.user_kernel.kernel}"
    )


def short_name(view: View) -> str:
    """The kernel's name."""
    return view.kernel if view.user_kernel is None else view.user_kernel.kernel


def idea(view: View) -> str:
    """What to look at: what the catalogue's kernel teaches."""
    if view.user_kernel is None:
        return catalogue()[view.kernel].teaches
    return (
        f"{view.user_kernel.kernel} is your own kernel, on the launch that you gave it: step "
        "through it, or click a thread, a line or a cell."
    )


def unedited_source(view: View) -> str:
    """The kernel's source without the view's what-ifs, its macros defined."""
    if view.user_kernel is not None:
        return view.user_kernel.text
    return catalogue()[view.kernel].source(**dict(view.defines))


def offered_edits(view: View) -> tuple[Edit, ...]:
    """The what-ifs whose pattern is found in the kernel's source.

    On a user kernel's code this may take a second: a job for a worker.
    """
    text = unedited_source(view)
    return () if view.user_kernel is not None and not is_plain(text) else applicable_edits(text)


def is_plain(text: str) -> bool:
    """Whether a user kernel's code is like the catalogue's: not long, in lines for all readers."""
    lines = text.split("\n")
    is_short = len(lines) <= MOST_LINES and max(map(len, lines)) <= LONGEST_LINE
    return is_short and len(text.splitlines()) == len(text.rstrip("\n").split("\n"))


def file_stem(view: View) -> str:
    """What a file's name says of a view without a comparison: its kernel, and how large it is."""
    if view.user_kernel is None:
        return f"{view.kernel}-{view.M}x{view.N}x{view.K}"
    name = "".join(letter if letter.isalnum() else "-" for letter in view.user_kernel.kernel)
    return name.strip("-")[:40] or "kernel"
