"""Tools for the documents: `search_knowledge` and `draft_procedure`."""

from services.contracts.composing import ComposeAnswer, ComposeRequest
from services.contracts.mcp import (
    DraftedProcedure,
    DraftProcedure,
    KnowledgeAnswer,
    KnowledgePassage,
    SearchKnowledge,
)
from services.contracts.retrieval import RetrieveRequest
from services.kit.access.scopes import Scope
from services.kit.errors import UnavailableError
from services.llm.prompts import quote_untrusted
from services.tickets.formats import lines_url
from services.web.mcp.tool import McpTool, Platform


def _search(platform: Platform, arguments: SearchKnowledge) -> KnowledgeAnswer:
    request = RetrieveRequest(description=arguments.query, top_chunks=arguments.limit)
    context = platform.retrieval.retrieve(request)
    passages = []
    for retrieved in context.chunks:
        span = retrieved.chunk.span
        passages.append(
            KnowledgePassage(
                document_id=span.document_id,
                heading=retrieved.chunk.heading_path,
                start_line=span.start_line,
                end_line=span.end_line,
                score=retrieved.score,
                text=retrieved.chunk.text,
                url=lines_url(span.document_id, span.start_line, span.end_line),
            )
        )
    return KnowledgeAnswer(
        passages=tuple(passages), confidence=context.confidence, degraded=context.degraded
    )


def _write_passages(answer: KnowledgeAnswer) -> str:
    if not answer.passages:
        return "No passage was found."
    parts = [answer.notice]
    for passage in answer.passages:
        lines = f"lines {passage.start_line}-{passage.end_line}"
        parts.append(quote_untrusted(f"passage {passage.document_id} {lines}", passage.text))
    return "\n\n".join(parts)


SEARCH = McpTool(
    name="search_knowledge",
    title="Search the operation documents",
    description="Passages of the team's runbooks and other operation documents that fit a fault or "
    "a question, best first, each with its document and lines.",
    scope=Scope.READ,
    arguments=SearchKnowledge,
    answer=KnowledgeAnswer,
    run=_search,
    write=_write_passages,
)


class NoPlannerError(UnavailableError):
    """The gateway was started without a planner that composes."""


def _draft(platform: Platform, arguments: DraftProcedure) -> DraftedProcedure:
    if platform.composing is None:
        raise NoPlannerError("this gateway knows no planner to compose with")
    request = ComposeRequest(instruction=arguments.instruction)
    composition = platform.composing.compose(request)
    question_ids = {each.id for each in composition.questions}
    answers = tuple(
        ComposeAnswer(question=name, answer=text)
        for name, text in arguments.answers.items()
        if name in question_ids
    )
    if answers:
        revision = ComposeRequest(draft=composition, answers=answers)
        composition = platform.composing.compose(revision)
    return DraftedProcedure(
        title=composition.title,
        text=composition.text,
        questions={each.id: each.text for each in composition.questions},
        changes=tuple(
            f"{each.danger.value}: {each.text}" + (f" ({each.what})" if each.what else "")
            for each in composition.changes
        ),
        notes=(*composition.notes, *composition.findings),
        bindings=composition.bindings,
    )


def _write_draft(draft: DraftedProcedure) -> str:
    parts = [quote_untrusted("draft", draft.text)]
    parts += [quote_untrusted(f"question-{name}", text) for name, text in draft.questions.items()]
    parts += [quote_untrusted("change", text) for text in draft.changes]
    parts += [quote_untrusted("note", text) for text in draft.notes]
    return "\n\n".join(parts)


DRAFT = McpTool(
    name="draft_procedure",
    title="Draft a procedure",
    description="Drafts a procedure over the tools that FlowXpert's executor has, from a sentence: "
    "steps, parameters, what it would change and what is still to be asked. Nothing is stored, "
    "proposed or carried out. Answers to its questions are given with the same sentence again.",
    scope=Scope.OPERATE,
    arguments=DraftProcedure,
    answer=DraftedProcedure,
    run=_draft,
    write=_write_draft,
    keeps=False,
)
