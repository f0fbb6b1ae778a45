"""Pipeline from a document to chunks and nodes, with the version of its code."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.ingestion.structure.nodes import extract_nodes
from services.ingestion.structure.split import split
from services.knowledge.model import Chunk, IncidentNode
from services.knowledge.ports import Embedder
from services.knowledge.screening.document import ScreenedDocument

PIPELINE_NUMBER = 2
"""Number raised with every change of the text, the chunks or the nodes of documents.

A test over the example documents fails when these changed and the number did not.
"""


@dataclass(frozen=True)
class Pipeline:
    """Conversion of a document to chunks and nodes, without text that addresses a model.

    Documents that another `version` made are converted again; vectors of unchanged texts are
    cached, so that this costs little.
    """

    version: str
    split: Callable[[ScreenedDocument], Sequence[Chunk]]
    extract: Callable[[ScreenedDocument], Sequence[IncidentNode]]

    @classmethod
    def with_embedder(cls, embedder: Embedder) -> "Pipeline":
        """Build the pipeline in use: chunks that fit the embedder, nodes by structure."""
        return cls(
            pipeline_version(embedder.model_name),
            lambda document: split(
                document.for_model(), embedder.count_tokens, embedder.max_tokens
            ),
            lambda document: extract_nodes(document.for_model(), embedder),
        )


def pipeline_version(model_name: str) -> str:
    """Return a version that differs with the declared number and the embedding model."""
    return f"{PIPELINE_NUMBER}-{hashlib.sha256(model_name.encode()).hexdigest()[:12]}"
