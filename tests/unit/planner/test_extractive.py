from collections.abc import Iterator

import pytest

from services.knowledge.model import (
    Chunk,
    KnowledgeContext,
    RetrievedChunk,
    RetrievedNode,
    Span,
)
from services.knowledge.stores.merge import merge
from services.planner.assembly import assemble
from services.planner.extractive import drafts
from services.planner.guard import guarded
from services.workflow.lint import is_clean, lint
from services.workflow.model import Step, StepKind, Workflow
from tests.unit.planner.pages import (
    CAUSES,
    CHECKED_TABLE,
    INDEX,
    NUMBERED,
    RESTORE,
    SCENARIOS,
    STEP,
    TABLE,
    context,
    nodes,
)


def favourite(knowledge: KnowledgeContext) -> Workflow:
    return assemble(guarded(drafts(knowledge)[0]))


def step(workflow: Workflow, text: str) -> Step:
    return next(each for each in workflow.steps if each.text == text)


def after(workflow: Workflow, text: str, answer: str = "") -> str:
    (edge,) = [e for e in workflow.exits(step(workflow, text).id) if e.condition == answer]
    return workflow.by_id[edge.target].text


def texts(workflow: Workflow) -> list[str]:
    return [each.text for each in workflow.steps]


def test_numbered_steps_stay_in_order_and_begin_with_the_fault() -> None:
    workflow = favourite(context(nodes(NUMBERED)))
    assert texts(workflow)[:3] == [
        "CRC errors on an uplink",
        "Read the error counters",
        "Check the receive power",
    ]
    assert after(workflow, "Replace the cable") == "Move the link to a spare port"


def test_a_condition_becomes_a_decision_with_both_exits() -> None:
    workflow = favourite(context(nodes(NUMBERED)))
    asked = "Below -12 dBm?"
    assert step(workflow, asked).kind is StepKind.DECISION
    assert after(workflow, asked, "Yes") == "Clean the connector"
    assert after(workflow, asked, "No") == "Leave the fibre alone"


def test_commands_are_verbatim_on_their_step_with_what_they_print() -> None:
    read = step(favourite(context(nodes(NUMBERED))), "Read the error counters")
    assert read.commands == ("show interfaces Ethernet12 counters errors",)
    assert read.expected.startswith("Port        FCS")
    assert (read.citations[0].start_line, read.citations[0].end_line) == (7, 13)


def test_each_cause_is_asked_for_and_leads_to_the_remedy_that_fits_it() -> None:
    workflow = favourite(context(nodes(CAUSES)))
    assert after(workflow, "Remote AS number is wrong on one side?", "Yes") == (
        "Correct the remote AS number in the neighbour statement"
    )
    assert after(workflow, "ACL drops TCP port 179 between the loopbacks?", "Yes") == (
        "Allow TCP port 179 in the ACL between the loopbacks"
    )
    assert "Routing policy handbook" not in texts(workflow)


def test_rows_of_faults_and_actions_become_a_chain_of_questions() -> None:
    workflow = favourite(context(nodes(TABLE)))
    assert after(workflow, "LED is amber?", "Yes") == "Clean the optic"
    assert after(workflow, "LED is amber?", "No") == "LED is dark?"
    assert after(workflow, "Insert a module") == "Open the port"


def test_sections_of_one_fault_each_become_a_chain_of_questions() -> None:
    workflow = favourite(context(nodes(SCENARIOS)))
    assert after(workflow, "Receive power is low?", "Yes").startswith("Clean the connector")
    assert after(workflow, "Receive power is low?", "No") == "Module is too hot?"


def linked_pages() -> Iterator[tuple[str, str]]:
    for name in ("fans", "power", "uplinks"):
        remedy = f"Call the hardware team about the {name}."
        described = f"Looks whether the {name} of the leaf are healthy."
        yield f"site/steps/{name}.md", STEP.format(name=name, description=described, remedy=remedy)
    yield "site/steps/end.md", "# End\n\n## Description\n\nAll checks of the leaf are done.\n"


