"""The documents that were found as pages, each with its reading where somebody has read it."""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from services.contracts.retrieval import PageReading
from services.knowledge.document.links import linked_documents, linked_path
from services.knowledge.document.page_origin import page_origin
from services.knowledge.page.box_fit import AS_SHIPPED, Habit
from services.knowledge.page.kinds.leading import entries, is_mostly_links
from services.knowledge.page.parsing import parse_page
from services.knowledge.ports import DocumentStore
from services.knowledge.screening.document import hash_of, usable_title
from services.procedure.ports import BoxSource, ReadingSource, ServedReading
from services.workflow.model import LinkedPage


class NoReadings:
    """Nobody has read anything. Implements `ReadingSource` and `BoxSource` of the procedures."""

    def corrections(self, document_ids: Sequence[str]) -> dict[str, dict[str, bool]]:  # noqa: ARG002
        """See `BoxSource.corrections`."""
        return {}

    def habit(self) -> Habit:
        """See `BoxSource.habit`."""
        return AS_SHIPPED

    def served_many(self, text_hashes: Sequence[str]) -> dict[str, ServedReading]:  # noqa: ARG002
        """See `ReadingSource.served_many`."""
        return {}


class Pages:
    """Pages of documents, each with the stored reading of its text as it stands."""

    def __init__(self, documents: DocumentStore, readings: ReadingSource, boxes: BoxSource) -> None:
        self._documents = documents
        self._readings = readings
        self._boxes = boxes

    def of(self, scores: Mapping[str, float]) -> tuple[PageReading, ...]:
        """Return the pages of these documents in their order, but for those that are gone.

        `scores` is each document's relevance, 0–1.
        """
        usable = self._documents.usable(list(scores))
        documents = {id_: usable[id_] for id_ in scores if id_ in usable}
        hashes = {id_: hash_of(document.text) for id_, document in documents.items()}
        served = self._readings.served_many(list(dict.fromkeys(hashes.values())))
        boxes = self._boxes.corrections(list(documents))
        habit = dict(self._boxes.habit())
        return tuple(
            PageReading(
                document_id=id_,
                title=usable_title(document),
                served=served.get(hashes[id_]),
                score=scores[id_],
                text=document.text,
                stored_text=document.stored_text,
                boxes=boxes.get(id_, {}),
                box_habit=habit,
                origin=page_origin(document.front_matter),
            )
            for id_, document in documents.items()
        )

    def links_of(self, page: PageReading) -> tuple[LinkedPage, ...]:
        """Return the pages that one leads to which is mostly links, in its order; of others none.

        Each document comes once, as the first entry calls it.
        """
        blocks, own = parse_page(page.text), page.document_id
        inside = [link for link in blocks.link_targets if linked_path(link, own)]
        if not is_mostly_links(blocks, inside, page.boxes, page.box_habit):
            return ()
        found = linked_documents(inside, own, self._documents.ids_with)
        known = {link: document for link, document in found.items() if document != own}
        if not is_mostly_links(blocks, known, page.boxes, page.box_habit):
            return ()
        linked: dict[str, LinkedPage] = {}
        for entry in entries(blocks):
            if document := known.get(entry.target):
                part = unquote(entry.target.partition("#")[2])
                leads_to = LinkedPage(document_id=document, title=entry.words, part=part)
                linked.setdefault(document, leads_to)
        return tuple(linked.values())
