"""Pages that say `go to step 5`, and lists of answers, become arrows."""

from services.knowledge.model import Span
from services.planner.assembly import assemble
from services.planner.draft import Ask, Do, Draft, End, GoTo
from services.planner.extractive import drafts
from services.workflow.lint import is_clean, lint
from services.workflow.model import StepKind, Workflow
from tests.unit.planner.pages import context, nodes

ANSWERS = """\
# Uplink of a leaf switch flaps

## Troubleshooting

1. Check whether both ends report the same speed.
   - If yes, go to step 4.
   - If no, set the same speed on both ends.
2. Does the counter of CRC errors rise?
   - Yes: replace the cable.
   - No: continue with step 4.
3. If the port still flaps, replace the transceiver and go back to step 1.
4. Clean the optics.
5. When the light is green, close the ticket, otherwise escalate to the optics team.
"""
SECTIONS = """\
# Orders arrive late

## Step 1 - Compare versions

If the newest version fails more often, roll it back. That mostly helps.

Otherwise, proceed to Step 3.

## Step 2 - Look at the queue

Restart the consumers.

## Step 3 - Look at zones

Identify zones with many failures. Proceed to Step 5.

## Step 4 - Ask the owners

Ask the owners of the queue.

## Step 5 - Decide

Summarise what was found.
"""


def planned(page: str) -> Workflow:
    return assemble(drafts(context(nodes(page)))[0])


def after(workflow: Workflow, text: str, answer: str = "") -> str:
    (step,) = [each for each in workflow.steps if each.text == text]
    (edge,) = [edge for edge in workflow.exits(step.id) if edge.condition == answer]
    return workflow.by_id[edge.target].text


def test_answers_below_a_check_lead_where_they_say() -> None:
    workflow = planned(ANSWERS)
    asked = "Both ends report the same speed?"
    assert after(workflow, asked, "Yes") == "Clean the optics"
    assert after(workflow, asked, "No") == "Set the same speed on both ends"
    asked = "Does the counter of CRC errors rise?"
    assert after(workflow, asked, "Yes") == "Replace the cable"
    assert after(workflow, asked, "No") == "Clean the optics"


def test_a_jump_back_comes_after_what_is_told_with_it() -> None:
    workflow = planned(ANSWERS)
    assert after(workflow, "Port still flaps?", "Yes") == "Replace the transceiver"
    assert after(workflow, "Replace the transceiver") == "Both ends report the same speed?"
    assert after(workflow, "Port still flaps?", "No") == "Clean the optics"
    assert is_clean(lint(workflow))


def test_otherwise_after_a_comma_is_the_other_branch() -> None:
    workflow = planned(ANSWERS)
    assert after(workflow, "Light is green?", "Yes") == "Close the ticket"
    assert after(workflow, "Light is green?", "No") == "Escalate to the optics team"


def test_a_branch_that_only_says_to_read_on_is_no_step() -> None:
    page = ANSWERS.replace("otherwise escalate to the optics team", "otherwise continue here")
    workflow = planned(f"{page}6. Wait.\n")
    assert after(workflow, "Light is green?", "No") == "Wait"


def test_sections_called_steps_are_jumped_to_from_the_next_paragraph() -> None:
    workflow = planned(SECTIONS)
    asked = "Newest version fails more often?"
    assert after(workflow, asked, "Yes") == "Roll it back"
    assert after(workflow, asked, "No").startswith("Look at zones")


def test_a_jump_over_steps_that_nobody_else_comes_to_is_not_taken() -> None:
    workflow = planned(SECTIONS)
    (zones,) = [step.text for step in workflow.steps if step.text.startswith("Look at zones")]
    assert after(workflow, zones).startswith("Ask the owners")


def test_a_section_called_a_step_is_one_whatever_its_name_reminds_of() -> None:
    assert any(step.text.startswith("Ask the owners") for step in planned(SECTIONS).steps)


def drafted(*elements: Do | Ask | End | GoTo) -> Workflow:
    return assemble(Draft("procedure", "Fan fails", elements, 1.0))


def test_a_jump_to_a_step_that_is_not_there_is_said_in_words() -> None:
    asked = Ask("Fan spins?", yes=(GoTo(7, "Go to step 7"),))
    workflow = drafted(Do("Look"), asked, Do("Replace the fan"), End("Done"))
    assert after(workflow, "Fan spins?", "Yes") == "Go to step 7"
    assert after(workflow, "Go to step 7") == "Replace the fan"


def test_a_question_whose_answers_lead_to_one_step_is_none() -> None:
    target = Span(document_id="page.md", start_line=4, end_line=4)
    asked = Ask("Fan spins?", yes=(GoTo(2, "Go to step 2", target=target),))
    workflow = drafted(Do("Look"), asked, Do("Replace the fan", (target,)), End("Done"))
    assert not list(workflow.of_kind(StepKind.DECISION))
    assert after(workflow, "Look") == "Replace the fan"


