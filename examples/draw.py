"""Makes `readings.jsonl` and the model's worked examples of the drawings in `drawings/`.

A drawing is the program of one document of `documents/`, in the form that
`docs/reference/procedures.md` tells; lines count in the converted text.
"""

import json
from pathlib import Path
from typing import Any

from services.ingestion.converters import reader_of
from services.knowledge.screening.document import hash_of
from services.knowledge.screening.screening import screen_document
from services.runbook.checking.check import check_reading
from services.runbook.model import Reader, Reading, as_json

HERE = Path(__file__).parent
WORKED_EXAMPLES = HERE.parent / "services" / "runbook" / "by_model" / "examples.jsonl"
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


def _without_commands(program: Any) -> Any:  # noqa: ANN401 - JSON
    """As the model is to answer: commands are taken from the lines by code."""
    if isinstance(program, dict):
        kept = {k: v for k, v in program.items() if k not in {"commands", "expected"}}
        return {key: _without_commands(value) for key, value in kept.items()}
    return [_without_commands(each) for each in program] if isinstance(program, list) else program


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def made() -> tuple[str, str]:
    """The readings to import, and the worked examples, as JSON lines."""
    readings, examples = [], []
    for id_, (text, reading) in drawings().items():
        if id_ in LEFT_UNREAD:
            continue
        row = {"text_hash": hash_of(text), "document": id_, "state": "approved"}
        readings.append({**row, "reading": as_json(reading)})
        path = HERE / "drawings" / f"{id_}.json"
        program = _without_commands(json.loads(path.read_text(encoding="utf-8")))
        examples.append({"document": id_, "text": text, "program": program})
    return _lines(readings), _lines(examples)


def main() -> None:
    """Write both files."""
    readings, examples = made()
    (HERE / "readings.jsonl").write_text(readings, encoding="utf-8")
    WORKED_EXAMPLES.write_text(examples, encoding="utf-8")


if __name__ == "__main__":
    main()
