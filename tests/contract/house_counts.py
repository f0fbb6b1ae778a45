"""Count what makes the code hard to read: `house_counts.py [REPOSITORY] [--list MEASURE]`.

Prints one JSON object of figures; `--list` prints each place that a measure counts, one a line.
Migrations are left out everywhere. The figures of a commit are made by running the script of
today on a checkout of it; `test_house_counts.py` holds what was reached.
"""

import argparse
import ast
import json
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("services", "evaluation", "training", "tests")

BANNED = frozenset(
    re.findall(r"\w+", "told said asked given found known meant held led come stand")
)
"""Words that are no name: as a whole identifier, or as its first or last word."""

SET_PHRASES = frozenset({"not_found", "known_hosts", "NotFound", "NOT_FOUND"})
"""Terms of the field that end or begin with a banned word, alone or as part of an identifier."""

FRAGMENTS = frozenset(
    re.findall(
        r"\w+",
        """what whether of where as by to none it its they their them that this these those who
        whoever whose whom which how why when since because if unless while until before after in
        on at for from with without within into onto upon over under between among against through
        during about above below behind beside beyond near than then there here nobody nothing
        somebody something anybody anything everybody everything neither either empty also only
        even""",
    )
)
"""First words of a docstring that needs a second reading: no noun phrase, no instruction."""

DETERMINERS = frozenset(
    re.findall(r"\w+", "the a an all each every one another some any two three four no first last")
)
"""First words of a noun phrase: right for a class or a field, wrong for a function."""

VERBS_IN_S = frozenset(
    re.findall(r"\w+", "pass process address express compress guess miss cross dismiss access")
)

WIRE_NAMES = {
    "a field of the API or of stored JSON": """
        AdoptionCount.said CheckSource.said Clarification.asked_at Clarification.said
        Composition.said Decay.said DecisionAnswer.said HandOver.asked HandOver.found
        LeftBehind.said PageBeside.is_known PageFinding.said PageScores.said PageScores.told
        ResolvedCase.told SearchNode.asked_by Synced.told TicketDetail.held_at
        TicketSummary.held_at""",
    "a column": """
        ClarificationRow.asked_at ClarificationRow.said DigestRow.told LinkedMarkRow.told
        MarkRow.told MentionRow.led_to MentionRow.led_until MentionRow.said
        OrphanedFeedbackRow.told ResolvedCaseRow.told SummaryRow.found SyncRow.told
        TicketRow.held_at""",
    "the name of a refusal": "HeldByAnotherError KnownPageError",
    "a feature of a shipped file of numbers": "Signals.title_said",
    "a field of recorded runs": """
        Broken.said Iteration.held_out Looked.asked Ran.asked RecordedAct.said
        RecordedAct.told RecordedComposition.asked""",
    "a command or an option": """
        judge.page_given logic.page_given plan_prompts.page_given said speed.told""",
}
"""Names that others know, with the banned word in them."""

WIRE = frozenset(name for names in WIRE_NAMES.values() for name in names.split())

PROMPT_DOCSTRINGS = frozenset(
    re.findall(
        r"\w+",
        """Arm End EndKind LookChoice MemberAnswer Mode ModelCitation ModelClaim ModelFinding
        ModelSuggestion Plan Procedure Reflection Remark SummaryAnswer""",
    )
)
"""Classes whose docstring is part of a JSON schema that a model is sent: prompts as measured."""

SHARED_CLASS_NAMES = frozenset({"Answer", "Approval", "Event", "PageState", "Span"})
"""Components of the OpenAPI export, whose names clients know, that a second room has too."""

