"""`bench clarify`: what questions bring to light that a ticket does not say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from evaluation.benches.clarify.hidden_facts import DrawnPath, drawn_path, texts_of
from evaluation.benches.clarify.simulated_user import SimulatedUser
from evaluation.material.gold_pages import PageOf, own_page
from evaluation.material.logic_rows import GoldGraph, GoldNode, LogicRow
from evaluation.material.page_reader import Read, workflow_of
from evaluation.material.requests import plan_request, score_request
from evaluation.measures.figures import Figures
from evaluation.measures.logic import Likeness
from services.contracts.planner import Planner
from services.contracts.retrieval import (
    PageReading,
    Retrieval,
    RetrievedContext,
    RetrieveRequest,
)
from services.contracts.scorer import Scorer
from services.contracts.screened_ticket import ScreenedTicket
from services.knowledge.ports import Embedder
from services.runbook.model import Reading
from services.runbook.ports import ServedReading
from services.tickets.clarify.branches import Situation, decision_question
from services.tickets.clarify.dialogue import Dialogue, text_of, ticket_with_answers
from services.tickets.clarify.question_selection import QuestionSelector
from services.tickets.ticket.question import ClarifyingQuestion
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

EARLY = 2
"""Questions within which most hidden facts should be found."""


@dataclass(frozen=True)
class Seen:
    """What is known for a ticket at one turn."""

    workflow: Workflow | None
    context: RetrievedContext = field(default_factory=RetrievedContext)


See = Callable[[LogicRow, Dialogue], Seen]
"""The page given, or the walk of the ticket as it stands now."""
Ask = Callable[[Seen, Dialogue], ClarifyingQuestion | None]
"""A way to choose the next question."""


def by_gain(least_gain: float, most: int) -> Ask:
    """As the gateway asks: what is expected to change the most, at most so many."""
    clarify = QuestionSelector(most, least_gain)

    def ask(seen: Seen, dialogue: Dialogue) -> ClarifyingQuestion | None:
        questions = clarify.questions(seen.workflow, seen.context, dialogue)
        return questions[0] if questions else None

    return ask


def everything(seen: Seen, dialogue: Dialogue) -> ClarifyingQuestion | None:
    """Each decision of the workflow alone, in reading order, whatever hangs on it."""
    if seen.workflow is None:
        return None
    settled_texts = {*dialogue.unknown, *(fact.decision for fact in dialogue.facts)}
    decisions = seen.workflow.of_kind(StepKind.DECISION)
    step = next((each for each in decisions if each.text not in settled_texts), None)
    return decision_question(Situation(seen.workflow, {}), step) if step else None


def nothing(_seen: Seen, _dialogue: Dialogue) -> None:
    """Nobody is asked."""


@dataclass
class Talk:
    """What was asked about one ticket, and what came to light."""

    path: DrawnPath
    facts_by_question: list[frozenset[str]] = field(default_factory=list)
    """Facts of the path that the answers revealed, by question; empty if there was no answer."""

    def figures(self) -> Figures:
        """Shares of what was hidden and of all decisions of the path, and how many questions."""
        return {
            f"found_{EARLY}": self._share(EARLY),
            "found": self._share(),
            f"solved_{EARLY}": float(self._share(EARLY) == 1),
            "solved": float(self._share() == 1),
            f"of_path_{EARLY}": self._share(EARLY, of_path=True),
            "of_path": self._share(of_path=True),
            "reached": self._reached(),
            "asked": float(len(self.facts_by_question)),
            "unanswered": float(sum(not facts for facts in self.facts_by_question)),
        }

    def _reached(self) -> float:
        """Share of the path's decisions that are known one after the other, from the start."""
        fact_ids = frozenset[str]().union(*self.facts_by_question)
        prefix = takewhile(lambda fact: fact.is_in_ticket or fact.node.id in fact_ids, self.path)
        return sum(1 for _ in prefix) / len(self.path)

    def _share(self, within: int | None = None, *, of_path: bool = False) -> float:
        wanted = {fact.node.id for fact in self.path if of_path or fact.counts}
        fact_ids = frozenset[str]().union(*self.facts_by_question[:within])
        return len(wanted & fact_ids) / len(wanted)


