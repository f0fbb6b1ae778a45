"""Lines of a page that screening removed from use, ordinary invisible characters aside."""

import re
from bisect import bisect

from services.knowledge.folding import UNSEEN
from services.knowledge.screening.screening import lines_of_code

_NOT_BESIDE = rf"(?<!{UNSEEN})(?:{{}})(?!{UNSEEN})"
_PICTURE = "[©®‼⁉\u2100-\u214f\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_JOINING = "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\ufb50-\ufdff\ufe70-\ufefc]"
"""Letters of Arabic and Indic scripts, of Burmese and Khmer."""
_TO_THE_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
"""Letters that are read from right to left."""
_WITHOUT_SPACES = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
_IN_PICTURES = re.compile(
    rf"(?:(?<={_PICTURE})|(?<={_PICTURE}\ufe0f))\u200d(?={_PICTURE})"
    rf"|(?:(?<={_PICTURE})|(?<=[#*0-9])(?=.\u20e3))[\ufe0e\ufe0f](?!(?!\u200d){UNSEEN})"
)
"""Characters that join emoji into one, and select their colours."""
_IN_WORDS = re.compile(
    _NOT_BESIDE.format(
        r"(?<=[^\W\d_]{2})\u00ad(?=[^\W\d_]{2})"
        rf"|(?<={_JOINING})[\u200c\u200d](?={_JOINING})"
        rf"|(?:(?<={_TO_THE_LEFT})|(?<={_TO_THE_LEFT}\W)"
        rf"|(?=.\W?{_TO_THE_LEFT}))"
        r"[\u200e\u200f\u061c]"
        rf"|(?<={_WITHOUT_SPACES})\u200b(?={_WITHOUT_SPACES})"
    )
)
_LONE = re.compile(_NOT_BESIDE.format("[\u200b\ufeff]"))
_BACKTICKS = re.compile("`+")


def withheld_lines(stored: str, usable: str) -> tuple[int, ...]:
    r"""Return the non-blank stored lines that are blank or different in the usable text.

    Lines are 1-based and end with `\
    `. The usable text has no invisible characters: a line that
    differs only by those of ordinary writing is not withheld.

    Raises:
        ValueError: The two texts have different numbers of lines.
    """
    pairs = zip(stored.split("\n"), usable.split("\n"), strict=True)
    different = [
        (number, line.rstrip(), left.rstrip())
        for number, (line, left) in enumerate(pairs, start=1)
        if line.strip() and line.rstrip() != left.rstrip()
    ]
    code = lines_of_code(stored) if different else frozenset()
    return tuple(
        number
        for number, line, left in different
        if _without_ordinary(line, is_code=number - 1 in code).rstrip() != left
    )


def _without_ordinary(line: str, *, is_code: bool = False) -> str:
    """Return a line without the invisible characters of ordinary writing.

    These are: what joins emoji; a soft hyphen within a word; a joiner or non-joiner between letters
    of scripts that use it; a mark of direction beside letters from right to left; and one place for
    a line to break that is the only one of its line. In code, where each character counts, only
    what joins emoji is ordinary. Runs of such characters, letters that are tags, and what turns the
    order of letters round are not.
    """
    shown = _IN_PICTURES.sub("", line)
    if is_code:
        return shown
    written = _remove_outside_code(_IN_WORDS, shown)
    return _remove_outside_code(_LONE, written) if len(_LONE.findall(written)) == 1 else written


def _remove_outside_code(ordinary: re.Pattern[str], line: str) -> str:
    """Remove the matches from the line, except within code between backticks."""
    marks = [match.start() for match in _BACKTICKS.finditer(line)]
    return ordinary.sub(lambda match: match[0] if bisect(marks, match.start()) % 2 else "", line)
