"""Conversion of a statement into a question that Yes answers if the statement holds."""

import re
from itertools import takewhile

from services.language.sentences import capitalised
from services.language.verbs import (
    base_of_gerund,
    base_of_participle,
    base_of_third,
    is_base_form,
    is_event_verb,
    is_only_verb,
    is_state_verb,
)
from services.language.words import words

_FALLBACK = "is this the case: "
"""The opening for a text that makes no grammatical question."""
_AUXILIARY = words("words", "auxiliaries")
_CONTRACTED = re.compile(
    r"\b(?P<verb>is|are|was|were|has|have|had|does|do|did|could|would|should|wo|ca|can)(?:n't"
    r"|not\b|n’t)",
    re.IGNORECASE,
)
_SHORT_FORM = re.compile(
    r"(?:(?<=\byou)|(?<=\bwe)|(?<=\bthey)|(?<=\bit)|(?<=\bthere))['’](r|s|v)e?\b", re.IGNORECASE
)
_FULL_AUXILIARY = {"wo": "will", "ca": "can"}
_RELATIVE = words("words", "relatives")
_NOT_BEFORE_VERB = words("words", "not_before_verbs")
_OBJECTS = frozenset({"it", "the", "a", "an", "this", "them", "its"})
_PRONOUNS = words("words", "pronouns")
_THERE = re.compile(
    r"^there\s+(?P<be>is|are|was|were|has been|have been)\s+(?P<rest>.+)$", re.IGNORECASE
)
_CHECK_THAT = re.compile(
    r"^(?:\w+ly\s+)?(?:(?:check|verify|confirm|ensure|make sure|validate|test|determine|see"
    r"|find out|assess|ask|decide|establish|identify|look|examine)\s+(?:to see\s+)?"
    r"(?:that|if|whether)\s+"
    r"|(?:check|verify|confirm|ensure|make sure|validate)\s+(?="
    r"(?:(?!that\b|which\b|who\b|to\b|if\b|whether\b|what\b|how\b)[^\s,;:]+\s+){1,8}?"
    r"(?:is|are|has|have)\s))"
    r"(?:or not\s+)?(?P<what>.+?)"
    r"(?:(?:,\s+(?:and\s+)?then\s|:\s+[`\w]|\s+by\s+\w+ing\s).*)?$",
    re.IGNORECASE | re.DOTALL,
)
_HAS_VERB = re.compile(r"\s(?:is|are|was|were|has|have)\s", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|which|what|how|who"
    r"|where|when)\b",
    re.IGNORECASE,
)
_UNABLE = re.compile(r"(?:un)?able to\b", re.IGNORECASE)
_ADJECTIVE = re.compile(
    r"(?:(?:not|already|still|currently|only)\s+)?(?:\w+(?:ed|able|ible|ful|ous|ing|less)"
    r"|un\w+|not|running|ready|down|up|missing|empty|full|true|false|ok|high|low|present|absent"
    r"|available|healthy|found|done|seen|set|stuck|in|on|at|above|below|over|under|using)\b",
    re.IGNORECASE,
)


_OF_SOMETHING = re.compile(r"(?:an?|any|no|one|some|the same|multiple|several)\s", re.IGNORECASE)
_SINGULAR_DETERMINER = re.compile(r"(?:an?|the|this|one|no)\s", re.IGNORECASE)


def as_question(statement: str) -> str:
    """Turn the statement into a question with its subject, capitalised."""
    text = " ".join(statement.strip(" .:;,").split())
    check = _CHECK_THAT.match(text)
    text = check["what"] if check else text
    if text.endswith("?") or not text:
        return capitalised(text)
    return f"{capitalised(_inverted(text).rstrip(' .:;,?'))}?"


def is_statement(text: str) -> bool:
    """Return True if the text is a statement, with a subject and a verb."""
    tokens = " ".join(text.strip(" .:;,").split()).split()
    return bool(tokens and (_with_auxiliary(tokens) or _with_main_verb(tokens)))


def statement_to_check(sentence: str) -> str:
    """Return the statement that the sentence asks to check: `the fan turns`.

    Empty if it asks for no check.
    """
    check = _CHECK_THAT.match(" ".join(sentence.strip(" .:;,").split()))
    return check["what"] if check else ""


def is_question(text: str) -> bool:
    """Return True if the text is a question."""
    stripped = text.strip()
    return stripped.endswith("?") or _ASKS.match(stripped) is not None


def _inverted(text: str) -> str:
    text = _CONTRACTED.sub(
        lambda m: f"{_FULL_AUXILIARY.get(m['verb'].lower(), m['verb'])} not", text
    )
    if not _HAS_VERB.search(text):  # else `'s` tells whose it is
        text = _SHORT_FORM.sub(
            lambda m: " are" if m[1] in "rR" else " is" if m[1] in "sS" else " have", text
        )
    there = _THERE.match(text)
    if there:
        be, _, been = there["be"].lower().partition(" ")
        return f"{be} there {been} {there['rest']}".replace("  ", " ")
    tokens = text.split()
    if tokens[0].lower() in _AUXILIARY and _ASKS.match(tokens[0]):
        return text
    is_deed = base_of_gerund(tokens[0]) and _AUXILIARY.isdisjoint(map(str.lower, tokens))
    if len(tokens) > 2 and (is_deed or _UNABLE.match(text)):
        return f"are you {text}"
    question = _with_auxiliary(tokens) or _with_main_verb(tokens) or _with_past_verb(tokens)
    if not question and _ADJECTIVE.match(text):
        return f"is it {text}"
    if not question and _OF_SOMETHING.match(text):
        return f"is there {text[:1].lower()}{text[1:]}"
    is_sound = question and _has_subject(tokens, question)
    return question if is_sound else f"{_FALLBACK}{text}"


