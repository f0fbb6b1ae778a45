"""Teams whose tickets taught nothing that is shipped: a corpus left out of the fit is their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evaluation.benches.retrieval.calibration import Case, ranking_of
from evaluation.fitting.chance import Sample, fit_chance
from services.kit.fits.fitted import FittedFile
from services.learning.acceptance_calibration import AcceptanceCalibration
from services.learning.retrieval_calibration import RetrievalCalibration
from services.learning.subject import Subject
from services.retrieval.calibration import Calibration
from services.tickets.adoption.lessons import Lesson, ScoredWorkflow

ALERTS = "alerts"
_LEAST = 30
"""Tickets that a team must have to be shown."""


@dataclass(frozen=True)
class Team:
    """One team, and what it would have been shipped with."""

    name: str
    subject: Subject
    shipped: FittedFile
    lessons: tuple[Lesson, ...]


@dataclass(frozen=True)
class TeamCase:
    """A query of a team, and what came near it."""

    team: str
    id: str
    case: Case


def finding_teams(cases: Sequence[TeamCase]) -> list[Team]:
    """By corpus, and one of alerts alone, whose shipped curve is that of the others' tickets."""
    teams, shipped = [], Calibration.shipped()
    tickets = [each.case for each in cases if not each.case.is_alert]
    for name in sorted({each.team for each in cases}):
        own = [each for each in cases if each.team == name]
        others = [each.case for each in cases if each.team != name and not each.case.is_alert]
        if own[0].case.is_alert:
            left = {"alerts": ranking_of(shipped.alerts.order, tickets)}
        else:
            left = {"text": ranking_of(shipped.text.order, others)}
        lessons = tuple(_lesson(each) for each in own)
        teams.append(Team(name, RetrievalCalibration(), shipped.model_copy(update=left), lessons))
    return _large(teams)


def acceptance_teams(rows: Sequence[tuple[Sample, ScoredWorkflow, str]]) -> list[Team]:
    """By corpus: workflows that an expert would accept, or not; `rows` with the id of each page."""
    teams = []
    for name in sorted({sample.set for sample, _, _ in rows}):
        others = [sample for sample, _, _ in rows if sample.set != name]
        lessons = tuple(
            Lesson(
                source_id=f"{page}/{number}",
                kind=page,
                at=0.0,
                is_alert=False,
                pages=(),
                right=page,
                workflow=workflow,
            )
            for number, (sample, workflow, page) in enumerate(rows)
            if sample.set == name
        )
        teams.append(Team(name, AcceptanceCalibration(), fit_chance(others, name), lessons))
    return _large(teams)


def turned(lesson: Lesson) -> Lesson:
    """As somebody would have it who is wrong about it."""
    if lesson.workflow is not None:
        wrong = replace(lesson.workflow, is_accepted=not lesson.workflow.is_accepted)
        return replace(lesson, workflow=wrong)
    first = lesson.pages[0].document_id
    if lesson.right == first:
        return replace(lesson, right="", wrong=frozenset({first}))
    return replace(lesson, right=first, wrong=frozenset())


def _lesson(each: TeamCase) -> Lesson:
    case = each.case
    nobody = frozenset(page.document_id for page in case.pages) if not case.page else frozenset()
    return Lesson(
        source_id=f"{each.id}/{case.has_page}",
        kind=each.id,
        at=0.0,
        is_alert=case.is_alert,
        pages=case.pages,
        right=case.page,
        wrong=nobody,
    )


def _large(teams: Iterable[Team]) -> list[Team]:
    return [team for team in teams if len({each.kind for each in team.lessons}) >= _LEAST]
