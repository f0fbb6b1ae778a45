"""What a command does to the machine it is run on, judged by how it is written."""

import re
from enum import StrEnum
from functools import lru_cache

from services.kit.value import Value
from services.language.commands import PROMPT
from services.workflow.dangers import danger_of
from services.workflow.effects.changes import Change, change_of
from services.workflow.effects.inner import inner_command
from services.workflow.effects.programs import LISTENERS, PROGRAMS, READERS
from services.workflow.effects.queries import (
    cmdlets_look,
    is_cmdlet,
    is_statement,
    statement_looks,
)
from services.workflow.effects.shell import Simple, UnbalancedError, simple_commands
from services.workflow.effects.writing import is_saving, saves


class Level(StrEnum):
    """How far a command goes."""

    LOOKS = "looks"
    CHANGES = "changes"
    DESTROYS = "destroys"


class Effect(Value):
    """What running a command does."""

    level: Level
    what: str = ""
    """`scales a workload`; empty where it looks or where nothing is known."""
    undo: str = ""
    """How it is taken back; empty where that is not known."""

    @property
    def only_looks(self) -> bool:
        """Whether it is known to change nothing; what is not known does not only look."""
        return self.level is Level.LOOKS

    @property
    def words(self) -> str:
        """What is said above the command: `Changes something: …`; empty where it looks."""
        if self.level is Level.LOOKS:
            return ""
        if self.level is Level.DESTROYS:
            return f"Destroys: {self.what}"
        told = f"Changes something: {self.what}" if self.what else "May change something"
        return f"{told}; undo: {self.undo}" if self.undo else told


_RESERVED = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "while",
        "until",
        "do",
        "done",
        "for",
        "case",
        "esac",
        "select",
        "function",
        "time",
        "!",
        "{",
        "}",
        "coproc",
    ]
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_BINARIES = re.compile(r"(?:/usr)?(?:/local)?/s?bin/|/opt/(?:cray|puppetlabs)/\S*bin/")
_FILTER = re.compile(
    r"^\s*(?:do |run )?(?:sho?w?|display|sh)\s[^|;&$`>]*\|\s*"
    r"(?:i|inc\w*|exc\w*|b|beg\w*|sec\w*|match|except|grep|egrep|count)\s+(?P<pattern>[^;&$`>]*)$"
)
"""A filter of a network device: what follows is a pattern, bars in it included."""
_CONFIGURING = re.compile(r"^\s*\S+\(conf\w*[^)]*\)#")
_RUNS = re.compile(r"(?:^| )(?:\+!|--pre\b|-P ?(?!\d|[ieow]?$)[a-z/]+ .)")
"""Words by which a reader runs a program."""
_LEADING_COMMENTS = re.compile(r"\A(?:\s*#[^\n]*\n)+")
_DEEPEST = 6


@lru_cache(maxsize=4096)
def effect_of(command: str) -> Effect:
    """What the command does; of several programs in it the one that goes the farthest counts.

    What is not known to look counts as a change.
    """
    if _looks(command, 0, is_fed=False):
        return Effect(level=Level.LOOKS)
    danger = danger_of(command)
    if danger:
        return Effect(level=Level.DESTROYS, what=danger.what)
    change = change_of(command) or Change("", "")
    return Effect(level=Level.CHANGES, what=change.what, undo=change.undo)


def _looks(text: str, depth: int, *, is_fed: bool) -> bool:
    """`is_fed`: whether the first program is given input."""
    if depth > _DEEPEST or not text.strip():
        return not text.strip()
    bare = "\n".join(_without_prompt(line) for line in text.strip().split("\n"))
    bare = _LEADING_COMMENTS.sub("", bare)
    if is_statement(bare):
        return statement_looks(bare)
    if is_cmdlet(bare):
        return cmdlets_look(bare)
    try:
        commands = simple_commands("\n".join(map(_without_filter, bare.split("\n"))))
    except UnbalancedError:
        return False
    if commands:
        commands[0].is_fed = commands[0].is_fed or is_fed
    return bool(commands) and all(_simple_looks(each, depth) for each in commands)


def _without_prompt(line: str) -> str:
    return line if _CONFIGURING.match(line) else PROMPT.sub("", line)


def _without_filter(line: str) -> str:
    """The line without a pattern, whose bars are no pipes."""
    found = _FILTER.match(line)
    if not found or re.search(r"\s\|\s|\|\|", found["pattern"]):
        return line
    return line[: found.start("pattern")] + "x"


def _simple_looks(simple: Simple, depth: int) -> bool:
    if not all(is_saving(sign, target) for sign, target in simple.writes):
        return False
    words = list(simple.words)
    while words and (words[0] in _RESERVED or _ASSIGNMENT.match(words[0])):
        first = words.pop(0)
        if first in {"for", "case", "select"}:
            return True
        if first == "function":
            return False
    return not words or _program_looks(simple, words, depth)


def _program_looks(simple: Simple, words: list[str], depth: int) -> bool:
    name, arguments = _BINARIES.sub("", words[0]).casefold(), words[1:]
    if arguments in (["--version"], ["--help"]):
        return True
    inner = inner_command(name, arguments, is_fed=simple.is_fed)
    if inner is not None:
        return inner.may_stand and all(
            _looks(each, depth + 1, is_fed=simple.is_fed) for each in inner.commands
        )
    if (stated := saves(name, arguments)) is not None:
        return stated
    if simple.is_fed and name in LISTENERS:
        return False
    if name in READERS:
        return not _RUNS.search(" ".join(arguments))
    program = PROGRAMS.get(name)
    return program is not None and program.allows(arguments)
