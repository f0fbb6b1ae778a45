"""Relevance: does the workflow treat the fault of the ticket?"""

from collections.abc import Mapping

from services.contracts.scorer import Dimension
from services.grounding.evidence import terms_of
from services.grounding.grounder import GROUNDED
from services.language.names import error_codes, is_identifier
from services.language.words import tokenise
from services.scorer.criteria.case import Case
from services.scorer.criteria.weighing import WEIGHINGS, Signs

_ENOUGH_OF_TICKET = 0.6
"""Share of the weight of the ticket's words that a workflow on the point takes up: tickets hold
names, numbers and output that no workflow repeats."""


def signs(case: Case) -> Signs:
    """How the pages behind the steps, and the steps themselves, stand to the ticket."""
    fit = _fit(case)
    taken = case.evidence.share(case.ticket_terms, case.said)
    return {
        "fit": fit,
        "taken up": min(1.0, taken / _ENOUGH_OF_TICKET),
        "on the page": case.evidence.share(case.ticket_terms, _page_terms(case)),
        "title": _shared_with_title(case),
        "names": _names_said(case),
    }


def relevance(case: Case) -> Dimension:
    """How well the documents behind the steps fit, and how much of the ticket is taken up."""
    taken = case.evidence.share(case.ticket_terms, case.said)
    value = WEIGHINGS.of("relevance").value(signs(case))
    return Dimension(value=value, reason=_reason(case, case.fits, taken))


def _fit(case: Case) -> float:
    """Mean fit of the documents that the steps rest on."""
    steps = [
        case.fits.get(found.unit.document_id, 0.0) * min(1.0, found.support / GROUNDED)
        if found.unit
        else 0.0
        for found in case.told
    ]
    return sum(steps) / len(steps) if steps else 0.0


def _page_terms(case: Case) -> frozenset[str]:
    """Words of the page that most steps cite."""
    return frozenset(tokenise(case.drawn.page_text))


def _shared_with_title(case: Case) -> float:
    """Share of the words of the workflow's title that the ticket has."""
    title = frozenset(terms_of(case.workflow.title))
    return len(title & case.ticket_terms) / len(title) if title else 0.0


def _names_said(case: Case) -> float:
    """Share of the names and error codes of the ticket that the page has; 1 where it has none."""
    ticket = f"{case.ticket.title}\n{case.ticket.description}\n{case.ticket.alert_name}"
    names = {name for name in ticket.split() if is_identifier(name.strip(".,:;()'`\""))}
    names |= set(error_codes(ticket))
    page = case.drawn.page_text.casefold()
    said = [name for name in names if name.strip(".,:;()'`\"").casefold() in page]
    return len(said) / len(names) if names else 1.0


def _reason(case: Case, fits: Mapping[str, float], taken: float) -> str:
    sources: dict[str, int] = {}
    for found in case.told:
        if found.is_grounded and found.unit:
            sources[found.unit.document_id] = sources.get(found.unit.document_id, 0) + 1
    if not sources:
        return "No step rests on a document that was found for this ticket."
    main = max(sources, key=lambda name: (sources[name], fits.get(name, 0.0)))
    return (
        f"{sources[main]} of {len(case.told)} steps rest on {main}, which fits the ticket at"
        f" {fits.get(main, 0.0):.2f} of the best hit; the workflow takes up {taken:.0%} of what the"
        " ticket says."
    )
