"""Whether a judge answers without reading.

Only what it answered for one ticket counts: a ticket's score does not depend on those before it.
"""

from collections.abc import Sequence

from services.scorer.judges.question import FactQuestion, OptionKind

_LEAST_QUESTIONS = 6
"""Fewer may well have the same answer."""
_SAYS_NOTHING = (OptionKind.ALWAYS, OptionKind.UNSAID, OptionKind.ENDS)
"""What can be said of every question without looking at its lines."""


def always_the_letter(letters: Sequence[Sequence[str]]) -> str:
    """The letter that was chosen for every question in every order; empty where there is none.

    Both orders have every option under another letter, so that no reader comes to one letter only.
    """
    chosen = {letter for each in letters for letter in each}
    return chosen.pop() if len(letters) >= _LEAST_QUESTIONS and len(chosen) == 1 else ""


def always_the_option(answered: Sequence[tuple[FactQuestion, Sequence[float]]]) -> str:
    """The option that was chosen wherever it was offered, in its words for any question."""
    for kind in _SAYS_NOTHING:
        chosen = [
            question.options[list(chances).index(max(chances))].kind
            for question, chances in answered
            if any(option.kind is kind for option in question.options)
        ]
        if len(chosen) >= _LEAST_QUESTIONS and set(chosen) == {kind}:
            return kind.value
    return ""
