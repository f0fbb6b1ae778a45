"""Which screening it is: another one may leave out other sentences of the same page."""

import hashlib
from pathlib import Path

_SERVICES = Path(__file__).parents[2]
_MADE_OF = (
    "knowledge/screening/*.py",
    "knowledge/document/*.py",
    "language/*.py",
    "language/*.json",
)


def _version() -> str:
    """Changes with any line that decides about a sentence."""
    files = sorted(path for pattern in _MADE_OF for path in _SERVICES.glob(pattern))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


_VERSION = _version()


def screening_of(text: str) -> str:
    """Names the screening of a text: another text or another version has another name."""
    return hashlib.sha256(f"{_VERSION}{text}".encode()).hexdigest()[:16]
