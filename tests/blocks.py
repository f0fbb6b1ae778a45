"""The code blocks of README and documentation."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUIDES = sorted(ROOT.glob("docs/guides/*.md"))
EXECUTED = [ROOT / "README.md", *GUIDES]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.md"])

_BLOCK = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One block: its language, the file that it is or changes, and where it stands."""

    page: Path
    line: int
    language: str
    file: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def commands(self) -> Iterator[str]:
        """Commands of a block of a shell, a line each; what is printed is left out."""
        text = self.text.replace("\\\n", " ")
        for line in text.splitlines():
            typed = line.removeprefix("$ ")
            if typed.strip() and (self.language == "sh" or typed != line):
                yield from re.split(r" && ", re.sub(r"\[(--[^]]*)\]", r"\1", typed))


def blocks(*pages: Path) -> list[Block]:
    """All blocks of these pages."""
    return [block for page in pages for block in _of(page)]


def _of(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(page, line, match[1], match[2] or "", match[3])


def words(command: str) -> list[str]:
    """The command's words, without variables before it and a comment behind."""
    split = shlex.split(command, comments=True)
    while split and re.match(r"[A-Z_]+=", split[0]):
        del split[0]
    return split
