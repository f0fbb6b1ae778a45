"""A page's text as the procedures that it tells."""

import re
from collections.abc import Iterator, Sequence

from services.knowledge.document.markdown import Block, BlockKind, MarkdownPage, Section, parse
from services.knowledge.model import SectionRole
from services.language.deeds import first_stem, mends, only_finds_out
from services.language.sentences import sentences, shorten
from services.language.states import names_fault
from services.procedure.model import (
    Arm,
    Choice,
    Do,
    End,
    EndKind,
    Mode,
    Node,
    Not,
    Outcome,
    Procedure,
    Reader,
    Reading,
    Remark,
    State,
    questions,
)
from services.procedure.rules.blocks import Blocks
from services.procedure.rules.doubts import doubts_of
from services.procedure.rules.outline import Outline, Told, is_labelled, role_of
from services.procedure.rules.places import Places
from services.procedure.rules.prose import DOUBTFUL, OPEN_TEXT, acts
from services.procedure.rules.size import fitting
from services.procedure.rules.targets import settled

RULES_VERSION = "17"
"""Changes when the rules read a page in another way."""

_FAULTS = frozenset({SectionRole.SYMPTOM, SectionRole.CAUSE, SectionRole.MEANING})
_CURES = frozenset({SectionRole.REMEDY, SectionRole.PROCEDURE, SectionRole.CHECK})
_MOST_WORDS_OF_FAULT = 40
_LEAST_SCENARIOS = 3
"""Two are told as one procedure that asks which of them it is."""
_TEMPLATE = re.compile(r"<%|\{\{|\{%")
_STATED_TITLE = re.compile(r"^title:[ \t]*(?P<title>\S.*?)[ \t]*$", re.MULTILINE)
_IS_USED = re.compile(r"use\b", re.IGNORECASE)
"""Of `Use the tools to look …` nobody knows whether it mends anything."""
_CALLED = {"syntax", "synopsis", "usage"}
_CALLED_WITH = {"parameters", "options", "arguments", "flags"}


def read_by_rules(text: str) -> Reading:
    """The procedures that a page tells, none where it tells nothing to do.

    Never fails: a page in another language, or of nothing but prose, tells nothing.
    """
    page = parse(text)
    procedures = tuple(_procedures(page))
    doubts = [doubt for place, each in enumerate(procedures) for doubt in doubts_of(each, place)]
    return Reading(
        reader=Reader.RULES, version=RULES_VERSION, procedures=procedures, doubts=tuple(doubts)
    )


def _procedures(page: MarkdownPage) -> Iterator[Procedure]:
    blocks = Blocks(page, Places(page))
    scenarios = _scenarios(page)
    outline = Outline(blocks, beside=frozenset(id(each) for each in scenarios))
    told = outline.told([page.root])
    if told.is_empty and not scenarios and not _describes_command(page):
        told = Outline(blocks, reads_all=True).told([page.root])
    if not told.is_empty:
        yield _procedure(page, page.root, told)
    for section in scenarios:
        told = Outline(blocks).of_one(section)
        if not told.is_empty:
            yield _procedure(page, section, told)


def _describes_command(page: MarkdownPage) -> bool:
    """Whether the page is the reference of a command: how it is called, and with what."""
    titles = {section.title.strip().casefold() for section in page.sections}
    return not titles.isdisjoint(_CALLED) and not titles.isdisjoint(_CALLED_WITH)


def _scenarios(page: MarkdownPage) -> Sequence[Section]:
    """Sections that each tell one fault of several, with its own signs and its own cure."""
    for section in page.sections:
        found = [each for each in section.children if _is_scenario(each)]
        if len(found) >= _LEAST_SCENARIOS:
            return found
    return ()


def _is_scenario(section: Section) -> bool:
    roles = {role_of(child) for child in section.children}
    is_apart = role_of(section) is None and not is_labelled(section)
    return is_apart and bool(roles & _FAULTS) and bool(roles & _CURES)


def _procedure(page: MarkdownPage, section: Section, told: Told) -> Procedure:
    """The bodies in their places; what is the only one is the procedure."""
    bodies = [told.body, told.verification, told.escalation]
    if not acts(told.body):
        bodies = [[*told.body, *told.verification, *told.escalation], [], []]
    heading = section if section.level else next(iter(section.children), section)
    treated = _treated(section)
    if _only_looks(bodies) and names_fault(f"{heading.title} {treated}"):
        bodies = [[*bodies[0], _asked(bodies[0][-1])], [], []]
    bodies[0] = _after_deeds(bodies[0])
    body, verification, escalation = fitting(bodies)
    return settled(
        Procedure(
            title=_title(page, heading),
            treats=treated,
            lines=((section.start_line, max(section.start_line, section.end_line)),),
            body=body,
            verification=verification,
            escalation=escalation,
        ),
        page,
    )


def _title(page: MarkdownPage, heading: Section) -> str:
    """The heading; where a template makes it of the front matter, what that states."""
    if not _TEMPLATE.search(heading.title):
        return heading.title or "Procedure"
    stated = _STATED_TITLE.search(page.front_matter)
    return stated["title"].strip("\"' ") if stated else "Procedure"


def _only_looks(bodies: Sequence[Sequence[Node]]) -> bool:
    """Whether nothing is mended or asked, so that nobody knows at the end if the fault is gone."""
    body, *others = bodies
    body = [node for node in body if not isinstance(node, Remark)]
    steps = all(isinstance(node, Do) and only_finds_out(node.text) for node in body)
    return bool(body) and steps and not any(others)


def _after_deeds(body: Sequence[Node]) -> list[Node]:
    """A last case behind a remedy is one more thing: where it does not hold, all is done."""
    last = body[-1] if body else None
    if not isinstance(last, Choice) or len(last.arms) > 1 or last.otherwise is not None:
        return list(body)
    told = (each.text for each in body[:-1] if isinstance(each, Do))
    done = (each for each in told if not only_finds_out(each) and not _IS_USED.match(each))
    is_mended = any(mends(first_stem(each)) for each in done)
    if not is_mended or any(isinstance(each, Outcome) for each in questions(last.arms[0].guard)):
        return list(body)
    return [*body[:-1], last.model_copy(update={"otherwise": ()})]


def _asked(last: Node) -> Choice:
    """Whether the fault is gone, which a page that only looks leaves open."""
    end = End(kind=EndKind.ESCALATE, text=OPEN_TEXT)
    guard = Not(guard=State(text="Is the issue resolved?"))
    arm = Arm(guard=guard, body=(end,), lines=last.lines)
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=last.lines, confidence=DOUBTFUL)


def _treated(section: Section) -> str:
    """The fault in a sentence: what the page says that it means, or how it shows."""
    told = (each for each in section.walk() if role_of(each) in _FAULTS)
    for part in (*told, *section.walk()):
        said = next(_said(part.blocks), "")
        if said:
            return shorten(said, words=_MOST_WORDS_OF_FAULT)
    return section.title


def _said(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if block.kind is BlockKind.PARAGRAPH:
            yield from sentences(block.text)[:1]
