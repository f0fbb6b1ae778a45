"""Whether a step only looks: the one place that says so, for runs, questions, checks and lint.

A step of a reading is one act, and its first words say of what sort. A box of a checklist is a
block of a page and may say several things: one doing among them makes it a doing. What is not known
to look does something.
"""

import re

from services.language.deeds import begins_with_condition, first_stem, mends, only_finds_out
from services.language.names import words_of
from services.language.sentences import sentences
from services.language.verbs import begins_with_verb
from services.language.words import stem
from services.workflow.dangers import danger_in_prose
from services.workflow.effects.effect import effect_of
from services.workflow.model import Step
from services.workflow.plain import plain

_MARKER = re.compile(r"^(?:\s*(?:>|[-*+•]|\d{1,3}[.)]|[A-Za-z][.)]|\[[ xX]?\])\s+)+")
_JOINT = re.compile(r"\s*(?:;|,?\s+(?:and|or|then|but)\b(?:\s+then\b)?)\s+", re.IGNORECASE)


def only_looks(step: Step) -> bool:
    """Return whether whoever does the step finds something out and changes nothing.

    Of a box all sentences and commands are asked, and one sentence at least must tell to look; of
    another step its first words.
    """
    if not step.block:
        return only_finds_out(step.text)
    if not all(effect_of(command).only_looks for command in step.commands):
        return False
    return text_only_looks(step.block)


def text_only_looks(text: str) -> bool:
    """Return whether a sentence of the text tells to look, and none tells to do anything else."""
    told = sentences_of(text)
    return any(map(only_finds_out, told)) and not any(map(_does, told))


def sentences_of(block: str) -> list[str]:
    """Return the sentences of a block in plain words, its marker or number left out."""
    return sentences(plain(_MARKER.sub("", block)))


def _does(sentence: str) -> bool:
    """Whether a sentence tells to do something, or may."""
    if danger_in_prose(sentence):
        return True
    first, *further = _JOINT.split(sentence)
    if only_finds_out(first):
        told = (each for each in further if mends(first_stem(each)) or begins_with_verb(each))
        return not all(map(only_finds_out, told))
    if begins_with_verb(sentence) or begins_with_condition(sentence):
        return True
    return any(mends(stem(word.lower())) for word in words_of(sentence))