def test_links_to_step_pages_become_checks_in_their_order() -> None:
    linked = tuple(node for id_, text in linked_pages() for node in nodes(text, id_)[:1])
    workflow = favourite(context(nodes(INDEX), linked=linked))
    asked = "Looks whether the fans of the leaf are healthy - passed?"
    assert after(workflow, asked, "No") == "Call the hardware team about the fans."
    assert after(workflow, asked, "Yes").startswith("Looks whether the power")
    assert workflow.steps[-1].text == "All checks of the leaf are done"
    assert workflow.steps[-1].kind is StepKind.TERMINAL


def test_a_destructive_step_is_preceded_by_a_check() -> None:
    step = "1. Remove the dumps:\n\n   ```sh\n   rm -rf /var/crash\n   ```\n\n2. Wait.\n"
    workflow = favourite(context(nodes("# Disk full\n\n## Remedy\n\n" + step)))
    assert workflow.steps[0].text == "Confirm that this is the fault: Disk full"
    assert is_clean(lint(workflow))


def test_a_column_that_says_how_to_check_comes_before_the_remedy() -> None:
    workflow = favourite(context(nodes(CHECKED_TABLE)))
    looked = "Run systemctl status consumer"
    assert after(workflow, "Consumers are gone?", "Yes") == looked
    assert step(workflow, looked).commands == ("systemctl status consumer",)
    assert after(workflow, looked) == "Start the consumers"
    assert after(workflow, "Consumers are gone?", "No") == "Disk is full?"


@pytest.mark.parametrize("page", [NUMBERED, CAUSES, TABLE, SCENARIOS])
def test_every_workflow_is_clean_and_every_step_cites_its_page(page: str) -> None:
    workflow = favourite(context(nodes(page)))
    assert is_clean(lint(workflow))
    assert all(each.citations for each in workflow.steps)
    assert {c.document_id for each in workflow.steps for c in each.citations} == {"net/page.md"}


def test_several_documents_compete_the_best_first() -> None:
    found = drafts(context(nodes(NUMBERED, "a.md"), nodes(CAUSES, "b.md")))
    assert [draft.document_ids[0] for draft in found[:2]] == ["a.md", "b.md"]


def test_chunks_alone_are_enough() -> None:
    chunk = Chunk(
        id="c",
        span=Span(document_id="fans.md", start_line=9, end_line=10),
        heading_path=("Fan fault", "Repair"),
        text="1. Reseat the tray.\n2. Replace the tray.",
    )
    knowledge = KnowledgeContext(chunks=(RetrievedChunk(chunk=chunk, score=0.8),))
    workflow = favourite(knowledge)
    assert texts(workflow)[:3] == ["Fan fault", "Reseat the tray", "Replace the tray"]
    assert workflow.steps[1].citations[0].start_line == 9


def test_a_context_without_a_procedure_gives_nothing() -> None:
    assert drafts(KnowledgeContext()) == []
    assert drafts(context(nodes("# Lunch menu\n\nSoup today.\n"))) == []


def test_a_document_far_less_relevant_does_not_compete() -> None:
    first, second = nodes(NUMBERED, "a.md")[0], nodes(CAUSES, "b.md")[0]
    hits = (RetrievedNode(node=first, score=0.9), RetrievedNode(node=second, score=0.5))
    found = drafts(KnowledgeContext(nodes=hits))
    assert {draft.document_ids[0] for draft in found} == {"a.md"}


def test_a_ticket_that_names_a_section_is_answered_from_that_section() -> None:
    hits = tuple(RetrievedNode(node=node, score=0.9) for node in nodes(SCENARIOS))
    knowledge = KnowledgeContext(nodes=hits)
    assert drafts(knowledge, "optics broken")[0].title == "Optics on the spine"
    assert drafts(knowledge, "the module is too hot")[0].title == "Module is too hot"
    assert {draft.title for draft in drafts(knowledge, "the module is too hot")} == {
        "Module is too hot"
    }


def test_of_two_documents_on_one_incident_the_nearer_one_leads() -> None:
    both = [nodes(NUMBERED, name)[0] for name in ("a.md", "b.md")]
    node = merge(both).model_copy(
        update={"mitigation_steps": tuple(p for n in both for p in n.mitigation_steps)}
    )
    chunk = Chunk(
        id="c",
        span=Span(document_id="b.md", start_line=1, end_line=3),
        heading_path=("CRC errors on an uplink",),
        text="The port counts frames with a bad checksum.",
    )
    knowledge = KnowledgeContext(
        nodes=(RetrievedNode(node=node, score=0.9),),
        chunks=(RetrievedChunk(chunk=chunk, score=0.9),),
    )
    assert drafts(knowledge)[0].document_ids == ("b.md",)