def _has_subject(tokens: list[str], question: str) -> bool:
    """Return True if the words moved behind the verb may be a subject, not the sentence's start."""
    end = next((n for n in range(1, len(tokens)) if _is_main_verb(tokens, n)), len(tokens))
    pairs = zip([*map(str.lower, tokens[:end])], question.lower().split()[1:], strict=False)
    lowered = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    if not lowered:
        return True
    is_list = "and" in lowered or "or" in lowered
    is_cut = any(word.endswith(":") or word in {"—", "–"} for word in lowered)
    is_cut = is_cut or (not is_list and any(word.endswith(",") for word in lowered))
    is_late = len(lowered) > 1 and lowered[-1] in _PRONOUNS | {"it"}
    return not (is_cut or is_late or lowered[0] in words("words", "before_subjects"))


def _with_auxiliary(tokens: list[str]) -> str:
    in_relative_clause = False
    for place, token in enumerate(tokens):
        word = token.lower()
        if place and word == "because":
            return ""
        if place and word in _AUXILIARY:
            if in_relative_clause or tokens[place - 1].lower() in _RELATIVE:
                in_relative_clause = False
                continue
            return _fronted(tokens, place)
        in_relative_clause = (
            in_relative_clause or (bool(place) and word in _RELATIVE)
        ) and not token.endswith(",")
        if in_relative_clause and _is_main_verb(tokens, place):
            in_relative_clause = False
        elif not in_relative_clause and _is_main_verb(tokens, place):
            return ""
    return ""


def _fronted(tokens: list[str], place: int) -> str:
    word, subject, rest = tokens[place].lower(), tokens[:place], tokens[place + 1 :]
    after = rest[0].lower() if rest else ""
    owns = word in {"has", "have", "had"} and after not in {
        "not",
        "been",
        "already",
        "never",
        "just",
    }
    if owns and not base_of_participle(after) and not after.endswith(("ed", "ly")):
        helper = {"has": "does", "have": "do", "had": "did"}[word]
        return " ".join([helper, *_as_subject(subject), "have", *rest])
    return " ".join([word, *_as_subject(subject), *rest])


def _as_subject(subject: list[str]) -> list[str]:
    first = subject[0]
    plain = first[:1].isupper() and first[1:].islower() and first.lower() in _NOT_BEFORE_VERB
    return [first.lower(), *subject[1:]] if plain or first in {"You", "It", "They"} else subject


def _with_main_verb(tokens: list[str]) -> str:
    end = tokens.index("because") if "because" in tokens else len(tokens)
    place = next((n for n in range(1, end) if _is_main_verb(tokens, n)), 0)
    if not place:
        return ""
    word, subject, rest = tokens[place], _as_subject(tokens[:place]), tokens[place + 1 :]
    base = base_of_third(word)
    if base:
        return " ".join(["does", *subject, base, *rest])
    past = base_of_participle(word)
    if past and word.lower() != past:
        return " ".join(["did", *subject, past, *rest])
    return " ".join(["do", *subject, word, *rest])


def _with_past_verb(tokens: list[str]) -> str:
    for place in range(1, len(tokens)):
        base = base_of_participle(tokens[place])
        after = tokens[place + 1].lower() if place + 1 < len(tokens) else ""
        is_verb = is_event_verb(base) or after in _OBJECTS
        if base and is_verb and tokens[place - 1].lower() not in _NOT_BEFORE_VERB:
            return " ".join(["did", *_as_subject(tokens[:place]), base, *tokens[place + 1 :]])
    return ""


def _is_main_verb(tokens: list[str], place: int) -> bool:
    """Return True if the word at that place is the main verb, by its form and its neighbours."""
    word = tokens[place].strip(",;").lower()
    before = tokens[place - 1].lower() if place else ""
    if not place or before in _NOT_BEFORE_VERB or not word.isalpha():
        return False
    if before in _PRONOUNS:
        return is_base_form(word) or is_state_verb(word) or bool(base_of_participle(word))
    base = base_of_third(word)
    if base:
        after = tokens[place + 1].strip(",;").lower() if place + 1 < len(tokens) else ""
        is_clear = _SINGULAR_DETERMINER.match(f"{tokens[0]} ") and place > 1 and after in _OBJECTS
        is_verb = is_only_verb(base) or bool(is_clear)
        return is_verb and not is_state_verb(after) and after not in _AUXILIARY
    plural = before.endswith("s") and not before.endswith("ss")
    return plural and is_state_verb(word)
