"""Text as a reader perceives it: invisible characters removed, lookalike letters unified."""

import html
import re
import unicodedata

UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
"""Character class of the invisible characters, for patterns."""
_UNSEEN = re.compile(UNSEEN)
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
"""Tag characters, a second and invisible ASCII."""
_FORMATTING = re.compile(
    r"</?(?:a|abbr|b|big|br|code|del|em|font|i|ins|kbd|mark|p|q|s|samp|small|span|strong|sub|sup|tt|u|var)\b[^<>|]*>",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*`~\\]|(?<=\w)_(?=\w)|(?<!\w)_|_(?!\w)")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+")
_LOOKALIKES = str.maketrans("авекмнорстухіјѕԁԛԝһαεικνορτυχ", "abekmhopctyxijsdqwhaeiknoptux")
"""Cyrillic and Greek small letters, and the Latin ones that they look like."""


def strip_invisible(text: str) -> str:
    """Remove invisible characters; line breaks stay in place."""
    return _TAGS.sub("", _UNSEEN.sub("", text))


def reveal_invisible(text: str) -> str:
    """Replace text written in invisible letters by visible text."""
    return _TAGS.sub(lambda run: f" {_ascii(run[0])} ", text)


def fold(text: str) -> str:
    """Fold the text for comparison: lower case, no accents or markup, single spaces.

    A word that mixes alphabets is read by its looks.
    """
    plain = _MARKUP.sub(
        " ", _FORMATTING.sub("", html.unescape(_UNSEEN.sub("", reveal_invisible(text))))
    )
    if (
        plain.isascii()
    ):  # Nothing below would change it but case and spaces, at four times the time.
        return _SPACES.sub(" ", plain.lower()).strip()
    plain = unicodedata.normalize("NFKC", plain).lower().replace("’", "'").replace("‘", "'")
    bare = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    latin = _WORD.sub(lambda word: _fold_lookalikes(word[0]), unicodedata.normalize("NFC", bare))
    return _SPACES.sub(" ", latin).strip()


def _ascii(run: str) -> str:
    return "".join(chr(ord(c) - 0xE0000) for c in run if 0xE0020 <= ord(c) <= 0xE007E)


def _fold_lookalikes(word: str) -> str:
    mixed = word.isascii() or not any(c.isascii() for c in word)
    return word if mixed else word.translate(_LOOKALIKES)
