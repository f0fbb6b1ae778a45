"""Roles of sections in troubleshooting, recognised by the wording of their headings."""

import re

from services.knowledge.model import SectionRole
from services.language.names import is_identifier

_LONGEST_LABEL = 7
"""Word limit; a longer heading is a sentence about its subject and says nothing about its role."""

_NUMBERING = re.compile(
    r"^(?:(?:step|section|part)\s*)?[\dA-Z]{0,3}[.):]\s+|^[\d.]+\s+|^step\s+\d{1,2}\s+[-–—]\s+",
    re.IGNORECASE,
)

_STEP = re.compile(r"^\s*step\s+\d{1,2}\b", re.IGNORECASE)
STEP_ROLES = frozenset(
    {
        SectionRole.CHECK,
        SectionRole.REMEDY,
        SectionRole.PROCEDURE,
        SectionRole.VERIFICATION,
        SectionRole.ESCALATION,
    }
)
"""Roles of sections that contain steps."""

_WORDING: tuple[tuple[SectionRole, tuple[str, ...]], ...] = (
    (
        SectionRole.EXPECTED,
        (
            r"(expected|example|sample|typical|healthy|normal|good)\s+(output|results?|response|state)",
            "success reason",
            "outputs?$",
        ),
    ),
    (
        SectionRole.CASE,
        (
            r"\bto reproduce",
            r"\breproduc",
            "timeline",
            r"\bcases?\b",
            "incident history",
            "chronolog",
        ),
    ),
    (
        SectionRole.PREVENTION,
        (
            "prevent",
            "avoid",
            r"\blessons?\b",
            r"follow[- ]?ups?\b",
            "action items",
            "best practi",
            "hardening",
            "long[- ]term",
        ),
    ),
    (
        SectionRole.REFERENCE,
        (
            r"\breferences?\b",
            r"\brelated\b",
            "see also",
            "further reading",
            # In a network `link` is a cable, so only headings that are nothing else count.
            r"^(useful |external |quick |important |helpful |other |more )?links?$",
            r"\bresources\b",
            "appendix",
            "change ?log",
            "read more",
            "more information",
            "external",
            "bibliograph",
            "documentation$",
        ),
    ),
    (
        SectionRole.NOTE,
        (
            r"\bnotes?\b",
            "caveat",
            r"\bwarnings?$",
            "limitation",
            "disclaimer",
            r"\bfaq\b",
            "prereq",
            "pre-req",
            "requirements?$",
            "before you (begin|start)",
            "affected .*versions?",
            r"\bscope\b",
            "applies to",
            "metadata",
            r"\bowners?\b",
        ),
    ),
    (
        SectionRole.PARAMETER,
        (
            "parameter",
            "arguments?$",
            "variables?$",
            r"\binputs?$",
            r"\boptions$",
            r"\bexecut\w+ this",
            r"\brunning this",
            r"\busage\b",
            r"\bsyntax\b",
            "configuration reference",
        ),
    ),
    (
        SectionRole.ESCALATION,
        (
            "escalat",
            r"\bcontacts?\b",
            "who to (call|ask|page)",
            "hand[- ]?over",
            "get(ting)? help",
            "open a (case|ticket)",
        ),
    ),
    (
        SectionRole.CAUSE,
        (
            r"causes?\b",
            r"\breasons?\b",
            r"\bwhy\b(?! (it|this) matters)",
            "what went wrong",
            r"\bculprits?\b",
            "contributing",
        ),
    ),
    (
        SectionRole.REMEDY,
        (
            r"\bfix(es|ing)?\b",
            "remed",
            "resol(ve|ving|ution)",
            "mitigat",
            "work ?-?arounds?",
            r"\brepairs?",
            "recover",
            "correct",
            r"\bsolutions?",
            "roll ?-?back",
            "restor",
            "what to do",
            r"\bcures?\b",
            r"\bactions?\b",
            "respon(se|d)",
            "first aid",
            r"\btreatment",
            r"what (was|we|i|they) (did|done|tried)",
            r"how (we|it was|they) (fix|solv|mitigat|repair|got|brought)",
            "clean ?-?up",
        ),
    ),
    (
        SectionRole.SYMPTOM,
        (
            "symptom",
            "error (message|text)",
            r"\bsigns?\b",
            "observ(ed|ation)",
            "indicat",
            "what you (see|will see)",
            "alert (message|text|details)",
            "how (it|this) (shows|looks|appears)",
            r"\bproblem\b",
            "issue description",
        ),
    ),
    (
        SectionRole.IMPACT,
        (
            "impact",
            "severity",
            "consequence",
            "blast radius",
            r"^(who|what) is affected",
            "why (it|this) matters",
            r"^affected (users|customers|systems|services)$",
        ),
    ),
    (
        SectionRole.CHECK,
        (
            "diagnos",
            r"detect(ion|ing)",
            "investigat",
            "triage",
            "debug",
            r"\bcheck",
            "inspect",
            "examin",
            "analy[sz]",
            "identify",
            "where to look",
            "commands?$",
            "queries$",
            "narrow(ing)? (it )?down",
            "isolat",
            "(issue|problem|scenario) (validation|confirmation)",
        ),
    ),
    (
        SectionRole.VERIFICATION,
        (
            "verif",
            "validat",
            "confirm",
            r"\btest(ing)? the (fix|result)",
            "after the (fix|repair)",
        ),
    ),
    (
        SectionRole.PROCEDURE,
        (
            "procedure",
            r"\bsteps?\b",
            "instruction",
            "trouble ?-?shoot",
            r"\bhow to\b",
            r"\bguide\b",
            "run ?book",
            "play ?book",
            r"\btasks?\b",
            r"\bmethod\b",
            "walk ?through",
        ),
    ),
    (
        SectionRole.MEANING,
        (
            "meaning",
            "overview",
            "description",
            "summary",
            r"\babout\b",
            "background",
            "introduction",
            r"\bcontext\b",
            "definition",
            "what (is|does|it|this)",
            "explanation",
            r"\bdetails\b",
            "purpose",
            r"\balert\b",
            r"\bissue\b",
            r"\bfailure\b",
        ),
    ),
)
"""Alternatives by role; the first role with a match counts."""

