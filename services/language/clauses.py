"""Conditional clauses of a sentence: the condition and the action that depends on it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.language.cues import (
    is_closing,
    is_continue,
    is_escalation,
    is_out_of_scope,
    otherwise_action,
)
from services.language.questions import is_statement
from services.language.sentences import (
    LONGEST_SENTENCE,
    is_lead_in,
    parse_instruction,
    without_prefix,
)
from services.language.states import names_fault
from services.language.verbs import is_base_form
from services.language.words import words

_CUE = re.compile(
    r"\b(?:if|unless|case|event|should|provided|assuming|when)\b|^\W{0,4}(?:\d+\.\s+)?for\s",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"^for (?P<what>(?!each\b|every\b|all\b|any\b|this\b|these\b|example\b)[^,:;.()]{4,80}),\s+"
    r"(?P<told>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LABEL = re.compile(
    r"^[A-Z][\w-]*(?: [\w-]+){0,2}:\s+(?=(?:if|unless|when|should|in case)\s)", re.IGNORECASE
)
_MOMENT = re.compile(
    r"(?:\w+ing|you|we|this|the alert|(?:the |an? )?alerts?|prompted|asked|done|not)\b"
    r"|.*\b(?:finish\w*|complet\w*|done|ready|starts?|boots?|loads?|opens?|appears?|returns?|prompt\w*|ends?)$",
    re.IGNORECASE,
)
"""Clauses after `when` that name a moment rather than a state that may or may not hold."""
_MENTIONED = re.compile(
    r"\b(?:if|whether|unless|otherwise|in case|depending on|either)\b|\?", re.IGNORECASE
)
_LEADING = re.compile(
    r"^(?P<word>only if|even if|if(?! not[,:])|in case of|in case|in the event(?: that| of)?|unless"
    r"|should(?! be\b)"
    r"|provided that|assuming(?: that)?|when(?! (?:not )?to\b))\s+(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_TRAILING = re.compile(
    r"^(?P<action>.{6,300}?)[,;]?\s+(?P<word>only if|but only if|even if|if|unless|in case of|in"
    r" case)\s+"
    r"(?P<condition>[^,;:]{4,200}(?:,\s[^;:]{4,120})?)$",
    re.IGNORECASE | re.DOTALL,
)
_IN_BRACKETS = re.compile(
    r"\s+\(\s*(?P<condition>(?:only )?(?:if|when)\s(?:needed|required|necessary|\w+\s[^()]{4,100}))"
    r"\s*\)(?=[\s.:]*$)",
    re.IGNORECASE,
)
_BREAK = re.compile(r",\s+(?:then,?\s+)?|\s+then,?\s+|:\s+(?:then\s+)?|\s[—–-]\s|;\s+")
_THEN = re.compile(r",\s+then\s", re.IGNORECASE)
_CONCLUDED = re.compile(
    r"^(?P<means>(?!if\b|when\b|unless\b|and\b|or\b|but\b)[^:;]{6,150})[:;]\s+(?P<told>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_FINITE = re.compile(
    r"\s(?:is|are|was|were|has|have|does|do|cannot|can't|isn't|aren't|doesn't|don't|contains?"
    r"|fails?|failed|shows?|exists?|needs?|reports?|returns?)\s|(?:^|\s)(?:you|we)\s+\w+\s",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r"(?:the|a|an|all|any|each|every|your|its|this|that|these|those|both)$|[`/~]\S"
)
_CONJUNCTION = re.compile(r"(?:and|or|but)\s", re.IGNORECASE)
_OPENING, _CLOSING = "([{“", ")]}”"
_ALTERNATIVE = re.compile(
    r"[,;.]\s+(?:or\s+|and\s+)?(?=(?:otherwise|else)\b|if (?:not|no)[,:])", re.IGNORECASE
)
_NO_VERB_BEFORE = words("words", "not_before_verbs_of_clauses")
_YOU_CLAUSE = re.compile(
    r"(?<=[\w'\"`)])\s+"
    r"(?=(?:please|you (?:can|should|must|may|need to|have to|will need to|might))\s)",
    re.IGNORECASE,
)
_THINKS = re.compile(
    r"\b(?:think|find|believe|decide|feel|know|sure|that|which|what|where|how|wish|and|or|so)$",
    re.IGNORECASE,
)
"""Words after which `you should` belongs to the condition."""
_DIRECTIVE = re.compile(
    r"\b(?:must|should|needs? to|has to|have to|(?:may|might|will) (?:also )?(?:need|have) to"
    r"|is required to|are required to|is recommended to)\s+(?:also\s+|then\s+|first\s+)?"
    r"(?!now\b|have\b|see\b|look\b|return\b|show\b|contain\b|appear\b|report\b|match\b|not\b"
    r"|indicate\b"
    r"|display\b|be (?:able|in|at|on|present|visible|similar|running|ready|available|seen|a|an"
    r"|the)\b)"
    r"(?:be\s+)?\w+|\b(?:is|are) (?:needed|required|necessary) to\s+[a-z]+"
    r"|^an?\s(?:\w+\s){1,3}is (?:needed|required|necessary)\W*$"
    r"|\b(?:can|may) (?:safely )?be (?!found|seen|caused|due|used|a|an|the|triggered|raised|fired"
    r"|observed|reported|expected|affected|delayed|\w+ing\b)\w+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ConditionClause:
    """The parts of `If text, action; otherwise alternative`."""

    word: str
    text: str
    action: str = ""
    """The action; empty if it follows in a later sentence."""
    alternative: str = ""
    leads: bool = True
    """True if the condition precedes the action."""

    @property
    def negated(self) -> bool:
        """True if the action is done when the text does not hold."""
        return self.word == "unless"


def has_instruction(text: str) -> bool:
    """Return True if the text instructs: to do something, to end the work, or to go elsewhere."""
    text_line = without_prefix(text.strip())
    return bool(
        parse_instruction(text_line)
        or is_closing(text_line)
        or is_escalation(text_line)
        or is_out_of_scope(text_line)
        or is_continue(text_line)
    )


def mentions_condition(text: str) -> bool:
    """Return True if the text has a conditional word or a question anywhere."""
    return _MENTIONED.search(text) is not None


def parse_condition(sentence: str) -> ConditionClause | None:
    """Return the condition at the start of a sentence, else the one at its end."""
    if len(sentence) > LONGEST_SENTENCE or not _CUE.search(sentence) or otherwise_action(sentence):
        return None
    text = _IN_BRACKETS.sub(r" \g<condition>", without_prefix(sentence.strip()))
    text = _LABEL.sub("", text)
    match = _LEADING.match(text)
    clause = (
        _leading_condition(match) if match else _fault_condition(text) or _trailing_condition(text)
    )
    if clause is None or clause.word != "when":
        return clause
    is_moment = not clause.action or not names_fault(clause.text) or _MOMENT.match(clause.text)
    return None if is_moment else clause


def _fault_condition(text: str) -> ConditionClause | None:
    """Return the condition of `For a failed node, restore it`, done if there is such a fault."""
    match = _FOR.match(text)
    if match is None or not names_fault(match["what"]):
        return None
    if not parse_instruction(text) or not parse_instruction(
        match["told"]
    ):  # `For more on errors, see …`
        return None
    return ConditionClause("in case of", match["what"], match["told"])


def parse_conclusion(text: str) -> str:
    """Return the instruction after a conclusion: `this is a link problem: follow the cable`.

    Empty if the text has no such form.
    """
    match = _CONCLUDED.match(text) if len(text) <= LONGEST_SENTENCE else None
    if match is None or has_instruction(match["means"]) or not has_instruction(match["told"]):
        return ""
    return match["told"] if _FINITE.search(match["means"]) or is_statement(match["means"]) else ""


def _leading_condition(match: re.Match[str]) -> ConditionClause:
    word, rest = match["word"].lower(), match["rest"].strip()
    first = None
    then = _THEN.search(rest)
    you_clause = _YOU_CLAUSE.search(rest)
    if (
        you_clause
        and "," not in rest[: you_clause.start()]
        and ":" not in rest[: you_clause.start()]
    ):
        before, behind = rest[: you_clause.start()], rest[you_clause.end() :]
        if _FINITE.search(before) and not _THINKS.search(before) and has_instruction(behind):
            return ConditionClause(word, before, *_split_alternative(behind))
    for start, end in _breaks(rest):
        if first and otherwise_action(rest[end:]):
            return ConditionClause(
                word, rest[: first[0]], rest[first[1] : start], otherwise_action(rest[end:])
            )
        first = first or (start, end)
        if (
            has_instruction(rest[end:])
            or _DIRECTIVE.search(rest[end:])
            or parse_conclusion(rest[end:])
        ):
            condition_text = rest[: min(start, then.start())] if then else rest[:start]
            return ConditionClause(word, condition_text, *_split_alternative(rest[end:]))
    verb_span = _instruction_span(rest) if rest.endswith(":") else None
    if verb_span and is_lead_in(rest[verb_span[1] :]):
        return ConditionClause(word, rest[: verb_span[0]].rstrip(), rest[verb_span[1] :])
    if rest.endswith(":"):
        return ConditionClause(word, rest[: then.start()] if then else rest.rstrip(": "))
    start, end = next(_breaks(rest), None) or _instruction_span(rest) or (len(rest), len(rest))
    return ConditionClause(word, rest[:start].rstrip(" ."), rest[end:])


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans at which the condition may end: comma, colon or `then`, outside brackets."""
    for match in _BREAK.finditer(text):
        before = text[: match.start()]
        if not _is_within(before) and before.strip() and not _CONJUNCTION.match(text, match.end()):
            yield match.span()