SCREENING = frozenset(
    {"screen_document", "screen_message", "instruction_in", "ScreenedDocument", "ScreenedTicket"}
)
CACHES = frozenset({"lru_cache", "cache", "cached"})
SHORT = 4
"""Lines of a private function that says no more than its body."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def words(name: str) -> list[str]:
    """Split an identifier of any style into its words, in small letters."""
    return [each.lower() for each in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def is_banned(name: str) -> bool:
    """Whether a banned word is all of an identifier, or its first or last word."""
    for phrase in SET_PHRASES:
        name = name.replace(phrase, "x")
    parts = words(name)
    return bool(parts) and (parts[0] in BANNED or parts[-1] in BANNED)


@dataclass(frozen=True)
class Docstring:
    """A docstring with what it is of."""

    name: str
    kind: str
    text: str

    @property
    def is_fragment(self) -> bool:
        """It is neither a sentence nor a phrase that can be read alone."""
        if self.kind == "class" and self.name in PROMPT_DOCSTRINGS:
            return False
        first = re.match(r"\W*([\w'-]+)", self.text)
        word = first[1].lower() if first else ""
        if self.kind != "function":
            return word in FRAGMENTS
        plural = word.endswith("s") and not word.endswith("ss") and word not in VERBS_IN_S
        return word in FRAGMENTS | DETERMINERS or plural or word[:1].isdigit()


class Module:
    """A file of the code, parsed."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        parts = path.relative_to(root).with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.room = parts[1].removesuffix(".py") if len(parts) > 1 else parts[0]

    @property
    def lines(self) -> int:
        """Lines of text."""
        return self.text.count("\n")

    @cached_property
    def functions(self) -> list[Function]:
        """All functions and methods, nested ones too."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    @cached_property
    def definitions(self) -> list[tuple[str, int]]:
        """Each identifier that is defined, by its dotted name in the file, with its line."""
        return sorted(set(_definitions(self.tree, "", None)), key=lambda each: each[1])

    @cached_property
    def docstrings(self) -> list[Docstring]:
        """All docstrings: of the module, its classes, functions, properties and fields."""
        return list(_docstrings(self.tree, "", "module"))

    @cached_property
    def imports(self) -> set[str]:
        """Dotted names of modules, and of what is taken from them."""
        names: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        return names


def _definitions(node: ast.AST, scope: str, owner: str | None) -> Iterator[tuple[str, int]]:
    """Yield what a scope defines; `owner` is the class whose method `self` belongs to."""
    for child in ast.iter_child_nodes(node):
        inner, method_of = scope, owner
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{scope}{child.name}", child.lineno
            inner = f"{scope}{child.name}."
            if isinstance(child, ast.ClassDef):
                method_of = inner
        elif isinstance(child, ast.arg):
            yield f"{scope}{child.arg}", child.lineno
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield f"{scope}{child.id}", child.lineno
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            if isinstance(child.value, ast.Name) and child.value.id in {"self", "cls"} and owner:
                yield f"{owner}{child.attr}", child.lineno
        elif isinstance(child, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and child.name:
            yield f"{scope}{child.name}", child.lineno
        elif isinstance(child, ast.alias) and child.asname:
            yield f"{scope}{child.asname}", child.lineno
        yield from _definitions(child, inner, method_of)


def _docstrings(node: ast.AST, scope: str, kind: str) -> Iterator[Docstring]:
    body: list[ast.stmt] = getattr(node, "body", [])
    before: ast.stmt | None = None
    for place, child in enumerate(body):
        match child:
            case ast.Expr(value=ast.Constant(value=str(text))):
                if place == 0:
                    yield Docstring(scope.removesuffix("."), kind, text)
                elif isinstance(before, ast.AnnAssign | ast.Assign):
                    target = (
                        before.target if isinstance(before, ast.AnnAssign) else before.targets[0]
                    )
                    yield Docstring(f"{scope}{ast.unparse(target)}", "field", text)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _docstrings(child, f"{scope}{child.name}.", _kind(child))
            case ast.ClassDef():
                yield from _docstrings(child, f"{scope}{child.name}.", "class")
            case ast.If() | ast.Try() | ast.With():
                yield from _docstrings(child, scope, "block")
        before = child


def _kind(function: Function) -> str:
    decorators = " ".join(ast.unparse(each) for each in function.decorator_list)
    return "property" if re.search(r"property|fixture", decorators) else "function"


@dataclass(frozen=True)
class House:
    """The modules of a repository, by package."""

    root: Path

    @cached_property
    def modules(self) -> list[Module]:
        """Every module that is no migration."""
        return [
            Module(path, self.root)
            for package in PACKAGES
            for path in sorted((self.root / package).rglob("*.py"))
            if "migrations" not in path.parts
        ]

    @cached_property
    def services(self) -> list[Module]:
        """Modules of the product."""
        return [each for each in self.modules if each.path.startswith("services/")]

    def banned(self, package: str) -> list[str]:
        """Each definition whose name bears a banned word."""
        return [
            f"{module.path}::{name}"
            for module in self.modules
            if module.path.startswith(f"{package}/")
            for name, _ in module.definitions
            if is_banned(name.rpartition(".")[2]) and name not in WIRE
        ] + [
            module.path
            for module in self.modules
            if module.path.startswith(f"{package}/") and is_banned(Path(module.path).stem)
        ]

    def fragments(self) -> list[str]:
        """Each docstring of the product that cannot be read alone."""
        return [
            f"{module.path}::{each.name} ({each.kind}): {each.text.strip().partition(chr(10))[0]}"
            for module in self.services
            for each in module.docstrings
            if each.is_fragment
        ]

    def called_once(self) -> list[str]:
        """Private functions of at most `SHORT` lines named once beside their definition."""
        places = []
        for module in self.services:
            counts = Counter(re.findall(r"\b_[A-Za-z]\w*", module.text))
            places += [
                f"{module.path}::{node.name}"
                for node in module.functions
                if node.name.startswith("_")
                and not node.name.startswith("__")
                and counts[node.name] == 2
                and (node.end_lineno or node.lineno) - node.lineno + 1 <= SHORT
            ]
        return places

    def one_importer(self) -> list[str]:
        """Files of the product that one other file of it imports, and no more."""
        names = {module.name for module in self.services}
        importers: dict[str, set[str]] = defaultdict(set)
        for module in self.services:
            for name in module.imports & names - {module.name}:
                importers[name].add(module.path)
        return [
            f"{module.path} <- {next(iter(importers[module.name]))}"
            for module in self.services
            if len(importers[module.name]) == 1 and not module.path.endswith("__init__.py")
        ]

    def names_in_two_rooms(self) -> list[str]:
        """Names of classes that are defined in more than one room."""
        rooms: dict[str, set[str]] = defaultdict(set)
        for module in self.services:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    rooms[node.name.lstrip("_")].add(module.room)
        return [
            f"{name}: {', '.join(sorted(each))}"
            for name, each in sorted(rooms.items())
            if len(each) > 1 and name not in SHARED_CLASS_NAMES
        ]

    def caches(self) -> list[str]:
        """Functions whose answers are kept for the life of the process."""
        return [
            f"{module.path}::{node.name}"
            for module in self.services
            for node in module.functions
            if any(
                re.split(r"[.(]", ast.unparse(each).removeprefix("functools."))[0] in CACHES
                for each in node.decorator_list
            )
        ]

    def screenings(self) -> list[str]:
        """Calls of what leaves instructions to a model out of a text, outside its own folder."""
        return [
            f"{module.path}:{node.lineno}"
            for module in self.services
            if "/screening/" not in module.path
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Call) and _called(node) in SCREENING
        ]

    def figures(self) -> dict[str, float]:
        """All measures."""
        sizes = [
            (node.end_lineno or node.lineno) - node.lineno + 1
            for module in self.services
            for node in module.functions
        ]
        lines = sum(module.lines for module in self.services)
        return {
            "lines": lines,
            "files": len(self.services),
            "functions": len(sizes),
            "functions_per_1000_lines": round(1000 * len(sizes) / lines, 1),
            "median_function": statistics.median(sizes),
            "short_called_once": len(self.called_once()),
            "files_with_one_importer": len(self.one_importer()),
            "class_names_in_two_rooms": len(self.names_in_two_rooms()),
            "banned_names_services": len(self.banned("services")),
            "banned_names_elsewhere": sum(
                len(self.banned(each)) for each in PACKAGES if each != "services"
            ),
            "docstrings": sum(len(each.docstrings) for each in self.services),
            "fragment_docstrings": len(self.fragments()),
            "caches": len(self.caches()),
            "calls_of_screening": len(self.screenings()),
        }

    def places(self, measure: str) -> list[str]:
        """Each place that a measure counts.

        Raises:
            KeyError: The measure counts no places.
        """
        return {
            "short_called_once": self.called_once,
            "files_with_one_importer": self.one_importer,
            "class_names_in_two_rooms": self.names_in_two_rooms,
            "banned_names_services": lambda: self.banned("services"),
            "banned_names_elsewhere": lambda: [
                place for each in PACKAGES if each != "services" for place in self.banned(each)
            ],
            "fragment_docstrings": self.fragments,
            "caches": self.caches,
            "calls_of_screening": self.screenings,
        }[measure]()


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def main() -> None:
    """Print the figures of a repository, or the places behind one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--list", dest="measure", help="a measure whose places are printed")
    arguments = parser.parse_args()
    house = House(arguments.repository.resolve())
    if arguments.measure:
        sys.stdout.write("".join(f"{each}\n" for each in house.places(arguments.measure)))
    else:
        sys.stdout.write(json.dumps(house.figures(), indent=2) + "\n")


if __name__ == "__main__":
    main()
