"""Detection of a judge that gives the same answer to every question, without reading.

Only its answers for one ticket count: a ticket's score does not depend on those before it. A page
may well be one where everything is always done; whoever reads answers the control questions
rightly.
"""

from collections.abc import Sequence

from services.scorer.judges.question import FactQuestion, Option, OptionKind

_LEAST_QUESTIONS = 6
"""Number of questions below which all may well have the same answer."""
_UNINFORMATIVE = (OptionKind.ALWAYS, OptionKind.UNSAID, OptionKind.ENDS)
"""Options that fit every question without looking at its lines."""
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
RIGHT_OPTIONS = (1, 1)
"""Index of the right option for each control question."""


def constant_letter(letters: Sequence[Sequence[str]]) -> str:
    """Return the letter chosen for every question in every order; empty if there is none.

    Both orders have every option under another letter, so that no reader comes to one letter only.
    """
    chosen = {letter for each in letters for letter in each}
    return chosen.pop() if len(letters) >= _LEAST_QUESTIONS and len(chosen) == 1 else ""


def constant_option(answered: Sequence[tuple[FactQuestion, Sequence[float]]]) -> str:
    """Return the option chosen wherever it was offered, in its general words; empty if none."""
    for kind in _UNINFORMATIVE:
        chosen = [
            question.options[list(chances).index(max(chances))].kind
            for question, chances in answered
            if any(option.kind is kind for option in question.options)
        ]
        if len(chosen) >= _LEAST_QUESTIONS and set(chosen) == {kind}:
            return kind.value
    return ""
