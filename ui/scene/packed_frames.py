"""Frames as they are sent: each text list and each shape once, and of a frame only what changes.

A frame of Plotly says again what the one before it said, and the steps of a loop's iterations look
alike: packed, a page of frames is a tenth as long. `unpackFrames` in ui/web/player/frames.js is the
inverse.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

# One encoder for all: json.dumps makes one for each of the thousands of texts and shapes.
ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


class FramePacker:
    """Packs frames one after another, in their order, and collects what they refer to."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}  # each list of texts as JSON, and its number
        self._shapes: dict[str, int] = {}  # each shape's attributes as JSON, and its number
        # Each shape of the last frame, and its number.
        self._shown: list[tuple[Mapping[str, Any] | None, int]] = []

    def pack(self, frame: Mapping[str, Any]) -> list[Any]:
        """Pack a frame: name, title, trace and text by turns, shape and attributes by turns.

        Texts and attributes are numbers of the tables. What moves comes after them, as it is, and
        the level.
        """
        texts = []
        for trace, data in zip(frame["traces"], frame["data"], strict=True):
            texts += [trace, _number(self._texts, data["text"])]
        layout = frame["layout"]
        if not self._shown:
            self._shown = [(None, -1)] * len(layout["shapes"])
        shapes = []
        for i, (shape, (before, shown)) in enumerate(
            zip(layout["shapes"], self._shown, strict=True)
        ):
            if shape == before:  # as nearly all are, and this is quicker than JSON
                continue
            number = _number(self._shapes, shape)
            self._shown[i] = shape, number
            if number != shown:
                shapes += [i, number]
        meta = layout["meta"]
        title = layout["title"]["text"]
        return [frame["name"], title, texts, shapes, meta["motions"], meta["level"]]

    def tables(self) -> tuple[str, str]:
        """The lists of texts, and the shapes' attributes, each a JSON array by number."""
        return f"[{','.join(self._texts)}]", f"[{','.join(self._shapes)}]"


def pack_frames(frames: Iterable[Mapping[str, Any]]) -> str:
    """Pack frames as a JSON object: "steps", "texts" and "shapes"."""
    packer = FramePacker()
    steps = ",".join(ENCODE(packer.pack(frame)) for frame in frames)
    texts, shapes = packer.tables()
    return f'{{"steps":[{steps}],"texts":{texts},"shapes":{shapes}}}'


def _number(table: dict[str, int], value: Any) -> int:
    return table.setdefault(ENCODE(value), len(table))
