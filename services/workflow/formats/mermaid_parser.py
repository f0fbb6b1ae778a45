"""Parser of Mermaid flowcharts into nodes, links and groups, before they become a workflow.

Reads the flowchart grammar of Mermaid 11 and what people and models write beside it: text around
a fence, brackets inside unquoted labels, `->`, labels glued to the arrow.
"""

import json
import re
from dataclasses import dataclass, field

from services.kit.errors import InvalidInputError
from services.workflow.formats.mermaid_labels import unescape_id, unescape_label


class MermaidError(InvalidInputError):
    """The text is no flowchart; `line` is 1-based."""

    def __init__(self, problem: str, line: int, text: str) -> None:
        super().__init__(f"line {line}: {problem}, got {text.strip()[:120]!r}")
        self.line = line


MOST_LINKS = 20_000
"""Limit on links, far beyond any flowchart; `A & B & … --> C & D & …` multiplies."""


@dataclass
class Node:
    """A node; `label` is None as long as it was only mentioned."""

    id: str
    label: str | None = None
    is_diamond: bool = False
    classes: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class FlowchartLink:
    """An arrow between two nodes or groups, by id."""

    source: str
    target: str
    label: str = ""


@dataclass
class Subgraph:
    """A subgraph; `members` are ids of nodes and of groups, in order."""

    id: str
    title: str
    line: int
    members: list[str] = field(default_factory=list)


@dataclass
class Chart:
    """Contents of a flowchart, in order of appearance."""

    title: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    links: list[FlowchartLink] = field(default_factory=list)
    groups: dict[str, Subgraph] = field(default_factory=dict)


@dataclass(frozen=True)
class _Arrow:
    label: str = ""
    is_visible: bool = True
    is_mutual: bool = False


