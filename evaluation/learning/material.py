"""What simulated teams are made of: tickets with what came near them, and scored workflows."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from evaluation.benches.retrieval.calibration import alert_cases, ticket_cases
from evaluation.benches.retrieval.hidden_page import retrieval_without
from evaluation.benches.scoring.judge_candidates import made_by_readers, reference_of
from evaluation.benches.scoring.judge_setup import Judging
from evaluation.fitting.chance import Sample
from evaluation.fitting.pieces import REFERENCE
from evaluation.learning.teams import ALERTS, TeamCase
from evaluation.material.logic_rows import LogicRow, read_rows
from evaluation.material.pairs import is_fitted, read_pairs
from evaluation.material.requests import score_request
from evaluation.measures.logic import LogicCase, logic_figures
from services.contracts.planner import Candidate
from services.contracts.scorer import DIMENSIONS
from services.deployment.embedded import Embedded
from services.knowledge.ports import Embedder
from services.scorer.chance import features_of, is_by_rules, is_checked
from services.scorer.service import ScorerService
from services.tickets.adoption.lessons import ScoredWorkflow
from services.workflow.model import Provenance, Workflow

Row = tuple[Sample, ScoredWorkflow, str]


def finding_cases(
    platform: Embedded, tickets: Path, alerts_with_page: Path, alerts_without_page: Path
) -> list[TeamCase]:
    """Tickets of each corpus with their page and without it, and alerts."""
    rows = read_rows(tickets)
    pairs, others = read_pairs(alerts_with_page), read_pairs(alerts_without_page)
    owners = [row for row in rows for _ in range(2)]
    of_rows = ticket_cases(platform.retrieval, partial(retrieval_without, platform), rows)
    cases = [TeamCase(row.set, row.id, case) for row, case in zip(owners, of_rows, strict=True)]
    of_alerts = alert_cases(platform.retrieval, pairs, others)
    both = [*pairs, *others]
    cases += [TeamCase(ALERTS, p.id, case) for p, case in zip(both, of_alerts, strict=True)]
    return [each for each in cases if each.case.pages]


def acceptance_rows(embedder: Embedder, pairs: Path, old: Path | None) -> list[Row]:
    """What readers make of the pages of rows, with what their drawings say of it."""
    judging = Judging(None, pairs, embedder, old)
    scorer = ScorerService(embedder, counts_votes=False)
    rows = [row for row in read_rows(pairs) if row.reference]
    made = [(row, *each) for row in rows for each in _scored(judging, scorer, row)]
    cases = [LogicCase(row.page, row.reference, each) for row, _, each, _ in made if row.reference]
    figures = logic_figures(cases, embedder)
    return [
        _row(row, origin, workflow, values, is_accepted=bool(row_figures["acceptable"]))
        for (row, origin, workflow, values), row_figures in zip(made, figures, strict=True)
    ]


def _scored(
    judging: Judging, scorer: ScorerService, row: LogicRow
) -> Iterator[tuple[str, Workflow, dict[str, float]]]:
    made = made_by_readers({name: read(row) for name, read in judging.readers().items()})
    shown = {REFERENCE: reference_of(row), **{each.origin: each.workflow for each in made}}
    context = judging.pages().context(row.draft, [row])
    candidates = [Candidate(id=name, workflow=each) for name, each in shown.items()]
    for scored in scorer.score(score_request(row.draft, context, candidates)).ranked:
        values = {name: scored.score.dimensions[name].value for name in DIMENSIONS}
        yield scored.candidate.id, shown[scored.candidate.id], values


def _row(
    row: LogicRow, origin: str, workflow: Workflow, values: dict[str, float], *, is_accepted: bool
) -> Row:
    """A drawing stands for what somebody has checked."""
    made_by = workflow.provenance
    if origin == REFERENCE:
        made_by = (made_by or Provenance(planner="human")).model_copy(update={"state": "approved"})
    signs = features_of(values, is_by_rules=is_by_rules(made_by), is_checked=is_checked(made_by))
    sample = Sample(row.set, is_fitted(row.id), signs, is_accepted)
    return sample, ScoredWorkflow(values, made_by, is_accepted), row.id
