"""The answer of a search: claims that rest on cited lines, what contradicts, what is ruled out."""

from collections.abc import Iterable

from services.contracts.searching import (
    Cited,
    Contradiction,
    HypothesisState,
    SearchAnswer,
    SearchClaim,
    Suggestion,
)
from services.executor.search.asks import Plan, ToldClaim, ToldSuggestion
from services.executor.search.claims import Evidence, Vocabulary, unsupported
from services.executor.search.search import Search
from services.executor.search.state import SearchState

MOST_CHARACTERS = 600


def answer_of(search: Search, state: SearchState, plan: Plan | None) -> SearchAnswer:
    """What came of it; without a plan: what was ruled out. Without a cause nothing was found."""
    held = SearchAnswer(
        contradictions=tuple(_contradictions(state)),
        ruled_out=tuple(
            id_ for id_ in state.hypotheses if state.standing(id_) is HypothesisState.REFUTED
        ),
    )
    if plan is None:
        return held
    claims = tuple(_claim(search, state, each) for each in plan.claims)
    stand = [each for each in claims if not each.struck]
    observed = [each for each in stand if _is_observed(state, each)]
    if not observed:
        return held.model_copy(update={"claims": claims, "cause_struck": _short(plan.cause)})
    cited = tuple(cited for each in stand for cited in each.cited)
    evidence, words = evidence_of(state, cited), vocabulary_of(search, state)
    cause, struck = _short(plan.cause), ""
    if unsupported(cause, evidence, words):
        cause, struck = observed[0].text, cause
    return held.model_copy(
        update={
            "cause": cause,
            "cause_struck": struck,
            "claims": claims,
            "suggestion": _suggestion(search, plan.suggestion),
        }
    )


def evidence_of(state: SearchState, cited: Iterable[Cited]) -> Evidence:
    """The cited lines and fields, with what was asked of whom."""
    texts: list[str] = []
    told = []
    for each in cited:
        seen = state.citable[each.observation]
        arguments = " ".join(seen.call.arguments.values()) if not seen.call.is_lookup else ""
        texts.append(f"{seen.call.target} {arguments}")
        texts += [line for n, line in enumerate(seen.read_lines, 1) if n in each.lines]
        told += [
            (seen.call.tool, name, value)
            for name, value in seen.fields.items()
            if name in each.fields
        ]
    return Evidence(tuple(texts), tuple(told))


def vocabulary_of(search: Search, state: SearchState) -> Vocabulary:
    """States that tools tell, names of devices, and names that were seen in fields."""
    seen = {
        str(value)
        for each in state.observations.values()
        for value in each.fields.values()
        if isinstance(value, str) and len(value.split()) == 1
    }
    return Vocabulary.of(search.tools, (*search.targets, *seen))


def _claim(search: Search, state: SearchState, told: ToldClaim) -> SearchClaim:
    cited: list[Cited] = []
    for each in (citation.cited for citation in told.evidence):
        seen = state.citable.get(each.observation)
        if seen is None:
            return _struck(told, f"there is no observation {each.observation}")
        known = seen.cited(each.lines, each.fields)
        if known.lines or known.fields:
            cited.append(known)
    if not cited:
        return _struck(told, "it cites no line that is there")
    why = unsupported(told.text, evidence_of(state, cited), vocabulary_of(search, state))
    return SearchClaim(text=_short(told.text), cited=tuple(cited), struck=why)


def _struck(told: ToldClaim, why: str) -> SearchClaim:
    return SearchClaim(text=_short(told.text), cited=(), struck=why)


def _is_observed(state: SearchState, claim: SearchClaim) -> bool:
    """Whether it rests on a device, and not on documents alone."""
    return any(not state.citable[each.observation].call.is_lookup for each in claim.cited)


def _contradictions(state: SearchState) -> Iterable[Contradiction]:
    for id_ in state.hypotheses:
        supporting, refuting = state.bearing(id_)
        if supporting and refuting:
            yield Contradiction(hypothesis=id_, supporting=supporting, refuting=refuting)


def _suggestion(search: Search, told: ToldSuggestion | None) -> Suggestion | None:
    """A tool that is there; one that the model made up is none."""
    known = next((c for c in search.changes if told and c.name == told.tool), None)
    if known is None or told is None:
        return None
    is_target = search.targets.get(told.target) == known.target
    arguments = {n: v[:200] for n, v in told.arguments.items() if n in known.parameters}
    return Suggestion(
        tool=known.name,
        description=known.description,
        target=told.target if is_target else "",
        arguments=arguments,
        why=_short(told.why),
    )


def _short(text: str) -> str:
    return " ".join(text.split())[:MOST_CHARACTERS]
