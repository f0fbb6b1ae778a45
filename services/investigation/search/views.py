"""Views of a search and its report, as people see them."""

from collections.abc import Iterator
from datetime import UTC, datetime

from services.contracts.searching import (
    Cited,
    SearchAnswer,
    SearchBounds,
    SearchDetail,
    SearchEvent,
    SearchFinding,
    SearchHypothesis,
    SearchNode,
    SearchObservation,
    SearchOutcome,
    SearchSpent,
)
from services.investigation.search.search import Search
from services.investigation.search.state import (
    ExpertObservation,
    SearchState,
    SubtaskNode,
)
from services.investigation.search.store import StoredSearch


def detail_of(stored: StoredSearch, now: float) -> SearchDetail:
    """Return a search with all that happened."""
    search, state = stored.search, stored.state
    ended = stored.events[-1].at if state.outcome and stored.events else now
    return SearchDetail(
        id=search.id,
        ticket_id=search.ticket.id,
        ticket_title=search.ticket.title,
        phase=state.phase,
        outcome=state.outcome,
        why=state.why or stored.waits_for,
        cause=state.answer.cause if state.answer else "",
        started_by=search.started_by,
        started_at=search.started_at,
        experts=tuple(expert.name for expert in search.experts),
        nodes=tuple(_node(state, node) for node in state.nodes.values()),
        here=state.here,
        hypotheses=tuple(_hypotheses(state)),
        requests=tuple(request.what for request in state.requests),
        answer=state.answer,
        bounds=SearchBounds.model_validate(search.limits, from_attributes=True),
        spent=SearchSpent(
            calls=state.calls,
            questions=state.questions,
            tokens=state.tokens,
            seconds=max(0.0, ended - state.begun_at),
            backtracks=state.backtracks,
        ),
        report=report_of(search, state) if state.outcome else "",
        events=tuple(
            SearchEvent(**e.model_dump(exclude={"at"}), at=datetime.fromtimestamp(e.at, UTC))
            for e in stored.events
        ),
    )


def _node(state: SearchState, node: SubtaskNode) -> SearchNode:
    seen = state.observations.get(node.observation)
    return SearchNode(
        id=node.id,
        parent=node.parent,
        depth=node.depth,
        expert=node.expert,
        subtask=node.subtask,
        hypothesis=node.hypothesis,
        why=node.why,
        asked_by=node.requested_by,
        state=node.state,
        state_why=node.state_why,
        shown=node.call.shown if node.call else "",
        tool=node.call.tool if node.call else "",
        target=node.call.target if node.call else "",
        observation=_observation(seen) if seen else None,
        findings=tuple(
            SearchFinding.model_validate(each, from_attributes=True) for each in node.findings
        ),
    )


def _observation(seen: ExpertObservation) -> SearchObservation:
    return SearchObservation(
        id=seen.id,
        node=seen.node,
        tool=seen.call.tool,
        target=seen.call.target,
        arguments=dict(seen.call.arguments),
        shown=seen.call.shown,
        fields=dict(seen.fields),
        lines=seen.lines,
        is_cut=seen.is_cut,
        at=datetime.fromtimestamp(seen.at, UTC),
    )


def _hypotheses(state: SearchState) -> Iterator[SearchHypothesis]:
    for id_, text in state.hypotheses.items():
        supporting, refuting = state.findings_on(id_)
        yield SearchHypothesis(
            id=id_,
            text=text,
            state=state.hypothesis_state(id_),
            supported_by=supporting,
            refuted_by=refuting,
        )


_WORDS = {
    SearchOutcome.DIAGNOSED: "Found",
    SearchOutcome.NOT_FOUND: "Not found",
    SearchOutcome.TAKEN_OVER: "Taken over by a person",
    SearchOutcome.CANCELLED: "Ended before it was through",
}


def report_of(search: Search, state: SearchState) -> str:
    """Return the whole report, in Markdown; for a search that is not over, what happened so far."""
    head = [f"# Search for the cause: {search.ticket.title}", ""]
    return "\n".join([*head, *lines_of(state)]) + "\n"


def lines_of(state: SearchState) -> Iterator[str]:
    """Yield the lines without the heading, as they go into the ticket."""
    word = _WORDS[state.outcome] if state.outcome else "Not over"
    cause = f" {state.answer.cause}" if state.answer and state.answer.cause else ""
    yield f"**{word}.**{cause}"
    if state.why:
        yield f"Why: {state.why}"
    yield f"{state.calls} looks, {state.questions} questions to the model."
    if state.answer is not None:
        yield from _answer_lines(state, state.answer)
    if state.nodes:
        yield "Where was looked:"
    for node in state.nodes.values():
        looked = f": `{node.call.shown}`{node.call.on_target}" if node.call else ""
        yield f"- {node.expert}, {node.subtask}{looked} ({node.state.value})"


def _answer_lines(state: SearchState, answer: SearchAnswer) -> Iterator[str]:
    for claim in answer.claims:
        if claim.struck:
            yield f"- struck: {claim.text} ({claim.struck})"
            continue
        yield f"- {claim.text}"
        yield from quote_citations(state, claim.cited)
    if answer.cause_struck:
        yield f"- struck as the cause: {answer.cause_struck}"
    for each in answer.contradictions:
        yield f"- contradicting, on whether this is so: {state.hypotheses[each.hypothesis]}"
        yield from _finding_lines(state, (*each.supporting, *each.refuting))
    if answer.suggestion is not None:
        tool = answer.suggestion
        on = f" on {tool.target}" if tool.target else ""
        yield f"- might help, and was not done: {tool.tool}{on} ({tool.description})"
    for id_ in answer.ruled_out:
        yield f"- ruled out: {state.hypotheses[id_]}"
        yield from _finding_lines(state, state.findings_on(id_)[1])


def _finding_lines(state: SearchState, ids: tuple[str, ...]) -> Iterator[str]:
    for finding in state.findings:
        if finding.id in ids:
            yield f"  - {finding.id}: {finding.text}"
            yield from quote_citations(state, finding.cited)


def quote_citations(state: SearchState, cited: tuple[Cited, ...]) -> Iterator[str]:
    """Yield the cited lines and fields, each with its observation."""
    for each in cited:
        seen = state.observations[each.observation]
        fields = [f"{name} = {seen.fields[name]}" for name in each.fields]
        lines = [line for n, line in enumerate(seen.lines, 1) if n in each.lines]
        for line in (*lines, *fields):
            yield f"      {each.observation}{seen.call.on_target}: {line.strip()}"
