"""Decision whether a step is read-only, for runs, lint, pages and comparison.

A step of a reading is one act, and its first words say of what sort, unless one of its commands
is known to change something. A box of a checklist (`Step.block`) is a block of a page and may say
several things: one action among them, or one command that is not known to look, makes it an action.
"""

import re

from services.language.deeds import begins_with_condition, first_stem, is_inspection, is_repair_verb
from services.language.names import words_of
from services.language.sentences import sentences
from services.language.verbs import begins_with_verb
from services.language.words import stem
from services.workflow.effects.effect import effect_of
from services.workflow.effects.table import danger_in_prose
from services.workflow.model import Step
from services.workflow.plain import plain

_MARKER = re.compile(r"^(?:\s*(?:>|[-*+•]|\d{1,3}[.)]|[A-Za-z][.)]|\[[ xX]?\])\s+)+")
_JOINT = re.compile(r"\s*(?:;|,?\s+(?:and|or|then|but)\b(?:\s+then\b)?)\s+", re.IGNORECASE)


def is_read_only_step(step: Step) -> bool:
    """Return True if the step finds something out and changes nothing.

    All sentences and commands of a box count, and at least one sentence must be a check; of another
    step the first words count, and commands of a known effect.
    """
    effects = [effect_of(command) for command in step.commands]
    if not step.block:
        return is_inspection(step.text) and not any(
            effect.what and not effect.only_looks for effect in effects
        )
    if not all(effect.only_looks for effect in effects):
        return False
    parts = sentences_of(step.block)
    return any(map(is_inspection, parts)) and not any(map(_is_action, parts))


def sentences_of(block: str) -> list[str]:
    """Return the sentences of a block in plain words, without its marker or number."""
    return sentences(plain(_MARKER.sub("", block)))


def _is_action(sentence: str) -> bool:
    """Return True if a sentence tells the reader to change something, or may do so."""
    if danger_in_prose(sentence):
        return True
    first, *further = _JOINT.split(sentence)
    if is_inspection(first):
        actions = (
            each for each in further if is_repair_verb(first_stem(each)) or begins_with_verb(each)
        )
        return not all(map(is_inspection, actions))
    if begins_with_verb(sentence) or begins_with_condition(sentence):
        return True
    return any(is_repair_verb(stem(word.lower())) for word in words_of(sentence))