_HEADER = re.compile(
    r"^[ \t]*(?:flowchart|graph)(?:-\w+)?"
    r"(?:[ \t]+(?:TB|TD|BT|RL|LR|BR|[<>^v])(?=[\s;]|\Z)|[ \t]*(?=[;\n\r]|%%|\Z))",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_BLANK = re.compile(r"(?:\s|;|%%\{.*?\}%%|%%[^\n]*)*", re.DOTALL)
_SPACE = re.compile(r"[ \t\r]*")
_STATEMENT_END = re.compile(r"[ \t\r]*(?=[\n;]|%%|\Z)")

_ENDS_HERE = r"(?=[ \t\r]*(?:[\n;]|%%|\Z))"
_END = re.compile(rf"end{_ENDS_HERE}")
_SUBGRAPH = re.compile(r"subgraph(?![\w.-])[ \t]*(?P<name>(?:\"[^\"\n]*\"|[^\n;])*)")
_NAMED_GROUP = re.compile(r"(?P<id>[^\s\[\]\"]+)[ \t]*\[(?P<title>.*)\]\s*\Z")
_CLASS = re.compile(
    r"class[ \t]+(?P<ids>[^\s;]+(?:[ \t]*,[ \t]*[^\s;]+)*)(?:[ \t]+(?P<name>[\w-]+))?"
)
_IGNORED = re.compile(
    r"(?:(?:style|linkStyle|classDef|class|direction)[ \t]+(?![-=~<]|\.-)[^\n;]*"
    r"|(?:click|accTitle)[ \t:]+(?![-=~<])[^\n]*"
    r"|accDescr[ \t]*(?:\{[^}]*\}|:[^\n]*)"
    r"|[\w-]+@\{\s*(?:animat|curve)[^}]*\})"
)

_ID = re.compile(r"(?:[\w$'*+!?/\\]|\.(?=\w)|[-:](?=\w)|[^\x00-\x7f\s\u2190-\u21ff\u27f0-\u27ff])+")
_CLASSES = re.compile(r":::([\w-]+(?:,[\w-]+)*)")
_ATTRIBUTES = re.compile(r"@\{((?:[^}\"]|\"[^\"]*\")*)\}")
_ATTRIBUTE = re.compile(r"(\w+)\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|([^,\n]+))")
_DIAMONDS = frozenset({"diam", "diamond", "decision", "question"})

_CLOSERS = {
    "[": r"\]",
    "(": r"\)",
    "{": r"\}",
    ">": r"\]",
    "[[": r"\]\]",
    "[(": r"\)\]",
    "[/": r"[/\\]\]",
    "[\\": r"[/\\]\]",
    "((": r"\)\)",
    "([": r"\]\)",
    "(-": r"-\)",
    "(((": r"\)\)\)",
    "{{": r"\}\}",
}
_QUOTED = re.compile(r"(?P<opener>[\[({>/\\-]{1,3})\s*\"")
_PAIRS = {"[": "]", "(": ")", "{": "}"}

_EDGE_ID = re.compile(r"[\w-]+@(?=[<xo]?[-=~])")
_INVISIBLE = re.compile(r"~~~+")
_WHOLE = re.compile(
    r"[xo<]?--+[xo](?=\w)|[xo<]?--+(?:[->]|[xo](?!\w))|[xo<]?==+(?:[=>]|[xo](?!\w))"
    r"|[xo<]?-\.+-(?:>|[xo](?!\w))?|->|=>|[\u2192\u21d2\u27f6]"
)
_LABELLED = re.compile(
    r"(?P<start>[xo<]?(?:--|==|-\.))(?![-=.>])[ \t]*"
    r"(?:\"(?P<quoted>[^\"]*)\"|(?P<label>[^\n]*?))[ \t]*"
    r"(?P<end>(?:(?<=\s)[xo<])?(?:--+[->]|==+[=>]|(?:--|==)[xo](?!\w)|-?\.+-(?:>|[xo](?!\w))?))"
)
_GLUED_LABEL = re.compile(r"\s[<]?--[xo]\w[^\n]*?(?:--+[>xo-])")
_PIPED = re.compile(r"\s*\|[ \t]*(?:\"(?P<quoted>[^\"]*)\"[ \t]*|(?P<label>[^|\n]*))\|>?[ \t]*")
_NEXT_LINE_ARROW = re.compile(r"\s*\n\s*(?=(?:[<]?(?:--|==|-\.)|~~~))")


def parse_chart(text: str) -> Chart:
    """Parse the first flowchart in `text`.

    Raises:
        MermaidError: There is none, or a line of it cannot be read.
    """
    return _Parser(text).parse()


class _Parser:
    """Single-pass parser; `at` only moves forward."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.end = len(text)
        self.chart = Chart()
        self.open_groups: list[Subgraph] = []
        self.grouped: set[str] = set()
        self.classes: list[tuple[str, str]] = []

    def parse(self) -> Chart:
        self._find_chart()
        self._skip(_BLANK)
        while self.at < self.end:
            self._statement()
            self._skip(_BLANK)
        if self.open_groups:
            group = self.open_groups[-1]
            raise self._error("expected `end` for this subgraph", line=group.line)
        for node_id, name in self.classes:
            if node_id in self.chart.nodes:
                self.chart.nodes[node_id].classes.add(name)
        return self.chart

    def _find_chart(self) -> None:
        header = _HEADER.search(self.text)
        if header is None:
            self._skip(_BLANK)
            raise self._error("expected `flowchart TD` or `graph LR`")
        fences = [fence.start() for fence in _FENCE.finditer(self.text)]
        before = [start for start in fences if start < header.start()]
        if len(before) % 2:
            self.end = next((start for start in fences if start > header.start()), self.end)
            self.text = self.text[: self.end]
        if title := _TITLE.search(self.text, before[-1] if before else 0, header.start()):
            self.chart.title = _unquote(title[1])
        self.at = header.end()

    def _statement(self) -> None:
        if subgraph := self._take(_SUBGRAPH):
            self._open_group(subgraph["name"].strip())
        elif self.open_groups and self._take(_END):
            self.open_groups.pop()
        elif ignored := self._take(_IGNORED):
            if named := _CLASS.fullmatch(ignored.group().strip()):
                ids = (unescape_id(raw.strip()) for raw in named["ids"].split(","))
                self.classes += [(node_id, named["name"] or "") for node_id in ids]
        else:
            self._chain()

    def _open_group(self, name: str) -> None:
        line = self._line()
        if named := _NAMED_GROUP.match(name):
            group_id, title = named["id"], _label(named["title"])
        else:
            title = _label(name)
            group_id = title or f"subgraph {line}"
        group = self.chart.groups.setdefault(group_id, Subgraph(group_id, title, line))
        if self.open_groups:
            self.open_groups[-1].members.append(group_id)
        self.open_groups.append(group)

    def _chain(self) -> None:
        left = self._node_list()
        while arrow := self._arrow():
            self._skip(_BLANK)
            right = self._node_list()
            self._link(left, right, arrow)
            left = right
        if not self._take(_STATEMENT_END):
            raise self._error("expected an arrow or the end of the line")

    def _link(self, sources: list[str], targets: list[str], arrow: _Arrow) -> None:
        if not arrow.is_visible:
            return
        if len(self.chart.links) + len(sources) * len(targets) > MOST_LINKS:
            raise self._error(f"expected at most {MOST_LINKS} arrows")
        pairs = [(source, target) for source in sources for target in targets]
        self.chart.links += [FlowchartLink(source, target, arrow.label) for source, target in pairs]
        if arrow.is_mutual:
            self.chart.links += [
                FlowchartLink(target, source, arrow.label) for source, target in pairs
            ]

    def _node_list(self) -> list[str]:
        nodes = [self._node()]
        while self._take(re.compile(r"[ \t]*&[ \t]*")):
            nodes.append(self._node())
        return nodes

    def _node(self) -> str:
        if not (name := self._take(_ID)):
            raise self._error("expected a step")
        node_id = unescape_id(name.group())
        node = self.chart.nodes.setdefault(node_id, Node(node_id))
        if self.open_groups and node_id not in self.grouped:
            self.open_groups[-1].members.append(node_id)
            self.grouped.add(node_id)
        self._shape(node)
        if classes := self._take(_CLASSES):
            node.classes.update(classes[1].split(","))
        return node_id

    def _shape(self, node: Node) -> None:
        if attributes := self._take(_ATTRIBUTES):
            for name, double, single, bare in _ATTRIBUTE.findall(attributes[1]):
                value = double or single or bare.strip()
                if name == "shape":
                    node.is_diamond = value.lower() in _DIAMONDS
                elif name == "label":
                    node.label = unescape_label(value)
            return
        spaced = self._take(re.compile(r"[ \t]+(?=[\[({])"))
        following = self.text[self.at : self.at + 1]
        if following in _PAIRS or (following == ">" and not spaced):
            opener, raw = self._read_bracketed()
            node.label = _label(raw)
            node.is_diamond = opener == "{"

    def _read_bracketed(self) -> tuple[str, str]:
        """Read the outermost brackets here and return the opening ones and the content."""
        quoted = _QUOTED.match(self.text, self.at)
        if quoted and (closer := _CLOSERS.get(quoted["opener"])):
            label = re.compile(rf"\"(?P<label>.*?)\"\s*{closer}", re.DOTALL)
            if match := label.match(self.text, quoted.end() - 1):
                self.at = match.end()
                return quoted["opener"], f'"{match["label"]}"'
        end = self._closing_bracket()
        raw = self.text[self.at : end]
        if quoted and raw.count('"') == 1:
            raise self._error(f"expected the closing quote and bracket of {quoted.group()!r}")
        self.at = end
        return _peel(raw)

    def _closing_bracket(self) -> int:
        opener = self.text[self.at]
        closer = _PAIRS.get(opener, "]")
        depth = 0
        for match in re.compile(rf"[{re.escape(opener + closer)}]").finditer(self.text, self.at):
            depth += 1 if match.group() == opener else -1
            if depth == 0:
                return match.end()
        raise self._error(f"expected a closing {closer!r}")

    def _arrow(self) -> _Arrow | None:
        self._take(_NEXT_LINE_ARROW)
        is_glued = self._skip(_SPACE) == 0
        self._take(_EDGE_ID)
        piped = self._take(_PIPED)
        arrow = self._drawn_arrow(is_glued=is_glued)
        if arrow is None:
            if piped:
                raise self._error("expected an arrow after the label")
            return None
        piped = self._take(_PIPED) or piped
        label = arrow.label or (_label(piped["quoted"] or piped["label"] or "") if piped else "")
        return _Arrow(label, arrow.is_visible, arrow.is_mutual)

    def _drawn_arrow(self, *, is_glued: bool) -> _Arrow | None:
        if self._take(_INVISIBLE):
            return _Arrow(is_visible=False)
        has_glued_label = not is_glued and _GLUED_LABEL.match(self.text, self.at - 1)
        if not has_glued_label and (whole := self._take(_WHOLE)):
            return _Arrow(is_mutual=whole.group().startswith("<"))
        if labelled := self._take(_LABELLED):
            label = _label(labelled["quoted"] or labelled["label"] or "")
            is_mutual = labelled["start"][0] == "<" and labelled["end"][-1] == ">"
            return _Arrow(label.strip("|"), is_mutual=is_mutual)
        return None

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = self._take(pattern)
        return len(match.group()) if match else 0

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _error(self, problem: str, *, line: int | None = None) -> MermaidError:
        number = line or self._line()
        lines = self.text.split("\n")
        return MermaidError(problem, number, lines[min(number, len(lines)) - 1])


def _peel(raw: str) -> tuple[str, str]:
    """Strip all brackets from a label and return the opening ones and the content."""
    opener, inner = raw[0], raw[1:-1]
    while len(inner) > 1 and opener + inner[0] in _CLOSERS:
        is_slanted = len(inner) > 2 and inner[0] in "/\\" and inner[-1] in "/\\"
        if not (is_slanted or _encloses(inner)):
            break
        opener, inner = opener + inner[0], inner[1:-1]
    return opener, inner


def _encloses(text: str) -> bool:
    """Return True if the first character is a bracket that the last one closes."""
    closer = _PAIRS.get(text[0], text[0] if text[0] == "-" else "")
    if text[-1] != closer:
        return False
    depth = 0
    for position, character in enumerate(text):
        depth += (character == text[0]) - (character == closer)
        if depth == 0 and closer != "-":
            return position == len(text) - 1
    return True


def _label(raw: str) -> str:
    """Return the words of a label without its own quotes and Markdown string marks."""
    text = raw.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        text = text[1:-1]
    is_markdown = len(text.strip()) >= 2 and text.strip()[0] == text.strip()[-1] == "`"
    return unescape_label(text.strip()[1:-1] if is_markdown else text, markdown=is_markdown)


def _unquote(value: str) -> str:
    """Parse a scalar of front matter: double quotes with JSON escapes, single quotes, or bare."""
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    return decoded if isinstance(decoded, str) else value
