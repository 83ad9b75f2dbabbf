"""A user kernel as text for an address, and back from an address that anybody may write."""

from __future__ import annotations

import base64
import binascii
import functools
import json
import re
import zlib
from typing import Any

from simulator.size_expression import LONGEST
from simulator.verdict.form import (
    ArrayArgument,
    Contents,
    LaunchForm,
    NumberArgument,
    Sizes3,
    UserKernel,
)

PARAMETER = "own"  # of the address
IN_SESSION = "file"  # its value where the kernel is too long for an address
SESSION_KEY = "own_kernel"  # of the session state: the kernel that was shown last
LONGEST_LINK = 8 * 1024  # characters of the encoded text
LARGEST = 64 * 1024  # bytes that it stands for
MOST_ARGUMENTS = 64
BASE64 = re.compile(r"[A-Za-z0-9_-]+")
TOO_LONG = "This link's kernel was too long for a link: open its file on the Write page."

Pairs = list[tuple[str, Any]]


class LinkError(ValueError):
    """Why an address holds no kernel, as a sentence."""


@functools.lru_cache(64)
def encode(user_kernel: UserKernel) -> str | None:
    """The kernel and its launch as text for an address; None if that would be too long.

    The text has only letters, digits, "-" and "_". What it returns, `decode` reads.
    """
    plain = json.dumps(_to_json(user_kernel), ensure_ascii=False, separators=(",", ":"))
    packed = zlib.compress(plain.encode(errors="surrogatepass"), 9)
    text = base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")
    try:
        decode(text)
    except LinkError:
        return None
    return text


def to_query(user_kernel: UserKernel) -> dict[str, str]:
    """The parameter of an address that has the kernel, or says that the session has it."""
    return {PARAMETER: encode(user_kernel) or IN_SESSION}


@functools.lru_cache(64)
def decode(text: str) -> UserKernel:
    """The kernel and its launch from an address's text; whether it can run is not asked here.

    Raises LinkError, whose sentence a page shows, for any text that `encode` cannot have written.
    """
    if len(text) > LONGEST_LINK:
        raise LinkError(
            f"The kernel in this link has {len(text):,} characters; a link holds up to "
            f"{LONGEST_LINK:,}. Open its file on the Write page."
        )
    try:
        value = json.loads(_unpack(text).decode(), object_pairs_hook=_object, parse_constant=_no)
        user_kernel = _user_kernel(_fields(value, ("text", "kernel", "form")))
    except (ValueError, RecursionError, MemoryError, zlib.error, binascii.Error):
        raise LinkError(
            "The kernel in this link cannot be read: a part of the link is missing or was changed. "
            "Ask for the link again, or for the kernel's file."
        ) from None
    return user_kernel


def _unpack(text: str) -> bytes:
    """The bytes that a text stands for. Raises ValueError or zlib.error."""
    if not BASE64.fullmatch(text):
        raise ValueError
    inflater = zlib.decompressobj()
    plain = inflater.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), LARGEST)
    if not inflater.eof or inflater.unused_data:
        raise ValueError
    return plain


def _object(pairs: Pairs) -> dict[str, Any]:
    """An object of JSON in which no key is there twice. Raises ValueError."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError
    return dict(pairs)


def _no(_: str) -> Any:
    """Refuse NaN and infinities, which are no JSON. Raises ValueError."""
    raise ValueError


def _to_json(user_kernel: UserKernel) -> dict[str, Any]:
    form = user_kernel.form
    arguments = [
        [argument.name, argument.rows, argument.columns, argument.contents.value]
        if isinstance(argument, ArrayArgument) else [argument.name, argument.value]
        for argument in form.arguments
    ]  # fmt: skip
    return {
        "text": user_kernel.text,
        "kernel": user_kernel.kernel,
        "form": {
            "grid": form.grid, "block": form.block, "shared": form.shared_bytes,
            "arguments": arguments, "task": form.task, "roles": form.roles,
        },
    }  # fmt: skip


def _user_kernel(value: dict[str, Any]) -> UserKernel:
    form = _fields(value["form"], ("grid", "block", "shared", "arguments", "task", "roles"))
    roles = [tuple(_texts(role, (2,))) for role in _list(form["roles"])]
    return UserKernel(
        _text(value["text"], LARGEST), _text(value["kernel"]),
        LaunchForm(
            _sizes(form["grid"]), _sizes(form["block"]), _text(form["shared"]),
            tuple(_argument(_texts(one, (2, 4))) for one in _list(form["arguments"])),
            _text(form["task"]), tuple((role[0], role[1]) for role in roles),
        ),
    )  # fmt: skip


def _argument(texts: list[str]) -> ArrayArgument | NumberArgument:
    """An array as name, rows, columns, contents; a number as name, value."""
    if len(texts) == 2:
        return NumberArgument(*texts)
    name, rows, columns, contents = texts
    return ArrayArgument(name, rows, columns, Contents(contents))


def _fields(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """An object with these keys and no others. Raises ValueError."""
    if not isinstance(value, dict) or set(value) != set(names):
        raise ValueError
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_ARGUMENTS:
        raise ValueError
    return value


def _texts(value: Any, counts: tuple[int, ...]) -> list[str]:
    """A list of so many short texts. Raises ValueError."""
    if len(_list(value)) not in counts:
        raise ValueError
    return [_text(one) for one in value]


def _sizes(value: Any) -> Sizes3:
    x, y, z = _texts(value, (3,))
    return x, y, z


def _text(value: Any, longest: int = LONGEST) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError
    value.encode()  # half of a pair of surrogates is no character
    return value
