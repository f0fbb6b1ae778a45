"""Destructive operations and how they are written.

The table covers what interrupts service or loses data on hosts, network devices, databases and
clusters. It is a net with known meshes, not a sandbox: it warns whoever reads a workflow.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Danger:
    """A destructive operation; `in_prose` when its pattern cannot be met in plain English."""

    what: str
    pattern: re.Pattern[str]
    in_prose: bool


_FIRST = (
    r"(?:^|[;&|(`]\s*|[#$>%]\s+|\b(?:sudo|nohup|do|then|request(?:\s+system)?|run)\s+(?:-\S+\s+)*)"
)
"""Where a command may begin: at the start, after a separator, a prompt or a wrapper."""

_SHELL = (
    r"(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+(?:\S+\s+)?)?(?:/[\w/]+/)?(?:ba|z|da|k|c|tc|fi)?sh(?!\.?\w)"
)
_INTERPRETER = (
    r"(?:sudo\s+)?(?:python[\d.]*|perl|ruby|node|php|pwsh|powershell)\s*(?:-\s*)?(?=$|[;&|)`\"'.,])"
)
_FETCH = r"\b(?:curl|wget|fetch|aria2c)\b"
_POWERSHELL_FETCH = (
    r"\b(?:irm|iwr|curl|wget|Invoke-RestMethod|Invoke-WebRequest|Start-BitsTransfer"
    r"|DownloadString)\b"
)


def _danger(what: str, *patterns: str, in_prose: bool = True) -> Danger:
    return Danger(what, re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE), in_prose)


DANGERS = (
    _danger(
        "deletes files",
        r"\brm\s+(?:-\S+\s+)*-{1,2}(?:[a-z]*[rf]|recursive|force)\b",
        r"\bfind\b.*\s-delete\b",
        r"\bRemove-Item\b.*-(?:Recurse|Force)\b",
        r"\bdelete\s+(?:/\S+\s+)*(?:flash|bootflash|disk\d?|slot\d?):",
    ),
    _danger(
        "wipes a disk",
        r"\bmkfs(?:\.\w+)?\s",
        r"\bdd\b.*\bof=",
        r">\s*/dev/(?:sd|nvme|vd|hd)\w",
        r"\b(?:wipefs|blkdiscard|shred)\s",
        r"\bparted\b.*\b(?:rm|mklabel)\b",
        r"\b(?:Clear-Disk|Format-Volume|Initialize-Disk|Remove-Partition)\b",
    ),
    _danger(
        "formats storage",
        _FIRST + r"format\s+(?:[a-z]:|flash|disk|bootflash|slot|usb|/)",
        in_prose=False,
    ),
    _danger(
        "removes a volume",
        r"\b(?:lv|vg|pv)remove\s",
        r"\bzpool\s+destroy\b",
        r"--zero-superblock\b",
        r"\bceph\s+osd\s+(?:pool\s+)?(?:purge|destroy|rm|lost)\b",
        r"\brados\s+purge\b",
    ),
    _danger(
        "restarts or stops the machine",
        _FIRST + r"(?:reboot|reload|halt|poweroff|shutdown|init\s+[06]|reset\s+system)\b",
        r"\bpower\s+(?:off|cycle|reset)\b",
        in_prose=False,
    ),
    _danger(
        "restarts or stops the machine",
        r"\bsystemctl\s+(?:reboot|poweroff|halt|rescue|emergency)\b",
        r"\b(?:Stop|Restart)-Computer\b",
    ),
    _danger(
        "drops data",
        r"\bdrop\s+(?:table|database|schema|keyspace|tablespace)\b",
        r"\btruncate\s+table\b",
        r"\bdelete\s+from\s+\S+\s*(?:;|$)",
        r"\bflush(?:all|db)\b",
    ),
    _danger(
        "deletes cluster objects",
        r"\b(?:kubectl|oc)\b[^|;&]*?\s(?:delete|replace\s+--force)\b",
        r"\bhelm\s+(?:uninstall|delete)\b",
        r"\bterraform\s+destroy\b",
        r"\b(?:docker|podman)\s+(?:\w+\s+)?prune\b",
        r"\betcdctl\b[^|;&]*\b(?:del|member\s+remove)\b",
    ),
    _danger(
        "evicts by force",
        r"\bdrain\b.*--(?:force|delete-(?:emptydir-data|local-data)|disable-eviction)\b",
    ),
    _danger(
        "loses commits",
        r"\bgit\s+push\b.*(?:--force|\s-f)\b",
        r"\bgit\s+(?:reset\s+--hard|clean\s+-\w*f)",
    ),
    _danger(
        "removes routing or switching",
        r"\bno\s+(?:router\s+\w|ip\s+rout(?:e|ing)\b|vlan\s+\d|spanning-tree\b|vrf\s+\w)",
        r"\bundo\s+(?:bgp|ospf|isis|vlan|ip\s+route)\b",
        in_prose=False,
    ),
    _danger("removes routing or switching", r"\bno\s+router\s+(?:bgp|ospf|isis|eigrp|rip)\b"),
    _danger(
        "resets all sessions",
        r"\b(?:clear|reset)\s+(?:ip\s+)?bgp\s+(?:\S+\s+)?(?:all|\*)(?!\S)(?!.*\bsoft\b)",
    ),
    _danger(
        "erases the configuration",
        r"\b(?:write|wr)\s+erase\b",
        r"\berase\s+(?:/?\w+\s+)?(?:startup|nvram|flash|all|config)",
        r"\b(?:clear|delete|reset)\s+(?:/\w+\s+)?(?:saved-config|startup-config)",
        r"\bclear\s+config(?:\s+all)?\s*$",
        r"\bfactory-?reset\b",
        r"\bload\s+factory-default\b",
        r"\bconfig\s+reload\b",
    ),
    _danger(
        "flushes the firewall",
        r"\biptables\s+(?:-t\s+\w+\s+)?(?:-F|--flush)\b",
        r"\bnft\s+flush\b",
    ),
    _danger(
        "runs code from elsewhere",
        rf"{_FETCH}[^\n]*?\|\s*(?:{_SHELL}|{_INTERPRETER})",
        rf"\b(?:ba|z|da|k)?sh\s+(?:-\S+\s+)*[\"']?(?:<|\$)\(\s*{_FETCH}",
        rf"(?:\beval|\bsource|(?:^|[\s`])\.)\s+[\"']?(?:<|\$)\(\s*{_FETCH}",
        rf"\b(?:base64|base32|xxd|openssl)\b[^\n|]*\s(?:-d\w*|-D|-r|--decode)\b[^\n]*?\|\s*"
        rf"(?:{_SHELL}|{_INTERPRETER})",
        rf"\b(?:iex|Invoke-Expression)\b[^\n]*{_POWERSHELL_FETCH}",
        rf"{_POWERSHELL_FETCH}[^\n]*\|\s*(?:iex|Invoke-Expression)\b",
        r"\b(?:powershell|pwsh)\b[^\n]*\s-e(?:nc\w*|c)?\s+[A-Za-z0-9+/=]{16,}",
        r"\bexec\s*\([^\n]*\burlopen\b",
        r"\bmshta\s+[\"']?https?:|\bregsvr32\b[^\n]*/i:https?:",
        r"\b(?:ba|z)?sh\s+-i\b[^\n]*/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat)\b[^\n|]*\s-(?:e|c)\s",
    ),
    _danger(
        "overrides a safeguard",
        r"(?<!\w)--(?:force|force-\w+|yes-i-really-\S*|no-preserve-root|grace-period[= ]0)\b",
    ),
)


def danger_of(command: str) -> Danger | None:
    """The first destructive operation found in a command."""
    return next((danger for danger in DANGERS if danger.pattern.search(command)), None)


def danger_in_prose(text: str) -> Danger | None:
    """As `danger_of`, for a sentence: only what cannot be ordinary English."""
    return next((d for d in DANGERS if d.in_prose and d.pattern.search(text)), None)
