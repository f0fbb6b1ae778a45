import itertools
import json
import time

import pytest

from services.contracts.ticket import TicketDraft
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.chat_model import ChatRequest, ModelRefusedError, ModelUnavailableError
from services.llm.guard import GuardedChatModel
from services.llm.scripted import ScriptedChatModel
from services.planner.metrics import MODEL_FAILURES, SAMPLES
from services.planner.service import PlannerService
from services.planner.settings import PlannerSettings
from services.workflow.formats.by_name import to_mermaid
from services.workflow.lint import is_clean, lint
from tests.unit.planner.pages import CAUSES, NUMBERED, request

TICKET = TicketDraft(source="generic", external_id="1", title="CRC errors on Ethernet12")
REQUEST = request(TICKET, ("a.md", NUMBERED), ("b.md", CAUSES))

GOOD = [
    {"id": "s1", "kind": "process", "cites": ["n1"], "next": "s2",
     "text": "Read the error counters"},
    {"id": "s2", "kind": "decision", "cites": ["n2"], "yes": "s3", "no": "s4",
     "text": "Is the receive power below -12 dBm?"},
    {"id": "s3", "kind": "process", "cites": ["n2"], "text": "Clean the connector.", "next": "s4"},
    {"id": "s4", "kind": "process", "cites": ["n3"], "text": "Replace the cable.", "next": "s5"},
    {"id": "s5", "kind": "terminal", "cites": ["n3"], "text": "Move the link to a spare port."},
]  # fmt: skip


def steps(*changes: dict[str, object]) -> str:
    """The good answer with steps changed, by place."""
    found = [dict(step) for step in GOOD]
    for change in changes:
        found[int(str(change["at"]))].update({k: v for k, v in change.items() if k != "at"})
    return json.dumps({"steps": found})


def planner(model, **settings) -> PlannerService:
    chosen = PlannerSettings(_env_file=None, **{"samples": 1, "corrections": 0, **settings})
    guarded = GuardedChatModel(model, tries=1, sleep=lambda _seconds: None)
    return PlannerService(chosen, model=guarded, embedder=HashingEmbedder())


def written(model, **settings):
    found = planner(model, **settings).plan(REQUEST).candidates
    return [c.workflow for c in found if c.workflow.provenance.planner == "llm"]


def counted(metric, label):
    return metric.labels(label)._value.get()


def test_the_extractive_candidates_come_first_and_the_models_after_them():
    found = planner(ScriptedChatModel([steps()])).plan(REQUEST).candidates
    origins = [c.workflow.provenance.planner for c in found]
    assert origins[0] == "extractive"
    assert origins[-1] == "llm"
    assert found[-1].workflow.provenance.model == "scripted"
    assert found[-1].workflow.provenance.version == "plan@1#0"


def test_a_written_workflow_is_clean_and_cites_the_lines_that_say_each_step():
    (workflow,) = written(ScriptedChatModel([steps()]))
    assert is_clean(lint(workflow))
    assert all(step.citations for step in workflow.steps)
    assert {c.document_id for s in workflow.steps for c in s.citations} == {"a.md"}
    cable = next(step for step in workflow.steps if "cable" in step.text)
    line = NUMBERED.splitlines()[cable.citations[0].start_line - 1]
    assert "Replace the cable" in line


def test_every_sample_competes_and_equal_ones_only_once():
    texts = [steps(), steps({"at": 3, "text": "Replace the cable of the port."}), steps()]
    assert len(written(ScriptedChatModel(texts), samples=3)) == 2


def test_an_invented_citation_does_not_survive():
    (workflow,) = written(
        ScriptedChatModel([steps({"at": 3, "text": "Reboot the coffee machine", "cites": ["n3"]})])
    )
    invented = next(step for step in workflow.steps if "coffee" in step.text)
    assert invented.citations == ()