def test_a_loop_without_a_way_out_is_told_and_not_drawn() -> None:
    target = Span(document_id="page.md", start_line=4, end_line=4)
    back = GoTo(1, "Go to step 1", target=target)
    workflow = drafted(Do("Look", (target,)), Do("Wait"), back, End("Done"))
    assert [step.text for step in workflow.steps] == ["Look", "Wait", "Done"]
    assert is_clean(lint(workflow))


PROSE = """\
# Port is err-disabled

### Step 1: Find the reason

Run `show interfaces status err-disabled`.

If the reason is bpduguard, go to Step 2. If the reason is a flap, go to step 3. Otherwise go to
Step 4.

### Step 2: Rogue switch

Unplug the rogue switch and go to step 4:

```
show spanning-tree
```

### Step 3: Flapping link

Replace the cable.

### Step 4: Open the port

Enable the port. If it shows errors go to "Step 2: Rogue switch".
"""
NESTED = """\
# Pods restart

## Troubleshooting

1. Look at the last state.
   1. If the reason is OOMKilled, go to step 3.
   2. If the reason is Error, go to step 2.
   3. If the reason is unknown, go to step 4. Otherwise, go to step 5.
2. If the config map is missing, create it. If the secret is missing, go to step 5.
3. Raise the memory limit.

   ```
   kubectl set resources deployment web
   ```

   Go to step 5.
4. Is the node ready? If yes, go to step 2. If no, go to step 5.
5. Verify that the pod runs; if it does not, go to step 1.
"""


def test_prose_leads_from_case_to_case_and_otherwise_belongs_to_the_last() -> None:
    workflow = planned(PROSE)
    assert after(workflow, "Reason is bpduguard?", "Yes").startswith("Rogue switch")
    assert after(workflow, "Reason is bpduguard?", "No") == "Reason is a flap?"
    assert after(workflow, "Reason is a flap?", "Yes").startswith("Flapping link")
    assert after(workflow, "Reason is a flap?", "No").startswith("Open the port")
    assert after(workflow, "It shows errors?", "Yes").startswith("Rogue switch")


def test_a_command_after_a_jump_belongs_to_the_step_that_jumps() -> None:
    (step,) = [each for each in planned(PROSE).steps if each.text.startswith("Rogue switch")]
    assert step.commands == ("show spanning-tree",)


def test_conditions_listed_below_a_step_are_decisions() -> None:
    workflow = planned(NESTED)
    assert after(workflow, "Look at the last state") == "Reason is OOMKilled?"
    assert after(workflow, "Reason is OOMKilled?", "Yes") == "Raise the memory limit"
    assert after(workflow, "Reason is Error?", "Yes") == "Config map is missing?"
    assert after(workflow, "Reason is unknown?", "Yes") == "Is the node ready?"
    assert after(workflow, "Reason is unknown?", "No") == "Pod runs?"


def test_every_condition_of_a_step_counts() -> None:
    workflow = planned(NESTED)
    assert after(workflow, "Config map is missing?", "No") == "Secret is missing?"
    assert after(workflow, "Secret is missing?", "Yes") == "Pod runs?"
    assert after(workflow, "Pod runs?", "No") == "Look at the last state"


def test_a_jump_told_below_the_commands_of_a_step_is_taken() -> None:
    assert after(planned(NESTED), "Raise the memory limit") == "Pod runs?"


def test_answers_in_the_sentences_after_a_question_lead_where_they_say() -> None:
    workflow = planned(NESTED)
    assert after(workflow, "Is the node ready?", "Yes") == "Config map is missing?"
    assert after(workflow, "Is the node ready?", "No") == "Pod runs?"


REPEATED = """\
# Broker loses messages

## Step 1 - Disks

1. Check the disks.
2. If the problem persists, go to step 3.

## Step 2 - Memory

Free memory on the broker.

If the problem persists, restart the broker.

Go to step 4.

## Step 3 - Network

Replace the network card.

Go to step 4.

## Step 4 - End

If the problem persists, escalate to the messaging team.
"""


def test_a_question_asked_again_leads_to_its_own_answers() -> None:
    workflow = planned(REPEATED)
    asked = [step.id for step in workflow.steps if step.text == "Problem persists?"]
    told = [workflow.by_id[workflow.exits(step)[0].target].text for step in asked]
    assert told[0].startswith("Network")
    assert told[1:] == ["Restart the broker", "Escalate to the messaging team"]


FORKED = """\
# Port goes down

## Step 1: Reason

If the reason is a guard, go to step 2. If the reason is a flap, go to step 3. Otherwise go to
step 4.

## Step 2: Guard

Unplug the rogue switch. Go to step 5.

## Step 3: Flap

Replace the cable. Go to step 5.

## Step 4: Unknown

Collect the logs.

## Step 5: Open

Enable the port.
"""


def test_a_jump_said_again_is_taken_again() -> None:
    workflow = planned(FORKED)
    assert after(workflow, "Guard: Unplug the rogue switch").startswith("Open")
    assert after(workflow, "Flap: Replace the cable").startswith("Open")


MARKED = """\
# Interface drops frames

## Steps

1. Check whether the buffer is full:
   * Yes → go to step 3
   * No → next step
2. Replace the cable.
3. Did it help?
   - Yes - close the ticket.
   - No – go to step 4.
4. Escalate to the vendor.
"""


