"""What ingestion makes of the example documents, in hashes.

`python -m tests.contract.pipeline_output` renews the file, once the number that declares the
change is raised. With `--same-number` it does so without: for changes nobody has used yet.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from services.ingestion.converters import reader_of
from services.ingestion.jobs.preparation import read_document
from services.ingestion.structure.pipeline import PIPELINE_NUMBER, Pipeline
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Document
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.points import chunk_point, node_point

FILE = Path(__file__).with_suffix(".json")
DOCUMENTS = Path(__file__).parents[2] / "examples" / "documents"
COMMAND = "python -m tests.contract.pipeline_output"


class Unisolated:
    """Stands for the converters' own process: what they make is the same here."""

    def read(self, reader, data):
        return reader.read(data)


def output() -> dict[str, Any]:
    """The numbers, and by document the hashes of what they declare."""
    pipeline = Pipeline.with_embedder(HashingEmbedder())
    paths = [path for path in sorted(DOCUMENTS.rglob("*")) if reader_of(path.name)]
    return {
        "pipeline": {
            "number": PIPELINE_NUMBER,
            "documents": {name(path): _pipeline_hash(document(path), pipeline) for path in paths},
        },
    }


def changed(kind: str, kept: dict[str, Any], now: dict[str, Any]) -> str:
    """What is wrong, in words that say what to do; empty when all is well."""
    before, after = kept[kind], now[kind]
    recorded, made = before["documents"], after["documents"]
    others = sorted(
        id_ for id_ in recorded.keys() | made.keys() if recorded.get(id_) != made.get(id_)
    )
    number = "PIPELINE_NUMBER"
    if others and before["number"] == after["number"]:
        return (
            f"{', '.join(others)} become something else and {number} is still "
            f"{after['number']!r}: raise it, then run `{COMMAND}`"
        )
    return f"{number} is raised: run `{COMMAND}`" if before != after else ""


def name(path: Path) -> str:
    return path.relative_to(DOCUMENTS).as_posix()


def document(path: Path) -> Document:
    return read_document(name(path), path.read_bytes(), Unisolated(), max_chars=10**7)[0]


def _pipeline_hash(page: Document, pipeline: Pipeline) -> str:
    screened = ScreenedDocument(page)
    chunks = (chunk_point(chunk, [0.0]) for chunk in pipeline.split(screened))
    nodes = (node_point(node, [0.0]) for node in pipeline.extract(screened))
    points = [point.model_dump(mode="json") for point in (*chunks, *nodes)]
    for each in points:  # a point without its words has them found anew
        each["payload"] = {k: v for k, v in each["payload"].items() if not k.startswith("words ")}
    return _hash([screened.for_model().model_dump(mode="json"), *points])


def _hash(parts: Iterable[object]) -> str:
    text = json.dumps(list(parts), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> None:
    now = output()
    if FILE.exists() and "--same-number" not in sys.argv:
        kept = json.loads(FILE.read_text(encoding="utf-8"))
        wrong = [changed(kind, kept, now) for kind in now]
        refused = [each for each in wrong if "still" in each]
        if refused:
            sys.exit("\n".join(refused))
    FILE.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
