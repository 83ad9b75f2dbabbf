"""A user kernel goes into an address and comes back; hostile addresses are refused."""

from __future__ import annotations

import base64
import contextlib
import json
import random
import re
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, UserKernel
from ui.view.user_kernel_link import LARGEST, LONGEST_LINK, LinkError, decode, encode

SCALE = UserKernel(
    "__global__ void scale(float* x, float by, int n) {\n    x[threadIdx.x] *= by;  // ×\n}\n",
    "scale",
    LaunchForm(
        ("(n + 31) / 32", "1", "1"), ("32", "1", "1"), "0",
        (ArrayArgument("x", "1", "n", Contents.COUNTING), NumberArgument("by", "2.5"),
         NumberArgument("n", "100")),
        "", (("A", "x"), ("N", "n")),
    ),
)  # fmt: skip

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
sizes = st.tuples(words, words, words)
arguments = st.one_of(
    st.builds(ArrayArgument, words, words, words, st.sampled_from(Contents)),
    st.builds(NumberArgument, words, words),
)
forms = st.builds(
    LaunchForm, sizes, sizes, words, st.lists(arguments, max_size=5).map(tuple), words,
    st.lists(st.tuples(words, words), max_size=5).map(tuple),
)  # fmt: skip
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@settings(max_examples=60, deadline=None)
@given(st.builds(UserKernel, texts, words, forms))
def test_what_goes_into_a_link_comes_back(user_kernel: UserKernel) -> None:
    text = encode(user_kernel)
    assert text is not None
    assert decode(text) == user_kernel
    assert re.fullmatch(r"[\w-]+", text, re.ASCII)


def test_a_kernel_that_is_too_long_has_no_link() -> None:
    chosen = random.Random(1)  # noqa: S311  # no secret
    noise = "".join(chosen.choice("abcdefghijklmnop") for _ in range(20_000))
    assert encode(replace(SCALE, text=f"// {noise}")) is None
    repeated = replace(SCALE, text="// " + "a" * LARGEST)  # short, but not once it is unpacked
    assert encode(repeated) is None
    assert encode(replace(SCALE, text="\ud800")) is None  # no character


def pack(plain: bytes) -> str:
    """Any bytes as `encode` packs them."""
    return base64.urlsafe_b64encode(zlib.compress(plain, 9)).decode().rstrip("=")


def changed(**fields: Any) -> str:
    """A link in which some fields of the launch, or of the whole, are others."""
    text = encode(SCALE)
    assert text is not None
    value = json.loads(zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))))
    for name, other in fields.items():
        (value["form"] if name in value["form"] else value)[name] = other
    return pack(json.dumps(value).encode())


FORM = {"grid": ["1", "1", "1"], "block": ["1", "1", "1"], "shared": "0", "arguments": [],
        "task": "", "roles": []}  # fmt: skip
HOSTILE = {
    "empty": "",
    "no base64": "ab$d",
    "a text of other letters": "ä" * 40,
    "one letter": "A",
    "not packed": base64.urlsafe_b64encode(b'{"text": ""}').decode().rstrip("="),
    "cut off": (encode(SCALE) or "")[:-9],
    "something behind": base64.urlsafe_b64encode(zlib.compress(b"{}") + b"more").decode(),
    "a bomb": pack(b'{"text": "' + b"a" * 5_000_000 + b'"}'),
    "too long": "A" * (LONGEST_LINK + 1),
    "no JSON": pack(b"{text: 1}"),
    "no UTF-8": pack(b'{"text": "\xff"}'),
    "a list": pack(b"[1, 2]"),
    "nothing": pack(b"null"),
    "no object": pack(b'"text"'),
    "deep": pack(b"[" * 20_000 + b"]" * 20_000),
    "deep objects": pack(b'{"text":' * 6_000 + b"1" + b"}" * 6_000),
    "no number": pack(b'{"text": NaN}'),
    "a long number": pack(b'{"text": ' + b"9" * 10_000 + b"}"),
    "twice": pack(
        b'{"text":"a","text":"b","kernel":"k","form":' + json.dumps(FORM).encode() + b"}"
    ),
    "a key too many": pack(
        json.dumps({"text": "", "kernel": "k", "form": FORM, "__class__": "x"}).encode()
    ),
    "a key too few": pack(json.dumps({"text": "", "form": FORM}).encode()),
    "half a character": pack(
        b'{"text":"\\ud800","kernel":"k","form":' + json.dumps(FORM).encode() + b"}"
    ),
    "text that is a number": changed(text=7),
    "name that is a list": changed(kernel=["scale"]),
    "long name": changed(kernel="k" * 5_000),
    "form that is a text": changed(form="grid"),
    "two sizes": changed(grid=["1", "1"]),
    "sizes as numbers": changed(block=[1, 1, 1]),
    "sizes as a text": changed(block="123"),
    "no arguments": changed(arguments=None),
    "many arguments": changed(arguments=[["n", "1"]] * 65),
    "three texts": changed(arguments=[["x", "1", "2"]]),
    "unknown contents": changed(arguments=[["x", "1", "2", "primes"]]),
    "a role of three": changed(roles=[["A", "x", "y"]]),
    "a role of lists": changed(roles=[[["A"], ["x"]]]),
    "a task that is null": changed(task=None),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_links_end_in_a_sentence(name: str) -> None:
    with pytest.raises(LinkError, match=r"\.$") as caught:
        decode(HOSTILE[name])
    assert len(str(caught.value)) < 200


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_link_with_a_changed_letter_is_read_or_refused(data: st.DataObject) -> None:
    text = encode(SCALE)
    assert text is not None
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("Aa0-_$ "))
    with contextlib.suppress(LinkError):
        decode(text[:at] + letter + text[at + 1 :])
