"""Pages of the retrieved documents, each with its reading if somebody has read it."""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from services.contracts.retrieval import PageReading
from services.knowledge.document.links import linked_documents, linked_path
from services.knowledge.document.page_origin import page_origin
from services.knowledge.page.box_fit import AS_SHIPPED, Habit
from services.knowledge.page.kinds.link_pages import entries, is_mostly_links
from services.knowledge.page.parsing import parse_page
from services.knowledge.ports import DocumentStore
from services.runbook.ports import BoxSource, ReadingSource, ServedReading
from services.workflow.model import LinkedPage


class NoReadings:
    """Null adapter without readings, of the procedures' `ReadingSource` and `BoxSource`."""

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
    """Pages of documents, each with the stored reading of its current text."""

    def __init__(self, documents: DocumentStore, readings: ReadingSource, boxes: BoxSource) -> None:
        self._documents = documents
        self._readings = readings
        self._boxes = boxes

    def of(self, scores: Mapping[str, float]) -> tuple[PageReading, ...]:
        """Return the pages of these documents in their order, except for those that are gone.

        `scores` is each document's relevance, 0–1.
        """
        stored = self._documents.get_many(list(scores))
        documents = {id_: stored[id_] for id_ in scores if id_ in stored}
        hashes = {id_: document.text_hash for id_, document in documents.items()}
        served = self._readings.served_many(list(dict.fromkeys(hashes.values())))
        boxes = self._boxes.corrections(list(documents))
        habit = dict(self._boxes.habit())
        pages = []
        for id_, document in documents.items():
            whole, usable = document.for_person(), document.for_model()
            page = PageReading(
                document_id=id_,
                title=usable.title,
                served=served.get(hashes[id_]),
                score=scores[id_],
                text=usable.text,
                stored_text="" if usable.text == whole.text else whole.text,
                boxes=boxes.get(id_, {}),
                box_habit=habit,
                origin=page_origin(whole.front_matter),
            )
            pages.append(page)
        return tuple(pages)

    def links_of(self, page: PageReading) -> tuple[LinkedPage, ...]:
        """Return the pages that a page of mostly links leads to, in its order; of others none.

        Each document comes once, under the title of its first entry.
        """
        blocks, own = parse_page(page.text), page.document_id
        inside = [link for link in blocks.link_targets if linked_path(link, own)]
        if not is_mostly_links(blocks, inside, page.boxes, page.box_habit):
            return ()
        linked_ids = linked_documents(inside, own, self._documents.ids_with)
        targets = {link: document for link, document in linked_ids.items() if document != own}
        if not is_mostly_links(blocks, targets, page.boxes, page.box_habit):
            return ()
        linked: dict[str, LinkedPage] = {}
        for entry in entries(blocks):
            if document := targets.get(entry.target):
                part = unquote(entry.target.partition("#")[2])
                leads_to = LinkedPage(document_id=document, title=entry.words, part=part)
                linked.setdefault(document, leads_to)
        return tuple(linked.values())