def test_a_claim_of_the_wrong_passage_is_moved_to_the_lines_that_say_it():
    (workflow,) = written(ScriptedChatModel([steps({"at": 3, "cites": ["n1"]})]))
    cable = next(step for step in workflow.steps if "cable" in step.text)
    (citation,) = cable.citations
    assert "Replace the cable" in NUMBERED.splitlines()[citation.start_line - 1]


def test_only_commands_that_a_source_quotes_are_kept():
    commands = ["show interfaces Ethernet12 counters errors", "rm -rf /var/lib/switch"]
    (workflow,) = written(
        ScriptedChatModel(
            [steps({"at": 0, "command": commands[0]}, {"at": 3, "command": commands[1]})]
        )
    )
    assert [command for step in workflow.steps for command in step.commands] == [commands[0]]


@pytest.mark.parametrize(
    "answer",
    [
        "I would look at the cable first.",
        '{"steps": []}',
        '{"steps": [{"id": "s1", "kind": "process", "text": "Loo',
        steps({"at": 1, "no": "s77"}),
        steps({"at": 1, "yes": "s5", "no": "s5"}, {"at": 2, "next": "s3"}, {"at": 3, "id": "s1"}),
        json.dumps({"steps": GOOD * 50}),
        "x" * 300_000,
    ],
    ids=["prose", "empty", "cut off", "leads nowhere", "doubled id", "250 steps", "loop"],
)
def test_an_answer_that_is_no_workflow_leaves_the_extractive_ones(answer):
    found = planner(ScriptedChatModel([answer])).plan(REQUEST).candidates
    assert found
    assert {c.workflow.provenance.planner for c in found} == {"extractive"}


def test_prose_around_the_answer_does_no_harm():
    assert (
        len(written(ScriptedChatModel([f"Here it is:\n```json\n{steps()}\n```\nGood luck!"]))) == 1
    )


def test_what_reading_order_tells_is_settled_without_asking_again():
    open_ends = steps({"at": 0, "next": "s1"}, {"at": 3, "kind": "terminal"})
    (workflow,) = written(ScriptedChatModel([open_ends]))
    assert is_clean(lint(workflow))
    assert len(workflow.steps) == len(GOOD)


def test_findings_go_back_to_the_model_which_may_mend_them():
    lost = steps({"at": 0, "next": "s4"})  # nothing leads to s2 and s3 any more
    model = ScriptedChatModel([lost, steps()])
    before = counted(SAMPLES, "corrected")
    assert len(written(model, corrections=2)) == 1
    told = model.requests[1].messages
    assert told[-2].content == lost
    assert "no path from the first step" in told[-1].content
    assert counted(SAMPLES, "corrected") == before + 1


def test_after_two_corrections_a_sample_is_dropped():
    model = ScriptedChatModel([steps({"at": 0, "next": "s4"})])
    before = counted(SAMPLES, "unsound")
    assert written(model, corrections=2) == []
    assert len(model.requests) == 3
    assert counted(SAMPLES, "unsound") == before + 1


def test_a_refused_correction_costs_only_its_own_sample():
    def script(request: ChatRequest):
        if len(request.messages) > 6:
            raise ModelRefusedError("too long")
        return [steps({"at": 0, "next": "s4"}), steps()]

    assert len(written(ScriptedChatModel(script), samples=2, corrections=2)) == 1


def test_a_model_that_is_down_costs_the_ticket_nothing_and_is_counted():
    def script(_request):
        raise ModelUnavailableError("connection refused")

    before = counted(MODEL_FAILURES, "unavailable")
    found = planner(ScriptedChatModel(script)).plan(REQUEST).candidates
    assert {c.workflow.provenance.planner for c in found} == {"extractive"}
    assert counted(MODEL_FAILURES, "unavailable") == before + 1


def test_a_spent_budget_ends_the_writing_and_is_counted():
    model = ScriptedChatModel([steps({"at": 0, "next": "s4"})])
    before = counted(MODEL_FAILURES, "budget")
    assert written(model, corrections=5, ticket_tokens=10) == []
    assert len(model.requests) == 2, "what a call costs is known when it ends"
    assert counted(MODEL_FAILURES, "budget") == before + 1


