"""What a lesson shows as HTML or as lines, on a page and in a file of its own."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Sequence

from ui.lessons.lesson import Stop
from ui.web_page.web_files import read_web

CODE = re.compile(r"`([^`]+)`")
WALK = (
    '<button data-walk="-1" aria-label="Stop back">◀</button>'
    '<span class="place" aria-live="polite"></span>'
    '<button data-walk="1" aria-label="Next stop">▶</button>'
)
OPEN = "<button data-open>Step through it</button>"
OPEN_SCENE = "<button data-open>Open it on the Step page</button>"
COLOUR = re.compile(r'(fill|stroke)="(#[0-9a-f]{6})"')
EMPHASIS = re.compile(r"\*\*([^*]+)\*\*")


def inline(text: str) -> str:
    """A sentence with `code` and **emphasis** as HTML."""
    escaped = html.escape(text)
    return EMPHASIS.sub(r"<b>\1</b>", CODE.sub(r"<code>\1</code>", escaped))


def code_lines(source: str) -> list[tuple[int, str]]:
    """The numbered lines of a source's kernel: comments above it tell what questions ask.

    >>> code_lines("// Stores.\\n#define ONE 1\\n__global__ void k(int* a) { a[0] = ONE; }\\n")
    [(3, '__global__ void k(int* a) { a[0] = ONE; }')]
    """
    numbered = enumerate(source.rstrip().split("\n"), 1)
    return list(itertools.dropwhile(lambda one: "__global__" not in one[1], numbered))


def stops_html(stops: Sequence[Stop], pictures: Sequence[str], opens: bool) -> str:
    """All stops one under another, of which a script shows one at a time; on paper all are there.

    With opens there is a button that opens a stop's scene.
    """
    figures = "".join(
        f'<figure class="stop"><figcaption>{inline(stop.text)}</figcaption><div class="shot" '
        f'role="img" aria-label="{html.escape(stop.text)}">{picture}</div></figure>\n'
        for stop, picture in zip(stops, pictures, strict=True)
    )
    buttons = OPEN if opens else ""
    if len(stops) > 1:
        buttons = WALK + buttons
    return f'<div class="walked"><div class="walk">{buttons}</div>{figures}</div>'


def css_on_paper(pictures: Sequence[str], printed: Sequence[str]) -> str:
    """What prints some pictures in the colours of others, which differ in nothing else.

    >>> css_on_paper(['<path fill="#000000"/>'], ['<path fill="#ffffff"/>'])
    '@media print { :is(.shot, .picker) [fill="#000000"] { fill: #ffffff } }'
    """
    pairs = zip(COLOUR.findall("".join(pictures)), COLOUR.findall("".join(printed)), strict=True)
    rules = sorted(
        f':is(.shot, .picker) [{name}="{shown}"] {{ {name}: {on_paper} }}'
        for (name, shown), (_, on_paper) in set(pairs)
    )
    return f"@media print {{ {' '.join(rules)} }}"


def scene_html(text: str, printed: str, opens: bool) -> str:
    """A scene's task and its player; on paper a printed picture is there instead.

    With opens there is a button that opens the scene on the Step page.
    """
    return (
        f"<figcaption>{inline(text)}</figcaption>{OPEN_SCENE if opens else ''}"
        f"{read_web('stepper.html')}"
        f'<div class="printed" role="img" aria-label="{html.escape(text)}">{printed}</div>'
    )
