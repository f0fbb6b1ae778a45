"""Kept for those who look for it here: `services.language.verbs` tells imperatives."""

from services.language.verbs import begins_with_verb

__all__ = ["begins_with_verb"]
