"""Reads a page by rules of English and Markdown, without a language model.

Precise rather than complete: what is surely a condition becomes a gate, what is not stays in the
words of its step, and nothing is asserted that the page does not say.
"""

from services.procedure.rules.reader import RULES_VERSION, read_by_rules

__all__ = ["RULES_VERSION", "read_by_rules"]