def test_answers_may_be_marked_by_arrows_and_dashes_and_go_on() -> None:
    workflow = planned(MARKED)
    assert after(workflow, "Buffer is full?", "Yes") == "Did it help?"
    assert after(workflow, "Buffer is full?", "No") == "Replace the cable"
    assert after(workflow, "Did it help?", "Yes") == "Close the ticket"
    assert after(workflow, "Did it help?", "No") == "Escalate to the vendor"


LAG = """\
# Replica lags

## Steps

1. Show the lag.
2. If the lag is small, go to step 4.
3. If the receiver is down, go to step 5.
4. Close the ticket.
5. Restart the receiver.
6. If the lag grows, go to step 1, otherwise go to step 4.
"""


def test_every_path_may_end_or_go_back_before_the_end_of_the_page() -> None:
    workflow = planned(LAG)
    assert after(workflow, "Lag grows?", "Yes") == "Show the lag"
    assert after(workflow, "Lag grows?", "No") == "Close the ticket"
    assert is_clean(lint(workflow))


def test_the_work_is_over_where_the_page_says_so_before_another_case() -> None:
    workflow = planned(LAG)
    assert [step.text for step in workflow.of_kind(StepKind.TERMINAL)] == ["Close the ticket"]
    assert after(workflow, "Receiver is down?", "Yes") == "Restart the receiver"


TABLES = """\
# Scheduler is stuck

1. Read the log.
2. Compare it with the table:

   | Message | Action |
   |---|---|
   | lock held | Restart the scheduler, then go to step 1. |
   | no quorum | Go to step 4. |

3. Wait a minute.
4. Restart the peers.
"""


def test_a_table_below_a_step_is_asked_there_and_its_cells_may_lead_elsewhere() -> None:
    workflow = planned(TABLES)
    assert after(workflow, "Compare it with the table") == "Lock held?"
    assert after(workflow, "Lock held?", "Yes") == "Restart the scheduler"
    assert after(workflow, "Restart the scheduler") == "Read the log"
    assert after(workflow, "Lock held?", "No") == "No quorum?"
    assert after(workflow, "No quorum?", "Yes") == "Restart the peers"
    assert after(workflow, "No quorum?", "No") == "Wait a minute"


def test_a_very_long_table_is_cut_and_says_so() -> None:
    rows = "".join(f"| Error {n} | Restart service {n} |\n" for n in range(2500))
    workflow = planned(f"# Errors\n\n| Symptom | Fix |\n|---|---|\n{rows}")
    assert after(workflow, "Error 39?", "No") == "Go on in the document: Error 40?"
    assert is_clean(lint(workflow))


def test_the_remedy_of_a_scenario_is_not_cut_in_silence() -> None:
    steps = "".join(f"{n}. Restart service {n}.\n" for n in range(1, 9))
    known = "".join(
        f"## Queue {name} is full\n\n### Symptom\n\nOrders wait.\n\n### Fix\n\n{steps}\n"
        for name in ("one", "two")
    )
    workflow = planned(f"# Queues\n\n{known}")
    ways = [step.text for step in workflow.steps if step.text.startswith("Go on in the document")]
    assert ways == ["Go on in the document: Restart service 6"] * 2


def test_a_jump_to_what_stands_beyond_the_last_step_does_no_harm() -> None:
    told = {2: "If the lamp is red, go to step 60.", 10: "Replace the card and go back to step 2."}
    steps = "".join(f"{n}. {told.get(n, f'Look at slot {n}.')}\n" for n in range(1, 71))
    workflow = planned(f"# Card fails\n\n{steps}")
    assert is_clean(lint(workflow))


def test_a_paragraph_of_nothing_but_jumps_does_no_harm() -> None:
    page = "# Card fails\n\nLook at it. " + "Go to step 3. " * 1100 + "\n\n```sh\nshow card\n```\n"
    workflow = planned(page)
    (step,) = [each for each in workflow.steps if each.text == "Look at it"]
    assert step.commands == ("show card",)


def test_no_packet_is_no_answer() -> None:
    page = """\
# Neighbour is gone

1. Check whether the neighbour answers.
   - If no packet comes back, look at the address table.
   - If all packets pass, go on.
2. If the link is up, go on.
3. Restart the session.
"""
    workflow = planned(page)
    assert after(workflow, "No packet comes back?", "Yes") == "Look at the address table"
    assert after(workflow, "No packet comes back?", "No") == "Restart the session"


def test_a_jump_to_a_question_that_decides_nothing_is_said_in_words() -> None:
    target = Span(document_id="page.md", start_line=4, end_line=4)
    idle = Ask("Fan spins?", cites=(target,))
    asked = Ask("Lamp is red?", yes=(GoTo(4, "Go to step 4", target=target),))
    workflow = drafted(asked, Do("Look"), idle, Do("Replace the fan"), End("Done"))
    assert after(workflow, "Lamp is red?", "Yes") == "Go to step 4"
    assert is_clean(lint(workflow))
