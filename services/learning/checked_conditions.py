"""What people said of the rules' readings when they approved pages: which conditions they kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from services.contracts.adoption import Judgement
from services.kit.sql.database import Database
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.procedure.agreement import matched
from services.procedure.evidence.conditions import Condition, ConditionForests, conditions_of
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import FactKind
from services.procedure.evidence.facts import facts_of
from services.procedure.evidence.page_lines import CitedPages
from services.procedure.facts import guards, polar
from services.procedure.lowering import lower
from services.procedure.model import Reader
from services.procedure.ports import ApprovedProcedure
from services.procedure.rules import read_by_rules
from services.procedure.store.sql_readings import SqlReadingStore
from services.workflow.model import Provenance, Workflow

LEARNED = (FactKind.QUESTION, FactKind.FREE, FactKind.GUARD)
"""Of ends and joins a person's edit says too little."""
MOST_PAGES = 100
"""Texts that are looked at, those approved last: reading one again takes up to some seconds."""


@dataclass(frozen=True)
class CheckedCondition:
    """One condition that the rules gave, and whether the approved procedure has it too."""

    source_id: str
    """Hash of the text."""
    kind: str
    at: float
    """When it was approved."""
    chance: float
    """That it is right, as shipped forests have it."""
    is_right: bool
    said_by: str
    said: Judgement
    """Whether whoever approved it left the whole procedure as it was read."""


class CheckedConditions:
    """Reads them from the approvals."""

    def __init__(self, database: Database) -> None:
        self._readings = SqlReadingStore(database)
        self._documents = SqlDocumentStore(database)
        self._forests = ConditionForests.shipped()

    def all(self) -> list[CheckedCondition]:
        """Of the pages that are kept, in the order of their approval."""
        found = [
            each
            for text_hash, approved in self._readings.approved_last(MOST_PAGES).items()
            for document in self._documents.of_text(text_hash)[:1]
            for each in self._of(text_hash, document.text, approved)
        ]
        return sorted(found, key=lambda each: (each.at, each.source_id))

    def _of(
        self, text_hash: str, text: str, approved: list[ApprovedProcedure]
    ) -> Iterator[CheckedCondition]:
        source, page = CitedPages({text_hash: text}), text_hash
        checked = [(lower(each.procedure, page), each.approval) for each in approved]
        for procedure in read_by_rules(text).procedures:
            read = lower(procedure, page).model_copy(update={"provenance": _BY_RULES})
            drawn = Drawn(read, source)
            lines = drawn.lines_of(read.steps)
            near = [
                (len(Drawn(each, source).lines_of(each.steps) & lines), n)
                for n, (each, _) in enumerate(checked)
            ]
            shared, place = max(near, default=(0, 0))
            if not shared:
                continue
            kept, approval = checked[place]
            told = list(_judged(read, kept, conditions_of(drawn, facts_of(drawn), self._forests)))
            is_as_read = all(is_right for _, is_right in told)
            for condition, is_right in told:
                yield CheckedCondition(
                    source_id=text_hash,
                    kind=text_hash,
                    at=approval.at.timestamp(),
                    chance=condition.chance,
                    is_right=is_right,
                    said_by=approval.by,
                    said=Judgement.ACCEPTED if is_as_read else Judgement.REJECTED,
                )


_BY_RULES = Provenance(planner="extractive", reader=Reader.RULES.value)


def _judged(
    read: Workflow, kept: Workflow, conditions: tuple[Condition, ...]
) -> Iterator[tuple[Condition, bool]]:
    """Those of the kinds that are learned."""
    same = matched(read.steps, kept.steps)
    stands = {
        step: {(fact.decision, _polar(kept, fact.decision, fact.answer)) for fact in facts}
        for step, facts in guards(kept).items()
    }
    for each in conditions:
        is_there, under = each.step in same, stands.get(same.get(each.step, ""), set())
        match each.kind:
            case FactKind.QUESTION:
                yield each, is_there
            case FactKind.FREE:
                yield each, is_there and not under
            case FactKind.GUARD:
                asked = (same.get(each.other, ""), _polar(read, each.other, each.answer))
                yield each, is_there and asked in under
            case _:
                continue


def _polar(workflow: Workflow, decision: str, answer: str) -> str:
    texts: Mapping[str, str] = {step.id: step.text for step in workflow.steps}
    return polar(answer, texts.get(decision, ""))
