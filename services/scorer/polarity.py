"""Does each answer of a question lead where it should?

A question about a fault is answered well or badly; a remedy belongs to the bad answer, the next
question to the good one. The words decide, by general English.
"""

import math
import re
from functools import lru_cache

from services.knowledge.bm25 import stem_word
from services.knowledge.imperative import begins_with_verb
from services.knowledge.model import SectionRole
from services.scorer.case import Case
from services.scorer.evidence import terms_of
from services.scorer.wording import is_question, words_of
from services.workflow.model import Step, StepKind, Transition


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem_word(word) for word in words.split())


_FAULTY = _stems(
    """expired missing fail failure error blocked stale wrong invalid unknown unhealthy down full
    exceeded exhausted saturated throttled timeout slow stuck leak crash crashing loop oom killed
    evicted pending denied refused rejected unreachable unavailable mismatch incorrect bad broken
    corrupt conflict duplicate deleted removed lost loss high low empty zero unsupported deprecated
    misconfigured unschedulable cordoned tainted degraded lagging overloaded overload pressure
    flapping dropped disabled disconnected restarting unbound orphaned terminating lacks absent old
    large hot typo drift skew suspended paused problem issue fault alarm hung abnormal unexpected
    offline dead growing spike wait leftover conflicting malformed truncated forbidden unauthorized
    above below over under exceeding too still already longer stopped mismatched"""
)
_FINE = _stems(
    """ready healthy present current match correct valid exist include running available reachable
    up allow succeed success enabled configured ok working work resolve connected bound complete
    enough sufficient fit supported installed trusted listening sync consistent equal normal stable
    active assigned responding fresh intact granted permitted schedulable registered signed pass
    passed good right expected set has have contain defined open online cleared fixed reports
    shows returns mounted agree aligned identical within"""
)
_WEAK = _stems("set has have contain over under still already open shows returns reports too")
_NEGATING = "not no cannot never without isn doesn aren non unable un nothing none t"
_NEGATIONS = frozenset(_NEGATING.split())
_SUPPLIES = _stems(
    """add create set grant install provision enable restore include define populate apply inject
    start recreate bind label allow configure specify register attach provide supply deploy assign
    uncordon mount"""
)
_CUTS = _stems(
    """remove delete reduce lower renew rotate raise increase scale extend free clean clear evict
    drain wait relax disable cut drop replace shrink rollback revert unblock untaint expand grow
    reissue kill rename strip restart defragment compact prune tune"""
)
_MENDS = (
    _SUPPLIES
    | _CUTS
    | _stems(
        """fix correct update align use change repair sync reset patch move rebuild adjust switch
    reconfigure resolve upgrade migrate refactor edit make ensure re"""
    )
)
_CHECKS = _stems("check verify confirm inspect investigate look review see examine find identify")
_CAUSES_AMONG = 40
"""Sentences nearest to a question among which a cause is looked for."""
_LACKING = re.compile(
    r"\b(?:miss\w*|no|not|never|without|lack\w*|absent|cannot|un\w+able|empty|wrong|stale|expired"
    r"|mismatch\w*|differ\w*|invalid|incorrect\w*|isn|doesn|aren|n't)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"(?:yes|y|true|ok|pass(?:ed|es)?|success(?:ful)?|fine|correct)\b", re.IGNORECASE)
_NO = re.compile(r"(?:no|n|false|fail(?:ed|s|ure)?|not|none|otherwise|else)\b", re.IGNORECASE)


_GOES_ON, _MENDS_IT, _CHECKS_IT, _OTHER = "goes on", "mends", "checks", "other"

_BY_STATE = {_GOES_ON: 0.7, _MENDS_IT: -0.65, _CHECKS_IT: 0.3, _OTHER: 0.25}
"""What speaks for a target of each kind on the good answer."""
_BY_ANSWER = {_GOES_ON: 0.15, _MENDS_IT: 0.0, _CHECKS_IT: -0.4, _OTHER: -0.25}
"""What speaks for it on "yes", whatever the question."""
_BY_CAUSE = {_GOES_ON: 0.5, _MENDS_IT: -0.3, _CHECKS_IT: 0.0, _OTHER: 0.0}
"""What speaks for it on "yes" when the sources name a lack of what is asked for as a cause."""
_STATE_AND_SHARED = -0.6
_SUPPLIES_ON_YES = -0.3
_CUTS_ON_YES = 0.35
_FAULT_ON_YES = -0.45
_LIKE_ON_STATE = 0.2
"""Logistic regression of decisions as written against the same with exits exchanged, fitted on the
even ids of the benchmark; 71% of the decisions of the odd ones."""


def exits_fit(case: Case) -> float:
    """Mean fit of the answers and where they lead, -1–1; 0 where the words say nothing."""
    workflow = case.workflow
    fits = [
        math.tanh(_fit(case, step, edge, workflow.by_id[edge.target]))
        for step in workflow.of_kind(StepKind.DECISION)
        for edge in workflow.exits(step.id)
        if edge.condition
    ]
    return sum(fits) / len(fits) if fits else 0.0


def _fit(case: Case, question: Step, edge: Transition, target: Step) -> float:
    answer = _answer(edge.condition)
    state = answer * polarity(question.text) if answer else polarity(edge.condition)
    kind, first = _kind(target), _first_stem(target.text)
    shared = _shared(question.text, target.text)
    said_of_target = 0.0 if kind == _GOES_ON else polarity(target.text)
    names_fault = any(stem_word(word) in _FAULTY for word in words_of(target.text))
    by_state = _BY_STATE[kind] + _STATE_AND_SHARED * shared + _LIKE_ON_STATE * said_of_target
    by_answer = (
        _BY_ANSWER[kind]
        + _BY_CAUSE[kind] * _lack(case, question)
        + _SUPPLIES_ON_YES * (first in _SUPPLIES)
        + _CUTS_ON_YES * (first in _CUTS)
        + _FAULT_ON_YES * names_fault
    )
    return state * by_state + answer * by_answer


def _kind(target: Step) -> str:
    if target.kind is StepKind.DECISION or is_question(target.text):
        return _GOES_ON
    first = _first_stem(target.text)
    if first in _CHECKS:
        return _CHECKS_IT
    return _MENDS_IT if first in _MENDS or begins_with_verb(target.text) else _OTHER


def _lack(case: Case, question: Step) -> float:
    """Whether a cause is that what is asked for is missing (1) or that it is there (-1).

    Less by how little of the question the cause says; 0 when no cause speaks of it.
    """
    near = case.evidence.nearest(terms_of(question.text), _CAUSES_AMONG)
    for unit, share in near:
        if unit.role is SectionRole.CAUSE:
            return share if _LACKING.search(unit.text) else -share
    return 0.0


def _first_stem(text: str) -> str:
    words = words_of(text)
    return stem_word(words[0]) if words else ""


def _shared(question: str, target: str) -> float:
    a, b = terms_of(question), terms_of(target)
    return len(a & b) / max(1, min(len(a), len(b)))


@lru_cache(maxsize=16384)
def polarity(text: str) -> float:
    """The state of things that a text states: 1 fine, -1 faulty; its last words weigh most."""
    score, negated, words = 0.0, False, words_of(text)
    for place, word in enumerate(words):
        if word in _NEGATIONS:
            negated = True
            continue
        value = _value(word) * (0.5 + (place + 1) / len(words))
        score += -value if negated else value
        negated = negated and not value
    if negated:
        score -= 1.0
    return math.tanh(score) if score else _UNSAID


_UNSAID = 0.25
"""A question without a telling word asks for what should be so, more often than not."""


def _value(word: str) -> float:
    stem = stem_word(word)
    value = float(stem in _FINE) - float(stem in _FAULTY)
    return value / 3 if stem in _WEAK else value


def _answer(condition: str) -> float:
    """1 for yes, -1 for no, 0 for an answer in other words."""
    if _YES.match(condition.strip()):
        return 1.0
    return -1.0 if _NO.match(condition.strip()) else 0.0
