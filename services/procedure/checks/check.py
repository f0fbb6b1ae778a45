"""What a workflow looks at, without how: “show the fans” and “are the fans running?” are one."""

import re
from collections.abc import Iterator
from functools import cached_property

from services.kit.value import Value
from services.language.words import tokenise
from services.workflow.looking import only_looks
from services.workflow.model import Citation, Step, StepKind, Workflow
from services.workflow.plain import plain

_HOW = re.compile(
    r"\b(?:using|via|with the (?:command|following)|by running|in order to)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_PASSING = frozenset(
    tokenise(
        "is are was were be been being do does did has have had can could will would should may"
        " must the a an any all each this that these those it its they them there then now still"
        " also please which what whether if when not no yes or and of on in at for to from by with"
        " as check verify confirm ensure inspect examine review look compare determine identify"
        " validate test monitor observe view see find get list show display investigate query read"
        " following command output result issue problem page step up ok good fine bad healthy"
    )
)
"""Words that say how, or nothing, of what is looked at."""


_LEAST = 2
"""Words of its subject: one alone says too little."""
_NAMED = re.compile(r"[A-Za-z][\w./-]*(?:=[A-Za-z][\w./-]*)?")
_LEAST_NAMED = 3
"""Words of a command that say what it looks at: program, verb, object."""
_OWN = re.compile(
    r"(?:is (?:this|the problem)\b|which of these\b|does this (?:concern|apply)\b|can\b|see\b"
    r"|(?:is|has|was|did) (?:the |this |that |it )?(?:issue|problem|alert|fault|error)?\s*"
    r"(?:been |still )?(?:resolved|fixed|gone|help|clear|fir)|note\b|refer\b|read\b(?! the log))",
    re.IGNORECASE,
)


class Check(Value):
    """One thing that is looked at."""

    text: str
    """The step or question, as the page has it."""
    citations: tuple[Citation, ...] = ()
    commands: tuple[str, ...] = ()
    """With which it is looked at there."""

    @cached_property
    def subject(self) -> frozenset[str]:
        """Stems of the words that name what is looked at."""
        return frozenset(tokenise(_HOW.sub("", plain(self.text)))) - _PASSING

    @cached_property
    def look(self) -> str:
        """Its first command without options and places to fill in; empty where little is left."""
        words = self.commands[0].split() if self.commands else []
        named = [word for word in words if _NAMED.fullmatch(word)]
        return " ".join(named) if len(named) >= _LEAST_NAMED else ""


def checks_of(workflow: Workflow) -> list[Check]:
    """Its questions, and its steps that only find something out, in their order.

    Not which of its cases holds, nor whether it helped: that is asked of every page.
    """
    found = (
        Check(text=plain(step.text), citations=step.citations, commands=step.commands)
        for step in _looking(workflow)
    )
    return [
        each
        for each in found
        if (len(each.subject) >= _LEAST or each.look) and not _OWN.match(each.text)
    ]


def _looking(workflow: Workflow) -> Iterator[Step]:
    for step in workflow.steps:
        is_look = step.kind is StepKind.PROCESS and only_looks(step)
        if step.kind is StepKind.DECISION or is_look:
            yield step
