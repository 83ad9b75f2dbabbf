"""The names that the app answers to: `TILEWISE_HOSTS`, class.example.org,192.168.1.20.

A page of somebody else can have its own name lead to this machine (DNS rebinding) and would then
read the app as its own. Its requests name that host, and are refused where there is a list.
"""

from __future__ import annotations

import os
import re

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from ui.serving.start import StartError

VARIABLE = "TILEWISE_HOSTS"
NAME = re.compile(r"(\*\.)?[\w.-]+|\[[0-9a-fA-F:.]+\]")
LOCAL = ("localhost", "127.0.0.1", "[::1]")  # no page of anybody else has these as its own


def middleware() -> list[Middleware]:
    """What refuses requests for other hosts; nothing without a list. Raises StartError."""
    names = os.environ.get(VARIABLE, "").replace(",", " ").split()
    for name in names:
        if not NAME.fullmatch(name):
            raise StartError(
                f"{VARIABLE} has {name}. It takes names of hosts without scheme or port, such as "
                "class.example.org or *.example.org, separated by commas."
            )
    if not names:
        return []
    return [Middleware(TrustedHostMiddleware, allowed_hosts=[*names, *LOCAL], www_redirect=False)]
