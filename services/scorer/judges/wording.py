"""How a topic and what may be said about it are put to a model."""

from services.language.answers import compared_answer
from services.procedure.evidence.fact import FactKind
from services.scorer.judges.question import OptionKind
from services.scorer.judges.shared_steps import PageStep, SharedSteps
from services.scorer.judges.topics import Answer, Says, Topic
from services.workflow.plain import plain

_FIXED = {
    OptionKind.ALWAYS: "always",
    OptionKind.CONDITION: "only under a condition that the lines state",
    OptionKind.ENDS: "nothing: the work ends here",
    OptionKind.ASKED: "yes",
    OptionKind.UNSAID: "the lines do not say it",
}


class CandidateWords:
    """Words of the first candidate that has a step."""

    def __init__(self, shared: SharedSteps) -> None:
        self._shared = shared

    def question(self, topic: Topic) -> str:
        """What is asked."""
        step = self._quoted(topic.step)
        if topic.kind is FactKind.QUESTION:
            return f"Do these lines make anything depend on the answer to this: {step}?"
        if topic.kind is not FactKind.ARROW:
            return f"By these lines, when is this done: {step}?"
        if topic.answer == "":
            return f"By these lines, what comes next when this is done: {step}?"
        label = self._label(topic.step, topic.answer)
        return f"By these lines, what comes next when {step} is answered “{label}”?"

    def option(self, topic: Topic, says: Says) -> str:
        """What may be answered."""
        if says.step:
            return self._quoted(says.step)
        if topic.other and says.kind is OptionKind.ALWAYS:
            return f"whatever {self._quoted(topic.other)} is answered"
        if topic.other and says.kind is OptionKind.ON_ANSWER:
            label = self._label(topic.other, says.answer)
            return f"only if {self._quoted(topic.other)} is answered “{label}”"
        is_denied = topic.kind is FactKind.QUESTION and says.kind is OptionKind.UNSAID
        return "no" if is_denied else _FIXED[says.kind]

    def _quoted(self, step: PageStep) -> str:
        return f"“{plain(self._shared.step(step).text)}”"

    def _label(self, asked: PageStep, answer: Answer) -> str:
        """As the question is worded: yes to a negated one is no to what it negates."""
        if isinstance(answer, str):
            return answer
        text = self._shared.step(asked).text
        return next(label for label in ("yes", "no") if compared_answer(text, label) is answer)
