"""What a visitor does, as somebody in a class: opens, steps, edits, writes, checks, downloads."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from simulator import catalogue
from simulator.exercises.exercise import exercises
from simulator.verdict.form import UserKernel
from tests.protocol_client import Visitor
from tests.ui.user_kernels import USER_KERNELS, array, user_kernel
from tools.benchmarks.waits import End, Wait, Waits
from ui.glossary.entry import glossary
from ui.glossary.route import folder, picture_path
from ui.view import user_kernel_link
from ui.view.presets import presets
from ui.view.view_url import from_query, opening_view, to_query

THINK = 11.0  # seconds between two actions, in the mean
LONGEST_THINK = 60.0
PATIENCE = 120.0  # seconds that a visitor waits; then they give up, which is a fault
HURRIED, HURRY = 0.04, (0.2, 6.0)  # the share of waits for whose end nobody stays, and for how long
RECENT = 300.0  # seconds for which a view that somebody had is known
REST = 0.7  # seconds after a step, until a browser asks for the steps beside those that it has
KEPT_SECONDS = 6.0  # a connection over which nothing comes is kept by a browser
BROWSER_CONNECTIONS = 6
STATIC = re.compile(r'(?:src|href)="\./(static/[^"]+)"')
PAGE = re.compile(rb'"first": (\d+), "end": (\d+)')
MACRO, SIZE = r"\w+_[A-Z]+:", r"[MNK] to 64:"
GZIP = b"\x1f\x8b"  # its first bytes
GRIDS = (128.0, 192.0, 256.0)

# One warp, two accesses to global memory and a barrier in each of 2,400 iterations.
HEAVY = user_kernel(
    """__global__ void march(const float* in, float* out, int n) {
    for (int i = 0; i < n; ++i) {
        out[threadIdx.x] = in[threadIdx.x] + i;
        __syncthreads();
    }
}
""",
    "1", "32", array("in", "32"), array("out", "32"), ("n", "2400"),
)  # fmt: skip

T = TypeVar("T")
Link = tuple[str, str]  # a page and a query


class HurryError(Exception):
    """A visitor who leaves while they wait."""


class AbsentError(Exception):
    """A control that the page does not have now, or that is disabled."""


class FileError(Exception):
    """A file that did not come, or not whole."""


@dataclass(slots=True)
class Crowd:
    """All visitors: where they are, and what they did and had."""

    address: str
    shared: Sequence[Link]  # links that the class has
    waits: Waits = field(default_factory=Waits)
    had: dict[str, float] = field(default_factory=dict)  # when somebody had a view, by its query
    done: Counter[str] = field(default_factory=Counter)  # actions
    absent: Counter[str] = field(default_factory=Counter)  # controls that were not to be used


def shared_links() -> list[Link]:
    """Links that a teacher gives to a class."""
    views = [preset.view for preset in presets()[::2]]
    views += [opening_view(name) for name in list(catalogue())[::2]]
    kernels = [USER_KERNELS[name] for name in ("saxpy", "race", "transpose", "a tiled product")]
    steps = [("step", urlencode(to_query(view))) for view in views]
    return [*steps, *(("step", user_kernel_query(one)) for one in kernels)]


def user_kernel_query(kernel: UserKernel) -> str:
    """The query of a link to a user kernel."""
    return urlencode({user_kernel_link.PARAMETER: user_kernel_link.encode(kernel) or ""})


def with_remark(kernel: UserKernel, chance: random.Random) -> UserKernel:
    """The kernel with a remark that nobody else has."""
    return replace(kernel, text=f"{kernel.text}// {chance.randrange(10**9)}\n")


def random_link(chance: random.Random) -> Link:
    """A link to a view of the catalogue that hardly anybody has had, mostly of small matrices."""
    name, entry = chance.choice(list(catalogue().items()))
    largest = 16 if chance.random() < 0.7 else 64
    query = {"kernel": name, **{axis: str(chance.randint(1, largest)) for axis in "MNK"}}
    query |= {macro: str(chance.choice(offered)) for macro, offered in entry.defines.items()}
    return "step", urlencode(to_query(from_query(query)[0]))


def choose_link(crowd: Crowd, chance: random.Random) -> Link:
    """The link that a visit begins with."""
    kind = chance.choices(
        ("shared", "random", "own", "heavy", "heavy and shared", "door", "learn", "write"),
        (45, 18, 10, 3, 2, 4, 8, 10),
    )[0]  # fmt: skip
    match kind:
        case "shared":
            return chance.choice(crowd.shared)
        case "random":
            return random_link(chance)
        case "own":
            return "step", user_kernel_query(
                with_remark(chance.choice(list(USER_KERNELS.values())), chance)
            )
        case "heavy":
            return "step", user_kernel_query(with_remark(HEAVY, chance))
        case "heavy and shared":
            return "step", user_kernel_query(HEAVY)
        case "write":
            return "write", urlencode({"exercise": chance.choice(list(exercises()))})
        case _:
            return ("" if kind == "door" else kind), ""


class Visit:
    """One visitor's visit."""

    def __init__(self, one: Visitor, crowd: Crowd, chance: random.Random) -> None:
        self.one, self.crowd, self.chance = one, crowd, chance
        self.scene: tuple[str, int] | None = None  # the browser's: its name and order
        self.step, self.last = 0, 0
        self.pages: list[range] = []  # steps that the browser has
        self.document = 0  # number of the editor's
        self.text, self.version = "", 0  # in the editor
        self.mix: dict[str, dict[Callable[[], Awaitable[object]], int]] = {
            "step": {
                self.walk: 40, self.switch_what_if: 7, self.choose_order: 3, self.choose_macro: 6,
                self.choose_size: 6, self.choose_kernel: 6, self.open_preset: 6,
                self.put_beside: 3, self.save_animation: 4, self.save_counters: 3,
                self.look_up_word: 3, self.go_to_write: 8, self.go_to_learn: 4, self.run_grid: 1,
            },
            "write": {
                self.write: 35, self.check: 25, self.open_exercise: 10, self.write_solution: 6,
                self.open_hint: 5, self.save_text: 3, self.step_through: 10, self.go_to_step: 6,
            },
            "learn": {
                self.answer: 40, self.open_next_lesson: 12, self.show_evidence: 8,
                self.save_lesson: 6, self.find_word: 4, self.look_up_word: 12,
                self.go_to_step: 12, self.go_to_write: 6,
            },
            "compare": {self.run_grid: 1, self.go_to_step: 2, self.go_to_learn: 2},
            "": {self.go_to_learn: 3, self.go_to_step: 3, self.go_to_write: 1},
        }  # fmt: skip

    async def live(self, is_new: bool) -> None:
        """Open the page, then do one thing after another for ever."""
        await self.load_page(is_new)
        await self.attempt(self.open_page)
        await self.act()

    async def go_on(self) -> None:
        """Go on with a session over a new connection, as a browser whose own was cut."""
        await self.wait("the page after a cut", self.one.rerun())
        await self.act()

    async def act(self) -> None:
        """Look at the page for a while, and do something, for ever."""
        while True:
            await asyncio.sleep(min(self.chance.expovariate(1 / THINK), LONGEST_THINK))
            mix = self.mix[self.one.page]
            await self.attempt(self.chance.choices(list(mix), list(mix.values()))[0])

    async def attempt(self, action: Callable[[], Awaitable[object]]) -> None:
        """Do something, if the page lets it be done."""
        try:
            await action()
            self.crowd.done[action.__name__] += 1
        except AbsentError as error:
            self.crowd.absent[str(error)] += 1

    # Waits

    async def wait(
        self, kind: str | Callable[[], str], request: Awaitable[T], most: float | None = PATIENCE
    ) -> T:
        """Wait for a request's answer; a kind that is known after it is given by a function."""
        begun, end = time.perf_counter(), End.FAILED
        is_hurried = self.chance.random() < HURRIED
        try:
            async with asyncio.timeout(self.chance.uniform(*HURRY) if is_hurried else most):
                answer = await request
            end = End.HAD
            return answer
        except asyncio.CancelledError:
            end = End.LEFT
            raise
        except TimeoutError:
            if not is_hurried:
                raise
            end = End.LEFT
            raise HurryError from None
        finally:
            name = kind if isinstance(kind, str) else kind()
            self.crowd.waits.note(Wait(name, time.perf_counter() - begun, end), self.one.errors)

    async def view(self, request: Awaitable[object]) -> None:
        """Wait for a view; then the browser asks for the steps beside those that it has."""
        begun = time.monotonic()
        await self.wait(lambda: self.kind_of_view(begun), request)
        self.one.page = "step"
        if "scene" in self.one.drawn:
            self.crowd.had[self.view_key()] = time.monotonic()
            await asyncio.sleep(REST)
            await self.report()
        elif not self.one.errors:
            self.crowd.waits.note_fault("no scene", "A page without a scene, and without a word.")

    def view_key(self) -> str:
        """The query without its step."""
        pairs = [(name, value) for name, value in parse_qsl(self.one.query) if name != "step"]
        return urlencode(sorted(pairs))

    def kind_of_view(self, begun: float) -> str:
        """Whether somebody had the view before a moment, and what is drawn."""
        had = self.crowd.had.get(self.view_key())
        if had is None or had > begun:
            age = "new"
        else:
            age = "known" if begun - had < RECENT else "earlier"
        text = dict(parse_qsl(self.one.query)).get(user_kernel_link.PARAMETER)
        if text is None:
            return f"{age} view"
        try:
            is_heavy = user_kernel_link.decode(text).kernel == HEAVY.kernel
        except user_kernel_link.LinkError:
            is_heavy = False
        return f"{age} heavy kernel" if is_heavy else f"{age} own kernel"

    # Controls

    def shown(self, pattern: str) -> list[str]:
        """The keys of the controls that can be used, by a pattern that they begin with."""
        return sorted(
            key for key in self.one.drawn
            if re.match(pattern, key) and not getattr(self.one.widgets[key], "disabled", False)
        )  # fmt: skip

    def control(self, pattern: str) -> str:
        """One of these controls. Raises AbsentError."""
        found = self.shown(pattern)
        if not found:
            raise AbsentError(pattern)
        return self.chance.choice(found)

    async def control_in(self, popover: str, pattern: str) -> str:
        """One of these controls, in a popover that is opened for it."""
        if not self.shown(pattern):
            opener = self.control(f"popover {popover}")
            await self.wait("a list", self.one.choose(opener, True))
        return self.control(pattern)

    def option(self, key: str) -> str:
        """One of a control's options."""
        return str(self.chance.choice(list(self.one.widgets[key].options)))

    # Pages

    async def load_page(self, is_new: bool) -> None:
        """Load the page's HTML; a new browser also its scripts, over several connections."""
        address, page = self.crowd.address, self.one.page
        index = await self.wait("the page's HTML", fetch(address, f"/{page}"))
        if is_new:
            files = STATIC.findall(index.decode())
            many = [files[i::BROWSER_CONNECTIONS] for i in range(BROWSER_CONNECTIONS)]
            await asyncio.gather(*(fetch_in_turn(address, some) for some in many if some))
            await self.wait("the words", fetch(address, f"/{folder()}/words.json"))

    async def open_page(self) -> None:
        """Request the page."""
        if self.one.page == "step":
            await self.view(self.one.rerun())
        else:
            name = {"": "door", "compare": "GPU"}.get(self.one.page, self.one.page)
            await self.wait(f"the {name} page", self.one.rerun())

    async def go_to(self, page: str, query: str = "") -> None:
        """Open another page of the app, as by its navigation."""
        self.one.page, self.one.page_hash, self.one.query = page, "", query
        self.one.states.clear()
        await self.open_page()

    async def go_to_step(self) -> None:
        await self.go_to("step")

    async def go_to_learn(self) -> None:
        await self.go_to("learn")

    async def go_to_write(self) -> None:
        kept = dict(parse_qsl(self.one.query)).get(user_kernel_link.PARAMETER)
        await self.go_to("write", urlencode({user_kernel_link.PARAMETER: kept}) if kept else "")

    # The Step page

    async def walk(self) -> None:
        """Step with the arrow keys; the browser reports once a second."""
        for _ in range(self.chance.randint(2, 8)):
            self.look_at_scene()
            by = self.chance.choice((1, 1, 1, 2, 3, 6, -1, -2))
            self.step = min(max(self.step + by, 0), self.last)
            await self.report()
            await asyncio.sleep(1.0)

    async def report(self) -> None:
        """Report the step, and ask for steps that are to be seen now or next."""
        self.look_at_scene()
        page = next((one for one in self.pages if self.step in one), None)
        beside = (self.step,) if page is None else (page.stop, page.start - 1)
        asked = next(
            (n for n in beside if 0 <= n <= self.last and not any(n in one for one in self.pages)),
            -1,
        )
        kind = "a step reported" if asked < 0 else "frames of other steps"
        await self.wait(kind, self.one.report_step(self.step, asked))
        if asked >= 0 and "frames" in self.one.drawn:
            found = PAGE.search(self.one.widgets["frames"].bytes[:400])
            if found is not None:
                self.pages.append(range(int(found[1]), int(found[2])))

    def look_at_scene(self) -> None:
        """Begin at the scene's step where it is another than before. Raises AbsentError."""
        if "scene" not in self.one.drawn:
            raise AbsentError("scene")
        header = self.one.header("scene")
        name = header["id"], header["order"]
        if name != self.scene:
            self.scene, self.step = name, header["start"]
            self.last = header["stops"]["steps"] - 1
            self.pages = [range(header["first"], header["end"])]

    async def switch_what_if(self) -> None:
        key = await self.control_in("what_if", "edit_")
        element = self.one.widgets[key]
        state = self.one.states.get(element.id)
        is_on = element.default if state is None else state.bool_value
        await self.view(self.one.choose(key, not is_on))

    async def choose_order(self) -> None:
        key = await self.control_in("what_if", "schedule:")
        await self.view(self.one.choose(key, self.option(key)))

    async def choose_macro(self) -> None:
        key = await self.control_in("settings", MACRO)
        await self.view(self.one.choose(key, self.option(key)))

    async def choose_size(self) -> None:
        key = await self.control_in("settings", SIZE)
        largest = 16 if self.chance.random() < 0.7 else 64
        await self.view(self.one.choose(key, float(self.chance.randint(1, largest))))

    async def choose_kernel(self) -> None:
        key = self.control("kernel:")
        await self.view(self.one.choose(key, self.option(key)))

    async def open_preset(self) -> None:
        await self.view(self.one.press(await self.control_in("presets", "preset_")))

    async def put_beside(self) -> None:
        key = await self.control_in("beside", "second:")
        await self.view(self.one.choose(key, self.option(key)))

    async def save_animation(self) -> None:
        await self.save("an animation", "files", "download Animation")

    async def save_counters(self) -> None:
        await self.save("counters", "files", "download Counters")

    async def save(self, what: str, popover: str, pattern: str) -> None:
        """Download a file: a click makes it, then the browser fetches it."""
        key = await self.control_in(popover, pattern)
        path = await self.wait(what, self.one.download(key))
        await self.wait("a file fetched", fetch(self.crowd.address, path))

    async def look_up_word(self) -> None:
        """Have a word's picture, as under a pointer."""
        words = [word.name for word in glossary().values() if word.shown_picture is not None]
        path = f"/{picture_path(self.chance.choice(words), 'light')}"
        await self.wait("a word's picture", fetch(self.crowd.address, path))

    # The Write page

    def look_at_editor(self) -> None:
        """Take the text that the page has put into the editor. Raises AbsentError."""
        if "editor" not in self.one.drawn:
            raise AbsentError("editor")
        found = json.loads(self.one.find("editor").json)["document"]
        if found["number"] != self.document:
            self.document, self.text, self.version = found["number"], found["text"], 0

    async def type(self, text: str) -> None:
        """Have another text in the editor."""
        self.text, self.version = text, self.version + 1
        edited = [self.document, self.version, text]
        await self.wait("marks in a text", self.one.report("editor", text=edited))

    async def write(self) -> None:
        """Make a mistake, put it right, and write on."""
        self.look_at_editor()
        places = [found.start() for found in re.finditer(r"[;)\]]", self.text)]
        if places and self.chance.random() < 0.6:
            right, place = self.text, self.chance.choice(places)
            await self.type(right[:place] + right[place + 1 :])
            await asyncio.sleep(self.chance.uniform(1, 4))
            await self.type(right)
        for _ in range(self.chance.randint(1, 3)):
            await asyncio.sleep(self.chance.uniform(1, 4))
            await self.type(f"{self.text}// {self.chance.randrange(10**6)}\n")

    async def write_solution(self) -> None:
        """Write an exercise's solution, and check it."""
        exercise = exercises().get(dict(parse_qsl(self.one.query)).get("exercise", ""))
        if exercise is None:
            raise AbsentError("an exercise")
        self.look_at_editor()
        await self.type(exercise.solution)
        await self.check()

    async def check(self) -> None:
        await self.wait("a verdict", self.one.press(self.control("write_check")))

    async def open_exercise(self) -> None:
        key = await self.control_in("starts", "exercise_")
        await self.wait("an exercise", self.one.press(key))

    async def open_hint(self) -> None:
        await self.wait("a hint", self.one.press(self.control("hint_")))

    async def save_text(self) -> None:
        await self.save("a text saved", "write_files", "download Save as")

    async def step_through(self) -> None:
        await self.follow("write_step")

    async def follow(self, pattern: str) -> None:
        """Press a button that opens a scene on the Step page."""
        key = self.control(pattern)
        await self.view(self.one.press(key))
        self.one.states.clear()

    # The Learn page

    async def answer(self) -> None:
        """Answer a question, right or wrong."""
        pattern = r"(?:choice|number) .* False$|pick "
        kind, rest = self.control(pattern).split(" ", 1)
        key, name = f"{kind} {rest}", rest.removesuffix(" False")
        if kind == "pick":
            data = json.loads(self.one.find(key).json)
            if data["locked"]:
                raise AbsentError("a question")
            places = self.chance.sample(range(len(data["items"])), len(data["items"]))
            picked = places if data["kind"] == "order" else places[:1]
            await self.wait("an answer", self.one.report(key, picked=picked))
        else:
            if kind == "choice":
                await self.wait("an answer", self.one.choose(key, self.option(key)))
            else:  # a form sends it with the click
                self.one.enter(key, float(self.chance.choice((1, 2, 4, 8, 16, 32, 64))))
        await self.wait("an answer", self.one.press(self.control(f"answer {re.escape(name)}$")))

    async def open_next_lesson(self) -> None:
        await self.wait("a lesson", self.one.press(self.control("next_lesson")))

    async def show_evidence(self) -> None:
        await self.follow("show ")

    async def save_lesson(self) -> None:
        await self.save("a lesson's file", "learn_files", "download This lesson")

    async def find_word(self) -> None:
        key = await self.control_in("learn_words", "glossary_wanted")
        wanted = self.chance.choice(list(glossary().values())).term
        await self.wait("a word", self.one.choose(key, wanted[:4].lower()))

    # The GPU page

    async def run_grid(self) -> None:
        """Run a whole grid, and look at it until it is done."""
        if self.one.page != "compare":
            await self.go_to("compare")
        for axis in "MNK":
            key, size = self.control(f"grid_{axis}"), self.chance.choice(GRIDS)
            await self.wait("a size of a grid", self.one.choose(key, size))
        await self.wait("a whole grid", self.follow_grid(self.control("grid_go")), None)

    async def follow_grid(self, key: str) -> None:
        """Begin a run; have its progress twice a second, as a browser does."""
        await self.one.press(key)
        while "grid_stop" in self.one.drawn:
            await asyncio.sleep(0.5)
            await self.one.rerun(self.one.fragments[self.one.find("grid_stop").id])


