"""Asks which of several equally likely documents applies."""

from collections.abc import Iterator, Sequence

from services.contracts.retrieval import PageReading, RetrievedContext
from services.gateway.clarify.asked_words import MOST_CHOICES
from services.gateway.ticket.question import About, Choice, Question
from services.knowledge.document.front_matter import FRONT_MATTER
from services.language.asking import names_something
from services.language.names import is_identifier
from services.language.sentences import sentences
from services.language.words import tokenise
from services.procedure.choose import procedure_for

WHICH_PAGE = "Which of these pages is about what you see?"
NONE_OF_THESE = "None of these"
_RIVAL = 0.85
"""Share of the best page's relevance from which another one competes, as the planner has it."""
_MOST_NAMES = 3
_MOST_SHOWN = 160
"""Characters of what a page says that it treats."""
_OPENING = 4000
"""Characters of a page that say what it is about; what follows repairs it."""


def page_question(context: RetrievedContext, ticket_text: str, *, steps: int) -> Question | None:
    """None where no other page comes near the best one.

    `steps` of the workflow are in vain when another of them is the one; each is as likely to be it
    as it is relevant beside the best one, whose chance is known.
    """
    rivals = _rivals(context.pages)
    if len(rivals) < 2:
        return None
    choices = [_choice(page, rivals, ticket_text) for page in rivals]
    sure = context.confidence
    others = sure * sum(page.score for page in rivals[1:]) / rivals[0].score
    return Question(
        text=WHICH_PAGE,
        choices=(*choices, Choice(text=NONE_OF_THESE)),
        about=About.PAGES,
        gain=min(others, 1 - sure) * steps,
        decisions=tuple(page.document_id for page in rivals),
    )


def _rivals(pages: Sequence[PageReading]) -> list[PageReading]:
    best = max((page.score for page in pages), default=0.0)
    near = [page for page in pages if page.score > 0 and page.score >= _RIVAL * best]
    return sorted(near, key=lambda page: -page.score)[: MOST_CHOICES - 1]


def _choice(page: PageReading, rivals: Sequence[PageReading], ticket_text: str) -> Choice:
    """The page by what it treats, and by names that it alone has."""
    procedure = procedure_for(page.procedures, ticket_text)
    told = procedure.treats if procedure else ""
    treats = _short(next(iter(sentences(told)), "")) if names_something(told) else page.title
    others = [other for other in rivals if other is not page]
    names = list(_own_names(page, others, ticket_text))[:_MOST_NAMES]
    shown = treats if page.title in treats else f"{page.title}: {treats}"
    says = " ".join((page.title, treats, *names))
    is_alone = treats == page.title
    return Choice(text=f"{shown} ({', '.join(names)})" if names and is_alone else shown, says=says)


def _own_names(page: PageReading, others: Sequence[PageReading], ticket_text: str) -> Iterator[str]:
    """Components, alerts and error strings of its opening, those it repeats most first."""
    elsewhere = set(tokenise(ticket_text)).union(*(_tokens(other) for other in others))
    counts: dict[str, int] = {}
    for word in _without_front_matter(page.text)[:_OPENING].split():
        name = word.strip("`'\"()[]{}<>.,;:*")
        if is_identifier(name) and not elsewhere.intersection(tokenise(name)):
            counts[name] = counts.get(name, 0) + 1
    yield from sorted(counts, key=lambda name: -counts[name])


def _without_front_matter(text: str) -> str:
    found = FRONT_MATTER.match(text)
    return text[found.end() :] if found else text


def _tokens(page: PageReading) -> set[str]:
    return set(tokenise(f"{page.title}\n{page.text}"))


def _short(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _MOST_SHOWN else f"{said[: _MOST_SHOWN - 1].rstrip()}…"
