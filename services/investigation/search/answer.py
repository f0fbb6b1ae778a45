"""Answer of a search: claims with cited lines, contradictions, and what is ruled out."""

from collections.abc import Iterable

from services.contracts.searching import (
    Cited,
    Contradiction,
    HypothesisState,
    SearchAnswer,
    SearchClaim,
    Suggestion,
)
from services.investigation.search.claims import CitedEvidence, Vocabulary, find_unsupported
from services.investigation.search.model_questions import ModelClaim, ModelSuggestion, Plan
from services.investigation.search.search import Search
from services.investigation.search.state import SearchState

MOST_CHARACTERS = 600


def build_answer(search: Search, state: SearchState, plan: Plan | None) -> SearchAnswer:
    """Build the answer of a search; without a plan it only says what was ruled out.

    It has no cause if no claim rests on what a device told.
    """
    findings = {id_: state.findings_on(id_) for id_ in state.hypotheses}
    without_cause = SearchAnswer(
        contradictions=tuple(
            Contradiction(hypothesis=id_, supporting=supporting, refuting=refuting)
            for id_, (supporting, refuting) in findings.items()
            if supporting and refuting
        ),
        ruled_out=tuple(
            id_
            for id_ in state.hypotheses
            if state.hypothesis_state(id_) is HypothesisState.REFUTED
        ),
    )
    if plan is None:
        return without_cause
    claims = tuple(_check_claim(search, state, each) for each in plan.claims)
    supported = [each for each in claims if not each.struck]
    observed = [  # on a device, and not in documents alone
        claim
        for claim in supported
        if any(not state.citable[each.observation].call.is_lookup for each in claim.cited)
    ]
    if not observed:
        return without_cause.model_copy(
            update={"claims": claims, "cause_struck": _short(plan.cause)}
        )
    cited = tuple(cited for each in supported for cited in each.cited)
    evidence, words = evidence_of(state, cited), vocabulary_of(search, state)
    cause, struck = _short(plan.cause), ""
    if find_unsupported(cause, evidence, words):
        cause, struck = observed[0].text, cause
    return without_cause.model_copy(
        update={
            "cause": cause,
            "cause_struck": struck,
            "claims": claims,
            "suggestion": _check_suggestion(search, plan.suggestion),
        }
    )


def evidence_of(state: SearchState, cited: Iterable[Cited]) -> CitedEvidence:
    """Collect the cited lines and fields, with the calls that observed them."""
    texts: list[str] = []
    fields = []
    for each in cited:
        seen = state.citable[each.observation]
        arguments = " ".join(seen.call.arguments.values()) if not seen.call.is_lookup else ""
        texts.append(f"{seen.call.target} {arguments}")
        texts += [line for n, line in enumerate(seen.read_lines, 1) if n in each.lines]
        fields += [
            (seen.call.tool, name, value)
            for name, value in seen.fields.items()
            if name in each.fields
        ]
    return CitedEvidence(tuple(texts), tuple(fields))


def vocabulary_of(search: Search, state: SearchState) -> Vocabulary:
    """Collect states that tools know, names of devices, and names that were seen in fields."""
    seen = {
        str(value)
        for each in state.observations.values()
        for value in each.fields.values()
        if isinstance(value, str) and len(value.split()) == 1
    }
    return Vocabulary.of(search.tools, (*search.targets, *seen))


def _check_claim(search: Search, state: SearchState, claim: ModelClaim) -> SearchClaim:
    text, cited = _short(claim.text), list[Cited]()
    for each in claim.evidence:
        id_ = each.observation.strip().upper()
        seen = state.citable.get(id_)
        if seen is None:
            return SearchClaim(text=text, cited=(), struck=f"there is no observation {id_}")
        existing = seen.citation_of(each.lines, each.fields)
        if existing.lines or existing.fields:
            cited.append(existing)
    why = "it cites no line that is there"
    if cited:
        evidence, words = evidence_of(state, cited), vocabulary_of(search, state)
        why = find_unsupported(claim.text, evidence, words)
    return SearchClaim(text=text, cited=tuple(cited), struck=why)


def _check_suggestion(search: Search, suggested: ModelSuggestion | None) -> Suggestion | None:
    """Return the suggested tool if it exists; None if the model made it up."""
    tool = next((c for c in search.changes if suggested and c.name == suggested.tool), None)
    if tool is None or suggested is None:
        return None
    is_target = search.targets.get(suggested.target) == tool.target
    arguments = {n: v[:200] for n, v in suggested.arguments.items() if n in tool.parameters}
    return Suggestion(
        tool=tool.name,
        description=tool.description,
        target=suggested.target if is_target else "",
        arguments=arguments,
        why=_short(suggested.why),
    )


def _short(text: str) -> str:
    return " ".join(text.split())[:MOST_CHARACTERS]