async def fetch(address: str, path: str) -> bytes:
    """A file from an app, by HTTP. Raises FileError."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=2**20)
    try:
        body = await _fetch_over(reader, writer, place.netloc, path)
        return gzip.decompress(body) if body.startswith(GZIP) else body
    finally:
        writer.close()


async def fetch_in_turn(address: str, paths: Sequence[str]) -> None:
    """Fetch files over one connection, as a browser does, and keep it for a while."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=2**20)
    try:
        for path in paths:
            await _fetch_over(reader, writer, place.netloc, f"/{path}")
        async with asyncio.timeout(KEPT_SECONDS):
            await reader.read()
    except TimeoutError:
        pass
    finally:
        writer.close()


async def _fetch_over(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, path: str
) -> bytes:
    """A file over a connection that stays open."""
    request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\n\r\n"
    writer.write(request.encode())
    try:
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        names = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in names}
        if "content-length" in headers:
            body = await reader.readexactly(int(headers["content-length"]))
        else:
            parts = []
            while size := int(await reader.readline(), 16):
                parts.append((await reader.readexactly(size + 2))[:-2])
            await reader.readline()
            body = b"".join(parts)
    except (asyncio.IncompleteReadError, ValueError) as error:
        raise FileError(f"{path.split('/')[1]}: a file did not come whole.") from error
    if status.split()[1] != "200":
        raise FileError(f"{path.split('/')[1]}: {status}.")
    return body
