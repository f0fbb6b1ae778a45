"""Asks which of several documents applies, with the lines of each that came near."""

from collections import Counter
from collections.abc import Iterator, Sequence

from services.contracts.clarification import PageCard
from services.contracts.retrieval import RIVAL_SCORE, PageReading, RetrievedContext
from services.gateway.clarify.asked_words import MOST_CHOICES
from services.gateway.page_words.words import PageWords, found_pages, page_hash
from services.gateway.ticket.question import About, Choice, Question
from services.knowledge.document.front_matter import FRONT_MATTER
from services.knowledge.page.block import BlockKind, Page, plain
from services.knowledge.page.parsing import parse_page
from services.language.asking import names_something
from services.language.names import is_identifier
from services.language.sentences import sentences
from services.language.words import tokenise
from services.procedure.choose import procedure_for

WHICH_PAGE = "Which of these pages is about what you see?"
NONE_OF_THESE = "None of these"
_MOST_NAMES = 3
_MOST_SHOWN = 160
"""Characters of what a page says that it treats."""
_OPENING = 4000
"""Characters of a page that say what it is about; what follows repairs it."""
_EXCERPT_LINES = 4
_EXCERPT = 240
"""Characters of the lines that came near."""


def page_question(
    context: RetrievedContext,
    ticket_text: str,
    *,
    steps: int,
    is_sure: bool = True,
    words: PageWords | None = None,
) -> Question | None:
    """None where no other page comes near the best one.

    Of an unsure ticket another one need not come near, it is enough that it was found; pages that
    people refused (`words`) stand behind the nearest then.

    `steps` of the workflow are in vain when another of them is the one; each is as likely to be it
    as it is relevant beside the best one, whose chance is known.
    """
    said = words or PageWords()
    rivals = _rivals(context.pages) if is_sure else said.nearest(context.pages)
    refused = [] if is_sure else said.refused(context.pages)
    pages = [*rivals, *refused]
    if len(pages) < 2:
        return None
    choices = _with_distinct_texts([_choice(page, pages, ticket_text) for page in pages], pages)
    sure = context.confidence
    others = sure * sum(page.score for page in pages[1:]) / pages[0].score
    return Question(
        text=WHICH_PAGE,
        choices=(*choices, Choice(text=NONE_OF_THESE)),
        about=About.PAGES,
        gain=min(others, 1 - sure) * steps,
        decisions=tuple(page.document_id for page in pages),
        cards=tuple(_card(page, context, said if page in refused else None) for page in pages),
    )


def _rivals(pages: Sequence[PageReading]) -> list[PageReading]:
    best = found_pages(pages)
    bar = RIVAL_SCORE * best[0].score if best else 0.0
    return [page for page in best if page.score >= bar][: MOST_CHOICES - 1]


def _with_distinct_texts(choices: Sequence[Choice], pages: Sequence[PageReading]) -> list[Choice]:
    """The choices; those of one text are followed by the id of their page."""
    times = Counter(choice.text for choice in choices)
    return [
        choice.model_copy(update={"text": f"{choice.text} ({page.document_id})"})
        if times[choice.text] > 1
        else choice
        for choice, page in zip(choices, pages, strict=True)
    ]


def _card(page: PageReading, context: RetrievedContext, words: PageWords | None) -> PageCard:
    """The page with its passage that came nearest, or with its first lines where none did."""
    own = [each for each in context.chunks if each.chunk.span.document_id == page.document_id]
    if own:
        nearest = max(own, key=lambda each: each.score).chunk
        path, first, last = nearest.heading_path, nearest.span.start_line, nearest.span.end_line
        excerpt = _excerpt(parse_page(nearest.text))
    else:
        text = _without_front_matter(page.text)
        path, first = (), page.text.count("\n", 0, len(page.text) - len(text)) + 1
        begin = text.splitlines()[:_EXCERPT_LINES]
        last = first + max(len(begin) - 1, 0)
        excerpt = _excerpt(parse_page("\n".join(begin)))
    return PageCard(
        document_id=page.document_id,
        title=page.title,
        heading_path=path,
        start_line=first,
        end_line=last,
        excerpt=excerpt,
        text_hash=page_hash(page),
        refused_by=words.refused_by[page.document_id] if words else (),
    )


def _excerpt(page: Page) -> str:
    """Return the first lines as they read, headings left out: the section is named beside them."""
    lines: list[str] = []
    for block in (block for outermost in page.blocks for block in outermost.walk()):
        if block.kind is BlockKind.TABLE:
            lines += (" | ".join(map(plain, row)) for row in (block.header, *block.rows))
        elif block.kind not in {BlockKind.HEADING, BlockKind.FRONT_MATTER, BlockKind.COMMENT}:
            lines += (f"{block.number} {block.text}".strip(), *block.verbatim.split("\n"))
    written = [line for line in lines if line.strip()] or [block.text for block in page.blocks]
    return "\n".join(written[:_EXCERPT_LINES])[:_EXCERPT]


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
