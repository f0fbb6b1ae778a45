"""Sections as the parts of a procedure: what is told, how it is verified, who is asked at last."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from services.knowledge.document.markdown import BlockKind, Section
from services.knowledge.document.roles import STEP_ROLES, role_of_heading, without_numbering
from services.knowledge.model import SectionRole
from services.language.names import is_alert_name
from services.language.questions import question, states
from services.language.sentences import instruction, is_generic, sentences, shorten
from services.language.states import names_fault
from services.language.verbs import base_of_gerund
from services.procedure.model import All, Arm, Choice, Do, End, EndKind, Mode, Node, Not, State
from services.procedure.rules.blocks import OPTION_QUESTION, RUN, UNNAMED, Blocks
from services.procedure.rules.checked import looked_at, results_of, state_of
from services.procedure.rules.prose import DOUBTFUL, SKIP, acts, under_skip

_SILENT = frozenset(
    {
        SectionRole.MEANING,
        SectionRole.IMPACT,
        SectionRole.SYMPTOM,
        SectionRole.REFERENCE,
        SectionRole.PARAMETER,
        SectionRole.PREVENTION,
        SectionRole.EXPECTED,
        SectionRole.CASE,
        SectionRole.NOTE,
    }
)
"""Sections of these tell no steps."""
CASE = re.compile(
    r"^(?:(?:if|when(?! (?:not )?to\b))\b|(?:possible |likely |root |common )?(?:cause"
    r"|scenario|problem|issue|error"
    r"|case"
    r"|failure|symptom)\s*(?:#?\d{1,2}|[A-Z])?\s*[:.–—-])",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"^(?:option|method|alternative|approach|work-?around|solution|way)\s*(?:#?\d{1,2}\b|[A-Z]\b"
    r"|one\b|two\b|three\b)[\s:.)–—-]*",
    re.IGNORECASE,
)
_METHOD = re.compile(r"\S.*\b(?:method|approach|option|alternative)$", re.IGNORECASE)
_REMEDIES_TOLD = re.compile(
    r"(?:(?:common|possible|potential|typical|quick|known|suggested|recommended) )?(?:fixes"
    r"|solutions|remedies|work-?arounds|resolutions|mitigations)",
    re.IGNORECASE,
)
"""Headings of remedies for one cause each."""
_MANY = re.compile(
    r"^(?:known|common|possible|other|general|further)\b|\b(?:results|reasons|types|scenarios"
    r"|messages|modes|issues|problems|errors|failures|causes)$",
    re.IGNORECASE,
)
"""Headings of several cases."""


_REMEDIES = frozenset({SectionRole.REMEDY, SectionRole.PROCEDURE})


_FURTHER = re.compile(
    r"(?:further|additional|more) (?:info|read|detail)|see also|related\b"
    r"|(?:(?:useful|helpful|external|other) )?(?:links|references?)$",
    re.IGNORECASE,
)
"""Headings of what is to be read."""
_LINK = re.compile(
    r"\s*(?:[-*+]|\d+[.)])?\s*(?:\[[^\]]*\]\s*\(.*\)|<?https?:\S+)[\s.,]*", re.DOTALL
)
_TO_READ = re.compile(r"(?:see|find|refer|reference|read|learn|follow|check the)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"(?:follow|go (?:on )?(?:to|with)|continue with|see|refer to)\s", re.IGNORECASE
)
"""What leads to another page."""


@dataclass
class Told:
    """What a page tells, by when it is done."""

    body: list[Node]
    verification: list[Node]
    escalation: list[Node]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is told to do."""
        return not acts([*self.body, *self.verification, *self.escalation])


