"""The stage of the tensor core: its bits against the exact values that they stand for."""

from __future__ import annotations

import functools
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simulator import Launch, Recording, compile_kernel, record
from simulator.language.fragments import SUMS
from simulator.language.number_types import OPERANDS
from simulator.sentences.line_values import values
from simulator.verdict.guess import guess_form
from tests.ui.lecture.lectures import Lecture, of_query, seen
from ui.analysis.products import multiplication
from ui.analysis.scene_model import Phase, build_scene_model
from ui.drawing.look import Look, Stage
from ui.lecture.letters import TALL_WIDTH
from ui.lecture.tensor_stage import TensorStage

TEXT = """#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* A, const half* B, float* C, int M, int N, int K) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::load_matrix_sync(c, C, 16, wmma::mem_row_major);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
}
"""
TALL = Look(width=1920, height=1080)  # where all rows have room


@functools.cache
def recorded(
    wide: bool, special: float = 0.0, sums: str = "float"
) -> tuple[Recording, dict[str, Any]]:
    random = np.random.default_rng(7)
    spread = 2.0 ** random.integers(-9, 10, (2, 16, 16)) if wide else np.ones((2, 16, 16))
    A, B = (random.standard_normal((2, 16, 16)) * spread).astype(np.float16)
    C = random.standard_normal((16, 16)).astype(SUMS[sums].dtype)
    text = TEXT.replace("float", sums)
    if special:
        A[0] = special
    given = {"A": A, "B": B, "C": C, "M": 16, "N": 16, "K": 16}
    return record(compile_kernel(text, "k"), Launch((1, 1, 1), (32, 1, 1), given)), given


def lecture(
    wide: bool, thread: int, look: Look = TALL, special: float = 0.0, sums: str = "float"
) -> Lecture:
    model = build_scene_model(recorded(wide, special, sums)[0], thread)
    return Lecture(model, look)


def drawn(scene: Lecture) -> list[tuple[str, str, str]]:
    """Label, kept bits and cut bits of each row that says anything."""
    [step] = [step for step in scene.steps if multiplication(step) is not None]
    _, *traces = scene.drawn(step, TensorStage)[0]
    texts = [trace["text"] for trace in traces]
    rows = [tuple(text.strip("\xa0 ") for text in row) for row in zip(*texts, strict=True)]
    return [(label, kept, cut) for label, kept, cut in rows if label]


def whole(bits: str) -> int:
    return int(bits.replace("−", "-"), 2)


@pytest.mark.parametrize("thread", [0, 5, 31])
@pytest.mark.parametrize(("wide", "sums"), [(False, "float"), (True, "float"), (False, "half")])
def test_the_bits_add_up_to_what_the_simulator_stores(wide: bool, sums: str, thread: int) -> None:
    _, given = recorded(wide, sums=sums)
    row, column = thread // 4, thread % 4 * 2  # of the lane's x[0]
    head, first, *products, total, kept = drawn(lecture(wide, thread, sums=sums))
    found = re.fullmatch(r"in units of 2\^(-?\d+)", head[1])
    assert found
    unit = Fraction(2) ** int(found[1])
    addends = [Fraction(float(given["C"][row, column]))]
    addends += [
        Fraction(float(a)) * Fraction(float(b))
        for a, b in zip(given["A"][row], given["B"][:, column], strict=True)
    ]
    assert len(products) == 16
    for exact, (_, bits, cut) in zip(addends, (first, *products), strict=True):
        magnitude = int(abs(exact) / unit)
        assert abs(whole(bits)) == magnitude
        rest = abs(exact) / unit - magnitude
        assert bool(cut) == bool(rest)
        digits = cut.rstrip("…")
        if digits:
            assert int(rest * 2 ** len(digits)) == int(digits, 2)
    assert whole(total[1]) == sum(whole(bits) for _, bits, _ in (first, *products))
    stored = lecture(wide, thread, sums=sums).recording.steps[-1]
    assert kept[0].startswith(f"as {sums} ")
    result = float(whole(kept[1]) * unit)
    assert SUMS[sums].dtype.type(result) == result
    C = given["C"][row, column] + np.sum(given["A"][row].astype(float) * given["B"][:, column])
    assert result == pytest.approx(C, rel=1e-4 if sums == "float" else 2.0**-11, abs=1e-3)
    assert any(result in access.values for access in stored.accesses)


def test_two_whole_tiles_make_a_third_and_show_what_the_lane_holds() -> None:
    """Eight elements of each tile, as an H200 holds them, and the row and column of x[0]."""
    scene = lecture(False, 5)
    [step] = [step for step in scene.steps if multiplication(step) is not None]
    *_, frames, taken, held = scene.panel(TensorStage).shapes(step)
    assert len(seen(frames)) == 3
    assert len(seen(held)) == 24
    (_, row_top, _, _), (column_left, _, _, _) = seen(taken)
    a, b, c = seen(frames)
    assert round((row_top - a[1]) / (a[3] - a[1]) * 16) == 1
    assert round((column_left - b[0]) / (c[2] - c[0]) * 16) == 2
    names = scene.drawn(step, TensorStage)[0][0]["text"]
    assert names == ["warp 0: 32 lanes", *(f"<b>{name}</b> 16 × 16" for name in "abc")]


