"""The pages of a folder, as ingestion reads them."""

from pathlib import Path

from services.ingestion.converters import reader_of
from services.kit.files import read_bytes
from services.knowledge.model import Document
from services.knowledge.screening.document import ScreenedDocument


def pages_of(folder: Path) -> list[Document]:
    """The text documents below a folder, as ingestion reads them."""
    documents = []
    for path in sorted(folder.rglob("*")):
        id_ = path.relative_to(folder).as_posix()
        reader = reader_of(id_) if path.is_file() else None
        if reader is None or reader.isolated:
            continue
        text = reader.read(read_bytes(path)).text
        document = Document(id=id_, title=path.stem, text=text, content_hash="")
        documents.append(ScreenedDocument(document).for_model())
    return documents
