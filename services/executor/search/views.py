"""A search as people see it."""

from collections.abc import Iterator
from datetime import UTC, datetime

from services.contracts.searching import (
    SearchBounds,
    SearchDetail,
    SearchEvent,
    SearchFinding,
    SearchHypothesis,
    SearchNode,
    SearchObservation,
    SearchSpent,
)
from services.executor.search.report import report_of
from services.executor.search.search import Search
from services.executor.search.state import Finding, Node, Observation, SearchState
from services.executor.search.store import StoredSearch


def detail_of(stored: StoredSearch, now: float) -> SearchDetail:
    """A search with all that happened."""
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
        bounds=_bounds(search),
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


def _node(state: SearchState, node: Node) -> SearchNode:
    seen = state.observations.get(node.observation)
    return SearchNode(
        id=node.id,
        parent=node.parent,
        depth=node.depth,
        expert=node.expert,
        subtask=node.subtask,
        hypothesis=node.hypothesis,
        why=node.why,
        asked_by=node.asked_by,
        state=node.state,
        state_why=node.state_why,
        shown=node.call.shown if node.call else "",
        tool=node.call.tool if node.call else "",
        target=node.call.target if node.call else "",
        observation=_observation(seen) if seen else None,
        findings=tuple(_finding(each) for each in node.findings),
    )


def _observation(seen: Observation) -> SearchObservation:
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


def _finding(each: Finding) -> SearchFinding:
    return SearchFinding(
        id=each.id,
        node=each.node,
        text=each.text,
        cited=each.cited,
        supports=each.supports,
        refutes=each.refutes,
        struck=each.struck,
    )


def _hypotheses(state: SearchState) -> Iterator[SearchHypothesis]:
    for id_, text in state.hypotheses.items():
        supporting, refuting = state.bearing(id_)
        yield SearchHypothesis(
            id=id_,
            text=text,
            state=state.standing(id_),
            supported_by=supporting,
            refuted_by=refuting,
        )


def _bounds(search: Search) -> SearchBounds:
    limits = search.limits
    return SearchBounds(
        depth=limits.depth,
        width=limits.width,
        calls=limits.calls,
        questions=limits.questions,
        tokens=limits.tokens,
        within_s=limits.within_s,
    )
