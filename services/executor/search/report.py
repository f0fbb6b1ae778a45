"""The report of a search: what was answered, on which lines it rests, what was ruled out."""

from collections.abc import Iterator

from services.contracts.searching import Cited, SearchAnswer, SearchOutcome
from services.executor.search.search import Search
from services.executor.search.state import SearchState

_WORDS = {
    SearchOutcome.FOUND: "Found",
    SearchOutcome.NOT_FOUND: "Not found",
    SearchOutcome.TAKEN_OVER: "Taken over by a person",
    SearchOutcome.CANCELLED: "Ended before it was through",
}


def report_of(search: Search, state: SearchState) -> str:
    """The whole report, in Markdown; of a search that is not over, so far."""
    head = [f"# Search for the cause: {search.ticket.title}", ""]
    return "\n".join([*head, *lines_of(state)]) + "\n"


def lines_of(state: SearchState) -> Iterator[str]:
    """Without its heading: the ticket is told these."""
    word = _WORDS[state.outcome] if state.outcome else "Not over"
    cause = f" {state.answer.cause}" if state.answer and state.answer.cause else ""
    yield f"**{word}.**{cause}"
    if state.why:
        yield f"Why: {state.why}"
    yield f"{state.calls} looks, {state.questions} questions to the model."
    if state.answer is not None:
        yield from _answer(state, state.answer)
    if state.nodes:
        yield "Where was looked:"
    for node in state.nodes.values():
        looked = f": `{node.call.shown}`{node.call.on_target}" if node.call else ""
        yield f"- {node.expert}, {node.subtask}{looked} ({node.state.value})"


def _answer(state: SearchState, answer: SearchAnswer) -> Iterator[str]:
    for claim in answer.claims:
        if claim.struck:
            yield f"- struck: {claim.text} ({claim.struck})"
            continue
        yield f"- {claim.text}"
        yield from quoted(state, claim.cited)
    if answer.cause_struck:
        yield f"- struck as the cause: {answer.cause_struck}"
    for each in answer.contradictions:
        yield f"- contradicting, on whether this is so: {state.hypotheses[each.hypothesis]}"
        yield from _findings(state, (*each.supporting, *each.refuting))
    if answer.suggestion is not None:
        tool = answer.suggestion
        on = f" on {tool.target}" if tool.target else ""
        yield f"- might help, and was not done: {tool.tool}{on} ({tool.description})"
    for id_ in answer.ruled_out:
        yield f"- ruled out: {state.hypotheses[id_]}"
        yield from _findings(state, state.bearing(id_)[1])


def _findings(state: SearchState, ids: tuple[str, ...]) -> Iterator[str]:
    for finding in state.findings:
        if finding.id in ids:
            yield f"  - {finding.id}: {finding.text}"
            yield from quoted(state, finding.cited)


def quoted(state: SearchState, cited: tuple[Cited, ...]) -> Iterator[str]:
    """The cited lines and fields, each with its observation."""
    for each in cited:
        seen = state.observations[each.observation]
        fields = [f"{name} = {seen.fields[name]}" for name in each.fields]
        lines = [line for n, line in enumerate(seen.lines, 1) if n in each.lines]
        for line in (*lines, *fields):
            yield f"      {each.observation}{seen.call.on_target}: {line.strip()}"