@pytest.mark.deep
@pytest.mark.parametrize("look", [Look(), TALL, Look(width=390, height=844)])
def test_without_matrices_it_has_their_maps_place(look: Look) -> None:
    kernel = recorded(False)[0].kernel
    model = build_scene_model(recorded(False)[0], 0, form=guess_form(TEXT, kernel, task=""))
    assert model.product is None
    scene = Lecture(model, look)
    [step] = [step for step in scene.steps if multiplication(step) is not None]
    names, labels, *_ = scene.drawn(step, TensorStage)[0]
    frames = seen(scene.panel(TensorStage).shapes(step)[-3])
    assert min(labels["y"]) < scene.sheet.areas.stage.top + 2 * scene.sheet.letters.number
    if look.width < TALL_WIDTH:
        assert not frames
        return
    width = frames[0][2] - frames[0][0]
    assert [right - left for left, _, right, _ in frames] == pytest.approx([width] * 3, abs=0.2)
    assert max(right for _, _, right, _ in frames) < min(labels["x"])
    for (_, top, _, _), height in zip(frames, names["y"][1:], strict=True):
        assert 0 < top - height < 2 * scene.sheet.letters.small
    assert len([label for label in labels["text"] if "×" in label]) == 16


def test_a_fragment_of_bfloat16_shows_its_numbers() -> None:
    text = TEXT.replace("half", "__nv_bfloat16").replace(
        "<mma.h>", "<cuda_bf16.h>\n#include <mma.h>"
    )
    A, B = (np.arange(256, dtype=np.float32).reshape(16, 16) % number for number in (7, 5))
    bits = OPERANDS["__nv_bfloat16"].ctype.cells_of
    given = {"A": bits(A), "B": bits(B), "C": np.zeros((16, 16), np.float32)}
    given |= {"M": 16, "N": 16, "K": 16}
    recording = record(compile_kernel(text, "k"), Launch((1, 1, 1), (32, 1, 1), given))
    model = build_scene_model(recording, 0)
    scene = Lecture(model, TALL)
    labels = [label for label, *_ in drawn(scene) if "×" in label]
    assert labels == [f"{a:g} × {b:g}" for a, b in zip(A[0], B[:, 0], strict=True)]
    step = next(one for one in scene.steps if multiplication(one) is not None)
    assert step.registers["a.x"][0].tolist() == [A[0, 0], A[0, 1], A[8, 0], A[8, 1], A[0, 8],
                                                 A[0, 9], A[8, 8], A[8, 9]]  # fmt: skip
    load = scene.steps_of("load_matrix_sync(b")[0]
    assert values(recording, load, 3)[0] == f"b.x[0] = B[96] = {B[6, 0]:g}"


def test_some_bits_are_cut_where_exponents_are_wide() -> None:
    assert any(cut for _, _, cut in drawn(lecture(True, 0))[1:])


@pytest.mark.parametrize("look", [Look(width=1280, height=480), Look(width=390, height=844)])
def test_where_there_is_less_room_the_rest_is_counted(look: Look) -> None:
    rows = drawn(lecture(False, 3, look))
    [(more, _, _)] = [row for row in rows if row[0].startswith("and ")]
    shown = [row for row in rows if "×" in row[0]]
    assert more == f"and {16 - len(shown)} more"


def test_an_infinite_operand_is_a_sentence() -> None:
    said = " ".join(label for label, *_ in drawn(lecture(False, 0, special=np.inf)))
    assert said == "An operand is infinite or NaN: nothing is aligned."


def test_an_infinite_sum_of_half_has_no_bits() -> None:
    *_, total, kept = drawn(lecture(True, 0, special=60000, sums="half"))
    assert abs(whole(total[1])) > 0
    assert re.fullmatch("as half −?inf", kept[0])
    assert not kept[1]


def test_a_kernel_without_it_says_so_where_it_is_pinned() -> None:
    plain = of_query(Look(stage=Stage.TENSOR), kernel="tiled")
    texts = [
        text for trace in plain.drawn(plain.steps[0], TensorStage)[0] for text in trace["text"]
    ]
    assert "Nothing is multiplied on the tensor core here." in " ".join(texts)
    assert not list(of_query(kernel="tiled").panels(TensorStage))


def test_a_tile_from_global_memory_is_loaded_and_not_computed() -> None:
    scene = lecture(False, 0)
    phases = [phase for phase in scene.model.phases if phase is not Phase.OTHER]
    assert phases == [Phase.LOAD] * 3 + [Phase.COMPUTE, Phase.STORE]
