"""Makes `readings.jsonl` of the drawings in `drawings/`.

A drawing is the program of one document of `documents/`, in the form that
`docs/reference/procedures.md` tells; lines count in the converted text.
"""

import json
from pathlib import Path

from services.ingestion.converters import reader_of
from services.knowledge.screening.document import hash_of
from services.knowledge.screening.screening import screen_document
from services.runbook.checking.check import check_reading
from services.runbook.model import Reader, Reading, as_json

HERE = Path(__file__).parent
LEFT_UNREAD = frozenset(
    {
        "postmortems/mac-move-loop.md",
        "runbooks/InterfaceFlapping.md",
        "tables/temperature-alarms.md",
    }
)
"""Drawn too, and not shipped as readings, so that pages are seen as they are."""


def drawings() -> dict[str, tuple[str, Reading]]:
    """Text and drawn reading by the id of the document."""
    drawn = {}
    for path in sorted((HERE / "drawings").rglob("*.json")):
        id_ = path.relative_to(HERE / "drawings").as_posix().removesuffix(".json")
        drawn[id_] = text_of(id_), _reading(path, text_of(id_))
    return drawn


def text_of(id_: str) -> str:
    """The document as it is converted, and as its readers see it."""
    reader = reader_of(id_)
    if reader is None:
        raise ValueError(f"no converter knows {id_!r}")
    return screen_document(reader.read((HERE / "documents" / id_).read_bytes()).text).text


def _reading(path: Path, text: str) -> Reading:
    drawn = json.loads(path.read_text(encoding="utf-8"))["procedures"]
    kept = check_reading(
        Reading.model_validate({"reader": Reader.PERSON, "procedures": drawn}), text
    )
    if kept.remarks:
        raise ValueError(f"{path}: {'; '.join(kept.remarks)}")
    return kept.reading


def made() -> str:
    """The readings to import, as JSON lines."""
    rows = []
    for id_, (text, reading) in drawings().items():
        if id_ not in LEFT_UNREAD:
            row = {"text_hash": hash_of(text), "document": id_, "state": "approved"}
            rows.append({**row, "reading": as_json(reading)})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def main() -> None:
    """Write the file."""
    (HERE / "readings.jsonl").write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
