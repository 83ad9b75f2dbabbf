"""curand_kernel.h: the words and uniform numbers of cuRAND's own text, and what kernels may do.

random_numbers.json has what random_numbers.cu printed, compiled by nvcc 13.0 for a processor with
the headers of cuRAND 10.3.10.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simulator import Launch, Report, SourceError, compile_kernel, record, simulate
from simulator.language.ctype import Pointer, dtype_of
from simulator.machine.random_numbers import philox
from simulator.sentences.narrate import spoken, values

HERE = Path(__file__).parent
TEXT = (HERE / "random_numbers.cu").read_text()
GIVEN = json.loads((HERE / "random_numbers.json").read_text())
LAUNCHES = 100  # starts, of which each makes the numbers of one thread
# Of Random123's known answers (kat_vectors, philox4x32 of 10 rounds) those with digits of pi.
COUNTER = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
KEY = (0xA4093822, 0x299F31D0)
ANSWER = (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


@pytest.mark.parametrize("state", ["curandStateXORWOW_t", "curandStatePhilox4_32_10_t"])
def test_words_and_uniform_numbers_are_curands_bit_for_bit(state: str) -> None:
    given = GIVEN[state]
    floats, doubles = (
        np.array(given[name], f"u{width}").view(f"f{width}").reshape(LAUNCHES, -1)
        for name, width in (("floats", 4), ("doubles", 8))
    )
    arrays = {
        "start": np.array(given["start"], np.uint64),
        "words": np.zeros(len(given["words"]), np.uint32),
        "floats": np.zeros(floats.size, np.float32),
        "doubles": np.zeros(doubles.size),
    }
    kernel = compile_kernel(TEXT, "numbers", {"S": state})
    report = simulate(kernel, Launch((4, 1, 1), (LAUNCHES // 4, 1, 1), arrays))
    assert report.hazards == ()
    assert report.arrays["words"].tolist() == given["words"]
    found = {name: report.arrays[name].reshape(LAUNCHES, -1) for name in ("floats", "doubles")}
    for name, expected, closely in (("floats", floats, 2e-6), ("doubles", doubles, 1e-14)):
        assert (found[name][:, 0] == expected[:, 0]).all()
        np.testing.assert_allclose(found[name], expected, rtol=closely, atol=closely)


def test_four_numbers_of_philox_begin_at_any_of_its_words() -> None:
    expected = np.array(GIVEN["fours"], np.uint32).view(np.float32)
    arrays = {"out": np.zeros(expected.size, np.float32)}
    report = simulate(compile_kernel(TEXT, "fours"), Launch((1, 1, 1), (4, 1, 1), arrays))
    found = report.arrays["out"]
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)
    exact = np.arange(expected.size) % 12 < 8
    assert (found == expected)[exact].all()


def test_philox_gives_random123s_known_answer() -> None:
    counter, key = (tuple(np.uint32([word]) for word in words) for words in (COUNTER, KEY))
    assert tuple(int(word[0]) for word in philox(counter, key)) == ANSWER


def run(body: str, threads: int = 4) -> Report:
    text = (
        "#include <curand_kernel.h>\n__global__ void k(curandState* states, float* out) { "
        f"int i = threadIdx.x; {body} }}"
    )
    return run_text(text, threads)


def run_text(text: str, threads: int) -> Report:
    kernel = compile_kernel(text, "k")
    pointer = kernel.parameters[0].ctype
    assert isinstance(pointer, Pointer)
    states = np.zeros(threads, dtype_of(pointer.target))
    arrays = {"states": states, "out": np.zeros(threads, np.float32)}
    return simulate(kernel, Launch((1, 1, 1), (threads, 1, 1), arrays))


def test_a_state_goes_on_where_another_kernel_would_take_it_up() -> None:
    whole = run("curand_init(7, i, 0, &states[i]); curand_normal(&states[i]);"
                " out[i] = curand_normal(&states[i]);")  # fmt: skip
    copied = run("curandState own; curand_init(7, i, 0, &own); curand_normal(&own);"
                 " states[i] = own; curandState next = states[i]; out[i] = curand_normal(&next);"
                 " states[i] = next;")  # fmt: skip
    assert (whole.arrays["states"] == copied.arrays["states"]).all()
    assert (whole.arrays["out"] == copied.arrays["out"]).all()
    assert len(set(whole.arrays["out"].tolist())) == 4


def test_threads_of_one_branch_alone_draw_there() -> None:
    every = run("curandStatePhilox4_32_10_t own; curand_init(1, i, 2, &own);"
                " curand(&own); out[i] = curand_uniform(&own);")  # fmt: skip
    some = run("curandStatePhilox4_32_10_t own; curand_init(1, i, 2, &own);"
               " if (i % 2) curand(&own); out[i] = curand_uniform(&own);")  # fmt: skip
    assert (every.arrays["out"] == some.arrays["out"]).tolist() == [False, True, False, True]


def test_a_generator_that_threads_share_is_a_race_and_one_without_a_seed_is_unset() -> None:
    shared = run("curand_init(7, i, 0, &states[i]); __syncthreads();"
                 " out[i] = curand_uniform(&states[0]);", 64)  # fmt: skip
    assert {hazard.array for hazard in shared.hazards} == {"states"}
    assert any("states[0].d" in hazard.message for hazard in shared.hazards)
    unset = run("curandState own; out[i] = curand_uniform(&own);")
    assert [hazard.kind for hazard in unset.hazards] == ["uninitialized-read"]


@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        ("", "curandState s;", "#include <curand_kernel.h>"),
        ("#include <curand_kernel.h>\n", "curandStateMRG32k3a s;", "XORWOW"),
        ("#include <curand_kernel.h>\n", "curandState s; out[0] = curand_poisson(&s, 2.0);",
         "compute others from these"),
    ],
)  # fmt: skip
def test_what_is_not_taken_is_said(header: str, body: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        compile_kernel(f"{header}__global__ void k(float* out) {{ {body} }}", "k")


def test_a_step_is_told() -> None:
    body = (
        "curandState own; curand_init(7, 3, 0, &own); float x = curand_uniform(&own);"
        " skipahead(5, &own); curand(&own); out[0] = x;"
    )
    text = f"#include <curand_kernel.h>\n__global__ void k(float* out) {{ {body} }}"
    launch = Launch((1, 1, 1), (1, 1, 1), {"out": np.zeros(1, np.float32)})
    recording = record(compile_kernel(text, "k"), launch)
    sentences = [spoken(recording, step, 0)[0] for step in recording.steps[1:5]]
    assert sentences[0] == "starts its generator own[0] with the seed 7, in sequence 3 at number 0."
    assert sentences[1].startswith("draws x = 0.")
    assert sentences[2] == "moves its generator own[0] on by 5 numbers."
    assert sentences[3].startswith("draws ")
    assert values(recording, recording.steps[1], 0) == ("curand_init(7, 3, 0, &own[0])",)