_LABEL = re.compile(
    r"(?:(?:root|likely|possible|probable|common|main|quick|permanent|temporary|typical|the"
    r"|recommended|suggested|how to)\s+)?(?:symptoms?|causes?|reasons?|fix(?:es)?|resolutions?"
    r"|solutions?|remed(?:y|ies)|mitigations?|work ?-?arounds?|diagnosis|checks?|verification"
    r"|validation|verify|impact|escalation|escalate|prevention|error message|expected output"
    r"|example output|actions?|recovery|rollback|problem|steps|procedure)(?:\s+#?\d{1,2})?"
)

_PATTERNS = tuple((role, re.compile("|".join(words))) for role, words in _WORDING)


def role_of_heading(heading: str) -> SectionRole | None:
    """Return the role; None if the wording is unknown or names the section's subject instead."""
    words = without_numbering(heading).casefold().strip(" :.#*")
    if not words or len(words.split()) > _LONGEST_LABEL or is_identifier(heading):
        return None
    role = next((role for role, pattern in _PATTERNS if pattern.search(words)), None)
    return SectionRole.PROCEDURE if role not in STEP_ROLES and _STEP.match(heading) else role


def without_numbering(heading: str) -> str:
    """Strip `3.`, `2)` or `Step 4:` from the start of a heading."""
    return _NUMBERING.sub("", heading.strip())


def role_of_label(label: str) -> SectionRole | None:
    """Return the role of the words before a paragraph's first colon, if they are such a label.

    Stricter than for headings, because sentences may contain a colon too.
    """
    words = label.casefold().strip(" :.#*")
    return role_of_heading(words) if _LABEL.fullmatch(words) else None