def talk(row: LogicRow, path: DrawnPath, see: See, ask: Ask, embedder: Embedder) -> Talk:
    """Ask about the row's ticket until no question is left."""
    done, dialogue = Talk(path), Dialogue(ticket_text=text_of(row.draft))
    seen = see(row, dialogue)
    user = _user(row, path, seen, embedder)
    while (question := ask(seen, dialogue)) is not None:
        reply = user.reply(question, row.page)
        done.facts_by_question.append(reply.fact_ids if reply else frozenset())
        dialogue = dialogue.with_answer(question, reply.choice if reply else None)
        if reply and (again := see(row, dialogue)) != seen:
            seen, user = again, _user(row, path, again, embedder)
    return done


def _user(row: LogicRow, path: DrawnPath, seen: Seen, embedder: Embedder) -> SimulatedUser:
    drawn = row.reference or GoldGraph(nodes=())
    workflow = seen.workflow or Workflow(title="", steps=())
    return SimulatedUser(path, drawn, workflow, row.page, embedder)


def page_alone(page_of: PageOf, read: Read) -> See:
    """Return a `See` that reads the row's page alone, once."""
    readings: dict[str, Reading | None] = {}

    def see(row: LogicRow, dialogue: Dialogue) -> Seen:
        ticket = ticket_with_answers(ScreenedTicket(row.draft), dialogue).for_person()
        page = own_page(row) if row.text else page_of(row)
        if row.page not in readings:
            readings[row.page] = read(page)
        reading = readings[row.page]
        if reading is None:
            return Seen(None)
        text = f"{ticket.title}\n{ticket.description}".strip()
        served = ServedReading(reading=reading)
        shown = PageReading(document_id=row.page, title=page.title, served=served, text=page.text)
        workflow = workflow_of(reading, row.page, text)
        return Seen(workflow, RetrievedContext(pages=(shown,)))

    return see


def drawn(row: LogicRow, _dialogue: Dialogue) -> Seen:
    """The drawing itself, as if a person had approved it: what asking is worth without reading."""
    graph = row.reference or GoldGraph(nodes=())
    steps = tuple(_step(node, row.page) for node in graph.nodes)
    step_ids = {step.id for step in steps}
    arrows = tuple(
        Transition(source=edge.source, target=edge.target, condition=edge.label)
        for edge in graph.edges
        if {edge.source, edge.target} <= step_ids
    )
    return Seen(Workflow(title=row.title, steps=steps, transitions=arrows))


def _step(node: GoldNode, page: str) -> Step:
    lines = node.lines or ()
    cited = (Citation(document_id=page, start_line=one, end_line=last) for one, last in lines)
    kind = StepKind(node.kind)
    return Step(id=node.id, kind=kind, text=node.label, citations=tuple(cited), node=node.id)


def walked(retrieval: Retrieval, planner: Planner, scorer: Scorer) -> See:
    """The whole walk of the ticket with what was learned."""

    def see(row: LogicRow, dialogue: Dialogue) -> Seen:
        screened = ticket_with_answers(ScreenedTicket(row.draft), dialogue)
        request = RetrieveRequest.of_ticket(screened, without=dialogue.ruled_out)
        context, ticket = retrieval.retrieve(request), screened.for_person()
        candidates = planner.plan(plan_request(ticket, context)).candidates
        scoring = score_request(ticket, context, candidates)
        ranked = scorer.score(scoring).ranked if candidates else ()
        return Seen(ranked[0].candidate.workflow if ranked else None, context)

    return see


def measure(  # noqa: PLR0917 - a bench's parts
    rows: Sequence[LogicRow],
    see: See,
    ask: Ask,
    embedder: Embedder,
    seed: int,
    advance: Callable[[], None] = lambda: None,
) -> list[tuple[LogicRow, Figures | None]]:
    """Each row with its figures; none where its page has no path with something hidden."""
    likeness = Likeness.of([text for row in rows for text in texts_of(row)], embedder)
    measured = []
    for row in rows:
        path = drawn_path(row, seed, likeness)
        figures = talk(row, path, see, ask, embedder).figures() if path else None
        measured.append((row, figures))
        advance()
    return measured
