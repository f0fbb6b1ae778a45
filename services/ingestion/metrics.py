"""What ingestion counts; how long its stages take is in `flowxpert_stage_seconds`."""

from prometheus_client import Counter

DOCUMENTS = Counter(
    "flowxpert_ingestion_documents_total",
    "Documents handled, by outcome: added, changed, unchanged, deleted or failed.",
    ["outcome"],
)

CHUNKS = Counter("flowxpert_ingestion_chunks_total", "Chunks embedded and written.")
