"""The planners that are compared: each is a part of the context, a choice and a judge.

All of them that use a model share its calls: one of N samples for a ticket and a part of the
context. No planner is asked in other words, shown another example or given more tokens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.benches.planning.context_parts import ContextPart
from services.contracts.planner import Candidate
from services.kit.errors import InvalidInputError
from services.workflow.lint import is_clean, lint

Choice = Callable[[Sequence[Candidate]], Sequence[Candidate]]

BY_A_MODEL = "llm"
"""What a model's candidate names as its planner."""


class UnknownPlannerError(InvalidInputError):
    """No planner has that name."""


@dataclass(frozen=True)
class Method:
    """How a planner gets from a context to its answer."""

    meaning: str
    """For a person who reads the results."""
    context: ContextPart
    choose: Choice
    asks_model: bool = True
    is_scored: bool = False
    """Whether the scorer picks the answer; else it is the first of what `choose` leaves."""
    has_floor: bool = False
    """Whether all that the extractive planner finds competes with the model's samples."""


def everything(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """All that competes."""
    return candidates


def first_sample(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The model's first clean sample, by number and not by when it came; none where none is."""
    samples = [c for c in candidates if is_sample(c) and is_clean(lint(c.workflow))]
    return sorted(samples, key=_number)[:1]


def first_sample_or_floor(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The model's first clean sample; the extractive planner's favourite where none is."""
    return first_sample(candidates) or [c for c in candidates if not is_sample(c)][:1]


def is_sample(candidate: Candidate) -> bool:
    """Whether a model wrote it."""
    provenance = candidate.workflow.provenance
    return provenance is not None and provenance.planner == BY_A_MODEL


def _number(candidate: Candidate) -> int:
    """Versions end in the sample's number, as in `plan@2#0`."""
    provenance = candidate.workflow.provenance
    number = provenance.version.rpartition("#")[2] if provenance else ""
    return int(number) if number.isdecimal() else 0


def _alone(context: ContextPart, meaning: str) -> Method:
    return Method(meaning, context, first_sample)


def _best_of_n(context: ContextPart, meaning: str) -> Method:
    has_floor = context is ContextPart.BOTH
    return Method(meaning, context, everything, is_scored=True, has_floor=has_floor)


PLANNERS: Mapping[str, Method] = {
    "zero-shot": _alone(ContextPart.NOTHING, "the model alone, without any document"),
    "vector-rag": _alone(ContextPart.CHUNKS, "the model alone, shown chunks"),
    "graph-rag": _alone(ContextPart.NODES, "the model alone, shown incident nodes"),
    "llm": _alone(ContextPart.BOTH, "the model alone, shown the best page and passages of others"),
    "extractive": Method(
        "no model: procedures of the documents, ranked by the scorer",
        ContextPart.BOTH,
        everything,
        asks_model=False,
        is_scored=True,
    ),
    "best-of-n": _best_of_n(
        ContextPart.BOTH, "extractive candidates and the model's samples, ranked by the scorer"
    ),
    "no-graph": _best_of_n(ContextPart.CHUNKS, "best-of-n without incident nodes"),
    "no-vector": _best_of_n(ContextPart.NODES, "best-of-n without chunks"),
    "no-kb": _best_of_n(ContextPart.NOTHING, "best-of-n without any document"),
    "no-scorer": Method(
        "best-of-n's candidates, the model's first clean one taken unjudged",
        ContextPart.BOTH,
        first_sample_or_floor,
        has_floor=True,
    ),
}


def method_named(name: str) -> Method:
    """The planner of that name.

    Raises:
        UnknownPlannerError: There is none.
    """
    if name not in PLANNERS:
        raise UnknownPlannerError(f"expected one of {', '.join(PLANNERS)}, got {name!r}")
    return PLANNERS[name]
