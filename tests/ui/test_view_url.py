"""The stepper's state in an address: there and back, and from any address whatever."""

from __future__ import annotations

import dataclasses
import random
from urllib.parse import parse_qsl, urlencode

import pytest

from simulator import catalogue
from simulator.launch import MAX_THREADS
from simulator.machine.schedule import Schedule
from tests.ui.user_kernels import SAXPY
from ui.drawing.look import Stage
from ui.view.view_url import (
    INPUTS,
    LARGEST,
    PARAMETERS,
    SCHEDULES,
    ComparedScene,
    View,
    clamp,
    from_query,
    opening_view,
    parse_view,
    to_query,
    usual_step,
)
from ui.view.what_if import SWITCHES, applicable_edits

GARBAGE = (
    "", " ", "0", "-1", "1", "65", "nan", "NaN", "inf", "1e3", "0x10", "4.0", "٣", "４", "½", "+4",
    "--4", "9" * 30, "9" * 5000, "-" + "9" * 5000, "0" * 10**6 + "x", "x" * 10**6, "0" * 150 + "7",
    "\x00", "\n", "\ud800", "é", "日本語", "💥", "\u202e", "tiled", "TILED", "transpose.pad",
    "....", "pad,pad", "None", "null", "[1]", "{}", "<script>alert(1)</script>", "`*_[a](http://b.c)$x$",
    "www.example.com", "'; DROP TABLE", "%s%n", "../../etc/passwd", "{0.__class__}", "\\", '"',
)  # fmt: skip
VIEWS = 150  # random ones of a seed
SEEDS = pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.deep) for seed in (2, 3, 4))]
)
BESIDE = ComparedScene("tiled", (("TILE", 4),), (), Schedule.LOCKSTEP)
MARKUP = set("<>[](){}`*_$:/\\|#~&\"'=")


def valid(view: View) -> bool:
    """Whether a view is one that the stepper can show."""
    entry = catalogue()[view.kernel]
    setting = dict(view.defines)
    if list(setting) != list(entry.defines):
        return False
    if any(value not in entry.defines[name] for name, value in setting.items()):
        return False
    grid, block = entry.shape(view.M, view.N, **setting)
    offered = [edit.key for edit in applicable_edits(entry.source(**setting))]
    return (
        all(1 <= size <= LARGEST for size in (view.M, view.N, view.K))
        and block[0] * block[1] * block[2] <= MAX_THREADS
        and all(0 <= at < size for at, size in zip(view.block_index, grid, strict=True))
        and all(0 <= at < size for at, size in zip(view.thread_index, block, strict=True))
        and list(view.edits) == [key for key in offered if key in view.edits]
        and view.step >= 0
        and view.schedule in SCHEDULES
        and view.inputs in INPUTS
        and (view.comparison is None or valid(alone(view, view.comparison)))
    )


def alone(view: View, comparison: ComparedScene) -> View:
    """The scene beside a view's, as a view of its own."""
    return dataclasses.replace(
        view, kernel=comparison.kernel, defines=comparison.defines, edits=comparison.edits,
        schedule=comparison.schedule, block=(0, 0), thread=(0, 0), z=(0, 0), comparison=None,
    )  # fmt: skip


def random_view(choose: random.Random) -> View:
    """Any view that the stepper can show."""
    view = random_scene(choose, *(choose.randint(1, LARGEST) for _ in range(3)))
    if choose.random() < 0.5:
        return view
    other = random_scene(choose, view.M, view.N, view.K)
    comparison = ComparedScene(other.kernel, other.defines, other.edits, other.schedule)
    return dataclasses.replace(view, comparison=comparison)


def random_scene(choose: random.Random, M: int, N: int, K: int) -> View:
    """Any view of one scene of a product."""
    name, entry = choose.choice(list(catalogue().items()))
    while True:
        setting = {macro: choose.choice(options) for macro, options in entry.defines.items()}
        grid, block = entry.shape(M, N, **setting)
        if block[0] * block[1] * block[2] <= MAX_THREADS:
            break
    offered = applicable_edits(entry.source(**setting))
    return View(
        name, M, N, K, tuple(setting.items()),
        tuple(edit.key for edit in offered if choose.random() < 0.5),
        (choose.randrange(grid[0]), choose.randrange(grid[1])),
        (choose.randrange(block[0]), choose.randrange(block[1])),
        choose.randrange(20_000), choose.choice(SCHEDULES), choose.choice(INPUTS),
        choose.choice([None, *Stage]),
        z=(choose.randrange(grid[2]), 0),
    )  # fmt: skip