def test_causes_and_solutions_in_turn_become_a_chain_of_questions() -> None:
    text = (
        "# Link down\n\nCause 1: The cable is loose.\nSolution: Seat the cable.\n\n"
        "Cause 2: The optic is not supported.\nSolution: Insert a supported optic.\n"
    )
    workflow = favourite(context(nodes(text)))
    assert after(workflow, "Cable is loose?", "Yes") == "Seat the cable"
    assert after(workflow, "Cable is loose?", "No") == "Optic is not supported?"


def test_what_to_do_when_nothing_helped_comes_last() -> None:
    text = CAUSES.replace(
        "\n## See also", "4. If the session still stays down, call the routing team.\n\n## See also"
    )
    last = favourite(context(nodes(text))).steps[-1]
    assert last.text == "If the session still stays down, call the routing team"
    assert last.kind is StepKind.TERMINAL


def test_a_question_with_a_list_of_answers_is_a_decision() -> None:
    text = (
        "# Routes\n\n## Diagnosis\n\nIs the route there?\n\n- Yes: ping the hop.\n- No: call us.\n"
    )
    workflow = favourite(context(nodes(text)))
    assert after(workflow, "Is the route there?", "Yes") == "Ping the hop"
    assert after(workflow, "Is the route there?", "No") == "Call us"


def test_paragraphs_that_are_numbered_steps_are_steps() -> None:
    text = "# Optic\n\nStep 1: Log in.\n\nStep 2: Check the light. If it is low, clean the fibre.\n"
    workflow = favourite(context(nodes(text)))
    assert texts(workflow)[1:5] == ["Log in", "Check the light", "Low?", "Clean the fibre"]


def test_answers_of_a_page_of_questions_are_found() -> None:
    text = "# FAQ\n\n### Why does the port flap?\n\nUsually the cable. Replace the cable.\n"
    assert "Replace the cable" in texts(favourite(context(nodes(text))))


def test_a_path_ends_where_the_page_says_that_the_work_is_over() -> None:
    workflow = favourite(context(nodes(RESTORE)))
    assert step(workflow, "Close the ticket").kind is StepKind.TERMINAL
    assert step(workflow, "Escalate to the fabric team").kind is StepKind.TERMINAL


def test_a_step_that_a_section_repeats_is_taken_again() -> None:
    assert texts(favourite(context(nodes(RESTORE)))).count("Wait two minutes") == 2


def test_a_command_within_a_sentence_is_a_command_of_its_step() -> None:
    workflow = favourite(context(nodes(RESTORE)))
    assert step(workflow, "Run show fabric status").commands == ("show fabric status",)


def test_a_page_too_long_for_a_workflow_says_where_to_go_on() -> None:
    steps = "\n".join(f"{n}. Replace module {n} of the spine." for n in range(1, 81))
    workflow = favourite(context(nodes(f"# Spine refit\n\n## Procedure\n\n{steps}\n")))
    assert texts(workflow)[-1] == "Go on in the document: Replace module 61 of the spine"
    assert workflow.steps[-1].citations


def test_an_unrelated_procedure_does_not_stand_in_for_a_page_without_one() -> None:
    told = nodes("# Cache is full\n\nThe cache of the route server is full.\n", "net/cache.md")
    found = context(told, nodes(NUMBERED, "net/other.md"))
    near, far = found.nodes[0], found.nodes[-1]
    ranked = (near.model_copy(update={"score": 1.0}), far.model_copy(update={"score": 0.4}))
    assert drafts(found.model_copy(update={"nodes": ranked, "chunks": ()})) == []


def test_of_two_cases_that_end_the_work_one_goes_on_to_the_steps_that_follow() -> None:
    page = "# Fan stops\n\n## Procedure\n\n1. If it spins, close the ticket. Otherwise escalate.\n"
    workflow = favourite(context(nodes(f"{page}2. Replace the fan tray.\n3. Read the log.\n")))
    assert after(workflow, "Escalate") == "Replace the fan tray"
