"""Conditions in a sentence: under which one something is told, and what."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from services.language.cues import closes, escalates, excludes, goes_on, otherwise
from services.language.lexicon import words
from services.language.questions import states
from services.language.sentences import LONGEST_SENTENCE, instruction, leads_only, without_prefix
from services.language.states import names_fault
from services.language.verbs import is_base_form

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
"""Of `when`: it says at what moment, which is no state that may or may not be."""
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
_GOES_ON = re.compile(r"(?:and|or|but)\s", re.IGNORECASE)
_OPENING, _CLOSING = "([{“", ")]}”"
_ALTERNATIVE = re.compile(
    r"[,;.]\s+(?:or\s+|and\s+)?(?=(?:otherwise|else)\b|if (?:not|no)[,:])", re.IGNORECASE
)
_NO_VERB_BEFORE = words("words", "not_before_verbs_of_clauses")
_TOLD_YOU = re.compile(
    r"(?<=[\w'\"`)])\s+"
    r"(?=(?:please|you (?:can|should|must|may|need to|have to|will need to|might))\s)",
    re.IGNORECASE,
)
_THINKS = re.compile(
    r"\b(?:think|find|believe|decide|feel|know|sure|that|which|what|where|how|wish|and|or|so)$",
    re.IGNORECASE,
)
"""Behind these, `you should` is a part of the condition."""
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
class Condition:
    """`If text, action; otherwise alternative`."""

    word: str
    text: str
    action: str = ""
    """Empty where what is told follows."""
    alternative: str = ""
    leads: bool = True
    """Whether it stands in front of the action."""

    @property
    def negated(self) -> bool:
        """Whether the action is done where the text does not hold."""
        return self.word == "unless"


def tells(text: str) -> bool:
    """Whether somebody is told to do something, to end, or to go elsewhere."""
    said = without_prefix(text.strip())
    return bool(
        instruction(said) or closes(said) or escalates(said) or excludes(said) or goes_on(said)
    )


def mentions_condition(text: str) -> bool:
    """Whether it says anywhere that something depends, or asks."""
    return _MENTIONED.search(text) is not None


def directs(text: str) -> bool:
    """Whether it says what must, should or can be done."""
    return _DIRECTIVE.search(text) is not None


@lru_cache(maxsize=4096)
def condition(sentence: str) -> Condition | None:
    """The condition in front of a sentence, else one behind it."""
    if len(sentence) > LONGEST_SENTENCE or not _CUE.search(sentence) or otherwise(sentence):
        return None
    said = _IN_BRACKETS.sub(r" \g<condition>", without_prefix(sentence.strip()))
    said = _LABEL.sub("", said)
    found = _LEADING.match(said)
    stated = _leading(found) if found else _for_fault(said) or _trailing(said)
    return None if stated and stated.word == "when" and _is_moment(stated) else stated


def _for_fault(said: str) -> Condition | None:
    """`For a failed node, restore it`: done where there is such a fault."""
    found = _FOR.match(said)
    if found is None or not names_fault(found["what"]):
        return None
    if not instruction(said) or not instruction(found["told"]):  # `For more on errors, see …`
        return None
    return Condition("in case of", found["what"], found["told"])


def _is_moment(stated: Condition) -> bool:
    """Whether `when` says at what time something is done, not in which state of things."""
    return not stated.action or not names_fault(stated.text) or bool(_MOMENT.match(stated.text))


def concluded(text: str) -> str:
    """What is told behind what it means: `this is a link problem: follow the cable`."""
    found = _CONCLUDED.match(text) if len(text) <= LONGEST_SENTENCE else None
    if found is None or tells(found["means"]) or not tells(found["told"]):
        return ""
    return found["told"] if _FINITE.search(found["means"]) or states(found["means"]) else ""


def _leading(found: re.Match[str]) -> Condition:
    word, rest = found["word"].lower(), found["rest"].strip()
    first = None
    then = _THEN.search(rest)
    told = _TOLD_YOU.search(rest)
    if told and "," not in rest[: told.start()] and ":" not in rest[: told.start()]:
        before, behind = rest[: told.start()], rest[told.end() :]
        if _FINITE.search(before) and not _THINKS.search(before) and tells(behind):
            return Condition(word, before, *_halves(behind))
    for start, end in _breaks(rest):
        if first and otherwise(rest[end:]):
            return Condition(word, rest[: first[0]], rest[first[1] : start], otherwise(rest[end:]))
        first = first or (start, end)
        if tells(rest[end:]) or directs(rest[end:]) or concluded(rest[end:]):
            stated = rest[: min(start, then.start())] if then else rest[:start]
            return Condition(word, stated, *_halves(rest[end:]))
    led = _verb(rest) if rest.endswith(":") else None
    if led and leads_only(rest[led[1] :]):
        return Condition(word, rest[: led[0]].rstrip(), rest[led[1] :])
    if rest.endswith(":"):
        return Condition(word, rest[: then.start()] if then else rest.rstrip(": "))
    start, end = next(_breaks(rest), None) or _verb(rest) or (len(rest), len(rest))
    return Condition(word, rest[:start].rstrip(" ."), rest[end:])


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Where the condition may end: at a comma, a colon or `then`, outside brackets."""
    for found in _BREAK.finditer(text):
        before = text[: found.start()]
        if not _is_within(before) and before.strip() and not _GOES_ON.match(text, found.end()):
            yield found.span()


def _is_within(before: str) -> bool:
    """Whether what follows stands in brackets that were opened before."""
    return any(before.count(a) > before.count(b) for a, b in zip(_OPENING, _CLOSING, strict=True))


def _verb(text: str) -> tuple[int, int] | None:
    """Where an instruction begins without a comma before it."""
    told = _TOLD_YOU.search(text)
    if told:
        return told.span()
    tokens = list(re.finditer(r"\S+", text))
    nouns = words("verbs", "also_nouns")
    for place in range(2, len(tokens) - 1):
        word, before = tokens[place][0], tokens[place - 1][0].lower()
        if before in _NO_VERB_BEFORE or not (word.islower() and is_base_form(word)):
            continue
        may_be_noun = word in nouns or before.endswith("s")
        if not may_be_noun or _is_told(text[: tokens[place].start()], tokens[place + 1][0]):
            return tokens[place].start(), tokens[place].start()
    return None


def _is_told(before: str, behind: str) -> bool:
    """Whether a word that may be a noun or belong to a plural is a verb that instructs.

    It is where the clause before it has its verb already, and an object begins behind it.
    """
    return bool(_FINITE.search(before) and _OBJECT.match(behind))


def _halves(told: str) -> tuple[str, str]:
    """What to do, and what to do otherwise where the same sentence says it."""
    parts = _ALTERNATIVE.split(told, maxsplit=1)
    return (parts[0], otherwise(parts[1]) or parts[1]) if len(parts) == 2 else (told, "")


def _trailing(said: str) -> Condition | None:
    found = _TRAILING.match(said.rstrip(" .:"))
    if found is None or not tells(found["action"]) or _is_within(found["action"]):
        return None
    if found["condition"].lower().endswith(" or not"):  # "whether", said as "if … or not"
        return None
    if re.search(
        r"\b(?:check|see|verify|determine|ask|find out|confirm|know|sure|as)$|\bwhether\b.*\bor$",
        found["action"],
        re.IGNORECASE,
    ):
        return None
    word = found["word"].lower().removeprefix("but ")
    return Condition(word, found["condition"], found["action"], leads=False)
