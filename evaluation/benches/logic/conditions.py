"""What marks on conditions are worth, by kind of condition and for whole workflows."""

from collections.abc import Sequence

from evaluation.benches.logic.bench import LogicResult
from evaluation.material.gold_pages import PageOf
from evaluation.material.logic_rows import LogicRow
from evaluation.measures.conditions import condition_examples
from evaluation.measures.figures import Figures
from evaluation.measures.marked import marked_figures
from services.contracts.planner import SERVED_BY
from services.knowledge.ports import Embedder
from services.runbook.evidence.conditions import ConditionForests
from services.workflow.model import Provenance


def condition_figures(
    rows: Sequence[LogicRow],
    results: Sequence[LogicResult],
    reader: str,
    page_of: PageOf,
    embedder: Embedder,
) -> dict[str, Figures]:
    """By kind of condition; then how many workflows without a doubtful one are acceptable."""
    fitted = ConditionForests.shipped()
    signed = Provenance(planner=SERVED_BY, reader=reader)
    made = [
        (row, each.workflow.model_copy(update={"provenance": signed}))
        for row, each in zip(rows, results, strict=True)
        if each.workflow is not None
    ]
    examples = list(condition_examples(made, reader, page_of, embedder))
    doubtful = {
        each.row
        for each in examples
        if each.kind in fitted.forests
        and fitted.forests[each.kind].chance(each.signs) < fitted.bars.get(each.kind, 0.0)
    }
    row_ids = {each.row for each in examples}
    parts = {
        "all workflows": [each for each in results if each.id in row_ids],
        "without a doubtful condition": [each for each in results if each.id in row_ids - doubtful],
    }
    return marked_figures(examples, fitted) | {
        f"{reader}, {name}": {
            "n": len(own),
            "acceptable": round(sum(e.figures["acceptable"] for e in own) / max(1, len(own)), 3),
        }
        for name, own in parts.items()
    }
