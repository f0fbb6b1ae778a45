"""Which screening it is: another one may leave out other sentences of the same page."""

import hashlib

from services.kit.versions import version_of

_VERSION = version_of(
    "knowledge/screening/*.py", "knowledge/document/*.py", "language/*.py", "language/*.json"
)


def screening_of(text: str) -> str:
    """Names the screening of a text: another text or another version has another name."""
    return hashlib.sha256(f"{_VERSION}{text}".encode()).hexdigest()[:16]
