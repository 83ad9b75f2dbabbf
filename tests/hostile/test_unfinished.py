"""Texts that are being written: cut off anywhere, with letters missing or too many."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from simulator import LaunchError, SourceError, catalogue
from simulator.frontend.device_code import SourceFile
from simulator.frontend.host.launch_mistakes import launch_warnings, unmarked_kernel
from simulator.frontend.host.launches import find_launches
from simulator.verdict.launches import macro_values

HOST = """
template <typename T> int blocks(T n) { return (n + 255) / 256; }
int main() {
    dim3 grid(blocks(n), 2); float* x; cudaMalloc(&x, n * sizeof(float));
    copy<float, 4><<<grid, dim3(16, 16), 4 * sizeof(float)>>>(x, n, 1.5f);
    for (int i = 0; i < 3; ++i) { scale<<<2, 32>>>(x); }
}
"""
SIGNS = "(){}<>[]*&;:,#\"'\\=~"
TEXTS = 600


def broken(draw: random.Random, text: str) -> str:
    """The text with a few letters gone or one more, or cut off."""
    at = draw.randrange(len(text))
    match draw.randrange(4):
        case 0 | 1:
            return text[:at]
        case 2:
            return text[:at] + text[at + draw.randrange(1, 4) :]
        case _:
            return text[:at] + draw.choice(SIGNS) + text[at : draw.randrange(at, len(text) + 1)]


@pytest.mark.deep
def test_no_unfinished_text_is_more_than_an_error() -> None:
    draw = random.Random(16)  # noqa: S311  # no secret
    texts = [entry.source() + HOST for entry in catalogue().values()]
    for _ in range(TEXTS):
        text = broken(draw, draw.choice(texts))
        with suppress(SourceError, LaunchError):
            source = SourceFile(text)
            for name in source.kernel_names:
                unmarked_kernel(source, name)
                source.device_code(name.split("::")[-1])
            launch_warnings(source)
            find_launches(text)
            macro_values(text)
