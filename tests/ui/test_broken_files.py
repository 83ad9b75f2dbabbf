"""Files of assets that are wrong: each costs itself, and is named on the page and in the log."""

from __future__ import annotations

import itertools
import json
import logging
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

import gpu.recorded
import gpu.scale.recorded
from simulator import broken_file
from simulator.broken_file import Broken, BrokenFileError
from simulator.catalogue import whole_catalogue
from simulator.exercises.exercise import exercises
from tests.ui.apps import app_at, open_page
from tests.ui.caches import forget
from ui.glossary.entry import glossary
from ui.lessons.parse import lessons
from ui.run.compute import load_kernel
from ui.view.presets import every_preset
from ui.view.small_kernels import small_kernels
from ui.view.view_url import opening_view

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "ui" / "pages"
FOLDERS = (  # the modules that read files of assets, and their names for them
    ("simulator.catalogue", "FOLDER"), ("simulator.exercises.exercise", "FOLDER"),
    ("simulator.exercises.ladder", "RECORDING"), ("gpu.recorded", "FOLDER"),
    ("gpu.scale.recorded", "FOLDER"), ("ui.lessons.parse", "FOLDER"), ("ui.view.presets", "FILE"),
    ("ui.glossary.entry", "FILE"), ("ui.view.small_kernels", "FILE"),
)  # fmt: skip
# What else keeps what was read.
KEEPING = ("simulator.broken_file", "simulator.verdict.neighbours", "ui.glossary.route",
           "ui.gpu_charts.measured")  # fmt: skip
VIEW = "kernel=naive&M=4&N=4&K=4&step=3"
LESSON = f"""\
```lesson
title = "One"
minutes = 1
idea = "An idea."
```
Prose of it.
```stops
view = "{VIEW}"
[[stop]]
mark = "line"
text = "A stop."
```
```exercise
name = "coalesce"
text = "Now you."
```
```chart
chart = "latencies"
text = "A chart."
```
```question
name = "NAME"
kind = "number"
ask = "How many?"
answer = "t"
because = "{{t}}."
numbers.t = {{ measure = "threads", view = "{VIEW}" }}
```
"""
WORDS = """\
# Glossary

Words.

**absent lane**: A lane.
<!-- scene: own=absent_lane&step=3 #sentence -->

**tile**: A part.
<!-- scene: kernel=tiled&M=4&N=4&K=4&TILE=2&step=10 #stage -->

**latency**: Clock cycles.
<!-- chart: latencies -->
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small copy of what comes with Tilewise, which all readers read."""
    assets, root = ROOT / "assets", tmp_path_factory.mktemp("whole")
    copy = root / "assets"
    shutil.copytree(assets / "kernels", copy / "kernels")
    for folder in ("exercises", "lessons", "recorded/scale"):
        (copy / folder).mkdir(parents=True)
    for file in ("exercises/01_one_element.toml", "exercises/03_coalesce.toml",
                 "recorded/scale/nvidia-h200-x2.json"):  # fmt: skip
        shutil.copy(assets / file, copy / file)
    presets = (assets / "presets.toml").read_text(encoding="utf-8").split("\n[[preset]]")[:4]
    small = (assets / "small_kernels.toml").read_text(encoding="utf-8").split("\n[broadcast]")[0]
    run = json.loads((assets / "recorded/nvidia-h200.json").read_text(encoding="utf-8"))
    squares = [one for one in run["comparisons"] if one["size"] == [4096, 4096, 4096]]
    for one in squares:
        named = ("naive", "tiled", "cublas")
        one["kernels"] = [kernel for kernel in one["kernels"] if kernel["name"] in named]
    run = {key: run[key] for key in ("format", "recorded", "device", "ceilings", "latency")}
    for path, text in (
        (copy / "lessons/01_one.md", LESSON.replace("NAME", "first")),
        (copy / "lessons/02_two.md", LESSON.replace("NAME", "second")),
        (copy / "presets.toml", "\n[[preset]]".join(presets)),
        (copy / "small_kernels.toml", small),
        (copy / "recorded/nvidia-h200.json", json.dumps(run | {"comparisons": squares}, indent=1)),
        (root / "GLOSSARY.md", WORDS),
    ):
        path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for module, name in FOLDERS:
            place = getattr(import_module(module), name)
            patch.setattr(import_module(module), name, root / place.relative_to(ROOT))
        patch.setattr("gpu.worker.COMMAND", (sys.executable, "-c", ""))
        yield root
    forget_files()


