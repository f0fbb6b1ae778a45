"""Severities of all systems in one scale: `SEVERITIES`, worst first.

Systems number in two directions, so a bare number means a priority here (1 is the worst); a source
that counts upwards translates its numbers itself. A word of no known meaning stays as it came.
"""

import re

from services.kit.queue.outbox import NORMAL

CRITICAL, HIGH, WARNING, LOW, INFO = SEVERITIES = ("critical", "high", "warning", "low", "info")

_WORDS = {
    CRITICAL: "critical crit fatal emergency emerg panic disaster blocker highest page urgent "
    "alert p0 p1 s0 s1 sev0 sev1 severity1 priority1 0 1",
    HIGH: "high error err major severe p2 s2 sev2 severity2 priority2 2",
    WARNING: "warning warn medium moderate average degraded normal "
    "p3 s3 sev3 severity3 priority3 3",
    LOW: "low minor notice trivial lowest p4 s4 sev4 severity4 priority4 4",
    INFO: "info information informational none debug ok success planning unclassified "
    "notclassified p5 s5 sev5 severity5 priority5 5",
}
_SEVERITY_OF = {word: severity for severity, words in _WORDS.items() for word in words.split()}
_PRIORITIES = {CRITICAL: 0, HIGH: 3, LOW: 9, INFO: 9}
_NUMBERED = re.compile(r"^(\d)\s*[-–:]\s*(.+)$")
_NO_WORD = re.compile(r"[\s_-]+")


def normalise_severity(text: str) -> str:
    """Return the severity in our scale, such as `high` for `P2`, `2 - High`, `SEV-2` or `Major`."""
    numbered = _NUMBERED.match(text.strip())
    for word in (numbered[2], numbered[1]) if numbered else (text,):
        severity = _SEVERITY_OF.get(_NO_WORD.sub("", word.lower()))
        if severity:
            return severity
    return text


def priority_of(severity: str) -> int:
    """Return the queue priority of a severity: 0 is the first; unknown ones are in the middle."""
    return _PRIORITIES.get(severity, NORMAL)
