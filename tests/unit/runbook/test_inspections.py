"""What most others check and one does not: told with its sources, or not at all."""

import pytest

from services.knowledge.embedding.embedders import HashingEmbedder
from services.runbook.inspections import Check, Peer, checks_of, missing_checks, reason_for_none
from services.workflow.model import Step, StepKind, Transition, Workflow

EMBED = HashingEmbedder().embed


def peer(name, *texts):
    return Peer(name, name, tuple(Check(text=text) for text in texts))


POWER = "Is the power supply of the switch good?"
OTHERS = ("Look at the optic of the port", "Is the disk full?", "Read the log of syncd")
PEERS = [peer(f"{n}.md", POWER, other) for n, other in enumerate(OTHERS)]


def test_questions_and_looks_are_checks_and_changes_are_none():
    workflow = Workflow(
        title="Fan",
        steps=(
            Step(id="1", kind=StepKind.PROCESS, text="Check the `fan` speed using show fan"),
            Step(id="2", kind=StepKind.DECISION, text="Is the fan tray seated?"),
            Step(id="3", kind=StepKind.PROCESS, text="Replace the tray"),
            Step(id="4", kind=StepKind.TERMINAL, text="Check no more"),
        ),
        transitions=(Transition(source="1", target="2"),),
    )
    assert [each.text for each in checks_of(workflow)] == [
        "Check the fan speed using show fan",
        "Is the fan tray seated?",
    ]
    assert "show" not in checks_of(workflow)[0].subject


def test_a_check_that_most_have_is_told_with_all_its_sources():
    (missing,) = missing_checks([Check(text="Are the fans running?")], PEERS, EMBED)
    assert (missing.text, missing.have, missing.of, missing.share) == (POWER, 3, 3, 1.0)
    assert [source.id for source, _ in missing.sources] == ["0.md", "1.md", "2.md"]


def test_what_the_page_has_itself_in_other_words_is_not_reported():
    own = [Check(text="Check whether the switch's power supply is good")]
    assert missing_checks(own, PEERS, EMBED) == ()


def test_what_is_looked_at_by_the_same_command_is_one_check():
    texts = ("Look for trouble with the nodes", "Is any machine in a bad state?", "See what lags")
    peers = [
        Peer(f"{n}.md", "", (Check(text=text, commands=(f"kubectl get nodes {option}",)),))
        for n, (text, option) in enumerate(zip(texts, ("--show-labels", "", "<name>"), strict=True))
    ]
    (missing,) = missing_checks([], peers, EMBED)
    assert (missing.have, missing.of) == (3, 3)
    own = Check(text="Something else entirely", commands=("kubectl get nodes",))
    assert missing_checks([own], peers, EMBED) == ()


def test_with_few_peers_nothing_is_told_and_why():
    assert missing_checks([], PEERS[:2], EMBED) == ()
    assert reason_for_none(PEERS[:2], ()) == "only 2 others of this kind: too few to compare with"
    assert reason_for_none([], ()) == "no other of this kind: too few to compare with"


def test_what_half_of_them_have_is_not_reported():
    peers = [*PEERS, *(peer(f"o{n}.md", f"Look at thing number {n} of it") for n in range(3))]
    assert missing_checks([], peers, EMBED) == ()
    assert "most of 6 others" in reason_for_none(peers, ())


@pytest.mark.parametrize("copies", [1, 9])
def test_a_page_that_repeats_a_check_counts_once(copies):
    peers = [peer("a.md", *[POWER] * copies), *PEERS[:1], peer("b.md", "Is the disk full?")]
    assert missing_checks([], peers, EMBED) == ()


def test_five_at_most_are_reported():
    texts = (*OTHERS, POWER, "Is a cable bent?", "Are timers in step?", "Ask what was changed")
    peers = [peer(f"{n}.md", *texts) for n in range(3)]
    assert len(missing_checks([], peers, EMBED)) == 5