@pytest.fixture
def root(whole: Path) -> Iterator[Path]:
    """The copy, whole once more after the test."""
    before = {path: path.read_bytes() for path in whole.rglob("*.*") if path.is_file()}
    forget_files()
    yield whole
    for path, content in before.items():
        path.write_bytes(content)


def forget_files() -> None:
    """Forget what was read, so that it is read anew."""
    forget()
    for module in (*(module for module, _ in FOLDERS), *KEEPING):
        for value in vars(import_module(module)).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


Damage = Callable[[str], bytes | None]  # None: the file is gone


def replaced(old: str, new: str) -> Damage:
    def damage(text: str) -> bytes:
        assert old in text, old
        return text.replace(old, new, 1).encode()

    return damage


def cut(before: str) -> Damage:
    return lambda text: text[: text.index(before)].encode()


def gone(_: str) -> None:
    return None


def empty(_: str) -> bytes:
    return b""


def latin(before: str) -> Damage:
    return lambda text: text.encode().replace(before.encode(), b"\xfc" + before.encode(), 1)


def compiled() -> None:
    """Compile the kernel of the .cu file that is damaged below, as a page has it compiled."""
    try:
        load_kernel(opening_view("padded"))
    except BrokenFileError as error:
        broken_file.log(error.broken)


KERNEL, CATALOGUE = "assets/kernels/padded.cu", "assets/kernels/catalogue.toml"
LESSON_FILE, EXERCISE = "assets/lessons/02_two.md", "assets/exercises/03_coalesce.toml"
PRESETS, SMALL = "assets/presets.toml", "assets/small_kernels.toml"
RUN, SCALE = "assets/recorded/nvidia-h200.json", "assets/recorded/scale/nvidia-h200-x2.json"
CHANGED = 0  # the line that is reported is the first one that the damage has changed
SOMEWHERE = -1
# A file; what reads it; what is done to it, with the line that is reported, None where nothing is.
TABLE: dict[str, tuple[Callable[[], object], dict[str, tuple[Damage, int | None]]]] = {
    KERNEL: (compiled, {
        "gone": (gone, 1), "empty": (empty, 1), "cut": (cut("for (int k"), SOMEWHERE),
        "typo": (replaced("int row =", "int row"), CHANGED),
        "wrong": (replaced("void padded", "void other"), 1), "latin": (latin("int row"), CHANGED),
    }),
    CATALOGUE: (whole_catalogue, {
        "gone": (gone, 1), "empty": (empty, 1), "cut": (cut(" loads a whole row"), CHANGED),
        "typo": (replaced("rung = 2", "rung = two"), CHANGED),
        "wrong": (replaced("rung = 2", 'rung = "2"'), CHANGED),
        "latin": (latin("[naive]"), CHANGED),
    }),
    LESSON_FILE: (lessons, {
        "gone": (gone, None), "empty": (empty, 1), "cut": (cut('text = "Now'), SOMEWHERE),
        "typo": (replaced('mark = "line"', "mark = line"), CHANGED),
        "wrong": (replaced('"latencies"', '"pie"'), CHANGED), "latin": (latin("Prose"), CHANGED),
    }),
    EXERCISE: (exercises, {
        "gone": (gone, None), "empty": (empty, 1), "cut": (cut("counts columns of C"), CHANGED),
        "typo": (replaced("level = 1", "level = one"), CHANGED),
        "wrong": (replaced("level = 1", 'level = "1"'), CHANGED),
        "latin": (latin("level"), CHANGED),
    }),
    PRESETS: (every_preset, {
        "gone": (gone, 1), "empty": (empty, 1), "cut": (cut("outer iterations"), CHANGED),
        "typo": (replaced('name = "4', "name = 4"), CHANGED),
        "wrong": (replaced('[[preset]]\nname = "64', '[[preset]]\nnome = "64'), SOMEWHERE),
        "latin": (latin("[[preset]]"), CHANGED),
    }),
    "GLOSSARY.md": (glossary, {
        "gone": (gone, 1), "empty": (empty, 1), "cut": (cut("part."), CHANGED),
        "typo": (replaced("**tile**", "**tile*"), CHANGED),
        "wrong": (replaced("kernel=tiled", "kernel=tyled"), CHANGED),
        "latin": (latin("**tile"), CHANGED),
    }),
    SMALL: (small_kernels, {
        "gone": (gone, 1), "empty": (empty, 1), "cut": (cut("atomicAdd"), SOMEWHERE),
        "typo": (replaced("block = 8", "block = 8 8"), CHANGED),
        "wrong": (replaced('"counting"]', '"counted"]'), CHANGED),
        "latin": (latin("block = 8"), CHANGED),
    }),
    RUN: (gpu.recorded.recordings, {
        "gone": (gone, None), "empty": (empty, 1), "cut": (cut('"memory_bytes"'), CHANGED),
        "typo": (replaced('"format": 1,', '"format": 1;'), CHANGED),
        "wrong": (replaced('"latency": {', '"latency": 3, "late": {'), CHANGED),
        "latin": (latin('"format"'), CHANGED),
    }),
    SCALE: (gpu.scale.recorded.scalings, {
        "gone": (gone, None), "empty": (empty, 1), "cut": (cut('"devices"'), CHANGED),
        "typo": (replaced('"format": 1,', '"format": 1;'), CHANGED),
        "wrong": (replaced('"speedup": ', '"speedup": "?", "no": '), CHANGED),
        "latin": (latin('"format"'), CHANGED),
    }),
}  # fmt: skip


