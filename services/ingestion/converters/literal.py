"""Escaping of words, code and addresses, so that Markdown shows them with the fewest marks."""

import re

_BEFORE_PUNCTUATION = r"\\(?=[!-/:-@\[-`{-~\n]|$)"
"""Backslash that would hide the character behind it, or break the line."""
_STARTS_TAG = r"<(?=[A-Za-z/!?])"
_STARTS_ENTITY = r"&(?=#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};)"
_ENDS_LABEL = r"\](?=\(|$)"
_PICTURE = r"!(?=\[|$)"
_EMPHASIS = r"(?<!\s)\*|\*(?!\s)"
_UNDERLINES = r"(?<![^\W_])_|_(?!\w)"
_STRIKES = r"~(?=~)|(?<=~)~"
_MARKS = (
    *(_BEFORE_PUNCTUATION, _STARTS_TAG, _STARTS_ENTITY, _ENDS_LABEL, _PICTURE),
    *(_EMPHASIS, _UNDERLINES, _STRIKES, "`"),
)
_MARKUP = re.compile("|".join(_MARKS))
_MARKUP_OF_LABEL = re.compile("|".join((*_MARKS, r"[\[\]]")))
_NUMBER = re.compile(r"(\d{1,9})(?=[.)](?:\s|$))")
_STARTS_BLOCK = re.compile(
    r"#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|[:~](?:\s|$)|=+\s*$|(?=[^-]*-)[-:|\s]+$|\+{3}"
    r"|!!!|\?\?\?|===|:::|\{(?:warning|note|info|tip|panel)[:}]|\[[^\]]*(?:\]:|$)"
)
_CLOSES_HEADING = re.compile(r"(?<!\S)#(?=#*\s*$)")
_BACKTICKS = re.compile("`+")
_IN_WORDS = str.maketrans({"[": "(", "]": ")", "`": "'", "<": "‹", ">": "›"})
"""Replacements of signs that would end the words, or begin something else among them."""
_IN_ADDRESS = {ord(letter): f"%{ord(letter):02X}" for letter in " ()<>[]\\|\"'`"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def escaped(text: str, *, is_whole: bool = False, is_label: bool = False) -> str:
    """Return words of a line so that nothing in them is a mark.

    Of words that stand alone (`is_whole`), a mark that occurs once has no partner and stays. In
    the words of a link (`is_label`) brackets are escaped too: only the link's own may count.
    """
    alone = {mark for mark in "*_`" if text.count(mark) == 1} if is_whole else set()
    markup = _MARKUP_OF_LABEL if is_label else _MARKUP
    return markup.sub(lambda match: match[0] if match[0] in alone else "\\" + match[0], text)


def escaped_start(line: str) -> str:
    """Return a line of escaped words, escaped so that it begins no block of another kind."""
    if number := _NUMBER.match(line):
        return f"{number[1]}\\{line[number.end() :]}"
    return "\\" + line if _STARTS_BLOCK.match(line) else line


def heading_words(words: str) -> str:
    """Return escaped words of a heading, escaping closing signs at their end."""
    return _CLOSES_HEADING.sub(r"\#", words)


def fenced(code: str, language: str = "") -> str:
    """Return a block of code, its fence longer than any in it."""
    fence = "`" * max(3, _longest_run(code) + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def inline_code(code: str) -> str:
    """Return a piece of code within a line."""
    mark = "`" * (_longest_run(code) + 1)
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{mark}{pad}{code}{pad}{mark}"


def image(words: str, address: str) -> str:
    """Return a picture as Markdown, with its words and the address where its bytes are."""
    shown = " ".join(words.split()).translate(_IN_WORDS).rstrip("\\ ")
    return f"![{shown}]({address_of(address)})"


def address_of(address: str) -> str:
    """Escape an address for the Markdown of a picture or a link."""
    return _CONTROL.sub("", address.strip()).translate(_IN_ADDRESS)


def _longest_run(code: str) -> int:
    return max(map(len, _BACKTICKS.findall(code)), default=0)
