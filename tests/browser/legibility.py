"""Whether a figure can be read: the size, place and contrast of every text, as a browser draws it.

    python -m tests.browser.legibility "kernel=tiled&M=8" --steps 1,9,23 --presenting --shot a.png

draws the scene of a view, as the page's address has it, prints what cannot be read in it, and ends
with 1 where there is something.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import streamlit
from coloraide import Color
from PIL import Image
from playwright.sync_api import Browser, Page
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from tests.browser import app
from ui.drawing.look import Look
from ui.run.compute import load_drawing, load_pairs, load_recording, recording_key
from ui.run.standalone import parse_address
from ui.view.view_url import View
from ui.web_page.web_files import read_script

READ = Path(__file__).with_suffix(".js")
# The letters of the app's pages, which Streamlit brings: those of a machine differ.
FONTS = {"Source Code Pro": "SourceCodeVF-Upright", "Source Sans": "SourceSansVF-Upright"}
PAGE = (
    '<!doctype html><meta charset="utf-8"><style>body { margin: 0; overflow: hidden; }'
    " #stage { transform-origin: top left; } .no-texts svg text { visibility: hidden !important; }"
    '</style><div id="stage"></div>'
)
TOLERANCE = 1.0  # CSS pixels
INK = 0.75  # of the font size: how high the letters of a line are
ROUNDING = 0.05  # CSS pixels of a font size
SHARE = 0.15  # of a text's box: a colour that covers less is not what the text is on
TEXT_CONTRAST, MARK_CONTRAST = 4.5, 3.0  # WCAG 2.2, 1.4.3 and 1.4.11
MARKS = range(0x2500, 0x2800)  # box drawing, blocks, geometric shapes, symbols: not letters
QUOTED = 48  # characters of a text in a sentence

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom in CSS pixels
Colour = tuple[float, float, float, float]  # red, green, blue from 0 to 255, alpha from 0 to 1


class Kind(StrEnum):
    """What keeps a text from being read."""

    SMALL = "too small"
    CLIPPED = "clipped"
    OVERLAP = "overlapping"
    CONTRAST = "low contrast"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Minima:
    """The smallest font size, in CSS pixels, of texts by their role."""

    source: float
    values: float  # of the current line, beneath it
    numbers: float  # of the stage
    sentence: float
    other: float  # no text is smaller

    def of(self, role: str | None) -> float:
        """The smallest size for a role, which is the meta of a trace, or its name."""
        known = role in ("source", "values", "numbers", "sentence")
        return float(getattr(self, role)) if role and known else self.other

    def scaled(self, factor: float) -> Minima:
        """The same in a larger room."""
        return Minima(*(factor * getattr(self, name) for name in self.__slots__))


PRESENTING = Minima(source=17, values=17, numbers=20, sentence=22, other=13)  # 1280 x 720
ORDINARY = Minima(source=14, values=14, numbers=12, sentence=17, other=12)
# Of two scenes that share a screen of 1280 x 720: the first alone, the second within the page.
PAIR_PRESENTING = Minima(source=15, values=15, numbers=18, sentence=19, other=13)
PAIR_ORDINARY = Minima(source=13, values=13, numbers=16, sentence=16, other=12)
PHONE = Minima(source=11, values=11, numbers=11, sentence=11, other=11)
ALWAYS_THERE = ("source", "sentence")  # roles of texts that every step of a lecture has
PHONE_WIDTH, CLASSROOM_WIDTH, CLASSROOM_HEIGHT = 480, 1280, 720


def minima(look: Look, is_pair: bool = False) -> Minima:
    """The smallest sizes for a look, which grow with a room larger than a classroom's."""
    if look.width <= PHONE_WIDTH:
        return PHONE
    if not look.presenting:
        return PAIR_ORDINARY if is_pair else ORDINARY
    return (PAIR_PRESENTING if is_pair else PRESENTING).scaled(
        max(1.0, min(look.width / CLASSROOM_WIDTH, look.height / CLASSROOM_HEIGHT))
    )


