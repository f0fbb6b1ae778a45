"""Verbs: whether a sentence tells to do something, and the forms of a verb."""

import re
from functools import cache, lru_cache

from services.language.lexicon import pairs, words

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
_FOLLOWING_WORDS = 4
_LONGEST_PREFIX = 64


def begins_with_verb(sentence: str) -> bool:
    """Whether the sentence begins as an instruction does, with a verb in its base form.

    A word that may be a noun too (`test`, `log`) counts where what follows is no predicate. A word
    of no list counts before an article: only a verb in its base form stands there.
    """
    return _begins_with_verb(sentence[:_LONGEST_PREFIX])


def may_tell(sentence: str) -> bool:
    """Whether its first word may tell somebody, or a language model, to do something.

    For screening, where an instruction that is missed costs more than a noun that is taken for
    one: `Show passwords`, `Run, then report`.
    """
    if begins_with_verb(sentence):
        return True
    found = _FIRST.match(sentence)
    if found is None:
        return False
    word = found["word"].lower()
    told = words("verbs", "telling_people") if not found["before"] else frozenset()
    bare = _AGAIN_OR_BACK.sub("", word)
    return word in words("verbs", "telling_models") or not told.isdisjoint((word, bare))


@lru_cache(maxsize=65536)
def _begins_with_verb(sentence: str) -> bool:
    tokens = sentence.split()
    while len(tokens) > 1 and _is_adverb(tokens[0]):
        tokens = tokens[1:]
    first = tokens[0].rstrip(",;:.") if tokens else ""
    if "/" in first and all(map(is_base_form, first.lower().split("/"))):
        return True  # `drain/cordon the node`
    if not _WORD.fullmatch(first) or (first.isupper() and len(first) > 1):
        return False
    word = first.lower()
    after = [token.rstrip(",;:.") for token in tokens[1 : 1 + _FOLLOWING_WORDS]]
    if word == "have":
        return _has_done(after)
    if is_base_form(word):
        return _acts(word, first != tokens[0], after)
    return first == tokens[0] and _is_unknown_verb(word, after)


def _has_done(after: list[str]) -> bool:
    """Whether `have` tells to let something be done: `Have the cable replaced`."""
    is_thing = bool(after) and _DETERMINER.fullmatch(after[0]) is not None
    return is_thing and "been" not in after


def _is_adverb(token: str) -> bool:
    word = token.lower().rstrip(",")
    return bool(_ADVERB.fullmatch(word)) or (word.endswith("ly") and not is_base_form(word))


def _acts(word: str, is_cut: bool, after: list[str]) -> bool:
    if word not in words("verbs", "also_nouns"):
        return not (after and _FINITE.fullmatch(after[0]) and after[0].lower() != "do")
    if (is_cut and after) or _is_noun_before(word, after):
        return False
    if not after or _DETERMINER.fullmatch(after[0]):
        return bool(after)
    if not after[0][:1].isalpha():  # a name in code, or a number: `Alert `FanDown`` tells nothing
        return len(after) > 1 or word not in words("verbs", "usually_nouns")
    if word in words("verbs", "usually_nouns"):
        return _acts_with_force(after)
    return not any(_FINITE.fullmatch(each) for each in after)


def _acts_with_force(after: list[str]) -> bool:
    """Whether a verb and its object follow, as in `force delete the pod`."""
    is_verb = is_base_form(after[0]) and after[0] not in words("verbs", "also_nouns")
    return is_verb and len(after) > 1 and _DETERMINER.fullmatch(after[1]) is not None


def _is_noun_before(word: str, after: list[str]) -> bool:
    """Whether what follows shows a noun: `output from it should`, `source and target`."""
    first = after[0].lower() if after else ""
    if first in {"and", "or"}:
        other, behind = (*(each.lower() for each in after[1:3]), "", "")[:2]
        are_nouns = {word, other} <= words("verbs", "usually_nouns") and behind.isalpha()
        return not is_base_form(other) or (are_nouns and not _DETERMINER.fullmatch(behind))
    is_of = first in {"from", "to", "for", "with", "in", "on", "at", "by", "between"}
    is_told_of = any(_FINITE.fullmatch(each) for each in after[1:])
    return is_of and (is_told_of or (word == "access" and first == "to"))


def _is_unknown_verb(word: str, after: list[str]) -> bool:
    if word in words("verbs", "function_words") or _NO_BASE_FORM.search(word) or len(word) < 3:
        return False
    return bool(after) and _ARTICLE.fullmatch(after[0]) is not None


@cache
def _known() -> frozenset[str]:
    return words("verbs", "imperatives") | words("verbs", "also_nouns")


@lru_cache(maxsize=65536)
def is_base_form(word: str) -> bool:
    """Whether a lower-case word is a known verb in its base form."""
    known = _known()
    if word in known:
        return True
    if word in words("verbs", "function_words"):
        return False
    for prefix in ("re-", "re", "un", "de-", "pre-", "auto-"):
        if word.startswith(prefix) and word[len(prefix) :] in known:
            return True
    return False


@cache
def _third_forms() -> dict[str, str]:
    bases = words("verbs", "imperatives") | words("verbs", "of_states")
    return {third_person(base): base for base in bases}


def third_person(base: str) -> str:
    """`tries` of `try`."""
    if base in {"have", "be"}:
        return "has" if base == "have" else "is"
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return f"{base}es"
    return f"{base[:-1]}ies" if re.search(r"[^aeiou]y$", base) else f"{base}s"


def base_of_third(word: str) -> str:
    """`try` of `tries`; empty for what is no such form of a known verb."""
    return _third_forms().get(word.lower(), "")


@cache
def _gerunds() -> dict[str, str]:
    return {_gerund(base): base for base in sorted(words("verbs", "imperatives"))}


def _gerund(base: str) -> str:
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return f"{base[:-1]}ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]|.*(?:mit|fer|get|set|run|cut|put|plan)", base):
        return f"{base}{base[-1]}ing"
    return f"{base}ing"


def base_of_gerund(word: str) -> str:
    """`increase` of `increasing`; empty for what is no such form of a known verb."""
    return _gerunds().get(word.lower(), "")


def is_of_state(word: str) -> bool:
    """Whether a base form tells a state or an event: `appear`, `fail`, `show`."""
    return word.lower() in words("verbs", "of_states")


def happens(word: str) -> bool:
    """Whether a base form tells what befalls a thing by itself: `fail`, `expire`."""
    return word in words("verbs", "happening")


def tells_of_one(word: str) -> bool:
    """Whether a base form is a verb wherever it stands with an `s`, never a plural."""
    return is_of_state(word) or (is_base_form(word) and word not in words("verbs", "also_nouns"))


@cache
def _participles() -> dict[str, str]:
    bases = words("verbs", "imperatives")
    regular = {form: base for base in bases for form in _regular_participles(base)}
    return {**regular, **{form: base for base, form in pairs("verbs", "participles").items()}}


def _regular_participles(base: str) -> tuple[str, ...]:
    if base.endswith("e"):
        return (f"{base}d",)
    if re.search(r"[^aeiou]y$", base):
        return (f"{base[:-1]}ied",)
    if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", base):
        return (f"{base}ed", f"{base}{base[-1]}ed")
    return (f"{base}ed",)


def base_of_participle(word: str) -> str:
    """`restart` of `restarted`, `choose` of `chosen`; empty for what is none."""
    return _participles().get(word.lower(), "")