def damage(root: Path, file: str, how: str) -> int:
    """Damage a file; the first line that is another than before."""
    path = root / file
    before = path.read_bytes()
    content = TABLE[file][1][how][0](before.decode())
    if content is None:
        path.unlink()
        return 1
    path.write_bytes(content)
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, content, strict=False))
    return bytes(one for one, _ in same).count(b"\n") + 1


@pytest.mark.parametrize(("file", "how"), [(f, how) for f in TABLE for how in TABLE[f][1]])
@pytest.mark.sample(3)
def test_a_damaged_file_is_logged_with_its_line_once(
    file: str, how: str, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    changed = damage(root, file, how)
    read, line = TABLE[file][0], TABLE[file][1][how][1]
    read()
    read()
    messages = logged(caplog)
    if line is None:
        assert not messages
        return
    assert len(messages) == 1, messages
    where = {CHANGED: str(changed), SOMEWHERE: r"\d+"}.get(line, str(line))
    assert re.match(rf"{re.escape(Path(file).name)}, line {where}: \S.*\.$", messages[0]), messages


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]


def test_a_wrong_entry_costs_itself_alone(root: Path) -> None:
    for file in (CATALOGUE, PRESETS, SMALL, "GLOSSARY.md", LESSON_FILE):
        damage(root, file, "wrong")
    assert whole_catalogue().keys() == whole_catalogue().everything.keys() - {"naive"}
    assert len(whole_catalogue().broken) == len(every_preset().broken) == 1
    assert (len(every_preset()), list(small_kernels())) == (2, ["atomic"])
    assert list(glossary()) == ["absent lane", "tile", "latency"]
    assert isinstance(glossary()["tile"].picture, Broken)
    # Those of two lessons that show the kernel which is broken, and the chart.
    assert [len(lesson.broken) for lesson in lessons().values()] == [2, 3]
    with pytest.raises(BrokenFileError, match=r"catalogue.toml, line \d+: naive: "):
        whole_catalogue()["naive"]


def opened(page: str, **query: str) -> str:
    """All that a page says once it is open; it must not have failed."""
    app = open_page(page, **query)
    options = [str(one) for box in app.selectbox for one in box.options]
    captions = [one.value.replace("\\", "") for one in app.caption]
    errors = [one.value.replace("\\", "") for one in (*app.error, *app.warning)]
    return "\n".join((*options, *captions, *errors))


