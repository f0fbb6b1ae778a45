"""Whether a document is still the one that nodes were made of."""

import hashlib

from services.ingestion.structure.screened import screened
from services.knowledge.model import Document


def text_hash(document: Document) -> str:
    """sha256 of the text that is used.

    Another reader may change it where the source bytes stay, and so may new rules for what speaks
    to a model.
    """
    return hashlib.sha256(screened(document).document.text.encode()).hexdigest()
