"""From a symptom through its possible causes, one question each, to the remedy of the one found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.knowledge.model import SectionRole, Span
from services.planner.article import Article, Part
from services.planner.code import commands_of
from services.planner.draft import Ask, Do, Draft, Element, End
from services.planner.ends import opening
from services.planner.matching import match
from services.planner.sentences import question, sentences, shorten, tidy


@dataclass(frozen=True)
class Point:
    """One cause or one remedy, and where it stands."""

    text: str
    cites: tuple[Span, ...]
    commands: tuple[str, ...] = ()


_Pair = tuple[Point, Point]
"""A cause and its remedy."""


def differential_diagnosis(article: Article) -> Draft | None:
    """Cause by cause; None unless the page lists at least two causes and a remedy."""
    causes = list(_points(article.of_role(SectionRole.CAUSE)))
    remedy_parts = article.of_role(SectionRole.REMEDY)
    remedies = list(_points(remedy_parts[:1]))
    if len(causes) < 2 or not remedies:
        return None
    pairs = match([c.text for c in causes], [r.text for r in remedies])
    elements = _chain(causes, remedies, pairs)
    matched = len(pairs) / min(len(causes), len(remedies))
    return Draft(
        strategy="differential",
        title=article.name,
        elements=(opening(article), *elements),
        fitness=0.6 + 0.3 * matched,
        document_ids=(article.document_id,),
        node_ids=(article.node.id,),
    )


def _chain(
    causes: Sequence[Point], remedies: Sequence[Point], pairs: dict[int, int]
) -> tuple[Element, ...]:
    """Asked causes with their remedies; what is left over is the way out when none holds."""
    left = [r for j, r in enumerate(remedies) if j not in pairs.values()]
    asked = [(cause, remedies[pairs[i]]) for i, cause in enumerate(causes) if i in pairs]
    unmatched = [cause for i, cause in enumerate(causes) if i not in pairs]
    while unmatched and left:
        asked.append((unmatched.pop(0), left.pop(0)))
    elements: list[Element] = [
        Ask(question(c.text, words=7), yes=(_end(r),), cites=c.cites) for c, r in asked
    ]
    return (
        *elements,
        *(Do(_remedy_text(r), r.cites, r.commands) for r in left[:-1]),
        _last(left, unmatched, asked),
    )


def _last(
    left: Sequence[Point], unmatched: Sequence[Point], asked: Sequence[tuple[Point, Point]]
) -> End:
    if left:
        return _end(left[-1])
    cites = tuple(s for c in unmatched for s in c.cites) or asked[-1][0].cites
    if unmatched:
        return End(f"Escalate: {shorten(unmatched[0].text, words=8)}", cites)
    return End("Escalate: none of the known causes holds", cites)


def _end(remedy: Point) -> End:
    return End(_remedy_text(remedy), remedy.cites, remedy.commands)


def _remedy_text(remedy: Point) -> str:
    return shorten(sentences(remedy.text)[0], words=12)


def _points(parts: Sequence[Part]) -> Iterator[Point]:
    for part in parts:
        for block in part.blocks:
            for item in block.items:
                if item.text:
                    nested = [b for each in item.blocks for b in each.walk()]
                    yield Point(
                        tidy(item.text),
                        (part.lines(item.start_line, item.end_line),),
                        commands_of(nested),
                    )