# A page, its query, how which files are damaged, and what is there instead.
SAID: dict[str, tuple[str, dict[str, str], dict[str, str], tuple[str, ...]]] = {
    "lessons": ("learn", {}, {LESSON_FILE: "empty", EXERCISE: "typo", RUN: "cut"}, (
        r"2\. 02_two.md, line 1: A lesson begins with",
        r"shown: 03_coalesce.toml, line 2: This is not TOML",
        r"shown: nvidia-h200.json, line \d+: This is not JSON",
    )),
    "a lesson": ("learn", {"lesson": "two"}, {LESSON_FILE: "latin"}, (
        r"shown: 02_two.md, line 6: This is not UTF-8 text",
    )),
    "parts of a lesson": (
        "learn", {"lesson": "two"},
        {LESSON_FILE: "typo", EXERCISE: "gone", CATALOGUE: "wrong", RUN: "gone"}, (
            r"shown: 02_two.md, line 10: This is not TOML", r"14: There is no exercise coalesce",
            r"shown: catalogue.toml, line \d+: naive: ", r"shown: No recorded run came with",
        ),
    ),
    "exercises and kernels": ("write", {}, {EXERCISE: "wrong", KERNEL: "latin"}, (
        r"03_coalesce.toml, line 2: Expected", r"padded.cu, line \d+: This is not UTF-8 text",
    )),
    "an exercise": ("write", {"exercise": "coalesce"}, {EXERCISE: "cut", CATALOGUE: "gone"}, (
        r"shown: 03_coalesce.toml, line \d+: ",
        r"shown: catalogue.toml, line 1: It cannot be read: No such",
    )),
    "no kernel": ("step", {}, {CATALOGUE: "empty"}, (
        r"be run: catalogue.toml, line 1: It has no kernel.",
    )),
    "a kernel": ("step", {"kernel": "naive"}, {CATALOGUE: "wrong", PRESETS: "wrong"}, (
        r"naive: catalogue.toml, line \d+: naive: Expected", r"shown: catalogue.toml, line \d+",
        r"presets.toml, line \d+: preset\[1\]: Object",
    )),
    "its text": ("step", {"kernel": "padded"}, {KERNEL: "typo"}, (
        r"be run: padded.cu, line \d+: ",
    )),
    "a GPU": (
        "gpu", {},
        {CATALOGUE: "cut", RUN: "wrong", SCALE: "empty", "GLOSSARY.md": "typo"}, (
            r"catalogue.toml, line \d+: This is not TOML",
            r"shown: nvidia-h200.json, line \d+: A measurement of limits",
            r"shown: nvidia-h200-x2.json, line 1: This is not JSON",
            r"GLOSSARY.md, line 8: An entry is written",
        ),
    ),
}  # fmt: skip


@pytest.mark.sample(12)
@pytest.mark.parametrize("case", SAID)
def test_a_page_names_what_is_broken_where_it_would_have_stood(case: str, root: Path) -> None:
    page, query, damages, said = SAID[case]
    for file, how in damages.items():
        damage(root, file, how)
    shown = opened(page, **query)
    for sentence in said:
        assert re.search(sentence, shown), shown


@pytest.mark.deep
@pytest.mark.parametrize("how", ["typo", "gone"])
def test_every_page_opens_though_no_file_is_right(
    how: str, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for file in TABLE:
        damage(root, file, how)
    app = app_at("door").run()
    assert not app.exception
    assert "catalogue.toml, line" in app.error[0].value.replace("\\", "")
    for page in ("learn", "step", "write", "gpu"):
        app.switch_page(f"ui/pages/{page}.py").run()
        assert not app.exception, (page, app.exception)
    messages = logged(caplog)
    assert len(messages) == len(set(messages))


def test_the_door_opens_with_a_broken_first_lesson(root: Path) -> None:
    (root / "assets/lessons/01_one.md").write_text("", encoding="utf-8")
    app = app_at("door").run()
    assert not app.exception
    assert not app.error
