"""A line of shell as the simple commands that run in it, those of substitutions included."""

import re
from dataclasses import dataclass, field

from services.kit.errors import InvalidInputError


class UnbalancedError(InvalidInputError):
    """A quote, bracket or substitution that is opened and not closed."""


@dataclass
class Simple:
    """One program with its words, quotes taken off."""

    words: list[str] = field(default_factory=list)
    writes: list[tuple[str, str]] = field(default_factory=list)
    """Redirections of output: the sign and the target."""
    is_fed: bool = False
    """Whether its input is a pipe, a file or a here-document."""


_ANGLE = re.compile(r"<[A-Za-z](?:[\w.:/| -]*[\w.)])?>")
"""A placeholder, which is no redirection."""
_WRITE = re.compile(r"&>>?|\d*>[>|&]?")
_READ = re.compile(r"\d*<(?:<<|<-?|&|>)?")
_ENDS = re.compile(r"&&|\|\||;;&?|\|&?|[;&\n()]")
_DOUBLE = re.compile(r"{{.*?}}")
_CONTINUED = re.compile(r"\\\r?\n[ \t]*")
_PLAIN = re.compile(r"[^\s\\'\"`$#<>&|;()\d{]+")


def simple_commands(text: str) -> list[Simple]:
    """All programs that the text runs, in order, the inner ones before the one they are in.

    Raises:
        UnbalancedError: Something is opened and not closed.
    """
    scan = _Scan(_CONTINUED.sub(" ", text))
    scan.run()
    return [each for each in scan.found if each.words or each.writes]


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.found: list[Simple] = []
        self._now = Simple()
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
        elif found := _DOUBLE.match(rest, self.place) or _ANGLE.match(rest, self.place):
            self._add(found[0])
            self.place = found.end()
        elif self._is_redirection():
            return
        elif found := _ENDS.match(rest, self.place):
            self._separate(found[0])
            self.place = max(self.place, found.end())
        elif char.isspace():
            self._end_word()
            self.place += 1
        elif char == "\\":
            self._add(rest[self.place + 1 : self.place + 2])
            self.place += 2
        elif char == "'":
            end = self._closing("'", self.place + 1)
            self._add(rest[self.place + 1 : end])
            self.place = end + 1
        elif char == '"':
            self.place += 1
            self._quoted()
        elif char in "$`":
            self._expansion()
        else:
            found = _PLAIN.match(rest, self.place)
            self._add(found[0] if found else char)
            self.place = found.end() if found else self.place + 1

    def _is_redirection(self) -> bool:
        here = self.place
        if self._word is not None and self.text[here].isdigit():
            return False
        if self.text[here : here + 2] in {"<(", ">("}:
            self._inner(here + 2)
            return True
        if found := _WRITE.match(self.text, here):
            self._end_word()
            self._target = found[0].lstrip("0123456789")
        elif found := _READ.match(self.text, here):
            self._end_word()
            self._target = found[0].lstrip("0123456789")
            self._now.is_fed = True
        else:
            return False
        self.place = found.end()
        return True

    def _separate(self, sign: str) -> None:
        self._end_command()
        self._now.is_fed = sign in {"|", "|&"}
        while sign == "\n" and self._here:
            self._skip_here()

    def _skip_here(self) -> None:
        """Passes over a here-document; what it substitutes runs."""
        delimiter, expands = self._here.pop(0)
        end = re.compile(rf"^\s*{re.escape(delimiter)}\s*$", re.MULTILINE).search(
            self.text, self.place + 1
        )
        stop = end.start() if end else len(self.text)
        body = self.text[self.place + 1 : stop]
        if expands and re.search(r"\$\(|`", body):
            self.found += simple_commands('"' + body.replace('"', '\\"') + '"')
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
            self.found.append(self._now)
        self._now = Simple()

    def _quoted(self) -> None:
        """Up to the closing double quote."""
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
                self._expansion()
            else:
                self._add(char)
                self.place += 1
        raise UnbalancedError("a double quote is not closed")

    def _expansion(self) -> None:
        text, here = self.text, self.place
        if text[here] == "`":
            end = self._closing("`", here + 1)
            self.found += simple_commands(text[here + 1 : end])
            self._add(text[here : end + 1])
            self.place = end + 1
        elif text.startswith("$((", here) and (end := text.find("))", here)) > 0:
            inner = text[here + 3 : end]
            if re.search(r"\$\(|`", inner):
                self.found += simple_commands(f'"{inner}"')
            self._add(text[here : end + 2])
            self.place = end + 2
        elif text.startswith("$(", here):
            self._inner(here + 2)
        elif text.startswith("${", here):
            end = self._closing("}", here + 2)
            if re.search(r"\$\(|`", text[here:end]):
                self.found += simple_commands(f'"{text[here + 2 : end]}"')
            self._add(text[here : end + 1])
            self.place = end + 1
        elif text.startswith("$'", here):
            self.place += 1
        else:
            self._add("$")
            self.place += 1

    def _inner(self, start: int) -> None:
        """A substitution from behind its bracket."""
        end = _matching(self.text, start)
        self.found += simple_commands(self.text[start:end])
        self._add("$(" + self.text[start : end + 1])
        self.place = end + 1

    def _closing(self, sign: str, start: int) -> int:
        end = self.text.find(sign, start)
        if end < 0:
            raise UnbalancedError(f"{sign!r} is missing")
        return end


def _matching(text: str, start: int) -> int:
    """The place of the bracket that closes the one before `start`."""
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
            place = _matching(text, place + 2)
        place += 1
    raise UnbalancedError("a bracket is not closed")
