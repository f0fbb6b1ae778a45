"""Markdown as teams write it: CommonMark and GitHub's, with callouts, tabs and front matter."""

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, blockquote, list_block, reference
from markdown_it.token import Token
from markdown_it.utils import EnvType
from mdit_py_plugins.deflist import deflist_plugin

from services.knowledge.document.bounds import bound_parser
from services.knowledge.page.callouts import begins_as_callout, callout_of, is_callout_name

_DEEPEST = 130
"""Limit on nested blocks; a list in a list counts as two. Deeper blocks are read as paragraphs."""
_DEEPEST_QUOTE = 20
_LONGEST_CONTAINER = 1_000
"""Number of lines searched for the end of a container."""
_MOST_CONTAINERS = 20
"""Limit on nested containers."""
_INDENTED = re.compile(
    r"""(?:!!!|\?\?\?\+?)[ ]*(?P<name>[\w-]+)?(?:[ ]+(?:inline|end))*
    (?:[ ]+(?:"(?P<title>.*)"|(?P<bare>[^"\s].*)))?\s*$""",
    re.VERBOSE,
)
_TAB = re.compile(r'===[!+]?[ ]+"(?P<title>.*)"\s*$')
_FENCED = re.compile(
    r"(?P<fence>:{3,})[ ]*\{?(?P<name>[\w-]+)\}?(?:\[(?P<bracketed>.*)\]|[ ]+(?P<title>[^{].*?))?"
    r"[ ]*(?:\{.*\})?\s*$"
)
_PANEL = re.compile(r"\{(?P<name>warning|note|info|tip|panel)(?::(?P<options>[^{}]*))?\}\s*$")
_PANEL_TITLE = re.compile(r"(?:^|\|)title=([^|]*)")
_REFERENCE = re.compile(r"\[(?P<label>(?:\\.|[^\]\\])+)\]:\s*<?(?P<target>[^\s>]*)", re.DOTALL)
_FRONT_MATTER = re.compile(
    r"(?P<fence>-{3}|\+{3})[ \t]*\n(?P<content>(?:[\w\"'#-][^\n]*\n(?:[^\n]*\n)*?)?)"
    r"(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|$)"
)
_KEY = re.compile(r"[\"']?[\w.-]+[\"']?[ \t]*[:=]|#|- ")
_TERMINATES: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}

_BlockRule = Callable[[StateBlock, int, int, bool], bool]


class PageState(StateBlock):
    """State of the block parser; in a callout no line is code by its indentation."""

    in_callout = False
    quotes = 0
    """Number of quotes around the current line."""

    def is_code_block(self, line: int) -> bool:
        """Return True if a line is indented far enough to be code."""
        return not self.in_callout and super().is_code_block(line)


class _PageParser(ParserBlock):
    """The block parser with its own state."""

    def parse(
        self,
        src: str,
        md: MarkdownIt,
        env: EnvType,
        outTokens: list[Token],  # noqa: N803
    ) -> list[Token] | None:
        if not src:
            return None
        state = PageState(src, md, env, outTokens)
        self.tokenize(state, state.line, state.lineMax)
        return state.tokens


def _parser() -> MarkdownIt:
    parser = _Markdown("commonmark", {"maxNesting": _DEEPEST + 10, "tasklists": True})
    parser.enable(["table", "strikethrough"]).use(deflist_plugin)
    rules = parser.block.ruler
    of_list: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote"]}
    rules.at("list", _limit_nesting(list_block), of_list)
    rules.at("blockquote", _limit_nesting(_quote), _TERMINATES)
    rules.at("reference", _reference)
    rules.before("table", "front_matter", _front_matter)
    for name, rule in (("indented", _indented), ("fenced", _fenced), ("panel", _panel)):
        rules.before("table", name, _limit_nesting(rule), _TERMINATES)
    bound_parser(parser)
    return parser


class _Markdown(MarkdownIt):
    """markdown-it with the page's block parser; addresses stay as the page writes them."""

    def __init__(self, config: str, options: dict[str, object]) -> None:
        super().__init__(config, options)
        self.block = _PageParser()

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