def test_a_ticket_without_time_left_asks_no_model():
    model = ScriptedChatModel([steps()])
    late = REQUEST.model_copy(update={"deadline_s": 0.0})
    assert planner(model).plan(late).candidates
    assert model.requests == []


def test_the_shorter_deadline_counts():
    model = ScriptedChatModel([steps()])
    planner(model, deadline_s=50).plan(REQUEST.model_copy(update={"deadline_s": 7.0}))
    assert 6 < model.requests[0].timeout_s <= 7


def test_candidates_are_streamed_and_closing_the_stream_asks_for_no_more():
    asked = []

    class Endless(ScriptedChatModel):
        def stream(self, request):
            for index in itertools.count():
                asked.append(index)
                response = self.complete(request)
                yield response.samples[0].model_copy(update={"index": index})
            return response

    stream = planner(Endless([steps()])).stream(REQUEST)
    first = next(stream)
    assert first.workflow.provenance.planner == "extractive"
    assert asked == []
    while next(stream).workflow.provenance.planner != "llm":
        pass
    stream.close()
    assert asked == [0]


def test_the_ticket_and_the_documents_stand_in_marked_blocks_of_the_last_message_only():
    model = ScriptedChatModel([steps()])
    planner(model).plan(REQUEST)
    system, *turns = model.requests[0].messages
    assert system.role == "system"
    for message in (system, *turns[:-1]):
        assert "Ethernet12" not in message.content
    assert "<ticket-" in turns[-1].content
    assert "Ethernet12" in turns[-1].content


def test_the_context_is_cut_to_its_budget():
    model = ScriptedChatModel([steps()])
    planner(model, context_tokens=200).plan(REQUEST)
    assert len(model.requests[0].messages[-1].content) < 200 * 3.5 + 600


def test_the_same_request_asks_the_model_the_same():
    one, two = ScriptedChatModel([steps()]), ScriptedChatModel([steps()])
    planner(one).plan(REQUEST)
    time.sleep(0.01)
    planner(two).plan(REQUEST)
    assert one.requests[0].model_dump_json() == two.requests[0].model_dump_json()


CHART = """Sure.
```mermaid
flowchart TD
  a["Read the error counters [n1]"] --> b{"Is the receive power below -12 dBm? [n2]"}
  b -->|Yes| c["Clean the connector [n2]"]
  b -->|No| d(["Replace the cable (n3, c9)"])
  c --> d
```
"""


def test_a_large_model_may_draw_mermaid_with_ids_in_its_labels():
    model = ScriptedChatModel([CHART])
    (workflow,) = written(model, form="chart")
    assert workflow.provenance.version == "chart@1#0"
    assert workflow.steps[0].text == "Read the error counters"
    assert all(step.citations for step in workflow.steps)
    assert model.requests[0].json_schema is None


def test_mermaid_full_of_script_comes_out_as_harmless_text():
    evil = CHART.replace("Clean the connector", "Clean <script>alert(1)</script> the connector")
    evil += 'click a "javascript:alert(1)"\n'
    for workflow in written(ScriptedChatModel([evil]), form="chart"):
        drawn = to_mermaid(workflow)
        assert "<script" not in drawn
        assert "click" not in drawn


def test_a_step_that_says_nothing_is_no_step():
    assert written(ScriptedChatModel([steps({"at": 0, "text": "        "})])) == []


def test_sentences_are_embedded_while_the_model_writes():
    asked = []

    class Noting(HashingEmbedder):
        def embed(self, texts):
            asked.extend(texts)
            return super().embed(texts)

    def script(request):
        until = time.monotonic() + 5
        while len(asked) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        return [f"{len(asked)} texts are known"] * request.n

    guarded = GuardedChatModel(ScriptedChatModel(script))
    chosen = PlannerSettings(samples=1, corrections=0)
    PlannerService(chosen, model=guarded, embedder=Noting()).plan(REQUEST)
    assert len(asked) >= 4
