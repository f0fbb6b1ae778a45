"""Bounds on text that Markdown's parser takes quadratic time or much memory for.

Such text is no markup that people write: it is read as literal text, and nothing of it is lost.
"""

from markdown_it import MarkdownIt
from markdown_it.parser_inline import RuleFuncInlineType
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

_DEEPEST_LINK = 12
_LONGEST_LINE = 20_000
"""Character limit of a paragraph or cell; a longer one is literal, links included."""
_MOST_BRACKETS = 500
"""Limit on square brackets in a paragraph or cell, which take quadratic time."""
_MOST_CELLS = 10_000
"""Limit on the bars `|` of a page with tables: each cell takes a thousand times its text."""


def bound_parser(parser: MarkdownIt) -> None:
    """Let a parser read pathological text as literal text, in bounded time."""
    parser.inline.ruler.at("link", _limit_brackets(link))
    parser.inline.ruler.at("image", _limit_brackets(image))
    parser.core.ruler.at("inline", _inline)
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})


def _limit_brackets(rule: RuleFuncInlineType) -> RuleFuncInlineType:
    """Return a rule of links that spends no time on brackets that cannot be one."""

    def shallow(state: StateInline, silent: bool) -> bool:
        is_possible = state.level < _DEEPEST_LINK and state.src.find("]", state.pos) >= 0
        return is_possible and rule(state, silent)

    return shallow


def _inline(state: StateCore) -> None:
    """Read the pieces of each paragraph, heading and cell, unless it is too long for that."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        text, token.children = token.content, []
        if len(text) > _LONGEST_LINE or text.count("[") > _MOST_BRACKETS:
            for line in text.split("\n"):
                token.children += [Token("text", "", 0, content=line), Token("softbreak", "br", 0)]
        else:
            state.md.inline.parse(text, state.md, state.env, token.children)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a table, unless its page has too many cells."""
    if "has_tables" not in state.env:
        state.env["has_tables"] = state.src.count("|") <= _MOST_CELLS
    return state.env["has_tables"] and table(state, start, end, silent)
