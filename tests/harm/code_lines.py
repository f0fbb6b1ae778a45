"""Lines of code of operation pages beside what two readers say they are: before and after figures.

    python tests/harm/code_lines.py draw --lines 900 > BLOCKS.json
    python tests/harm/code_lines.py measure BLOCKS.json LABELS.json LABELS.json

Pages are drawn by hash, as many of each collection, without those that readings were drawn of.
A label is one of `look`, `change`, `output`, `text`; where the readers disagree a line is left out.
A line that looks is not counted as marked where its script changes something in another line.
"""

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from services.knowledge.page.block import BlockKind
from services.knowledge.page.parsing import parse_page
from services.workflow.effects.effect import effect_of
from services.workflow.page_code import CodeUse, PageCode, code_parts

DATA = Path(os.environ.get("FLOWXPERT_DATA", "../shared/data"))
BLOCKS_A_PAGE = 2
LINES_A_BLOCK = 25
KINDS = ("look", "change", "output", "text")


def draw(lines: int) -> list[dict[str, Any]]:
    """Blocks of code until they have so many lines."""
    seen = {json.loads(row)["doc"] for row in (DATA / "logic" / "pages.jsonl").open()}
    pages: dict[str, list[str]] = {}
    for path in (DATA / "corpus").rglob("*.md"):
        name = path.relative_to(DATA / "corpus").as_posix()
        if name not in seen and f"corpus/{name}" not in seen:
            pages.setdefault(name.split("/")[0], []).append(name)
    by_hash = [sorted(names, key=_hash) for _, names in sorted(pages.items())]
    drawn: list[dict[str, Any]] = []
    for name in filter(None, chain.from_iterable(zip_longest(*by_hash))):
        blocks = sorted(_blocks(name), key=lambda block: _hash(f"{name}:{block['line']}"))
        drawn += blocks[:BLOCKS_A_PAGE]
        if sum(len(block["lines"]) for block in drawn) >= lines:
            break
    for number, block in enumerate(drawn):
        block["id"] = number
    return drawn


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _blocks(name: str) -> Iterator[dict[str, Any]]:
    text = (DATA / "corpus" / name).read_text(encoding="utf-8", errors="replace")
    before = ""
    for token in MarkdownIt().parse(text):
        if token.type == "inline":
            before = token.content
        elif token.type in {"fence", "code_block"} and token.map and token.content.strip():
            lines = [line for line in token.content.splitlines() if line.strip()][:LINES_A_BLOCK]
            yield {
                "doc": name,
                "line": token.map[0] + 1,
                "language": token.info.strip(),
                "before": before[-300:],
                "lines": lines,
            }


def measure(blocks: list[dict[str, Any]], labels: list[dict[str, list[str]]]) -> dict[str, Any]:
    """What the platform makes of the lines both readers agree on."""
    counts: Counter[str] = Counter()
    faults: dict[str, list[str]] = {"shown": [], "lost": [], "unmarked": [], "marked": []}
    for block in blocks:
        shown = _shown(block)
        kinds_by_reader = [each.get(str(block["id"]), []) for each in labels]
        changing = {
            text
            for text, _ in shown
            for place, line in enumerate(block["lines"])
            if _holds(text, line) and "change" in {each[place] for each in kinds_by_reader}
        }
        for place, line in enumerate(block["lines"]):
            kinds = {each[place] if place < len(each) else "?" for each in kinds_by_reader}
            if len(kinds) > 1 or not kinds <= set(KINDS):
                counts["disagree"] += 1
                continue
            (kind,) = kinds
            counts[kind] += 1
            match = next(((text, marked) for text, marked in shown if _holds(text, line)), None)
            is_marked = match[1] if match else None
            where = f"{block['doc']}:{block['line']}: {line.strip()[:120]}"
            if kind in {"look", "change"} and is_marked is None:
                faults["lost"].append(where)
            elif kind == "output" and is_marked is not None:
                faults["shown"].append(where)
            elif kind == "change" and not is_marked:
                faults["unmarked"].append(where)
            elif kind == "look" and is_marked and match and match[0] not in changing:
                faults["marked"].append(where)
    commands = counts["look"] + counts["change"]
    figures = {
        "output recognised": 1 - len(faults["shown"]) / max(1, counts["output"]),
        "commands lost": len(faults["lost"]) / max(1, commands),
        "changes marked": 1 - len(faults["unmarked"]) / max(1, counts["change"]),
        "looks marked": len(faults["marked"]) / max(1, counts["look"]),
    }
    return {"counts": dict(counts), "figures": figures, "faults": faults}


def _holds(command: str, line: str) -> bool:
    """Whether a command has the line in it, without its prompt."""
    stripped = line.strip()
    return any(each.strip() and stripped.endswith(each.strip()) for each in command.splitlines())


def _shown(block: dict[str, Any]) -> list[tuple[str, bool]]:
    """The commands that are offered of a block, and whether each is marked as a change."""
    fence = "\n".join(("~~~~" + block["language"], *block["lines"], "~~~~"))
    page = parse_page(f"{block['before']}\n\n{fence}\n")
    code = next(each for each in page.blocks if each.kind is BlockKind.CODE)
    parts = code_parts(PageCode(code.verbatim, code.language), block["before"])
    commands = (part.text for part in parts if part.use is CodeUse.COMMAND)
    return [(command, not effect_of(command).only_looks) for command in commands]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["draw", "--lines", count]:
            json.dump(draw(int(count)), sys.stdout, indent=1)
        case ["measure", blocks_file, *label_files] if label_files:
            read = [json.loads(Path(name).read_text()) for name in (blocks_file, *label_files)]
            json.dump(measure(read[0], read[1:]), sys.stdout, indent=1)
        case _:
            sys.exit(__doc__)
