"""Sections that tell what a check looks at, why it fails, and what is done then."""

import re
from collections.abc import Mapping, Sequence

from services.knowledge.document.markdown import BlockKind, Section
from services.knowledge.document.roles import role_of_heading, without_numbering
from services.knowledge.model import SectionRole
from services.language.questions import question
from services.language.sentences import capitalised, sentences, shorten
from services.language.verbs import base_of_third
from services.procedure.model import Do, Node, State

_PART = re.compile(
    r"(?P<result>failures?|failed|fail|errors?|uncertain|unknown|warnings?)\s+"
    r"(?:(?P<reason>reasons?|causes?)|remediations?|remedy|resolutions?|mitigations?|actions?)"
    r"(?P<which>\b.*)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:(?:this|the|it)\s+(?:(?:\w+\s+)?(?:step|check|test|rule|probe)\s+)?(?:also\s+)?)?"
    r"(?P<verb>\w+)\s+(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_MOST_WORDS = 30

Results = Mapping[int, Section | None]
"""The reason that belongs to each section of a remedy; both by the section's `id`."""


def results_of(sections: Sequence[Section]) -> Results:
    """The remedies of a failed check with the reasons beside them; none where no reason is told."""
    reasons: dict[tuple[str, str], Section] = {}
    remedies: dict[int, tuple[str, str]] = {}
    for section in sections:
        found = _PART.fullmatch(without_numbering(section.title))
        key = (found["result"].lower(), found["which"].strip()) if found else ("", "")
        if found and found["reason"]:
            reasons[key] = section
        elif found:
            remedies[id(section)] = key
    return {place: reasons.get(key) for place, key in remedies.items()} if reasons else {}


def state_of(reason: Section | None) -> State:
    """Whether the check gives the result of which the reason tells."""
    said = _first(reason) if reason else ""
    asked = question(said).rstrip("?") if said else "Does the check fail"
    return State(text=f"{shorten(asked, words=_MOST_WORDS)}?")


def looked_at(sections: Sequence[Section]) -> list[Node]:
    """What the check looks at, told as something to do: `This step checks …` is to check it."""
    about = [s for s in sections if role_of_heading(s.title) is SectionRole.MEANING]
    for section in about:
        for block in section.blocks[:1]:
            for said in sentences(block.text)[:2]:
                told = _imperative(said)
                if told:
                    here = (block.start_line, block.end_line)
                    return [Do(text=shorten(told, words=_MOST_WORDS), lines=(here,))]
    return []


def _imperative(said: str) -> str:
    found = _SUBJECT.match(said)
    base = base_of_third(found["verb"]) if found else ""
    return capitalised(f"{base} {found['rest']}") if found and base else ""


def _first(section: Section) -> str:
    said = (
        each
        for block in section.blocks
        if block.kind is BlockKind.PARAGRAPH
        for each in sentences(block.text)
    )
    return next(said, "")
