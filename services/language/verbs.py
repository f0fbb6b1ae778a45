"""Verbs: recognition of instructions, and the forms of a verb."""

import re

from services.language.words import pairs, words

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_DETERMINER = re.compile(
    r"(?:the|an?|any|all|each|every|both|this|that|these|those|your|its|their|it|them|only|no|one"
    r"|two|three|either|another|such|following|if|whether|in|into|on|onto|to|for|from|with|at|up"
    r"|down|out|off|back|over|through|by|as|again|between|via|against|away|until|how|what|which"
    r"|where|who|when|why|and|or|new|more|additional)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"(?:the|an?|any|all|each|every|your|these|those)", re.IGNORECASE)
_FINITE = re.compile(
    r"(?:is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|does|do|did"
    r"|cannot|isn't|aren't|doesn't|don't|didn't|wasn't|hasn't|won't|can't)",
    re.IGNORECASE,
)
_NO_BASE_FORM = re.compile(r"(?:ing|ed|ly|[^s]s|tion|ment|ness|ity|ous|ful|less|able|ible)$")
_ADVERB = re.compile(r"(?:also|just|simply|immediately|then|now|next|first|again|not|never|always)")
_FIRST = re.compile(r"(?P<before>\W*)(?P<word>(?:re-)?\w+)")
_AGAIN_OR_BACK = re.compile(r"^(?:re-?|un)")
_BASE_FORMS = words("verbs", "imperatives") | words("verbs", "also_nouns")
_FOLLOWING_WORDS = 4
_LONGEST_PREFIX = 64


def begins_with_verb(sentence: str) -> bool:
    """Return True if the sentence begins with a verb in its base form, as instructions do.

    A word that may be a noun too (`test`, `log`) counts unless a predicate follows. A word of no
    list counts before an article, where only a verb in its base form is possible.
    """
    tokens = sentence[:_LONGEST_PREFIX].split()
    while len(tokens) > 1 and _is_adverb(tokens[0]):
        tokens = tokens[1:]
    first = tokens[0].rstrip(",;:.") if tokens else ""
    if "/" in first and all(map(is_base_form, first.lower().split("/"))):
        return True  # `drain/cordon the node`
    if not _WORD.fullmatch(first) or (first.isupper() and len(first) > 1):
        return False
    word = first.lower()
    after = [token.rstrip(",;:.") for token in tokens[1 : 1 + _FOLLOWING_WORDS]]
    if word == "have":  # done by somebody: `Have the cable replaced`
        is_thing = bool(after) and _DETERMINER.fullmatch(after[0]) is not None
        return is_thing and "been" not in after
    if is_base_form(word):
        return _is_imperative(word, first != tokens[0], after)
    is_other = word in words("verbs", "function_words") or _NO_BASE_FORM.search(word)
    if first != tokens[0] or is_other or len(word) < 3:
        return False
    return bool(after) and _ARTICLE.fullmatch(after[0]) is not None


def may_be_instruction(sentence: str) -> bool:
    """Return True if the first word may instruct a person or a language model.

    For screening, where a missed instruction costs more than a noun taken for one:
    `Show passwords`, `Run, then report`.
    """
    if begins_with_verb(sentence):
        return True
    match = _FIRST.match(sentence)
    if match is None:
        return False
    word = match["word"].lower()
    people_verbs = words("verbs", "telling_people") if not match["before"] else frozenset()
    bare = _AGAIN_OR_BACK.sub("", word)
    return word in words("verbs", "telling_models") or not people_verbs.isdisjoint((word, bare))


def _is_adverb(token: str) -> bool:
    word = token.lower().rstrip(",")
    return bool(_ADVERB.fullmatch(word)) or (word.endswith("ly") and not is_base_form(word))


def _is_imperative(word: str, is_cut: bool, after: list[str]) -> bool:
    if word not in words("verbs", "also_nouns"):
        return not (after and _FINITE.fullmatch(after[0]) and after[0].lower() != "do")
    if (is_cut and after) or _is_noun_before(word, after):
        return False
    if not after or _DETERMINER.fullmatch(after[0]):
        return bool(after)
    if not after[0][:1].isalpha():  # a name in code, or a number: `Alert `FanDown`` tells nothing
        return len(after) > 1 or word not in words("verbs", "usually_nouns")
    if word in words("verbs", "usually_nouns"):
        # only before a verb and its object, as in `force delete the pod`
        is_verb = is_base_form(after[0]) and after[0] not in words("verbs", "also_nouns")
        return is_verb and len(after) > 1 and _DETERMINER.fullmatch(after[1]) is not None
    return not any(_FINITE.fullmatch(each) for each in after)


def _is_noun_before(word: str, after: list[str]) -> bool:
    """Return True if the words after it show a noun: `output from it should`."""
    first = after[0].lower() if after else ""
    if first in {"and", "or"}:
        other, behind = (*(each.lower() for each in after[1:3]), "", "")[:2]
        are_nouns = {word, other} <= words("verbs", "usually_nouns") and behind.isalpha()
        return not is_base_form(other) or (are_nouns and not _DETERMINER.fullmatch(behind))
    is_of = first in {"from", "to", "for", "with", "in", "on", "at", "by", "between"}
    has_finite_verb = any(_FINITE.fullmatch(each) for each in after[1:])
    return is_of and (has_finite_verb or (word == "access" and first == "to"))


def is_base_form(word: str) -> bool:
    """Return True if a lower-case word is a known verb in its base form."""
    if word in _BASE_FORMS:
        return True
    return word not in words("verbs", "function_words") and any(
        word.startswith(prefix) and word.removeprefix(prefix) in _BASE_FORMS
        for prefix in ("re-", "re", "un", "de-", "pre-", "auto-")
    )


def third_person(base: str) -> str:
    """Return the third person of a verb: `tries` for `try`."""
    if base in {"have", "be"}:
        return "has" if base == "have" else "is"
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return f"{base}es"
    return f"{base[:-1]}ies" if re.search(r"[^aeiou]y$", base) else f"{base}s"


def base_of_third(word: str) -> str:
    """Return `try` for `tries`; empty if the word is no such form of a known verb."""
    return _THIRD_FORMS.get(word.lower(), "")


def _gerund(base: str) -> str:
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return f"{base[:-1]}ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]|.*(?:mit|fer|get|set|run|cut|put|plan)", base):
        return f"{base}{base[-1]}ing"
    return f"{base}ing"


