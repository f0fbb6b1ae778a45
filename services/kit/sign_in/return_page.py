"""Pages that a sign-in may lead to: only ours, whoever wrote the link."""

import re

HOME = "/"
_MOST = 2000
_OURS = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*\Z")
"""Paths of visible ASCII without a backslash; two slashes would begin another host's name."""


def safe_page(wanted: str) -> str:
    """Return the requested path and query, or home if they are not ours."""
    is_ours = len(wanted) <= _MOST and _OURS.match(wanted)
    leads_back = wanted.startswith(("/sign-in", "/sign-out"))
    return wanted if is_ours and not leads_back else HOME
