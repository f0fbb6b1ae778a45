"""`draft_procedure`: a sentence as a procedure over tools; nothing is stored or proposed."""

from starlette.concurrency import run_in_threadpool

from services.contracts.composing import ComposeAnswer, ComposeRequest, Composition
from services.contracts.mcp import DraftedProcedure, DraftProcedure
from services.gateway.mcp.tool import Platform, Tool
from services.kit.access.scopes import Scope
from services.kit.errors import UnavailableError
from services.llm.prompts import quoted


class NoPlannerError(UnavailableError):
    """This gateway was started without a planner that composes."""


async def _draft(platform: Platform, wanted: DraftProcedure) -> DraftedProcedure:
    if platform.composing is None:
        raise NoPlannerError("this gateway knows no planner to compose with")
    asked = ComposeRequest(instruction=wanted.instruction)
    found = await run_in_threadpool(platform.composing.compose, asked)
    known = {each.id for each in found.questions}
    answers = tuple(
        ComposeAnswer(question=name, answer=text)
        for name, text in wanted.answers.items()
        if name in known
    )
    if answers:
        again = ComposeRequest(draft=found, answers=answers)
        found = await run_in_threadpool(platform.composing.compose, again)
    return _told(found)


def _told(found: Composition) -> DraftedProcedure:
    return DraftedProcedure(
        title=found.title,
        text=found.text,
        questions={each.id: each.text for each in found.questions},
        changes=tuple(
            f"{each.danger.value}: {each.text}" + (f" ({each.what})" if each.what else "")
            for each in found.changes
        ),
        notes=(*found.notes, *found.findings),
        bindings=found.bindings,
    )


def _write(found: DraftedProcedure) -> str:
    parts = [quoted("draft", found.text)]
    parts += [quoted(f"question-{name}", text) for name, text in found.questions.items()]
    parts += [quoted("change", text) for text in found.changes]
    parts += [quoted("note", text) for text in found.notes]
    return "\n\n".join(parts)


DRAFT = Tool(
    name="draft_procedure",
    title="Draft a procedure",
    description="Drafts a procedure over the tools that FlowXpert's executor has, from a sentence: "
    "steps, parameters, what it would change and what is still to be asked. Nothing is stored, "
    "proposed or carried out. Answers to its questions are given with the same sentence again.",
    scope=Scope.OPERATE,
    arguments=DraftProcedure,
    answer=DraftedProcedure,
    run=_draft,
    write=_write,
    keeps=False,
)
