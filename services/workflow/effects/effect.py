"""Effect of a command on its machine, judged by how the command is written."""

import re
from enum import StrEnum

from services.kit.value import Value
from services.language.cues import PROMPT
from services.workflow.effects.inner import inner_commands
from services.workflow.effects.output_targets import is_read_only_fetch, is_safe_redirection
from services.workflow.effects.queries import (
    are_read_only_cmdlets,
    is_cmdlet,
    is_read_only_statement,
    is_statement,
)
from services.workflow.effects.shell import SimpleCommand, UnbalancedError, simple_commands
from services.workflow.effects.table import (
    LISTENERS,
    PROGRAMS,
    READERS,
    RESERVED,
    Change,
    change_of,
    danger_of,
)


class EffectLevel(StrEnum):
    """Severity of a command's effect."""

    LOOKS = "looks"
    CHANGES = "changes"
    DESTROYS = "destroys"


class Effect(Value):
    """Effect of running a command."""

    level: EffectLevel
    what: str = ""
    """Description such as `scales a workload`; empty if it is read-only or unknown."""
    undo: str = ""
    """Way to undo it; empty if none is known."""

    @property
    def only_looks(self) -> bool:
        """True if it is known to change nothing; an unknown command is not read-only."""
        return self.level is EffectLevel.LOOKS

    @property
    def words(self) -> str:
        """Caption above the command, such as `Changes something: …`; empty if it is read-only."""
        if self.level is EffectLevel.LOOKS:
            return ""
        if self.level is EffectLevel.DESTROYS:
            return f"Destroys: {self.what}"
        text = f"Changes something: {self.what}" if self.what else "May change something"
        return f"{text}; undo: {self.undo}" if self.undo else text


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_BINARIES = re.compile(r"(?:/usr)?(?:/local)?/s?bin/|/opt/(?:cray|puppetlabs)/\S*bin/")
_FILTER = re.compile(
    r"^\s*(?:do |run )?(?:sho?w?|display|sh)\s[^|;&$`>]*\|\s*"
    r"(?:i|inc\w*|exc\w*|b|beg\w*|sec\w*|match|except|grep|egrep|count)\s+(?P<pattern>[^;&$`>]*)$"
)
"""Output filter of a network device: the rest of the line is a pattern, bars included."""
_CONFIGURING = re.compile(r"^\s*\S+\(conf\w*[^)]*\)#")
_RUNS = re.compile(r"(?:^| )(?:\+!|--pre\b|-P ?(?!\d|[ieow]?$)[a-z/]+ .)")
"""Options that make a reading program run another one."""
_LEADING_COMMENTS = re.compile(r"\A(?:\s*#[^\n]*\n)+")
_DEEPEST = 6


def effect_of(command: str) -> Effect:
    """Return the effect of a command; of several programs in it the most severe one counts.

    A command that is not known to be read-only counts as a change.
    """
    if _is_read_only_script(command, 0, is_fed=False):
        return Effect(level=EffectLevel.LOOKS)
    danger = danger_of(command)
    if danger:
        return Effect(level=EffectLevel.DESTROYS, what=danger.what)
    change = change_of(command) or Change("")
    return Effect(level=EffectLevel.CHANGES, what=change.what, undo=change.undo)


def _is_read_only_script(text: str, depth: int, *, is_fed: bool) -> bool:
    """Return True if the script only reads; `is_fed` means its first program gets input."""
    if depth > _DEEPEST or not text.strip():
        return not text.strip()
    lines = text.strip().split("\n")
    bare = "\n".join(each if _CONFIGURING.match(each) else PROMPT.sub("", each) for each in lines)
    bare = _LEADING_COMMENTS.sub("", bare)
    if is_statement(bare):
        return is_read_only_statement(bare)
    if is_cmdlet(bare):
        return are_read_only_cmdlets(bare)
    try:
        commands = simple_commands("\n".join(map(_without_filter, bare.split("\n"))))
    except UnbalancedError:
        return False
    if commands:
        commands[0].is_fed = commands[0].is_fed or is_fed
    return bool(commands) and all(_is_read_only_command(each, depth) for each in commands)


def _without_filter(line: str) -> str:
    """Return the line without its filter pattern, whose bars are no pipes."""
    match = _FILTER.match(line)
    if not match or re.search(r"\s\|\s|\|\|", match["pattern"]):
        return line
    return line[: match.start("pattern")] + "x"


def _is_read_only_command(simple: SimpleCommand, depth: int) -> bool:
    if not all(is_safe_redirection(sign, target) for sign, target in simple.writes):
        return False
    words = list(simple.words)
    while words and (words[0] in RESERVED or _ASSIGNMENT.match(words[0])):
        first = words.pop(0)
        if first in {"for", "case", "select"}:
            return True
        if first == "function":
            return False
    return not words or _is_read_only_program(simple, words, depth)


def _is_read_only_program(simple: SimpleCommand, words: list[str], depth: int) -> bool:
    name, arguments = _BINARIES.sub("", words[0]).casefold(), words[1:]
    if arguments in (["--version"], ["--help"]):
        return True
    inner = inner_commands(name, arguments, is_fed=simple.is_fed)
    if inner is not None:
        return inner.is_allowed and all(
            _is_read_only_script(each, depth + 1, is_fed=simple.is_fed) for each in inner.commands
        )
    if (stated := is_read_only_fetch(name, arguments)) is not None:
        return stated
    if simple.is_fed and name in LISTENERS:
        return False
    if name in READERS:
        return not _RUNS.search(" ".join(arguments))
    program = PROGRAMS.get(name)
    return program is not None and program.is_read_only(arguments)
