"""Questions whose answers are known, for a judge that has given one answer to everything.

A page may well be one where everything is always done; whoever reads answers these rightly.
"""

from services.scorer.judges.question import FactQuestion, Option, OptionKind

_LINES = """\
1 | # The door does not lock
3 | 1. Close the door.
4 | 2. If the bolt is bent, replace it.
5 | 3. Otherwise oil the hinges.
6 | 4. Turn the key. That is all."""

_BENT = "“Is the bolt bent?”"


def _question(text: str, *options: tuple[OptionKind, str]) -> FactQuestion:
    return FactQuestion(
        lines=_LINES,
        text=text,
        options=tuple(Option(kind, words) for kind, words in options),
        claims=(),
        weight=1.0,
    )


CONTROLS = (
    _question(
        "By these lines, when is this done: “Replace the bolt”?",
        (OptionKind.ALWAYS, f"whatever {_BENT} is answered"),
        (OptionKind.ON_ANSWER, f"only if {_BENT} is answered “yes”"),
        (OptionKind.ON_ANSWER, f"only if {_BENT} is answered “no”"),
        (OptionKind.UNSAID, "the lines do not say it"),
    ),
    _question(
        "By these lines, what comes next when this is done: “Close the door”?",
        (OptionKind.ENDS, "nothing: the work ends here"),
        (OptionKind.NEXT, _BENT),
        (OptionKind.NEXT, "“Turn the key”"),
        (OptionKind.UNSAID, "the lines do not say it"),
    ),
)
RIGHT = (1, 1)
"""For each control the place of the right option."""
