"""Resolved tickets, kept as the typical cases of their pages."""

from services.contracts.ingestion import Archived, ForgetCases
from services.kit.sql.database import Database
from services.knowledge.model import ResolvedCase
from services.knowledge.ports import Embedder
from services.knowledge.stores.sql_archive import SqlCaseArchive


class CaseService:
    """Written with the vectors that retrieval compares its queries with."""

    def __init__(self, database: Database, case_embedder: Embedder, *, most: int) -> None:
        """`most` cases of a page are kept, the newest."""
        self._archive = SqlCaseArchive(database, most=most)
        self._case_embedder = case_embedder

    def archive(self, case: ResolvedCase) -> Archived:
        """See `Ingestion.archive`."""
        embedder = self._case_embedder
        (vector,) = embedder.embed([f"{case.title}\n{case.text}".strip()])
        return Archived(kept=self._archive.put(case, vector.tolist(), embedder.model_name))

    def forget_cases(self, request: ForgetCases) -> None:
        """See `Ingestion.forget_cases`."""
        self._archive.remove(request.ids)