@SEEDS
def test_any_view_comes_back_from_its_address(seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311  # for a table, not for secrets
    for _ in range(VIEWS):
        view = random_view(choose)
        assert valid(view)
        address = urlencode(to_query(view))
        assert from_query(dict(parse_qsl(address))) == (view, ())


def test_an_empty_address_opens_like_the_kernels_choice() -> None:
    opening = opening_view(View().kernel)
    assert opening.step > 0
    assert from_query({}) == (opening, ())
    assert to_query(opening) == {}
    assert dataclasses.replace(opening, step=0) == View()
    assert valid(opening)


@pytest.mark.parametrize("view", [View(), View(K=9), View("naive", 4, 4, 4, ())])
def test_any_other_address_without_a_step_begins_at_the_first(view: View) -> None:
    query = {"kernel": view.kernel, **to_query(view)}
    query.pop("step", None)
    assert from_query(query) == (view, ())
    assert from_query(to_query(view)) == (view, ())


def test_the_step_that_an_address_leaves_out_is_the_usual_one() -> None:
    for view in (View(), View(K=9), opening_view("padded")):
        assert "step" not in to_query(dataclasses.replace(view, step=usual_step(view)))


def test_an_address_says_only_what_is_unusual() -> None:
    view = View(kernel="tiled", K=12, edits=("pad", "transpose"), thread=(2, 0), step=16)
    assert to_query(view) == {"K": "12", "edits": "pad.transpose", "tx": "2", "step": "17"}
    assert to_query(dataclasses.replace(view, defines=(("TILE", 8),)))["TILE"] == "8"


@pytest.mark.parametrize(
    ("view", "text", "comparison"),
    [
        ({}, "naive", ComparedScene("naive", (), (), Schedule.LOCKSTEP)),
        ({}, "tiled", ComparedScene("tiled", (("TILE", 4),), (), Schedule.LOCKSTEP)),
        ({"TILE": "8", "edits": "pad", "schedule": "ascending"}, "padded",
         ComparedScene("padded", (("TILE", 8),), (), Schedule.ASCENDING)),
        ({"schedule": "ascending"}, "tiled,TILE:2,edits:pad.double,schedule:descending",
         ComparedScene("tiled", (("TILE", 2),), ("pad", "double"), Schedule.DESCENDING)),
        ({"schedule": "ascending"}, "naive,schedule:lockstep",
         ComparedScene("naive", (), (), Schedule.LOCKSTEP)),
    ],
)  # fmt: skip
def test_the_scene_beside_it_is_as_the_view_unless_the_address_says_otherwise(
    view: dict[str, str], text: str, comparison: ComparedScene
) -> None:
    found, said = from_query({**view, "with": text})
    assert (found.comparison, said) == (comparison, ())
    assert to_query(found)["with"] == text
    assert dataclasses.replace(found, comparison=None) == from_query({**view, "step": "1"})[0]


@pytest.mark.parametrize("design", ["overview", "lecture", "anything", ""])
@pytest.mark.parametrize(
    "query", [{"kernel": "padded", "step": "3"}, to_query(View(user_kernel=SAXPY))]
)
def test_an_older_link_that_names_a_design_opens_without_a_notice(
    query: dict[str, str], design: str
) -> None:
    view, said = from_query({**query, "view": design})
    assert (view, said) == from_query(query)
    assert not said
    assert "view" not in to_query(view)
    assert parse_view({**query, "view": design}) == view


@pytest.mark.parametrize("name", catalogue())
def test_every_kernel_opens_by_its_name_alone(name: str) -> None:
    view, said = from_query({"kernel": name})
    assert not said
    assert valid(view)
    assert dict(view.defines) == dict(catalogue()[name].teaching[0])


@pytest.mark.parametrize(
    ("query", "changed", "said"),
    [
        ({"M": "900"}, {"M": 64},
         "M = 900 is more than 64, the most that the scene shows; it shows 64."),
        ({"K": "0"}, {"K": 1}, "K = 0 is less than 1, the least that the scene shows; it shows 1."),
        ({"N": "many"}, {}, "N = “many” is not a whole number; the scene shows 8."),
        ({"N": ""}, {}, "N = “” is not a whole number; the scene shows 8."),
        ({"TILE": "5"}, {"defines": (("TILE", 4),)},
         "TILE = 5 is not offered (2, 4, 8, 16, 32); the scene shows 4."),
        ({"TILE": "9" * 400}, {"defines": (("TILE", 32),)},
         "TILE = 99999999999999999999… is not offered (2, 4, 8, 16, 32); the scene shows 32."),
        ({"tx": "9", "ty": "-1"}, {"thread": (3, 0)},
         "There is no such thread in a block of 4 × 4; the scene shows thread (3, 0)."),
        ({"by": "7"}, {"block": (0, 1)},
         "There is no such block in a grid of 2 × 2; the scene shows block (0, 1)."),
        ({"edits": "pad.nonsense"}, {"edits": ("pad",)}, "There is no edit “nonsense”, only "
         "first-barrier, second-barrier, third-barrier, fourth-barrier, fifth-barrier, barrier, "
         "inner-barrier, bounds, zero-fill, swap, load-twice, pad, pad-more, transpose, volatile, "
         "double, float; it is left out."),
        ({"edits": "float"}, {}, "This kernel has nothing for float to change; it is left out."),
        ({"step": "0"}, {}, "The first step is step 1; the scene begins there."),
        ({"step": "-7"}, {}, "The first step is step 1; the scene begins there."),
        ({"schedule": "Ascending"}, {"schedule": "ascending"},
         "schedule = “Ascending” is none of lockstep, ascending, descending; "
         "the scene shows ascending."),
        ({"inputs": "🎲"}, {},
         "inputs = “?” is none of random, counting, fractions; the scene shows random."),
        ({"colour": "red"}, {}, "The address of this kernel has no “colour”; it is left out."),
        ({"with": "tiled,colour:red"}, {"comparison": BESIDE},
         "The scene beside it has no “colour”; it is left out."),
        ({"with": "tild"}, {"comparison": BESIDE},
         f"with = “tild” is none of {', '.join(catalogue())}; the scene shows tiled."),
        ({"with": "tiled,TILE:5"}, {"comparison": BESIDE},
         "TILE = 5 is not offered (2, 4, 8, 16, 32); the scene shows 4."),
        ({"with": "tiled,edits:float"}, {"comparison": BESIDE},
         "This kernel has nothing for float to change; it is left out."),
        ({"DEPTH": "4"}, {}, "The address of this kernel has no “DEPTH”; it is left out."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_the_nearest_is_shown(
    query: dict[str, str], changed: dict[str, object], said: str
) -> None:
    view, sentences = from_query(query)
    assert sentences == (said,)
    assert view == dataclasses.replace(View(), **changed)  # type: ignore[arg-type]


def test_a_name_that_is_alike_leads_to_the_kernel() -> None:
    view, said = from_query({"kernel": "registrs"})
    assert view.kernel == "registers"
    assert said[0].startswith("kernel = “registrs” is none of uncoalesced, naive, tiled")


@pytest.mark.parametrize(
    ("kernel", "shown"),
    [
        ("warpgroup_tf32", "tensor_tf32"),
        ("warpgroup_half", "tensor_half"),
        ("warpgroup_fp32", "tensor_fp32"),
    ],
)
def test_a_kernel_for_a_gpu_alone_leads_to_the_one_before_it(kernel: str, shown: str) -> None:
    view, said = from_query({"kernel": kernel})
    assert view.kernel == shown
    assert len(said) == 1
    assert "runs only on a GPU" in said[0]
    assert said[0].endswith(f"; the scene shows {shown}.")


def test_a_block_that_no_gpu_takes_becomes_the_nearest_that_one_takes() -> None:
    query = {"kernel": "registers", "TILE": "128", "DEPTH": "8", "EACH": "2"}
    view, said = from_query(query)
    assert view.defines == (("TILE", 128), ("DEPTH", 8), ("EACH", 4))
    assert said == (
        "A block with TILE = 128, DEPTH = 8, EACH = 2 has more than the 1,024 threads that a GPU "
        "takes; the scene shows TILE = 128, DEPTH = 8, EACH = 4.",
    )


def test_the_last_of_several_values_counts() -> None:
    view, said = from_query({"M": ["3", "5"], "N": ["7"], "K": []})
    assert (view.M, view.N, view.K) == (5, 7, 8)
    assert said[0] == "“M” is given 2 times; the last counts."
    assert len(said) == 2  # K has no value


@pytest.mark.parametrize(
    ("step", "steps", "shown", "said"),
    [
        (0, 41, 0, ()),
        (40, 41, 40, ()),
        (41, 41, 40, ("The recording has 41 steps; the scene shows the last of them.",)),
        (10**9, 1200, 1199, ("The recording has 1,200 steps; the scene shows the last of them.",)),
        (-1, 41, 0, ("The first step is step 1; the scene begins there.",)),
        (0, 0, 0, ()),
    ],
)
def test_a_step_beyond_the_recording_is_its_last(
    step: int, steps: int, shown: int, said: tuple[str, ...]
) -> None:
    view, sentences = clamp(View(step=step), (2, 2, 1), (4, 4, 1), steps)
    assert (view.step, sentences) == (shown, said)


def test_focus_is_kept_within_the_launch() -> None:
    view, said = clamp(View(block=(5, 1), thread=(3, 9)), (2, 2, 1), (4, 4, 1), 10)
    assert (view.block, view.thread) == ((1, 1), (3, 3))
    assert len(said) == 2


@pytest.mark.parametrize(
    ("address", "block", "count"),
    [
        ("kernel=anyshape&PIECES=4&bz=3", (0, 0, 3), 0),
        ("kernel=anyshape&PIECES=4&bz=4", (0, 0, 3), 1),
        ("kernel=anyshape&bz=1", (0, 0, 0), 0),  # as a link where PIECES was made smaller
        ("kernel=tiled&bz=1", (0, 0, 0), 1),
    ],
)
def test_a_block_has_a_z_where_blocks_share_k(
    address: str, block: tuple[int, int, int], count: int
) -> None:
    view, said = from_query(dict(pair.split("=") for pair in address.split("&")))
    assert view.block_index == block
    assert len(said) == count


@SEEDS
def test_any_address_whatever_gives_a_view_and_sentences(seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311  # no secret
    macros = sorted({macro for entry in catalogue().values() for macro in entry.defines})
    names = [*PARAMETERS, *macros, "bz"]
    words = [*GARBAGE, *catalogue(), *SCHEDULES, *(switch.edit.key for switch in SWITCHES)]
    sentences = 0
    for _ in range(VIEWS):
        query: dict[str, str | list[str]] = {}
        for name in choose.sample(names, choose.randint(0, 8)):
            text = choose.choice(words)
            if choose.random() < 0.3:
                text = "".join(chr(choose.randrange(0x11_0000)) for _ in range(9))
            query[name] = text if choose.random() < 0.9 else [text, choose.choice(words)]
        if choose.random() < 0.2:
            query[choose.choice(words)] = choose.choice(words)
        view, said = from_query(query)
        assert valid(view), query
        sentences += len(said)
        for sentence in said:
            assert sentence.endswith("."), query
            assert sentence.isprintable(), query
            assert len(sentence) < 400, query
        kept, nothing = from_query(to_query(view))
        assert kept == view
        assert not nothing
    assert sentences > VIEWS


@pytest.mark.parametrize("name", ["kernel", "M", "inputs", "edits", "TILE", "<b>[x](y)</b>"])
def test_no_sentence_carries_markup(name: str) -> None:
    found = [sentence for text in GARBAGE for sentence in from_query({name: text})[1]]
    quoted = [sentence.split("“")[1].split("”")[0] for sentence in found if "“" in sentence]
    assert len(quoted) > len(GARBAGE) / 2
    assert not MARKUP & set("".join(quoted))
    assert not any("www." in sentence for sentence in found)
