from services.grounding.evidence import Evidence
from services.planner.generation.drafting import find_prompt_leak
from services.workflow.model import Step, StepKind, Workflow
from tests.unit.scorer.cases import CONTEXT

EVIDENCE = Evidence.of(CONTEXT)
SECRET = "Write down each workflow with typed steps and enumerated ids"
ORDERS = [f"You are terse. {SECRET}. Be brief."]


def workflow(text: str) -> Workflow:
    return Workflow(title="Fan", steps=(Step(id="s1", kind=StepKind.TERMINAL, text=text),))


def test_a_step_that_tells_the_platforms_own_orders_is_detected():
    assert find_prompt_leak(workflow(f"Seat it. {SECRET}."), ORDERS, EVIDENCE) == f"{SECRET}."


def test_few_words_agree_by_chance():
    assert find_prompt_leak(workflow("Be brief."), ORDERS, EVIDENCE) is None


def test_what_the_sources_say_is_no_leak():
    sentence = "Push the tray in until its latch clicks."
    assert find_prompt_leak(workflow(sentence), [sentence], EVIDENCE) is None