def _limit_nesting(rule: _BlockRule) -> _BlockRule:
    """Return a rule that opens no block within the deepest ones, but still ends these."""

    def bounded(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        if state.level >= _DEEPEST and state.sCount[start] >= state.blkIndent:
            return False
        return rule(state, start, end, silent)

    return bounded


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if not isinstance(state, PageState):
        return blockquote(state, start, end, silent)
    if state.quotes >= _DEEPEST_QUOTE and state.sCount[start] >= state.blkIndent:
        return False
    around = state.quotes, state.in_callout
    state.quotes += 1
    if not silent:
        state.in_callout = state.in_callout or begins_as_callout(_line(state, start))
    try:
        return blockquote(state, start, end, silent)
    finally:
        state.quotes, state.in_callout = around


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a link's target as a block of its own; footnotes are excluded."""
    if _line(state, start).startswith("[^") or not reference(state, start, end, silent):
        return False
    if not silent:
        text = "\n".join(_line(state, line) for line in range(start, state.line))
        token = state.push("reference", "", 0)
        token.map = [start, state.line]
        match = _REFERENCE.match(text)
        token.meta = match.groupdict() if match else {"label": text, "target": ""}
    return True


def _front_matter(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read keys between lines of `---` or `+++` at the very beginning of a page."""
    is_page = start == 0 and end == state.lineMax and state.level == 0
    match = _FRONT_MATTER.match(state.src) if is_page else None
    if match is None or (match["content"] and not _KEY.match(match["content"])):
        return False
    if not silent:
        token = state.push("front_matter", "", 0)
        token.content = match["content"].removesuffix("\n")
        state.line = match[0].count("\n") + (0 if match[0].endswith("\n") else 1)
        token.map = [start, state.line]
    return True


def _indented(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read MkDocs' callouts and tabs: a mark, a title, and what is indented below."""
    if state.is_code_block(start):
        return False
    line = _line(state, start)
    if not line.startswith(("!!!", "???", "===")):
        return False
    callout_match, tab = _INDENTED.match(line), _TAB.match(line)
    behind, indent = _indented_lines(state, start, end)
    if tab:
        if not silent:
            _contain(state, start, behind, "tab", tab["title"], indent=indent)
        return True
    if callout_match is None:
        return False
    name, title = callout_match["name"] or "", callout_match["title"]
    if not is_callout_name(name) and (indent == 0 or callout_match["bare"]):
        return False
    if title is None:
        title = callout_match["bare"] or ("" if is_callout_name(name) else name.capitalize())
    if not silent:
        callout = callout_of(name)
        _contain(state, start, behind, "callout", title, callout=callout, indent=indent)
    return True


def _indented_lines(state: StateBlock, start: int, end: int) -> tuple[int, int]:
    """Return the line after those indented below a line, and the indentation, or 0."""
    base = state.sCount[start]
    line = start + 1
    while line < end and state.isEmpty(line):
        line += 1
    indent = min(4, state.sCount[line] - base) if line < end else 0
    if indent < 2:
        return start + 1, 0
    behind = line
    while line < end:
        if not state.isEmpty(line):
            if state.sCount[line] - base < indent:
                break
            behind = line + 1
        line += 1
    return behind, indent


def _fenced(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read the callouts of Docusaurus and VuePress: from `:::warning` to `:::`."""
    line = _line(state, start)
    match = _FENCED.match(line) if line.startswith(":::") else None
    if match is None or not (is_callout_name(match["name"]) or match["name"] == "details"):
        return False
    close = _closing_fence(state, start, end, len(match["fence"]))
    if close is None:
        return False
    if not silent:
        kind = "details" if match["name"] == "details" else "callout"
        title = match["bracketed"] or match["title"] or ""
        callout = callout_of(match["name"])
        _contain(state, start, close, kind, title, callout=callout, closing_lines=1)
    return True


def _closing_fence(state: StateBlock, start: int, end: int, length: int) -> int | None:
    """Return the line of colons that ends a container, skipping those inside."""
    depth = 1
    for line in range(start + 1, min(end, start + _LONGEST_CONTAINER)):
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return None
        text = _line(state, line).rstrip()
        if not text.startswith(":" * length):
            continue
        depth += -1 if not text.strip(":") else 1
        if depth in {0, _MOST_CONTAINERS}:
            return line if depth == 0 else None
    return None


def _panel(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read the panels of Confluence's markup: from `{warning:title=…}` to `{warning}`."""
    line = _line(state, start)
    match = _PANEL.match(line) if line.startswith("{") else None
    if match is None:
        return False
    mark = f"{{{match['name']}}}"
    lines = range(start + 1, min(end, start + _LONGEST_CONTAINER))
    close = next((n for n in lines if _line(state, n).rstrip() == mark), None)
    if close is None or any(state.sCount[n] < state.blkIndent for n in (start, close)):
        return False
    if not silent:
        title = _PANEL_TITLE.search(match["options"] or "")
        words = title[1].strip() if title else ""
        callout = callout_of(match["name"])
        _contain(state, start, close, "callout", words, callout=callout, closing_lines=1)
    return True


def _contain(
    state: StateBlock,
    start: int,
    end: int,
    kind: str,
    title: str,
    *,
    callout: str = "",
    indent: int = 0,
    closing_lines: int = 0,
) -> None:
    """Push a container with its title and the blocks between its first line and `end`."""
    token = state.push(f"{kind}_open", "", 1)
    token.map = [start, end + closing_lines]
    token.meta = {"callout": callout}
    if title:
        inline = state.push("inline", "", 0)
        inline.content, inline.children, inline.map = title, [], [start, start + 1]
    around = state.parentType, state.lineMax, state.blkIndent
    in_callout = isinstance(state, PageState) and state.in_callout
    state.parentType, state.lineMax = "container", end
    state.blkIndent = state.sCount[start] + indent if indent else state.blkIndent
    if isinstance(state, PageState) and kind == "callout":
        state.in_callout = True
    state.md.block.tokenize(state, start + 1, end)
    state.parentType, state.lineMax, state.blkIndent = around
    if isinstance(state, PageState):
        state.in_callout = in_callout
    state.push(f"{kind}_close", "", -1)
    state.line = end + closing_lines


PAGE_PARSER = _parser()
"""The parser of whole pages."""
FRAGMENT_PARSER = _parser().disable(["html_block", "code", "front_matter"])
"""The parser of Markdown within HTML: it reads no tags and nothing by indentation."""
