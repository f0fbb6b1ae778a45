"""Parser of shell lines into the simple commands that run in them, substitutions included."""

import re
from dataclasses import dataclass, field

from services.kit.errors import InvalidInputError


class UnbalancedError(InvalidInputError):
    """A quote, bracket or substitution is opened and not closed."""


@dataclass
class SimpleCommand:
    """One program with its words, unquoted."""

    words: list[str] = field(default_factory=list)
    writes: list[tuple[str, str]] = field(default_factory=list)
    """Redirections of output: the sign and the target."""
    is_fed: bool = False
    """True if its input is a pipe, a file or a here-document."""


_ANGLE = re.compile(r"<[A-Za-z](?:[\w.:/| -]*[\w.)])?>")
"""Pattern of a placeholder, which is no redirection."""
_WRITE = re.compile(r"&>>?|\d*>[>|&]?")
_READ = re.compile(r"\d*<(?:<<|<-?|&|>)?")
_ENDS = re.compile(r"&&|\|\||;;&?|\|&?|[;&\n()]")
_DOUBLE = re.compile(r"{{.*?}}")
_CONTINUED = re.compile(r"\\\r?\n[ \t]*")
_PLAIN = re.compile(r"[^\s\\'\"`$#<>&|;()\d{]+")


def simple_commands(text: str) -> list[SimpleCommand]:
    """Return all programs that the text runs, in order, inner ones before their outer one.

    Raises:
        UnbalancedError: Something is opened and not closed.
    """
    scan = _Scan(_CONTINUED.sub(" ", text))
    scan.run()
    return [each for each in scan.commands if each.words or each.writes]


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.commands: list[SimpleCommand] = []
        self._now = SimpleCommand()
        self._word: str | None = None
        self._target = ""
        self._here: list[tuple[str, bool]] = []

    def run(self) -> None:
        while self.place < len(self.text):
            self._step()
        self._end_command()

    def _step(self) -> None:
        rest, char = self.text, self.text[self.place]
        if self._word is None and char == "#":
            end = rest.find("\n", self.place)
            self.place = len(rest) if end < 0 else end
        elif match := _DOUBLE.match(rest, self.place) or _ANGLE.match(rest, self.place):
            self._add(match[0])
            self.place = match.end()
        elif self._is_redirection():
            return
        elif match := _ENDS.match(rest, self.place):
            self._separate(match[0])
            self.place = max(self.place, match.end())
        elif char.isspace():
            self._end_word()
            self.place += 1
        elif char == "\\":
            self._add(rest[self.place + 1 : self.place + 2])
            self.place += 2
        elif char == "'":
            end = self._find_closing("'", self.place + 1)
            self._add(rest[self.place + 1 : end])
            self.place = end + 1
        elif char == '"':
            self.place += 1
            self._read_quoted()
        elif char in "$`":
            self._read_expansion()
        else:
            match = _PLAIN.match(rest, self.place)
            self._add(match[0] if match else char)
            self.place = match.end() if match else self.place + 1

    def _is_redirection(self) -> bool:
        here = self.place
        if self._word is not None and self.text[here].isdigit():
            return False
        if self.text[here : here + 2] in {"<(", ">("}:
            self._read_substitution(here + 2)
            return True
        if match := _WRITE.match(self.text, here):
            self._end_word()
            self._target = match[0].lstrip("0123456789")
        elif match := _READ.match(self.text, here):
            self._end_word()
            self._target = match[0].lstrip("0123456789")
            self._now.is_fed = True
        else:
            return False
        self.place = match.end()
        return True

    def _separate(self, sign: str) -> None:
        self._end_command()
        self._now.is_fed = sign in {"|", "|&"}
        while sign == "\n" and self._here:
            self._skip_here_document()

    def _skip_here_document(self) -> None:
        """Skip a here-document; commands in its substitutions are collected."""
        delimiter, expands = self._here.pop(0)
        end = re.compile(rf"^\s*{re.escape(delimiter)}\s*$", re.MULTILINE).search(
            self.text, self.place + 1
        )
        stop = end.start() if end else len(self.text)
        body = self.text[self.place + 1 : stop]
        if expands and re.search(r"\$\(|`", body):
            self.commands += simple_commands('"' + body.replace('"', '\\"') + '"')
        self.place = end.end() if end else len(self.text)

    def _add(self, text: str) -> None:
        self._word = (self._word or "") + text

    def _end_word(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        sign, self._target = self._target, ""
        if sign.startswith("<<") and sign != "<<<":
            quoted = self.text[: self.place].endswith(("'", '"'))
            self._here.append((word, not quoted))
        elif ">" in sign and not (sign == ">&" and re.fullmatch(r"\d|-", word)):
            self._now.writes.append((sign, word))
        elif not sign:
            self._now.words.append(word)

    def _end_command(self) -> None:
        self._end_word()
        if self._now.words or self._now.writes:
            self.commands.append(self._now)
        self._now = SimpleCommand()

    def _read_quoted(self) -> None:
        """Read up to the closing double quote."""
        self._add("")
        while self.place < len(self.text):
            char = self.text[self.place]
            if char == '"':
                self.place += 1
                return
            if char == "\\":
                self._add(self.text[self.place + 1 : self.place + 2])
                self.place += 2
            elif char in "$`":
                self._read_expansion()
            else:
                self._add(char)
                self.place += 1
        raise UnbalancedError("a double quote is not closed")

    def _read_expansion(self) -> None:
        text, here = self.text, self.place
        if text[here] == "`":
            end = self._find_closing("`", here + 1)
            self.commands += simple_commands(text[here + 1 : end])
            self._add(text[here : end + 1])
            self.place = end + 1
        elif text.startswith("$((", here) and (end := text.find("))", here)) > 0:
            inner = text[here + 3 : end]
            if re.search(r"\$\(|`", inner):
                self.commands += simple_commands(f'"{inner}"')
            self._add(text[here : end + 2])
            self.place = end + 2
        elif text.startswith("$(", here):
            self._read_substitution(here + 2)
        elif text.startswith("${", here):
            end = self._find_closing("}", here + 2)
            if re.search(r"\$\(|`", text[here:end]):
                self.commands += simple_commands(f'"{text[here + 2 : end]}"')
            self._add(text[here : end + 1])
            self.place = end + 1
        elif text.startswith("$'", here):
            self.place += 1
        else:
            self._add("$")
            self.place += 1

    def _read_substitution(self, start: int) -> None:
        """Read a substitution from after its opening bracket."""
        end = _closing_bracket(self.text, start)
        self.commands += simple_commands(self.text[start:end])
        self._add("$(" + self.text[start : end + 1])
        self.place = end + 1

    def _find_closing(self, sign: str, start: int) -> int:
        end = self.text.find(sign, start)
        if end < 0:
            raise UnbalancedError(f"{sign!r} is missing")
        return end


def _closing_bracket(text: str, start: int) -> int:
    """Find the bracket that closes the one before `start`."""
    depth, place, quote = 1, start, ""
    while place < len(text):
        char = text[place]
        if char == "\\" and quote != "'":
            place += 1
        elif quote == "'" or (quote == '"' and char == '"'):
            quote = "" if char == quote else quote
        elif char in "'\"" and not quote:
            quote = char
        elif not quote and char in "()":
            depth += 1 if char == "(" else -1
            if not depth:
                return place
        elif quote == '"' and text.startswith("$(", place):
            place = _closing_bracket(text, place + 2)
        place += 1
    raise UnbalancedError("a bracket is not closed")
