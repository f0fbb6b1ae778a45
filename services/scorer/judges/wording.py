"""Wording of a question for a model: the topic, its options, and the lines that it is about."""

from collections.abc import Iterable, Iterator

from services.language.answers import compared_answer
from services.runbook.evidence.fact import FactKind
from services.runbook.evidence.page_lines import CitedPages, Lines
from services.scorer.judges.question import OptionKind
from services.scorer.judges.topics import ComparedAnswer, PageStep, SharedSteps, Topic, TopicOption
from services.workflow.plain import plain

_BEFORE, _BEHIND = 3, 4
"""Lines of context: a condition stands before what it holds for, its `otherwise` behind it."""
_MOST_LINES = 60
_LONGEST_LINE = 400
"""Characters shown of a line; tables and output have longer ones that state no step."""
_FIXED = {
    OptionKind.ALWAYS: "always",
    OptionKind.CONDITION: "only under a condition that the lines state",
    OptionKind.ENDS: "nothing: the work ends here",
    OptionKind.IS_QUESTION: "yes",
    OptionKind.UNSAID: "the lines do not say it",
}


class TopicWording:
    """Wording of topics, in the words of the first candidate that has a step."""

    def __init__(self, shared: SharedSteps) -> None:
        self._shared = shared

    def question(self, topic: Topic) -> str:
        """Word the question of a topic."""
        step = self._quoted(topic.step)
        if topic.kind is FactKind.QUESTION:
            return f"Do these lines make anything depend on the answer to this: {step}?"
        if topic.kind is not FactKind.ARROW:
            return f"By these lines, when is this done: {step}?"
        if topic.answer == "":
            return f"By these lines, what comes next when this is done: {step}?"
        label = self._label(topic.step, topic.answer)
        return f"By these lines, what comes next when {step} is answered “{label}”?"

    def option(self, topic: Topic, option: TopicOption) -> str:
        """Word an option of a topic."""
        if option.step:
            return self._quoted(option.step)
        if topic.other and option.kind is OptionKind.ALWAYS:
            return f"whatever {self._quoted(topic.other)} is answered"
        if topic.other and option.kind is OptionKind.ON_ANSWER:
            label = self._label(topic.other, option.answer)
            return f"only if {self._quoted(topic.other)} is answered “{label}”"
        is_denied = topic.kind is FactKind.QUESTION and option.kind is OptionKind.UNSAID
        return "no" if is_denied else _FIXED[option.kind]

    def _quoted(self, step: PageStep) -> str:
        return f"“{plain(self._shared.step(step).text)}”"

    def _label(self, step: PageStep, answer: ComparedAnswer) -> str:
        """Return the label of an answer; yes to a negated question is no to what it negates."""
        if isinstance(answer, str):
            return answer
        text = self._shared.step(step).text
        return next(label for label in ("yes", "no") if compared_answer(text, label) is answer)


def excerpt(source: CitedPages, about: Iterable[Lines]) -> str:
    """Return the numbered lines under their headings and list items; a gap is an ellipsis."""
    cited = [lines for lines in about if lines]
    page = min((min(lines) for lines in cited), default=0)
    wanted = {line for lines in cited for line in _context_lines(source, lines)}
    shown = [line for line in sorted(wanted) if source.is_same_page(line, page)][:_MOST_LINES]
    return "\n".join(_numbered(source, shown))


def _context_lines(source: CitedPages, lines: Lines) -> Iterator[int]:
    first, last = min(lines), max(lines)
    yield from range(max(first - _BEFORE, source.first_line(first)), last + _BEHIND + 1)
    place = source.place(first)
    yield from place.items
    yield from (line for line in place.sections if source.is_heading(line))


def _numbered(source: CitedPages, lines: list[int]) -> Iterator[str]:
    before = lines[0] if lines else 0
    for line in lines:
        text = source.text((line,)).rstrip()[:_LONGEST_LINE]
        if not text:
            continue
        if any(source.text((between,)).strip() for between in range(before + 1, line)):
            yield "…"
        yield f"{source.local_number(line)} | {text}"
        before = line
