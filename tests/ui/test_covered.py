"""The covered pictures: each of their steps exists, and no letter is left on it."""

from __future__ import annotations

import pytest

from tests.benchmarks.covered import SCENES, covered, is_number


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", SCENES)
def test_no_letter_is_left_and_numbers_are(name: str) -> None:
    figure, height = covered(*SCENES[name])
    texts = [text for trace in figure["data"] for text in trace.get("text", ())]
    assert all(map(is_number, texts))
    assert any(text.strip() for text in texts)
    assert 400 < height < 720
