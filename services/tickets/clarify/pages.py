"""The question which of several pages applies, with the lines of each that came nearest."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from services.contracts.clarification import PageCard
from services.contracts.retrieval import RIVAL_SCORE, PageReading, RetrievedContext
from services.kit.text import ellipsize, squeeze
from services.knowledge.document.front_matter import FRONT_MATTER
from services.knowledge.page.block import BlockKind, Page, plain
from services.knowledge.page.parsing import parse_page
from services.language.names import is_identifier
from services.language.question_quality import names_something
from services.language.sentences import sentences
from services.language.words import tokenise
from services.runbook.choose import procedure_for
from services.tickets.clarify.decision_question import MOST_CHOICES
from services.tickets.page_feedback import PageFeedback, page_hash, retrieved_pages
from services.tickets.ticket.question import AnswerChoice, ClarifyingQuestion, QuestionTopic

WHICH_PAGE = "Which of these pages is about what you see?"
NONE_OF_THESE = "None of these"
_MOST_NAMES = 3
_MOST_TREATS_CHARACTERS = 160
"""Characters shown of what a page treats."""
_OPENING = 4000
"""Characters at the start of a page that say what it is about; the rest is the remedy."""
_EXCERPT_LINES = 4
_EXCERPT = 240
"""Characters of the excerpt on a page's card."""


def page_question(
    context: RetrievedContext,
    ticket_text: str,
    *,
    steps: int,
    is_sure: bool = True,
    words: PageFeedback | None = None,
) -> ClarifyingQuestion | None:
    """Build the question which page applies; None if no other page comes near the best one.

    For an unsure ticket another page need only have been retrieved; pages that people refused
    (`words`) stand behind the nearest then.

    If another page is the right one, the `steps` of the workflow are wasted; its chance follows
    from its relevance compared with the best page, whose chance is known.
    """
    page_words = words or PageFeedback()
    if is_sure:
        best = retrieved_pages(context.pages)
        bar = RIVAL_SCORE * best[0].score if best else 0.0
        rivals = [page for page in best if page.score >= bar][: MOST_CHOICES - 1]
    else:
        rivals = page_words.nearest(context.pages)
    refused = [] if is_sure else page_words.refused(context.pages)
    pages = [*rivals, *refused]
    if len(pages) < 2:
        return None
    choices = [_choice(page, pages, ticket_text) for page in pages]
    times = Counter(choice.text for choice in choices)
    distinct = (
        choice.model_copy(update={"text": f"{choice.text} ({page.document_id})"})
        if times[choice.text] > 1
        else choice
        for choice, page in zip(choices, pages, strict=True)
    )
    sure = context.confidence
    others = sure * sum(page.score for page in pages[1:]) / pages[0].score
    return ClarifyingQuestion(
        text=WHICH_PAGE,
        choices=(*distinct, AnswerChoice(text=NONE_OF_THESE)),
        about=QuestionTopic.PAGES,
        gain=min(others, 1 - sure) * steps,
        decisions=tuple(page.document_id for page in pages),
        cards=tuple(
            _card(page, context, page_words if page in refused else None) for page in pages
        ),
    )


def _card(page: PageReading, context: RetrievedContext, words: PageFeedback | None) -> PageCard:
    """Build the card of a page: its nearest passage, or its first lines if none came near."""
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


def _choice(page: PageReading, rivals: Sequence[PageReading], ticket_text: str) -> AnswerChoice:
    """Build the choice of a page: what it treats, and names that only this page has."""
    procedure = procedure_for(page.procedures, ticket_text)
    treats_text = procedure.treats if procedure else ""
    treats = (
        ellipsize(squeeze(next(iter(sentences(treats_text)), "")), _MOST_TREATS_CHARACTERS)
        if names_something(treats_text)
        else page.title
    )
    names = _own_names(page, [other for other in rivals if other is not page], ticket_text)
    shown = treats if page.title in treats else f"{page.title}: {treats}"
    says = " ".join((page.title, treats, *names))
    is_alone = treats == page.title
    return AnswerChoice(
        text=f"{shown} ({', '.join(names)})" if names and is_alone else shown, says=says
    )


def _own_names(page: PageReading, others: Sequence[PageReading], ticket_text: str) -> list[str]:
    """Return the commonest components, alerts and error strings of the page's opening."""
    elsewhere = set(tokenise(ticket_text)).union(
        *(tokenise(f"{other.title}\n{other.text}") for other in others)
    )
    words = _without_front_matter(page.text)[:_OPENING].split()
    names = Counter(filter(is_identifier, (word.strip("`'\"()[]{}<>.,;:*") for word in words)))
    own = (name for name, _ in names.most_common() if elsewhere.isdisjoint(tokenise(name)))
    return list(islice(own, _MOST_NAMES))


def _without_front_matter(text: str) -> str:
    front_matter = FRONT_MATTER.match(text)
    return text[front_matter.end() :] if front_matter else text