class Outline:
    """Reads the sections of one page."""

    def __init__(
        self, blocks: Blocks, *, reads_all: bool = False, beside: frozenset[int] = frozenset()
    ) -> None:
        self._blocks = blocks
        self._beside = beside
        self._silent: frozenset[SectionRole] = frozenset() if reads_all else _SILENT
        self._last_remedy = max(
            (s.start_line for s in blocks.page.sections if role_of(s) in _REMEDIES), default=0
        )

    def of_one(self, section: Section) -> Told:
        """The nodes of a section that is a procedure of its own."""
        told = Told([], [], [])
        self._add(told, section, is_last=False)
        return told

    def told(self, sections: Sequence[Section]) -> Told:
        """The nodes of these sections and all below them."""
        told = Told([], [], [])
        self._children(told, sections)
        return told

    def _add(self, told: Told, section: Section, *, is_last: bool) -> None:
        role = role_of(section)
        own = self._own(section, role)
        if role is SectionRole.VERIFICATION:
            own = [_passed(each) for each in own]
        is_last = is_last and section.start_line > self._last_remedy
        if role is SectionRole.VERIFICATION and told.body and is_last:
            told.verification += [*own, *self._below(section)]
        elif role is SectionRole.ESCALATION:
            told.escalation += [*own, *self._below(section)]
        else:
            inner = Told(own, [], []) if any(node.id == SKIP for node in own) else None
            if inner is None:
                told.body += own
            below: Sequence[Section] = section.children
            if role is SectionRole.REMEDY:
                below = self._resorts(inner or told, below)
            self._children(inner or told, below, is_silent=role in self._silent)
            if inner:
                told.body += under_skip([*inner.body, *inner.verification])
                told.escalation += inner.escalation

    def _own(self, section: Section, role: SectionRole | None) -> list[Node]:
        if role is SectionRole.NOTE:
            return self._blocks.nodes([b for b in section.blocks if b.kind is not BlockKind.QUOTE])
        if role in self._silent:
            return []
        blocks = replace(self._blocks, mends=role is SectionRole.REMEDY)
        told_apart = _REMEDIES_TOLD.fullmatch(without_numbering(section.title).strip(" :"))
        nodes = (told_apart and blocks.remedies(section.blocks)) or blocks.nodes(section.blocks)
        if _is_abstract(section):
            nodes = [each for each in nodes if not isinstance(each, Do) or each.commands]
        if self._silent and _FURTHER.match(section.title):
            nodes = [each for each in nodes if not self._is_read(each)]
        head = instruction(without_numbering(section.title))
        if (
            head
            and not acts(nodes)
            and section.level > 1
            and not section.children
            and section.blocks
        ):
            here = (section.start_line, section.end_line)
            return [*nodes, Do(text=shorten(head, words=25), lines=(here,))]
        return _named(nodes, head)

    def _is_read(self, node: Node) -> bool:
        """Whether it is a link, or says where to read, instead of what to do."""
        if not isinstance(node, Do) or node.commands or not node.lines:
            return False
        said = self._blocks.page.text(*node.lines[0])
        return bool(_LINK.fullmatch(said) or _TO_READ.match(node.text))

    def _below(self, section: Section) -> list[Node]:
        told = self.told(section.children)
        return [*told.body, *told.verification, *told.escalation]

    def _children(
        self,
        told: Told,
        sections: Sequence[Section],
        *,
        is_silent: bool = False,
        is_in_case: bool = False,
    ) -> None:
        sections = [each for each in sections if id(each) not in self._beside]
        sections = self._checked(told, self._options(told, sections))
        cases: list[list[Section]] = []
        are_deeds = sum(map(_is_deed, sections)) > 1
        are_alerts = sum(is_alert_name(each.title) for each in sections) > 1
        are_causes = sum(map(_is_cause, sections)) > 1
        last = max((n for n, each in enumerate(sections) if _ends_body(each)), default=-1)
        for place, section in enumerate(sections):
            if is_silent and _tells_nothing(section):
                continue
            is_alert = are_alerts and is_alert_name(section.title)
            if is_alert or (are_causes and _is_cause(section)):
                cases.append([section])
                continue
            if is_case(section) and (are_deeds or not _is_deed(section)):
                cases.append([section])
                continue
            is_its_remedy = len(cases) == 1 and role_of(section) is SectionRole.REMEDY
            if is_its_remedy and self._case(*cases[0]).body:
                cases[0].append(section)
                continue
            self._close(told, cases)
            before, checked = len(told.body), list(told.verification)
            self._add(told, section, is_last=place > last)
            _kept_in_place(told, checked, before)
            if _confirms(section) and told.body and not is_in_case:
                told.body.append(confirmed(section, told.body[-1]))
        self._close(told, cases)

    def _checked(self, told: Told, sections: Sequence[Section]) -> Sequence[Section]:
        """Adds a check with what is done on each of its results; the sections that are left."""
        results = results_of(sections)
        remedies = [each for each in sections if id(each) in results]
        arms = [self._result(each, results[id(each)]) for each in remedies]
        arms = [arm for arm in arms if arm.body]
        if not arms:
            return sections
        lines = tuple((each.start_line, each.start_line) for each in remedies)
        told.body += looked_at(sections)
        told.body.append(Choice(mode=Mode.EXCLUSIVE, arms=tuple(arms), lines=lines))
        reasons = [id(each) for each in results.values()]
        return [each for each in sections if id(each) not in results and id(each) not in reasons]

    def _result(self, section: Section, reason: Section | None) -> Arm:
        inner = Told(self._own(section, role_of(section)), [], [])
        self._children(inner, section.children)
        here = reason or section
        return Arm(
            guard=state_of(reason),
            body=(*inner.body, *inner.verification, *inner.escalation),
            lines=((here.start_line, here.end_line),),
        )

    def _options(self, told: Told, sections: Sequence[Section]) -> Sequence[Section]:
        """Adds the choice among sections that are options; the sections before and after them."""
        options = [
            each for each in sections if _OPTION.match(each.title) or _METHOD.fullmatch(each.title)
        ]
        if len(options) < 2:
            return sections
        arms = [self._option(each) for each in options]
        arms = [arm for arm in arms if arm.body]
        if len(arms) < 2:
            return sections
        lines = tuple((each.start_line, each.start_line) for each in options)
        choice = Choice(mode=Mode.FREE, arms=tuple(arms), lines=lines, question=OPTION_QUESTION)
        first = sections.index(options[0])
        self._children(told, sections[:first])
        told.body.append(choice)
        return [each for each in sections[first:] if each not in options]

    def _resorts(self, told: Told, sections: Sequence[Section]) -> Sequence[Section]:
        """Adds the choice among remedies that a page lists without an order; what is left."""
        resorts = [each for each in sections if _is_resort(each)]
        rest = [each for each in sections if each not in resorts]
        arms = [arm for arm in map(self._option, resorts) if arm.body]
        if len(arms) < 2 or len(arms) < len(resorts) or not all(map(_stands_aside, rest)):
            return sections
        tried = tuple(arm.model_copy(update={"guard": None}) for arm in arms)
        lines = tuple((each.start_line, each.start_line) for each in resorts)
        told.body.append(Choice(mode=Mode.IN_ORDER, arms=tried, lines=lines, confidence=DOUBTFUL))
        return rest

    def _option(self, section: Section) -> Arm:
        told = Told(self._own(section, role_of(section)), [], [])
        self._children(told, section.children)
        body = (*told.body, *told.verification, *told.escalation)
        label = _OPTION.sub("", section.title).strip(" :.–—-") or section.title
        here = (section.start_line, section.start_line)
        guard = State(text=shorten(label, words=10) or UNNAMED)
        return Arm(guard=guard, body=body, lines=(here,))

    def _close(self, told: Told, cases: list[list[Section]]) -> None:
        """Adds the choice among cases, each with the sections of its remedy."""
        arms = [arm for case in cases if (arm := self._case(*case)).body]
        if arms:
            lines = tuple((case[0].start_line, case[-1].end_line) for case in cases)
            told.body.append(Choice(mode=Mode.EXCLUSIVE, arms=tuple(arms), lines=lines))
        cases.clear()

    def _case(self, section: Section, *remedies: Section) -> Arm:
        told = Told(self._blocks.nodes(section.blocks), [], [])
        self._children(told, [*section.children, *remedies], is_in_case=True)
        body = (*told.body, *told.verification, *told.escalation)
        text = case_question(section.title)
        here = (section.start_line, section.start_line)
        return Arm(guard=State(text=text), body=body, lines=(here,))


