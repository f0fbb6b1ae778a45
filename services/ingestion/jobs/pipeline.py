"""What becomes of a document, and the version of the code that does it."""

import ast
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from services.ingestion.structure.nodes import extract_nodes
from services.ingestion.structure.split import split
from services.knowledge.model import Chunk, Document, IncidentNode
from services.knowledge.ports import Embedder
from services.knowledge.screening.document import screened

_MAKES_CHUNKS_AND_NODES = (
    "services.ingestion.read",
    "services.ingestion.jobs.isolated",
    "services.ingestion.jobs.pipeline",
    "services.knowledge.stores.points",
)

_FOLLOWED = ("services.ingestion.", "services.knowledge.", "services.kit.text")

LIBRARIES = (
    "beautifulsoup4",
    "lxml",
    "markdown-it-py",
    "markdownify",
    "mdit-py-plugins",
    "pdfminer.six",
    "pdfplumber",
    "python-docx",
    "PyYAML",
    "snowballstemmer",
)
"""Distributions that readers, nodes and points rest on: another release may make others."""


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
    """Differs whenever the embedding model or any code that makes chunks or nodes does.

    It is taken from the sources themselves, since a number that people raise is forgotten.
    """
    digest = hashlib.sha256(model_name.encode())
    for name in LIBRARIES:
        digest.update(f"{name} {version(name)}".encode())
    for path in sorted(sources()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def sources() -> set[Path]:
    """Files that the version is taken from: the modules above and what they import of these."""
    found: dict[str, Path] = {}
    waiting = list(_MAKES_CHUNKS_AND_NODES)
    while waiting:
        name = waiting.pop()
        path = None if name in found or not name.startswith(_FOLLOWED) else _path(name)
        if path is not None:
            found[name] = path
            waiting += _imports(path)
    return set(found.values())


def _path(module: str) -> Path | None:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:  # It is a name within a module.
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
