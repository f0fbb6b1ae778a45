"""Which page a sign-in may lead to: one of ours, whoever wrote the link."""

import re

HOME = "/"
_MOST = 2000
_OURS = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*\Z")
"""A path of visible ASCII without a backslash; two slashes would begin another host's name."""


def page_of(wanted: str) -> str:
    """The path and query that are wanted, or home where they are none of ours."""
    is_ours = len(wanted) <= _MOST and _OURS.match(wanted)
    leads_back = wanted.startswith(("/sign-in", "/sign-out"))
    return wanted if is_ours and not leads_back else HOME