def _kept_in_place(told: Told, checked: list[Node], before: int) -> None:
    """What is verified before more is done stays there: only the last is the page's verification.

    `checked` was verified when the body had its first `before` nodes.
    """
    if checked and len(told.body) > before and told.verification[: len(checked)] == checked:
        told.body[before:before] = checked
        del told.verification[: len(checked)]


def _passed(check: Node) -> Node:
    """A check that looks for a fault is passed where it finds none."""
    if not isinstance(check, Choice) or check.otherwise is not None or len(check.arms) != 1:
        return check
    (arm,) = check.arms
    if not isinstance(arm.guard, State) or not names_fault(arm.guard.text):
        return check
    last = arm.body[-1] if arm.body else None
    if isinstance(last, Do) and _ELSEWHERE.match(last.text):
        end = End(kind=EndKind.ESCALATE, text=last.text, lines=last.lines)
        arm = arm.model_copy(update={"body": (*arm.body[:-1], end)})
    return check.model_copy(update={"arms": (arm,), "otherwise": ()})


def _is_resort(section: Section) -> bool:
    """Whether a section below a remedy is a whole remedy by itself, in no order to the others."""
    title = section.title
    is_numbered = without_numbering(title) != title.strip() or _IN_SEQUENCE.search(title)
    return role_of(section) is None and not is_numbered and not is_case(section)


