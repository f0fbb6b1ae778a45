"""Whether a document's text is still the one that lines were counted in."""

import hashlib

from services.knowledge.model import Document


def text_hash(document: Document) -> str:
    """sha256 of the stored text, which another reader may change where the source bytes stay."""
    return hashlib.sha256(document.text.encode()).hexdigest()