@dataclass(frozen=True, slots=True)
class Run:
    """Letters of one colour and size."""

    text: str
    size: float  # CSS pixels
    colour: Colour
    family: str
    box: Rectangle


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text."""

    role: str | None  # the meta of its trace, or its name
    trace: int | None  # number of its trace in the figure, None for a title or an annotation
    runs: tuple[Run, ...]
    start: tuple[float, float]  # x and y of its first letter's or space's baseline

    @property
    def text(self) -> str:
        """All letters."""
        return " ".join(run.text for run in self.runs)

    @property
    def size(self) -> float:
        """The font size of most of its letters."""
        return max(self.runs, key=lambda run: len(run.text)).size

    @property
    def box(self) -> Rectangle:
        """What its letters cover: less than their boxes, which have room for accents."""
        tight = [_tight(run) for run in self.runs]
        lefts, tops, rights, bottoms = zip(*tight, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)


@dataclass(frozen=True, slots=True)
class Fault:
    """What keeps texts of one trace from being read at a step."""

    kind: Kind
    step: str  # the name of the frame, from 0
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"


def load_fonts(page: Page) -> None:
    """Let a page, which may be a picture, use the letters of FONTS."""
    page.evaluate(
        """async (rules) => {
          const space = document.documentElement.namespaceURI;
          const style = document.createElementNS(space, "style");
          style.textContent = rules;
          document.documentElement.append(style);
          await Promise.all([...document.fonts].map((font) => font.load()));
        }""",
        "".join(map(_font_face, FONTS)),
    )


def _font_face(family: str) -> str:
    folder = Path(streamlit.__file__).parent / "static" / "static" / "media"
    [file] = folder.glob(f"{FONTS[family]}*.woff2")
    data = base64.b64encode(file.read_bytes()).decode()
    return (
        f"@font-face {{ font-family: '{family}'; font-weight: 100 900;"
        f" src: url(data:font/woff2;base64,{data}); }}"
    )


class FigurePage:
    """A page of a browser that has Plotly and draws one figure after another."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_content(PAGE)
        load_fonts(page)
        show_frame = read_script("player/plotly_nodes.js")
        for script in (get_plotlyjs(), show_frame, READ.read_text("utf-8")):
            page.add_script_tag(content=script)
        self._names: list[str] = []
        self.room: Rectangle = (0, 0, 0, 0)

    def draw(self, figure: Mapping[str, Any], look: Look, steps: Sequence[int] = ()) -> None:
        """Draw a figure as plain data, as large as the look's room allows.

        steps are the numbers, from 0, of those of its frames that show() can show, all if empty.
        """
        layout = figure["layout"]
        scale = look.width / layout["width"]
        if not (layout.get("meta") or {}).get("tall"):
            scale = min(scale, look.height / layout["height"])
        self.room = (0, 0, layout["width"] * scale, layout["height"] * scale)
        frames = whole_frames(figure, steps)
        self._names = [frame["name"] for frame in frames]
        self.page.set_viewport_size(
            {"width": look.width, "height": max(look.height, round(self.room[3]))}
        )
        text = to_json_plotly({"data": figure["data"], "layout": layout, "frames": frames})
        self.page.evaluate("([text, scale]) => place(JSON.parse(text), scale)", [text, scale])

    def show(self, step: int) -> None:
        """Show one of the steps."""
        self.page.evaluate("(n) => show(n)", self._names.index(str(step)))

    def lines(self) -> list[Line]:
        """Read what is shown."""
        return [
            Line(
                found["role"], found["trace"],
                tuple(
                    Run(run["text"], run["size"], _colour(run["fill"], run["alpha"]),
                        run["family"], tuple(run["box"]))
                    for run in found["runs"]
                ),
                tuple(found["start"]),
            )
            for found in json.loads(self.page.evaluate("() => JSON.stringify(read())"))
        ]  # fmt: skip

    def picture(self, texts: bool = True) -> np.ndarray[Any, Any]:
        """What is shown as pixels [height, width, 3], with or without its texts."""
        self.page.evaluate("(hidden) => hideTexts(hidden)", not texts)
        data = self.page.screenshot(animations="disabled")
        self.page.evaluate("() => hideTexts(false)")
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def whole_frames(figure: Mapping[str, Any], steps: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Some of a figure's frames, each with everything that frames change up to it."""
    texts: dict[int, list[str]] = {}
    shapes: list[dict[str, Any]] = []
    found = []
    for frame in figure["frames"]:
        for trace, update in zip(frame["traces"], frame["data"], strict=True):
            texts[trace] = update["text"]
        changed = frame["layout"].get("shapes", [])
        shapes = [
            before | after
            for before, after in zip(shapes or [{}] * len(changed), changed, strict=True)
        ]
        if not steps or int(frame["name"]) in steps:
            found.append({
                "name": frame["name"], "traces": list(texts),
                "data": [{"type": "scatter", "text": text} for text in texts.values()],
                "layout": frame["layout"] | {"shapes": shapes},
            })  # fmt: skip
    return found


def find_faults(
    figure: Mapping[str, Any],
    look: Look,
    page: FigurePage,
    steps: Sequence[int] = (),
    contrast: bool = True,
    shots: Path | None = None,
    is_pair: bool = False,
    is_whole: bool = True,
) -> list[Fault]:
    """Draw a figure's steps, numbers from 0, and find what cannot be read in them.

    Contrast takes a screenshot a step. shots is a file's name, to which the step's number is added.
    A figure that is not whole may lack what every scene has.
    """
    page.draw(figure, look, steps)
    faults: list[Fault] = []
    numbers = steps or [int(frame["name"]) for frame in figure["frames"]]
    for step in numbers:
        page.show(step)
        lines = page.lines()
        found = [
            *small(lines, minima(look, is_pair)),
            *clipped(lines, page.room),
            *overlapping(lines),
            *(missing(lines) if is_whole else ()),
            *(low_contrast(lines, page.picture(texts=False)) if contrast else ()),
        ]
        faults += [Fault(kind, str(step), sentence) for kind, sentence in found]
        if shots is not None:
            file = shots.with_stem(f"{shots.stem}-{step + 1}")
            Image.fromarray(page.picture()).save(file)
    return faults


Found = Iterator[tuple[Kind, str]]


def small(lines: Sequence[Line], least: Minima) -> Found:
    """Texts that are smaller than their role allows; one sentence for those that are alike."""
    alike: dict[tuple[int | None, float, float], list[str]] = {}
    for line in lines:
        required = least.of(line.role)
        smallest = min(line.runs, key=lambda run: run.size)
        for text, size, needed in (
            (line.text, line.size, required),
            (smallest.text, smallest.size, least.other),
        ):
            if size < needed - ROUNDING:
                alike.setdefault((line.trace, round(size, 1), needed), []).append(text)
                break
    roles = {line.trace: line.role for line in lines}
    for (trace, size, needed), texts in alike.items():
        more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
        yield (
            Kind.SMALL,
            f"{_quoted(texts[0])}{more} ({_role(roles[trace], trace)}): {size:g} px "
            f"where {needed:g} are needed",
        )


def clipped(lines: Sequence[Line], room: Rectangle) -> Found:
    """Texts beyond the figure's edges, and texts that were cut."""
    for line in lines:
        left, top, right, bottom = line.box
        beyond = {
            "left": room[0] - left, "top": room[1] - top,
            "right": right - room[2], "bottom": bottom - room[3],
        }  # fmt: skip
        for edge, pixels in beyond.items():
            if pixels > TOLERANCE:
                yield (
                    Kind.CLIPPED,
                    f"{_quoted(line.text)} ({_role(line.role, line.trace)}) goes {pixels:.0f} px "
                    f"beyond the {edge} edge",
                )
        if line.text.endswith("…"):
            yield (
                Kind.CLIPPED,
                f"{_quoted(line.text, from_end=True)} ({_role(line.role, line.trace)}) was cut",
            )


def overlapping(lines: Sequence[Line]) -> Found:
    """Pairs of texts that cover one another."""
    merged = merge_layers(lines)
    if not merged:
        return
    boxes = np.array([box for _, box in merged])
    left, top, right, bottom = boxes.T
    across = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    down = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    both = np.triu((across > TOLERANCE) & (down > TOLERANCE), 1)
    alike: dict[tuple[int | None, int | None], list[tuple[int, int]]] = {}
    for one, other in np.argwhere(both).tolist():
        key = merged[one][0].trace, merged[other][0].trace
        alike.setdefault(key, []).append((one, other))
    for pairs in alike.values():
        one, other = pairs[0]
        first, second = merged[one][0], merged[other][0]
        more = f" and {len(pairs) - 1} more pairs" if len(pairs) > 1 else ""
        yield (
            Kind.OVERLAP,
            f"{_quoted(first.text)} ({_role(first.role, first.trace)}) and {_quoted(second.text)} "
            f"({_role(second.role, second.trace)}) share {across[one, other]:.0f} × "
            f"{down[one, other]:.0f} px at ({max(left[one], left[other]):.0f}, "
            f"{max(top[one], top[other]):.0f}){more}",
        )


def missing(lines: Sequence[Line]) -> Found:
    """Roles without a text: were a role never found, no text could be too small for it."""
    for role in ALWAYS_THERE:
        if all(line.role != role for line in lines):
            yield Kind.MISSING, f"no visible text is in a trace whose meta is “{role}”"


def merge_layers(lines: Sequence[Line]) -> list[tuple[Line, Rectangle]]:
    """Lines and their boxes; those of the source that start at one point are one line's colours."""
    merged: list[tuple[Line, Rectangle]] = []
    starts: dict[tuple[int, int], int] = {}
    for line in lines:
        box = line.box
        if line.role == "source":
            start = (round(line.start[0]), round(line.start[1]))
            if start in starts:
                first, other = merged[starts[start]]
                box = (min(box[0], other[0]), min(box[1], other[1]),
                       max(box[2], other[2]), max(box[3], other[3]))  # fmt: skip
                merged[starts[start]] = (first, box)
                continue
            starts[start] = len(merged)
        merged.append((line, box))
    return merged


def low_contrast(lines: Sequence[Line], background: np.ndarray[Any, Any]) -> Found:
    """Texts that stand out too little from what is painted beneath them.

    background is the picture without its texts, [height, width, 3].
    """
    height, width = background.shape[:2]
    codes = background.astype(np.int64) @ (1 << 16, 1 << 8, 1)
    alike: dict[tuple[int | None, Colour, int], tuple[str, float, int]] = {}
    for line in lines:
        for run in line.runs:
            left, top, right, bottom = (round(edge) for edge in _tight(run))
            beneath = codes[max(0, top) : min(height, bottom), max(0, left) : min(width, right)]
            if not beneath.size:
                continue
            needed = MARK_CONTRAST if _is_mark(run.text) else TEXT_CONTRAST
            found, counts = np.unique(beneath, return_counts=True)
            for code in found[counts >= SHARE * beneath.size].tolist():
                paper = (code >> 16, code >> 8 & 255, code & 255)
                ratio = contrast_ratio(_over(run.colour, paper), paper)
                if ratio < needed:
                    key = (line.trace, run.colour, code)
                    _, _, count = alike.get(key, ("", 0, 0))
                    alike[key] = (run.text, ratio, count + 1)
    roles = {line.trace: line.role for line in lines}
    for (trace, colour, code), (text, ratio, count) in alike.items():
        more = f" and {count - 1} more" if count > 1 else ""
        yield (
            Kind.CONTRAST,
            f"{_quoted(text)}{more} ({_role(roles[trace], trace)}): {_hex(colour)} on "
            f"#{code:06x} is {ratio:.2f}:1",
        )


def contrast_ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """The contrast of two colours, red, green and blue from 0 to 255, as WCAG 2.2 defines it.

    >>> round(contrast_ratio((255, 255, 255), (0, 0, 0)))
    21
    """
    first, second = (Color("srgb", [part / 255 for part in colour]) for colour in (one, other))
    return first.contrast(second, method="wcag21")


def _over(colour: Colour, paper: Sequence[float]) -> tuple[float, ...]:
    """A colour that lets some of the paper through."""
    alpha = colour[3]
    return tuple(alpha * c + (1 - alpha) * p for c, p in zip(colour[:3], paper, strict=True))


def _colour(text: str, alpha: float) -> Colour:
    """A computed colour, rgb(…) or rgba(…)."""
    red, green, blue, *rest = map(float, text[text.index("(") + 1 : -1].split(","))
    return red, green, blue, alpha * (rest[0] if rest else 1.0)


def _hex(colour: Colour) -> str:
    alpha = "" if colour[3] == 1 else f" at {colour[3]:.0%}"
    return "#" + "".join(f"{round(part):02x}" for part in colour[:3]) + alpha


def _tight(run: Run) -> Rectangle:
    left, top, right, bottom = run.box
    middle, half = (top + bottom) / 2, INK * run.size / 2
    return left, middle - half, right, middle + half


def _is_mark(text: str) -> bool:
    return all(ord(letter) in MARKS for letter in text)


def _quoted(text: str, from_end: bool = False) -> str:
    if len(text) > QUOTED:
        text = f"[…]{text[-QUOTED:]}" if from_end else f"{text[:QUOTED]}[…]"
    return f"“{text}”"


def _role(role: str | None, trace: int | None) -> str:
    return role or ("title or annotation" if trace is None else f"trace {trace}")


# A view's figure


def draw_steps(view: View, look: Look, steps: Sequence[int]) -> dict[str, Any]:
    """Draw some steps of a view's scene, numbers from 0 in order, as plain data."""
    drawing = load_drawing(view, look)
    return replace(drawing, steps=tuple(drawing.steps[i] for i in steps)).plain()


def lines_of(view: View) -> list[Any]:
    """The source line of each step, or of a pair's steps."""
    if view.comparison is None:
        return [step.line for step in load_recording(recording_key(view)).steps]
    return [tuple(step.line for step in pair.sides) for pair in load_pairs(view)]


def choose_steps(view: View, most: int) -> list[int]:
    """Steps from 0, at most so many: each source line's last, when its numbers are longest.

    Where there are too many lines, the first and last are among those that are chosen.
    """
    numbers = sorted({line: i for i, line in enumerate(lines_of(view))}.values())
    if len(numbers) <= most:
        return numbers
    return [numbers[round(i * (len(numbers) - 1) / (most - 1))] for i in range(most)]


@contextmanager
def figure_page(browser: Browser, scheme: str = "light") -> Iterator[FigurePage]:
    """Open a page that draws figures."""
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
    try:
        yield FigurePage(page)
    finally:
        page.close()


def main(arguments: Sequence[str]) -> int:
    """Print the faults of a view's scene; 1 where there are some."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.browser.legibility", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("view", help="as the page's address has it")
    size = {"type": int, "help": "of the room, CSS pixels"}
    parser.add_argument("--width", default=CLASSROOM_WIDTH, **size)
    parser.add_argument("--height", default=CLASSROOM_HEIGHT, **size)
    parser.add_argument("--presenting", action="store_true")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--steps", help="numbers from 1, such as 1,9,23; else one for each line")
    parser.add_argument("--most", type=int, default=12, help="how many steps, without --steps")
    parser.add_argument("--shot", type=Path, help="a PNG file; its name gets the step's number")
    options = parser.parse_args(arguments)
    try:
        view = parse_address(options.view)
    except ValueError as error:
        parser.error(str(error))
    look = Look(options.theme, view.stage, options.width, options.height, options.presenting)
    steps, last = choose_steps(view, options.most), len(lines_of(view))
    if options.steps:
        steps = sorted({min(max(1, int(n)), last) - 1 for n in options.steps.split(",")})
    with app.driver() as driver, app.browser(driver) as browser, figure_page(browser) as page:
        faults = find_faults(
            draw_steps(view, look, steps), look, page, shots=options.shot,
            is_pair=view.comparison is not None,
        )  # fmt: skip
    for fault in faults:
        print(f"step {int(fault.step) + 1}, {fault}")
    checked = ", ".join(str(step + 1) for step in steps)
    print(f"{len(faults)} faults at steps {checked} of {last}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
