"""`docs/results.md`: what the benchmarks wrote, for a person to read."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.measures.acceptance import BENCHMARK as ACCEPTANCE
from evaluation.measures.figures import Report
from evaluation.report.acceptance_section import acceptance_section
from evaluation.report.comparison_report import BENCHMARK as PLANNERS
from evaluation.report.front_table import front_table
from evaluation.report.judge_report import BENCHMARK as JUDGE
from evaluation.report.judge_section import judge_section
from evaluation.report.planners_section import planners_section
from evaluation.report.results_section import Section, plain_section
from services.kit.files import write_text

IMAGES = "images"
"""Folder of the pictures, beside the page."""

_HEAD = """\
# Results

<!-- Generated: change the benchmarks or the notes, then run the command below. -->

What FlowXpert is worth, in figures. This page was made by

```
{command}
```

from the files that the benchmarks wrote; figures are never put in by hand.
from services.kit.files import write_text

- **F1, precision, recall**: STEPScore, 0 to 100. How near the steps of an answer come to those of
  the reference in meaning; recall asks how much of the reference is there.
- **graph F1**: the same of matched steps and the arrows between them.
- **accepted**: share of the answers that recall three quarters of the reference's key steps.
- **supported**: share of the steps whose cited lines say them, looked up and not believed.
- A mean over sets counts every set with five pairs or more the same, whatever its size.
"""


@dataclass(frozen=True)
class Page:
    """The text and its pictures."""

    text: str
    pictures: dict[str, str]

    def write(self, path: Path) -> None:
        """The page at `path`, its pictures in a folder beside it."""
        folder = path.parent / IMAGES
        folder.mkdir(parents=True, exist_ok=True)
        write_text(path, self.text)
        for name, picture in self.pictures.items():
            (folder / name).write_text(picture, encoding="utf-8")


def results_page(reports: Sequence[Report], command: str, notes: str = "") -> Page:
    """All reports in the given order, what engineers would follow before all.

    `notes` are what people say about them, as Markdown.
    """
    opening = acceptance_section(reports)
    sections = list(_sections([each for each in reports if each.benchmark != ACCEPTANCE]))
    head = _HEAD.format(command=command).strip()
    learned = [f"## What is learned\n\n{notes.strip()}"] if notes.strip() else []
    first = [opening.text()] if opening else []
    first += [table] if (table := front_table(reports)) else []
    title, _, rest = head.partition("\n\n")
    text = "\n\n".join([title, *first, rest, *learned, *(each.text() for each in sections)])
    pictures = {name: svg for section in sections for name, svg in section.pictures.items()}
    return Page(text + "\n", pictures)


def _sections(reports: Sequence[Report]) -> Iterator[Section]:
    seen: Counter[str] = Counter()
    for report in reports:
        seen[report.benchmark] += 1
        number = seen[report.benchmark]
        slug = f"results-{report.benchmark}" + (f"-{number}" if number > 1 else "")
        with_pictures = _WITH_PICTURES.get(report.benchmark)
        yield with_pictures(report, slug) if with_pictures else plain_section(report)


_WITH_PICTURES: dict[str, Callable[[Report, str], Section]] = {
    PLANNERS: planners_section,
    JUDGE: judge_section,
}
