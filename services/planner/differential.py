"""From a symptom through its likely causes, one question each, to the remedy of the one found."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from services.knowledge.document.markdown import BlockKind
from services.knowledge.document.roles import role_of_heading
from services.knowledge.model import SectionRole, Span
from services.planner.article import Article, Part
from services.planner.code import commands_of, expected_of
from services.planner.draft import Ask, Do, Draft, Element, End
from services.planner.ends import opening
from services.planner.focus import Focus
from services.planner.matching import best_match, match
from services.planner.sentences import (
    clauses,
    condition,
    is_check,
    is_imperative,
    question,
    sentences,
    shorten,
    tidy,
)

_KEPT_FROM = 0.40
"""Weight from which a point is kept, see `focus`."""
_LEAST_KEPT = 4
_MOST_CAUSES = 6
_STAYS = re.compile(
    r"^if\s[^,]*\b(?:remains?|persists?|still|continues?"
    r"|(?:not|n't) (?:help|work|clear|resolved?|fix))\b",
    re.IGNORECASE,
)
"""What is done when nothing else has helped."""
_SPECIFIC_SECTIONS = 3
"""Sections below the remedy with names of their own, from which a page is a procedure."""


class Kind(Enum):
    """What a point is, with its worth in `focus`."""

    CHECK = 0.06
    CAUSE = 0.055
    REMEDY = 0.03
    RECOVERY = 0.0


@dataclass(frozen=True)
class Point:
    """One check, cause or remedy, and where it stands."""

    kind: Kind
    text: str
    said: str
    """As the step will say it."""
    place: int
    cites: tuple[Span, ...]
    commands: tuple[str, ...] = ()


def differential_diagnosis(article: Article) -> Draft | None:
    """Cause by cause; None unless the page lists at least two causes and a remedy."""
    points = list(_points(article))
    causes = [p for p in points if p.kind is Kind.CAUSE]
    remedies = [p for p in points if p.kind in {Kind.REMEDY, Kind.RECOVERY}]
    if len(causes) < 2 or not remedies:
        return None
    kept = _kept(article, points)
    stays = next((r for r in remedies if _STAYS.match(r.text)), None)
    remedies = [r for r in remedies if r is not stays] or remedies
    pairs = match([c.text for c in causes], [r.text for r in remedies])
    told = [remedy.text for remedy in remedies]
    cure = {
        cause: remedies[pairs[i] if i in pairs else best_match(cause.text, told)]
        for i, cause in enumerate(causes)
    }
    asked = [point for point in kept if point.kind is Kind.CAUSE]
    asked = (asked if len(asked) > 1 else causes)[:_MOST_CAUSES]
    checks = _checks(article, [p for p in kept if p.kind is Kind.CHECK])
    return Draft(
        strategy="differential",
        title=article.name,
        elements=(*checks, *_chain(asked, cure, kept, stays)),
        fitness=_fitness(article, len(pairs) / min(len(causes), len(remedies))),
        document_ids=(article.document_id,),
        node_ids=(article.node.id,),
    )


def _fitness(article: Article, matched: float) -> float:
    named = sum(
        role_of_heading(part.heading) is None
        for part in article.of_role(SectionRole.REMEDY, SectionRole.CHECK, SectionRole.PROCEDURE)
    )
    return 0.4 if named >= _SPECIFIC_SECTIONS else 0.6 + 0.3 * matched


def _kept(article: Article, points: Sequence[Point]) -> list[Point]:
    """The points the page is about, in its order."""
    text = "\n".join(part.passage.text for part in article.parts)
    focus = Focus(text, [point.said for point in points])
    weights = [
        focus.weight(index, place=point.place, kind=point.kind.value)
        for index, point in enumerate(points)
    ]
    ranked = sorted(range(len(points)), key=lambda index: -weights[index])
    enough = [i for i in ranked if weights[i] >= _KEPT_FROM]
    kept = enough if len(enough) > _LEAST_KEPT else ranked[:_LEAST_KEPT]
    return [points[index] for index in sorted(kept)]


def _checks(article: Article, checks: Sequence[Point]) -> list[Element]:
    """The fault, then what the page says to look at, with the commands of its checks."""
    blocks = [b for part in article.of_role(SectionRole.CHECK) for b in part.blocks]
    shown = [b for part in article.of_role(SectionRole.EXPECTED) for b in part.blocks]
    steps = [opening(article), *(Do(point.said, point.cites) for point in checks)]
    expected = expected_of(shown) or expected_of(blocks)
    steps[-1] = replace(steps[-1], commands=commands_of(blocks), expected=expected)
    return list(steps)


def _chain(
    asked: Sequence[Point], cure: dict[Point, Point], kept: Sequence[Point], stays: Point | None
) -> Iterator[Element]:
    """A question per cause; remedies that are nobody's go to the cause they fit best.

    What is left when no other cause holds, be it a remedy or the last cause's, needs no question.
    """
    used = {cure[cause] for cause in asked}
    spare = [p for p in kept if p.kind in {Kind.REMEDY, Kind.RECOVERY} and p not in used]
    spare = [p for p in spare if p is not stays]
    last = stays or (spare.pop() if spare else None)
    more: dict[Point, list[Point]] = {cause: [cure[cause]] for cause in asked}
    for remedy in spare:
        more[asked[best_match(remedy.text, [cause.text for cause in asked])]].append(remedy)
    if last is None and len(asked) > 1 and len(more[asked[-1]]) == 1:
        *asked, excluded = asked
        last = more[excluded][0]
        last = replace(last, cites=(*last.cites, *excluded.cites))
    for cause in asked:
        yield Ask(cause.said, yes=_remedy_steps(more[cause]), cites=cause.cites)
    if last:
        yield End(last.said, last.cites, last.commands)
    else:
        cites = tuple(span for cause in asked for span in cause.cites)
        yield End("None of these causes holds: escalate", cites)


def _remedy_steps(remedies: Sequence[Point]) -> tuple[Element, ...]:
    *first, last = remedies
    return (
        *(Do(r.said, r.cites, r.commands) for r in first),
        End(last.said, last.cites, last.commands),
    )


def _points(article: Article) -> Iterator[Point]:
    for part in article.of_role(SectionRole.CHECK):
        yield from _check_points(part)
    for part in article.of_role(SectionRole.CAUSE):
        yield from _item_points(part, Kind.CAUSE)
    remedies = article.of_role(SectionRole.REMEDY, SectionRole.PROCEDURE)
    for index, part in enumerate(remedies):
        yield from _item_points(part, Kind.RECOVERY if index else Kind.REMEDY)


def _check_points(part: Part) -> Iterator[Point]:
    for block in part.blocks:
        if block.kind is not BlockKind.PARAGRAPH:
            continue
        said = [
            clause for clause in clauses(block.text) if is_check(clause) or is_imperative(clause)
        ]
        for place, clause in enumerate(said):
            span = part.lines(block.start_line, block.end_line)
            yield Point(Kind.CHECK, clause, shorten(clause, words=16), place, (span,))


def _item_points(part: Part, kind: Kind) -> Iterator[Point]:
    items = [item for block in part.blocks for item in block.items if item.text]
    for place, item in enumerate(items):
        first = tidy(sentences(item.text)[0])
        if kind is Kind.RECOVERY and not (is_imperative(first) or condition(first)):
            continue
        said = question(first, words=8) if kind is Kind.CAUSE else shorten(first, words=12)
        nested = [b for each in item.blocks for b in each.walk()]
        span = part.lines(item.start_line, item.end_line)
        yield Point(kind, item.text, said, place, (span,), commands_of(nested))
