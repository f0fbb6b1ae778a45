"""Cue phrases: outcome of an action, end of the work, escalation, continuation, jump, command."""

import re
from dataclasses import dataclass

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
_CLOSING_ACTION = re.compile(
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
_DISMISSAL = re.compile(
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
"""Phrases that end the work if they are said under a condition."""
_OUT_OF_SCOPE = re.compile(
    r"^(?:do not (?:proceed|continue|go on|use this|follow this|perform this|apply this)"
    r"|(?:this|the) (?:page|procedure|article|document|guide|runbook|known issue|issue|section"
    r"|workaround|fix) (?:is|does|was|may)(?: not|n't)\s+(?:\w+\s+)?(?:needed|required|necessary"
    r"|apply|applicable|relevant|appropriate|cover)"
    r"|(?:it is|you are|this is) (?:not|a different|another) (?:this|the|issue|problem|hitting"
    r"|affected))",
    re.IGNORECASE,
)
_ESCALATION = re.compile(
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
_CONTINUE = re.compile(
    r"(?:continue|go on|carry on|proceed|read on|move on)(?:\s+(?:here|below|as usual|reading"
    r"|normally))?"
    r"|(?:(?:continue|go|proceed|move|carry)\s+(?:on\s+)?(?:with|to)\s+)?(?:the\s+)?"
    r"(?:(?:next|following|remaining)\s+(?:steps?|section|check|item|instructions?|procedure)s?"
    r"|steps?\s+below|rest(?: of (?:this|the) \w+)?|this\s+(?:page|procedure)|(?:the\s+)?upgrade)"
    r"|(?:this|it) (?:can|may) be (?:safely )?ignored|ignore (?:it|this)",
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
"""The words `If not` directly before the instruction, without a comma."""
_OTHERWISE_ALONE = re.compile(
    r"(?:otherwise|else|if not|if this is not the case|in (?:all|any) other cases?)\W*",
    re.IGNORECASE,
)


def is_outcome(condition: str) -> bool:
    """Return True if the condition says that an earlier action has not helped."""
    return _OUTCOME.search(condition) is not None


def is_success(condition: str) -> bool:
    """Return True if the condition says that an earlier action has helped."""
    return _SUCCESS.search(condition) is not None and not is_outcome(condition)


def is_closing(action: str) -> bool:
    """Return True if the action ends the work."""
    return _CLOSING_ACTION.match(action) is not None


def is_dismissal(action: str) -> bool:
    """Return True if the action leaves nothing to do in the case at hand."""
    return _DISMISSAL.match(action) is not None


def is_out_of_scope(action: str) -> bool:
    """Return True if the action says that the page does not apply to this case."""
    return _OUT_OF_SCOPE.match(action) is not None


def is_escalation(action: str) -> bool:
    """Return True if the action hands the work over to somebody else."""
    return _ESCALATION.match(action) is not None


def is_continue(action: str) -> bool:
    """Return True if the action says only to read on."""
    return _CONTINUE.fullmatch(action.strip(" .")) is not None


def otherwise_action(sentence: str) -> str:
    """Return the action of an `otherwise_action` sentence; empty if it is none."""
    match = _OTHERWISE.match(sentence.strip())
    if match is None:
        match = _IF_NOT.match(sentence.strip())
        return match["action"] if match and is_base_form(match["verb"]) else ""
    return match["action"]


def is_otherwise(sentence: str) -> bool:
    """Return True if the sentence is a bare `otherwise_action` before an action that follows."""
    return _OTHERWISE_ALONE.fullmatch(sentence.strip()) is not None


_GO = (
    r"(?:go|proceed|continue|skip|return|jump|move|advance|start|resume|repeat|restart)"
    r"(?:\s+(?:on|back|ahead|again|over|forward|directly|straight|down|immediately))*"
    r"(?:\s+(?:to|with|at|from|on))?"
)
_JUMP_VERB = re.compile(
    r"\b(?:go|proceed|continue|skip|return|jump|move|advance|start|resume|repeat|restart|see|refer"
    r"|follow|perform|take|apply)\b",
    re.IGNORECASE,
)
_STEP = re.compile(
    rf"^(?P<before>.*?)(?:^|[,;]\s+(?:and\s+)?(?:then\s+)?|\s+(?:and|then)\s+(?:then\s+)?)"
    rf"{_GO}\s+[\"'“]?(?:the\s+)?step\s+(?P<number>\d{{1,2}})\b(?!\.\d)"
    r"\s*(?:\([^()]*\)|:\s+[^,.;:]{1,60}|above|below|again)?[\s.\"'”]*$",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(
    rf"^(?P<before>.*?)(?:^|[,;]\s+(?:and\s+)?(?:then\s+)?|\s+(?:and|then)\s+(?:then\s+)?)"
    rf"(?:{_GO}|see|refer to|follow|perform|take|apply)\s+(?:the\s+)?"
    r"(?:(?:section|steps? in|instructions? in|"
    r"procedure in|next section)[,:]?\s+)?(?:the\s+)?[\"'“*]*(?P<title>[^\"'“”*.;]{3,90}?)[\"'”*]*"
    r"(?:\s+(?:section|above|below|procedure|steps?))*[\s.\"'”]*$",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class JumpClause:
    """The target of a jump, and the text of the sentence before it."""

    before: str
    number: int = 0
    title: str = ""


def parse_jump(sentence: str) -> JumpClause | None:
    """Return the jump of a sentence; its title is only a candidate for a section's title."""
    if not _JUMP_VERB.search(sentence):
        return None
    line = " ".join(sentence.split())
    match = _STEP.match(line)
    if match:
        return JumpClause(match["before"].strip(" ,;."), number=int(match["number"]))
    match = _SECTION.match(line)
    return (
        JumpClause(match["before"].strip(" ,;."), title=match["title"].strip()) if match else None
    )


PROMPT = re.compile(
    r"^(?:\S+@\S+[#$%>]\s+|[\w.-]+(?:\([\w./-]+\))?[#>]\s*(?!/)|<[\w.-]+>\s+"
    r"|\[[^\]]+\]\s*(?:\([^)]*\)\s*)?[#$>%]+\s+|\[(?:edit|root|\w+@)[^\]]*\]\s+"
    r"|[A-Z]:\\[^>]*>\s*"
    r"|[\w-]+[=-][#>]\s+|[\w.-]+ \[[^\]]*\]\s?[#>]\s+"
    r"|[\w.-]+(?::[~/][\w/.-]*)?\$\s+|\([\w./-]+\)[#>]\s*"
    r"|[~/][\w/.-]*\s[#$]\s+|[$%>]>?\s+)"
    r"(?=[A-Za-z./])|^[\w.-]+\(conf[\w./-]*\)#\s+(?=\d)"
    r"|^PS(?: [^>]*)?>\s*(?=[A-Za-z./$&(\[])"
)
"""A shell or device prompt before a command."""
COMMAND_LEAD_IN = re.compile(
    r"\b(?:run|runs|running|execute|issue|use|using|with|via|type|enter|command|by|through"
    r"|again)[:,]?"
    r"\s*$",
    re.IGNORECASE,
)
"""Words of a sentence directly before a command."""
