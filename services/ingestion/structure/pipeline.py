"""What becomes of a document, and the version of the code that does it."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.ingestion.structure.nodes import extract_nodes
from services.ingestion.structure.split import split
from services.knowledge.model import Chunk, Document, IncidentNode
from services.knowledge.ports import Embedder
from services.knowledge.screening.document import screened

PIPELINE_NUMBER = 2
"""Raised with every change of what documents become: their text, their chunks, their nodes.

A test over the example documents fails when that changed and the number did not.
"""


@dataclass(frozen=True)
class Pipeline:
    """Document to chunks and nodes, which hold nothing that speaks to a language model.

    Documents that another `version` made are made again; vectors of unchanged texts are cached,
    so that this costs little.
    """

    version: str
    split: Callable[[Document], Sequence[Chunk]]
    extract: Callable[[Document], Sequence[IncidentNode]]

    @classmethod
    def with_embedder(cls, embedder: Embedder) -> "Pipeline":
        """The one in use: chunks that fit the embedder, nodes by structure."""
        return cls(
            pipeline_version(embedder.model_name),
            lambda document: split(
                screened(document).document, embedder.count_tokens, embedder.max_tokens
            ),
            lambda document: extract_nodes(screened(document).document, embedder),
        )


def pipeline_version(model_name: str) -> str:
    """Differs with the declared number and with the embedding model."""
    return f"{PIPELINE_NUMBER}-{hashlib.sha256(model_name.encode()).hexdigest()[:12]}"
