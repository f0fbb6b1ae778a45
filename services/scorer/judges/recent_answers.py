"""Adapter of `AnswerStore` in memory: where no database is at hand."""

from services.kit.recent import Recent
from services.procedure.ports import JudgedAnswer


class RecentAnswers(Recent[str, JudgedAnswer]):
    """Those that were asked for last."""
