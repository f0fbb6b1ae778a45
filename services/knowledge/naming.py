"""Names of documents: the id, which is a path, or an end of it that no other one has."""

from services.kit.sql.short_ids import FEWEST_CHARACTERS, MOST_LISTED, the_only_one
from services.knowledge.ports import DocumentStore
from services.knowledge.screening.document import ScreenedDocument


def find_document(documents: DocumentStore, name: str) -> ScreenedDocument | None:
    """Return the document of this id, else the only one whose id ends so; None if none does.

    An end that begins at a slash comes before one within a name.

    Raises:
        AmbiguousIdError: Several ids end so.
    """
    document = documents.get(name)
    if document is None and len(name) >= FEWEST_CHARACTERS:
        for end in (f"/{name.removeprefix('/')}", name):
            id_ = the_only_one(documents.ids_ending(end, most=MOST_LISTED + 1), name)
            if id_ is not None:
                return documents.get(id_)
    return document