def _stands_aside(section: Section) -> bool:
    """Whether a section among remedies is none of the work itself."""
    role = role_of(section)
    return role in _SILENT or role in {SectionRole.ESCALATION, SectionRole.VERIFICATION}


_IN_SEQUENCE = re.compile(
    r"^(?:step|phase|part|stage)\b|\b(?:before|after|first|next|then|finally|again|prepar\w*|pre-?checks?|follow-?up"
    r"|clean-?up|post|topics|overview|details|information|notes?)\b",
    re.IGNORECASE,
)


def _named(nodes: list[Node], head: str) -> list[Node]:
    """The first step in the words of the heading, where its own only say that commands follow."""
    first = nodes[0] if nodes else None
    if head and isinstance(first, Do) and (is_generic(first.text) or first.text.startswith(RUN)):
        return [first.model_copy(update={"text": shorten(head, words=25)}), *nodes[1:]]
    return nodes


CONFIRM = re.compile(
    r"(?:issue|problem|scenario|symptom|fault)\s+(?:validation|confirmation|verification)"
    r"|(?:confirm|validate|verify|check for|identify) (?:the|this)? ?(?:issue|problem|scenario"
    r"|symptoms?|fault)",
    re.IGNORECASE,
)


def _confirms(section: Section) -> bool:
    """Whether it is about finding out if it is this fault at all."""
    return CONFIRM.fullmatch(without_numbering(section.title)) is not None


def _is_cause(section: Section) -> bool:
    """Whether it is one cause of several: how to tell that it is this one, and its remedy."""
    is_cured = any(role_of(each) in _REMEDIES for each in section.children)
    return is_cured and any(map(_confirms, section.children))


def confirmed(section: Section, last: Node) -> Node:
    """Whether it is the fault of this page at all, as its signs or the last check show."""
    items = [item for block in section.blocks for item in block.items]
    signs = [item for item in items if states(item.text) and not instruction(item.text)]
    here = last.lines or ((section.start_line, section.end_line),)
    said = last.text if isinstance(last, Do) else ""
    asked = f": {said}" if said and not is_generic(said) and not said.startswith(RUN) else ""
    guards = tuple(State(text=question(sentences(item.text)[0])) for item in signs[:_MOST_SIGNS])
    if guards:
        here = tuple((item.start_line, item.start_line) for item in signs[:_MOST_SIGNS])
    guard = Not(guard=All(guards=guards or (State(text=f"Is the issue confirmed{asked}?"),)))
    end = End(kind=EndKind.NOT_THIS_FAULT, text="Not this issue", lines=here)
    arm = Arm(guard=guard, body=(end,), lines=here)
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=here, confidence=0.5)


