"""What is lost with documents that are to be forgotten."""

from services.contracts.ingestion import RemovalCost
from services.ingestion.jobs.ledger import Ledger
from services.procedure.ports import ReadingStore


def removal_cost(
    ledger: Ledger, readings: ReadingStore, root: str, document_id: str
) -> RemovalCost:
    """Of all documents of the root, or of one of them.

    Approved procedures of a text that documents of other roots have too are not lost.
    """
    texts = ledger.text_hashes([document_id]) if document_id else ledger.text_hashes(source=root)
    hashes = list(dict.fromkeys(filter(None, texts.values())))
    named = ledger.with_texts(hashes)
    lost = [each for each in hashes if texts.keys() >= set(named.get(each, ()))]
    known = readings.known(lost).values()
    return RemovalCost(documents=len(texts), approved=sum(each.approved for each in known))
