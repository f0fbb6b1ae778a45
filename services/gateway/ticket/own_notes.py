"""What the platform's own notes are known by when their system sends them back as comments."""

OPENING = "FlowXpert: "
"""Every note begins so."""
MARK = "— written by FlowXpert"
"""And has this line near its end: a system may put its own words before a note."""


def is_ours(text: str) -> bool:
    """Whether the platform has written this; what somebody quotes of it is not looked at."""
    own = [line.strip() for line in text.splitlines() if not line.lstrip().startswith(">")]
    return MARK in own or any(line.startswith(OPENING) for line in own)
