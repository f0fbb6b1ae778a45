"""Sections of a page that each tell one fault of several, with its remedy."""

from dataclasses import dataclass
from itertools import pairwise

from services.knowledge.document.roles import role_of_heading, role_of_label
from services.knowledge.model import SectionRole
from services.planner.article import Article, Part
from services.planner.sentences import without_label

_FAULT = frozenset({SectionRole.SYMPTOM, SectionRole.CAUSE, SectionRole.MEANING})
_REMEDY = frozenset({SectionRole.REMEDY, SectionRole.PROCEDURE, SectionRole.CHECK})


@dataclass(frozen=True)
class Scenario:
    """One fault: the heading that names it and the parts below it."""

    heading: str
    parts: tuple[Part, ...]


def scenarios(article: Article) -> list[Scenario]:
    """At least two of the same level in document order, or none."""
    by_path: dict[tuple[str, ...], list[Part]] = {}
    for part in article.parts:
        path = part.passage.heading_path
        for depth in range(2, len(path) + 1):
            by_path.setdefault(path[:depth], []).append(part)
    by_level: dict[tuple[str, ...], list[Scenario]] = {}
    for path, parts in by_path.items():
        if _is_scenario(path, parts):
            by_level.setdefault(path[:-1], []).append(Scenario(path[-1], tuple(parts)))
    best = max((*by_level.values(), _labelled(article)), key=len)
    return best if len(best) > 1 else []


def _labelled(article: Article) -> list[Scenario]:
    """`Cause: …` and `Solution: …` in turn below one heading."""
    found: list[Scenario] = []
    for before, after in pairwise(article.parts):
        same_heading = before.passage.heading_path[:-1] == after.passage.heading_path[:-1]
        text = next((block.text for block in before.blocks if block.text), "")
        if (
            before.role in {SectionRole.CAUSE, SectionRole.SYMPTOM}
            and after.role is SectionRole.REMEDY
            and same_heading
            and before.depth > 1
            and role_of_label(before.heading)
            and text
        ):
            found.append(Scenario(without_label(text), (before, after)))
    return found


def _is_scenario(path: tuple[str, ...], parts: list[Part]) -> bool:
    """A fault under one heading below this one, a remedy under another."""
    below = [part for part in parts if len(part.passage.heading_path) > len(path)]
    roles = {part.role for part in below if role_of_heading(part.heading) is part.role}
    return role_of_heading(path[-1]) is None and bool(roles & _FAULT) and bool(roles & _REMEDY)
