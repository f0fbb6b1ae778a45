"""Metrics of ingestion; the time of its stages is in `flowxpert_stage_seconds`."""

from prometheus_client import Counter, Gauge

from services.kit.observability.metrics import start_at_zero

DOCUMENTS = Counter(
    "flowxpert_ingestion_documents_total",
    "Documents handled, by outcome: added, changed, unchanged, deleted or failed.",
    ["outcome"],
)

JOBS = Counter(
    "flowxpert_ingestion_jobs_total",
    "Jobs that ended, by outcome: done (single documents may have failed), or failed as a whole.",
    ["outcome"],
)

OUTDATED = Gauge(
    "flowxpert_ingestion_outdated_documents",
    "Documents that were read by older rules; `flowxpert ingest` reads them again.",
)

CHUNKS = Counter("flowxpert_ingestion_chunks_total", "Chunks embedded and written.")

SUSPICIOUS = Counter(
    "flowxpert_ingestion_suspicious_texts_total",
    "Sentences of documents that speak to a language model and were left out.",
)

BUILT_DOCUMENTS = Counter(
    "flowxpert_ingestion_built_documents_total",
    "Documents whose nodes a model built, by outcome: built, overtaken by a change, or failed.",
    ["outcome"],
)

BUILT_SENTENCES = Counter(
    "flowxpert_ingestion_built_sentences_total",
    "Sentences a model put into nodes, by outcome: kept, or unsupported by any line and dropped.",
    ["outcome"],
)

READ_PAGES = Counter(
    "flowxpert_ingestion_read_pages_total",
    "Pages whose procedures were read, by reader and outcome: read or failed.",
    ["reader", "outcome"],
)

APPROVALS = Counter(
    "flowxpert_ingestion_approvals_total",
    "Approved procedures of pages that changed, by outcome: carried_over or lost.",
    ["outcome"],
)

start_at_zero(JOBS, ("done", "failed"))
start_at_zero(DOCUMENTS, ("added", "changed", "unchanged", "deleted", "failed"))
start_at_zero(BUILT_DOCUMENTS, ("built", "overtaken", "failed"))
start_at_zero(READ_PAGES, ("model",), ("read", "failed"))
start_at_zero(APPROVALS, ("carried_over", "lost"))