_MOST_SIGNS = 4
_OF_THE_ALERT = re.compile(
    r"(?:how to )?(?:disabl|silenc|mut|customi[sz]|configur|tun|overrid|edit|chang)(?:e|ing)\s"
    r"(?:\w+\s){0,3}?(?:alerts?|alarms?|rules?|thresholds?|notifications?|definitions?)\b",
    re.IGNORECASE,
)


def _tells_nothing(section: Section) -> bool:
    """Whether a section of a silent one is as silent: it is about the fault, or sets the alert."""
    is_about = role_of(section) is None and not section.children
    return is_about or _OF_THE_ALERT.match(without_numbering(section.title)) is not None


def is_silent(section: Section) -> bool:
    """Whether sections like this one tell no steps."""
    return role_of(section) in _SILENT


def role_of(section: Section) -> SectionRole | None:
    """What a section is for; whatever its heading tells to do is told."""
    return _role_of(section.title) if section.title else None


@lru_cache(maxsize=4096)
def _role_of(heading: str) -> SectionRole | None:
    role = role_of_heading(heading)
    title = without_numbering(heading)
    if role in _SILENT and len(title.split()) > 1 and instruction(title):
        return SectionRole.PROCEDURE
    if role is SectionRole.VERIFICATION and title != heading.strip():
        return SectionRole.CHECK  # a numbered step among others
    return role


def _is_abstract(section: Section) -> bool:
    """Whether it stands below the page's title and only says what the steps below are for."""
    is_prose = all(block.kind is BlockKind.PARAGRAPH for block in section.blocks)
    are_steps = any(
        role_of(each) in STEP_ROLES - {SectionRole.ESCALATION} for each in section.children
    )
    return section.level == 1 and is_prose and are_steps


def _ends_body(section: Section) -> bool:
    """Whether a verification before it would not be the last thing that is done."""
    role = role_of(section)
    return role is not SectionRole.VERIFICATION and role in STEP_ROLES - {SectionRole.ESCALATION}


def is_labelled(section: Section) -> bool:
    """Whether the heading calls itself a case: `Cause 2: …`, `If …`."""
    title = without_numbering(section.title)
    return CASE.match(title) is not None and any(map(str.isalnum, CASE.sub("", title)))


def is_case(section: Section) -> bool:
    """Whether the heading states a case, so that what stands under it is done when it holds."""
    title = without_numbering(section.title)
    if is_labelled(section):
        return True
    if _MANY.search(title):
        return False
    role = role_of(section)
    if role in STEP_ROLES or instruction(title) or section.level < 2:
        return False
    return names_fault(title) and role not in _SILENT - {SectionRole.MEANING}


def _is_deed(section: Section) -> bool:
    """Whether the heading of a case says what is done in it: `Adding rules that deny`."""
    named = CASE.sub("", without_numbering(section.title)).strip()
    return is_case(section) and bool(base_of_gerund(named.partition(" ")[0]))


def case_question(title: str) -> str:
    """Whether the case of a heading holds."""
    said = without_numbering(title)
    named = CASE.sub("", said).strip() or said
    asked = question(named)
    if base_of_gerund(named.partition(" ")[0]):
        asked = f"Is this to be done: {named.rstrip('.:')}?"
    elif asked.startswith("Is this the case: ") or re.match(r"Is (?:it|there) ", asked):
        asked = f"Is the problem: {named.rstrip('.:')}?"
    return f"{shorten(asked.rstrip('?'), words=25)}?"