def _is_within(before: str) -> bool:
    """Return True if a bracket is still open at the end of the text."""
    return any(before.count(a) > before.count(b) for a, b in zip(_OPENING, _CLOSING, strict=True))


def _instruction_span(text: str) -> tuple[int, int] | None:
    """Return the span before an instruction that begins without a comma."""
    you_clause = _YOU_CLAUSE.search(text)
    if you_clause:
        return you_clause.span()
    tokens = list(re.finditer(r"\S+", text))
    nouns = words("verbs", "also_nouns")
    for place in range(2, len(tokens) - 1):
        word, before = tokens[place][0], tokens[place - 1][0].lower()
        if before in _NO_VERB_BEFORE or not (word.islower() and is_base_form(word)):
            continue
        start = tokens[place].start()
        # A word that may be a noun instructs if the clause before it has its verb and an object
        # follows.
        may_be_noun = word in nouns or before.endswith("s")
        has_own_verb = _FINITE.search(text[:start])
        if not may_be_noun or (has_own_verb and _OBJECT.match(tokens[place + 1][0])):
            return start, start
    return None


def _split_alternative(text: str) -> tuple[str, str]:
    """Split the text into the action and its alternative, which is empty if there is none."""
    parts = _ALTERNATIVE.split(text, maxsplit=1)
    return (parts[0], otherwise_action(parts[1]) or parts[1]) if len(parts) == 2 else (text, "")


def _trailing_condition(text: str) -> ConditionClause | None:
    match = _TRAILING.match(text.rstrip(" .:"))
    if match is None or not has_instruction(match["action"]) or _is_within(match["action"]):
        return None
    if match["condition"].lower().endswith(" or not"):  # "whether", said as "if … or not"
        return None
    if re.search(
        r"\b(?:check|see|verify|determine|ask|find out|confirm|know|sure|as)$|\bwhether\b.*\bor$",
        match["action"],
        re.IGNORECASE,
    ):
        return None
    word = match["word"].lower().removeprefix("but ")
    return ConditionClause(word, match["condition"], match["action"], leads=False)