def base_of_gerund(word: str) -> str:
    """Return `increase` for `increasing`; empty if the word is no such form of a known verb."""
    return _GERUNDS.get(word.lower(), "")


def is_state_verb(word: str) -> bool:
    """Return True if a base form expresses a state or an event: `appear`, `fail`, `show`."""
    return word.lower() in words("verbs", "of_states")


def is_event_verb(word: str) -> bool:
    """Return True if a base form is an event that occurs by itself: `fail`, `expire`."""
    return word in words("verbs", "happening")


def is_only_verb(word: str) -> bool:
    """Return True if the base form with an `s` is always a verb, never a plural."""
    return is_state_verb(word) or (is_base_form(word) and word not in words("verbs", "also_nouns"))


def _regular_participles(base: str) -> tuple[str, ...]:
    if base.endswith("e"):
        return (f"{base}d",)
    if re.search(r"[^aeiou]y$", base):
        return (f"{base[:-1]}ied",)
    if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", base):
        return (f"{base}ed", f"{base}{base[-1]}ed")
    return (f"{base}ed",)


def base_of_participle(word: str) -> str:
    """Return `restart` for `restarted`, `choose` for `chosen`; empty if the word is none."""
    return _PARTICIPLES.get(word.lower(), "")


_THIRD_FORMS = {
    third_person(base): base for base in words("verbs", "imperatives") | words("verbs", "of_states")
}
_GERUNDS = {_gerund(base): base for base in sorted(words("verbs", "imperatives"))}
_PARTICIPLES = {
    form: base for base in words("verbs", "imperatives") for form in _regular_participles(base)
} | {form: base for base, form in pairs("verbs", "participles").items()}
