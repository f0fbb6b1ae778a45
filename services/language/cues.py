"""Cues: what tells that something helped or not, that the work ends, or goes on elsewhere."""

import re
from collections.abc import Sequence

from services.language.verbs import is_base_form

_FAULT = r"(?:issue|problem|error|alert|alarm|fault|condition|symptom|failure|warning|situation)s?"
_DEED = (
    r"(?:this|that|it|these|those|none|nothing|neither|the above|\w+ing(?:\s+\w+){0,4}?|"
    r"(?:(?:this|that|these|those|the|any|all|previous|above)\s+)*"
    r"(?:(?:previous|above|first|manual|quick)\s+)*(?:steps?|actions?|procedures?|methods?|fix"
    r"|fixes"
    r"|solutions?|work-?arounds?|restarts?|restarting|reboots?|rebooting|retry|retrying|changes?"
    r"|attempts?|commands?|remediations?|mitigations?|command|approach|options?|measures?"
    r"|remed(?:y|ies)|re-?seating|replacing|reset|resetting)(?:\s+(?:above|listed|of these|\w+ing"
    r"(?:\s+\w+){0,3}))*)"
)
_OUTCOME = re.compile(
    rf"\b{_FAULT}\s+(?:\w+\s+){{0,3}}?(?:still\s+)?(?:persists?|continues?|remains?|recurs?"
    rf"|re-?occurs?|reappears?|comes? back|returns?|happens? again|occurs? again|appears? again"
    rf"|lasts?|(?:is|are|was|has|have) (?:still|not|n't)(?: been)? (?:\w+ly )?"
    rf"(?:resolved|fixed|cleared|solved|there|present|gone|firing|active|occurring|happening|seen"
    rf"|corrected|mitigated)"
    rf"|(?:does|do|did|will) not (?:clear|resolve|go away|disappear|stop))"
    rf"|\b{_FAULT}\s+(?:still|again)\b"
    rf"|^(?:{_DEED}(?:\s+of\s+(?:this|that|these|those|the above|them))?)\s+"
    r"(?:still\s+|also\s+)?(?:(?:do|does|did|has|have|had|will|was|were|is|are)(?: not|n't)|cannot"
    r"|can't|fails? to|failed to)(?:\s+been)?(?:\s+\w+ly)?\s+(?:help|work|resolve|fix|clear|succeed"
    r"|solve|correct|mitigate|sufficient|successful|effective|enough|possible|do the trick"
    r"|recover|helped|worked|resolved|fixed|solved)"
    rf"|^(?:none|nothing|neither)\b.{{0,40}}\b(?:helps?|helped|works?|worked|resolves?|resolved"
    r"|fix(?:es|ed)?|solves?|solved|succeeds?|succeeded|appl(?:y|ies)|successful|true)\b"
    r"|^(?:this|that|it)\s+(?:still\s+)?(?:fails|is unsuccessful|persists|continues|recurs)\b"
    r"|^(?:still\s+(?:not|no|un\w+|failing|failed|fails)|unsuccessful|not (?:resolved|successful"
    r"|fixed|solved))\b"
    r"|\b(?:still|continues? to)\s+(?:fails?|failing|exists?|persists?|occurs?|happens?|be seen"
    r"|fires?|firing|experienc\w+|(?:does|do|is|are|has|have|can)(?: not|n't)|cannot|crash\w*|see"
    r"|unable|unavailable|unreachable|unhealthy|unresponsive|degraded|down|stuck|not)\b"
    r"|\b(?:does|do|did)(?: not|n't) (?:resolve|fix|solve|clear|correct|mitigate) "
    rf"(?:the|this|that|your)\s+(?:\w+\s+)?{_FAULT}",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    rf"\b{_FAULT}\s+(?:\w+\s+)?(?:is|are|was|has|have)(?: now)?(?: been)? (?:resolved|fixed|cleared"
    r"|solved|gone|corrected|mitigated)\b"
    rf"|^{_DEED}\s+(?:resolves?|resolved|fix(?:es|ed)|solves?|solved|helps?|helped|works?|worked"
    r"|succeeds?|succeeded|(?:is|was|were|are) successful)\b",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"^(?:(?:you can |please )?close the (?:ticket|incident|case|alert|issue)|no (?:further |other "
    r"|more |additional )?(?:actions?|steps?|work|remediation|changes?) (?:is |are |will be )?"
    r"(?:needed|required|necessary)|(?:you are|we are|it is) done\b|done$|stop here|stop$"
    r"|there (?:is|are) (?:nothing|no) (?:more|further|else|actions?)\b|nothing (?:more|further"
    r"|else)"
    r" (?:to|needs|is|has)\b|(?:the |this )?(?:procedure|process|task|rollback|upgrade|installation"
    r"|recovery|operation) (?:is|has) (?:now )?(?:been )?(?:complete|completed|done|finished"
    r"|over)\b"
    r"|exit (?:this|the) (?:procedure|page|process|runbook|workflow)"
    r"|(?:the |this )?(?:issue|problem|incident|alert) (?:is|has been) (?:now )?(?:resolved|fixed"
    r"|cleared))",
    re.IGNORECASE,
)
_DISMISSES = re.compile(
    r"^(?:the |this |that |these |such )?(?:\w+ )?(?:alerts?|alarms?|issues?|incidents?|problems?"
    r"|cases?|tickets?|situations?) (?:can|may|should|could) (?:then )?be (?:safely )?(?:ignored"
    r"|disregarded|dismissed|closed)\b"
    r"|^(?:please )?(?:ignore|disregard|dismiss) (?:the|this|that|these) (?:\w+ )?(?:alert|alarm"
    r"|issue|incident|problem|case|ticket)s?[.!]?$"
    r"|^(?:(?:it|this|that|these)|(?:the|this|that|these) [\w -]{2,40}?) (?:requires?|needs?) no"
    r" (?:further |other |more |additional )?(?:action|actions|work|intervention|attention)\b"
    r"|^(?:please )?skip (?:all )?the (?:rest|remainder) of (?:this|the)\b"
    r"|^(?:all )?the (?:rest|remainder|remaining steps?)(?: of (?:this|the) \w+)? (?:can|may"
    r"|should|must) be (?:skipped|ignored|disregarded)\b",
    re.IGNORECASE,
)
"""What ends the work where it is said on a condition."""
_CLOSING = re.compile(
    r"^(?P<before>.+?)\s*(?:[,;]\s*(?:and\s+)?(?:then\s+)?|\band\s+(?:then\s+)?|\bthen\s+)"
    r"(?P<end>stop(?: here| there)?|go no further|you are done|end here"
    r"|close the (?:ticket|incident|case|alert|issue))[.!]?$",
    re.IGNORECASE | re.DOTALL,
)
_CLOSING_IT = re.compile(
    r"^(?P<before>.*\b(?P<what>ticket|incident|case|alert|issue)\b[^,;]*?),?\s+and\s+(?:then\s+)?"
    r"close it[.!]?$",
    re.IGNORECASE | re.DOTALL,
)
_NOT_HERE = re.compile(
    r"^(?:do not (?:proceed|continue|go on|use this|follow this|perform this|apply this)"
    r"|(?:this|the) (?:page|procedure|article|document|guide|runbook|known issue|issue|section"
    r"|workaround|fix) (?:is|does|was|may)(?: not|n't)\s+(?:\w+\s+)?(?:needed|required|necessary"
    r"|apply|applicable|relevant|appropriate|cover)"
    r"|(?:it is|you are|this is) (?:not|a different|another) (?:this|the|issue|problem|hitting"
    r"|affected))",
    re.IGNORECASE,
)
_ESCALATES = re.compile(
    r"^(?:escalate\b|hand (?:it |this )?over\b"
    r"|(?:hand|give|pass|assign|route|raise)\b[^.]{1,40}\bto\b[^.]{0,40}\bteam\b"
    r"|(?:contact|call|page|engage|involve|notify|reach out to|consult|inform|alert"
    r"|get in touch with|work with|ask)\b[^.]{0,60}\b(?:support|team|vendor|on-?call"
    r"|engineer(?:s|ing)?|administrators?|admins?|representatives?|owners?|service personnel"
    r"|manufacturer|provider|experts?|specialists?|developers?|help ?desk|representative|dba)\b"
    r"|(?:open|file|raise|submit|create|log|report)\b[^.]{0,40}\b(?:support|service|hardware|vendor"
    r"|customer)?\s*(?:case|ticket|incident|bug|bugzilla|issue|service request|support request"
    r"|jira)\b"
    r"|(?:seek|request|ask for|get) (?:further |additional |more )?"
    r"(?:help|assistance|support)\b(?! on\b))",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:continue|go on|carry on|proceed|read on|move on)(?:\s+(?:here|below|as usual|reading"
    r"|normally))?"
    r"|(?:(?:continue|go|proceed|move|carry)\s+(?:on\s+)?(?:with|to)\s+)?(?:the\s+)?"
    r"(?:(?:next|following|remaining)\s+(?:steps?|section|check|item|instructions?|procedure)s?"
    r"|steps?\s+below|rest(?: of (?:this|the) \w+)?|this\s+(?:page|procedure)|(?:the\s+)?upgrade)"
    r"|(?:this|it) (?:can|may) be (?:safely )?ignored|ignore (?:it|this)",
    re.IGNORECASE,
)
_APPLIES = re.compile(
    r"^(?:(?:note|important)\W+)?(?:this|these|the following|the)?\s*(?:[\w-]+\s+){0,3}?(?:(?:is"
    r"|are)\s+)?"
    r"(?:only (?:appl(?:y|ies) (?:to|for|on|when|if)|(?:applicable|relevant|needed|required"
    r"|necessary"
    r"|valid|intended|meant|supported) (?:to|for|on|when|if|in))"
    r"|(?:appl(?:y|ies)|required|needed|necessary) only (?:to|for|on|when|if))\s+"
    r"(?P<what>(?:[^.;]|\.(?=\w)){3,160})",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"^(?:(?:otherwise|else)\b[,:]?|(?:if not|if no|if this is not the case|if that is not the case"
    r"|if (?:it|they|this|that) (?:is|does|has|are|do|have|was|did)(?: not|n't)"
    r"|in all other cases|in other cases|in any other case|for all other cases)(?:[,:]|\s+then))\s+"
    r"(?P<action>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_IF_NOT = re.compile(
    r"^if not\s+(?P<action>(?P<verb>[a-z]+)\s+(?:the|an?|all|any|your|its|it|them|this|these|`)"
    r".+)$",
    re.IGNORECASE | re.DOTALL,
)
"""Without a comma before the instruction."""
_OTHERWISE_ALONE = re.compile(
    r"(?:otherwise|else|if not|if this is not the case|in (?:all|any) other cases?)\W*",
    re.IGNORECASE,
)
_MAY_BE = re.compile(
    r"^(?:(?:the|a|another|one)\s+(?:\w+\s+)?(?:cause|reason|problem|issue)s?\s+(?:\w+\s+)?"
    r"(?:is|may be|might be|could be|might also be|can be)(?:\s+also)?\s+(?:that\s+)?"
    r"|it is (?:also )?possible that\s+|(?:maybe|perhaps|possibly|sometimes|occasionally)[,:]?\s+"
    r"|in (?:some|rare|certain|many|most) cases,?\s+)",
    re.IGNORECASE,
)
_POSSIBLY = re.compile(r"\b(?:may|might|can|could) (?:also )?(?=\w+)", re.IGNORECASE)
_MAYBE_SO = re.compile(r"\b(?P<before>\w+) (?:may|might|can|could) (?:also )?be ", re.IGNORECASE)
_SAID_ANSWER = re.compile(
    r"^(?:if\s+)?(?P<answer>yes|no(?=\s*(?:[,:.;–—→⇒]|[=-]+>|-+\s))|so(?=,)|not?(?=[,:]))\b"
    r"(?:\s*(?:[,:.;–—→⇒]|[=-]+>|-+(?=\s)))*\s*(?P<action>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_INSTEAD = re.compile(
    r"^(?:alternatively\b,?|alternative(?: \w+)?:|as an alternative(?: to (?:this|that))?,"
    r"|another (?:option|way|alternative|possibility) is to\b"
    r"|or,? (?=(?:alternatively|via|using|use|by|through|with|you can)\b)(?:alternatively,? )?)"
    r"\s*(?P<action>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_CONTINUES = re.compile(
    r"^(?:and |also |please )?(?:then|after (?:that|this|doing so|which|the \w+(?: \w+)?,)"
    r"|afterwards?|next|this|these|once (?:done|this|that|it|the)|finally|subsequently"
    r"|in (?:this|that|such) (?:case|situation|event)|in addition|additionally|doing (?:so|this)"
    r"|when (?:done|finished))\b",
    re.IGNORECASE,
)
_BEHIND_WARNING = re.compile(r"[;:.]\s+|\s[—–-]\s|,\s+(?:but|and|instead|then)\s+")
_UNTIL = re.compile(
    r"^(?P<deed>.+?),?\s+until\s+(?P<state>[^,;]+?)(?:\s+(?:before|by)\s+\w+ing\b.*)?$",
    re.IGNORECASE | re.DOTALL,
)
_WISHED = re.compile(
    r"(?P<who>you|we) (?:wish|want|prefer|would like|'d like|choose|decide) (?P<what>to \w.+)",
    re.IGNORECASE,
)


def is_outcome(condition: str) -> bool:
    """Whether it says that an action before has not helped."""
    return _OUTCOME.search(condition) is not None


def is_success(condition: str) -> bool:
    """Whether it says that an action before has helped."""
    return _SUCCESS.search(condition) is not None and not is_outcome(condition)


def closes(action: str) -> bool:
    """Whether the work is over once this is said."""
    return _CLOSES.match(action) is not None


def dismisses(action: str) -> bool:
    """Whether nothing is left to do in the case of which this is said."""
    return _DISMISSES.match(action) is not None


def closing(action: str) -> tuple[str, str] | None:
    """What is told before `… and stop here`, and those closing words; None without such an end."""
    found = _CLOSING.match(action)
    if found:
        return found["before"], found["end"]
    found = _CLOSING_IT.match(action)
    return (found["before"], f"close the {found['what'].lower()}") if found else None


def excludes(action: str) -> bool:
    """Whether it says that the page is not for this case."""
    return _NOT_HERE.match(action) is not None


def escalates(action: str) -> bool:
    """Whether it gives the work to somebody else."""
    return _ESCALATES.match(action) is not None


def goes_on(action: str) -> bool:
    """Whether nothing is told but to read on."""
    return _GOES_ON.fullmatch(action.strip(" .")) is not None


def instead(sentence: str) -> str:
    """What may be done in place of what was told before; empty where the sentence tells no such."""
    found = _INSTEAD.match(sentence.strip())
    return found["action"] if found else ""


def continues(sentence: str) -> bool:
    """Whether it begins as what goes on with the sentence before."""
    return _CONTINUES.match(sentence.strip()) is not None


def behind(warning: str) -> Sequence[str]:
    """The clauses of a warning behind its first, which may tell what to do."""
    return _BEHIND_WARNING.split(warning)[1:]


def until(action: str) -> tuple[str, str] | None:
    """What is done again and again, and the state in which that ends."""
    found = _UNTIL.match(action.strip(" .:"))
    return (found["deed"], found["state"]) if found else None


def wish(condition: str) -> str:
    """What somebody may want to do, as a question; empty where the condition says no wish."""
    found = _WISHED.fullmatch(condition.strip(" .,"))
    return f"Do {found['who'].lower()} want {found['what']}?" if found else ""


def possibility(sentence: str) -> str:
    """A statement without the words that only say that it may be so."""
    return _POSSIBLY.sub("", _MAYBE_SO.sub(_being, _MAY_BE.sub("", sentence.strip())))


def _being(found: re.Match[str]) -> str:
    before = found["before"]
    is_many = before.endswith("s") and not before.endswith(("ss", "us", "is"))
    return f"{before} {'are' if is_many else 'is'} "


def limits(sentence: str) -> str:
    """What a page or section is only for; empty where the sentence does not say."""
    found = _APPLIES.match(sentence.strip()) if "only" in sentence else None
    return found["what"].strip() if found else ""


def otherwise(sentence: str) -> str:
    """What is to be done otherwise; empty where the sentence does not say."""
    found = _OTHERWISE.match(sentence.strip())
    if found is None:
        found = _IF_NOT.match(sentence.strip())
        return found["action"] if found and is_base_form(found["verb"]) else ""
    return found["action"]


def is_otherwise(sentence: str) -> bool:
    """Whether it says only that what follows is done otherwise."""
    return _OTHERWISE_ALONE.fullmatch(sentence.strip()) is not None


def answered(sentence: str) -> tuple[bool, str] | None:
    """Which answer the sentence is about, and what to do then: `If yes, restart it`."""
    found = _SAID_ANSWER.match(sentence.strip())
    if found is None:
        return None
    return found["answer"].lower() in {"yes", "so"}, found["action"]
