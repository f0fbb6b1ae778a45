"""Every adapter of `ReadingStore` passes this suite."""

import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from services.kit.tables import AuditRow
from services.runbook.checking.doubts import settle_doubt
from services.runbook.model import Do, Doubt, DoubtKind, Procedure, Reader, Reading, as_json
from services.runbook.ports import (
    UNREAD,
    ApprovalKind,
    Happening,
    NothingToUndoError,
    ReadingChangedError,
    ReadingNotFoundError,
    ReadingState,
    TextFilter,
    TicketDoubt,
)
from services.runbook.store.sql_readings import SqlReadingStore
from services.runbook.tables import HistoryRow
from tests.contract.databases import database_of

TEXT, OTHER = "a" * 64, "b" * 64


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request):
    with database_of(request.param) as database:
        yield SqlReadingStore(database)


def procedure(title, line=1, step="Seat the fan"):
    at = ((line, line + 3),)
    body = (Do(id="n1", text=step, lines=((line + 1, line + 1),)),)
    return Procedure(title=title, lines=at, body=body)


def reading(reader, *procedures, version="1", doubts=()):
    return Reading(reader=reader, version=version, procedures=procedures, doubts=doubts)


def titles(store, text_hash=TEXT):
    return [each.title for each in store.served(text_hash).reading.procedures]


def states(store, text_hash=TEXT):
    served = store.served(text_hash)
    return [served.state(place) for place in range(len(served.reading.procedures))]


def test_an_unknown_text_is_served_nothing(store):
    assert store.served(TEXT) is None
    assert store.served_many([TEXT, OTHER]) == {}
    assert (store.history(TEXT), store.offers(TEXT), store.approved(TEXT)) == ([], [], [])
    with pytest.raises(ReadingNotFoundError):
        store.approve(TEXT, [procedure("Fan")], who="ann")
    with pytest.raises(ReadingNotFoundError):
        store.undo(TEXT, who="ann")


def test_a_reading_comes_back_as_it_was_put(store):
    original = reading(Reader.COMPOSED, procedure("„Lüfter“ 🛠"), procedure("Disk", 9))
    store.put(TEXT, original)
    store.put(OTHER, reading(Reader.COMPOSED))
    assert store.served(TEXT).reading == original
    assert set(store.served_many([TEXT, OTHER, "c" * 64])) == {TEXT, OTHER}
    assert states(store) == [ReadingState.READ, ReadingState.READ]


@pytest.mark.parametrize("order", [1, -1])
def test_the_better_reader_is_served_whenever_it_read(store, order):
    for reader in [Reader.COMPOSED, Reader.IMPORTED, Reader.MODEL][::order]:
        store.put(TEXT, reading(reader, procedure(reader.value)))
    assert titles(store) == ["model"]
    store.replace(
        TEXT, reading(Reader.PERSON, procedure("ann's")), who="ann", what=Happening.REPLACED
    )
    store.put(TEXT, reading(Reader.MODEL, procedure("newer"), version="2"))
    assert titles(store) == ["ann's"]


def test_a_newer_reading_never_displaces_an_approved_one_and_is_offered(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), procedure("Disk", 9)))
    fan = store.served(TEXT).reading.procedures[0]
    store.approve(TEXT, [fan], who="ann")
    newer = procedure("Fan", step="Replace the fan")
    store.put(TEXT, reading(Reader.MODEL, newer, procedure("Disk II", 9)))
    assert titles(store) == ["Fan", "Disk II"]
    assert states(store) == [ReadingState.APPROVED, ReadingState.READ]
    assert store.served(TEXT).reading.procedures[0] == fan
    assert store.served(TEXT).approvals[0].by == "ann"
    (offer,) = store.offers(TEXT)
    assert (offer.procedure, offer.reader, offer.offered) == (0, Reader.MODEL, newer)
    store.approve(TEXT, [offer.offered], who="bob")
    assert store.served(TEXT).reading.procedures[0] == newer
    assert store.offers(TEXT) == []


def test_what_no_approved_procedure_covers_stays(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), procedure("Disk", 9)))
    store.approve(TEXT, [store.served(TEXT).reading.procedures[1]], who="ann")
    store.put(TEXT, reading(Reader.MODEL, procedure("Fan II"), procedure("Power", 20)))
    assert titles(store) == ["Fan II", "Disk", "Power"]


def test_doubts_follow_their_procedure_and_end_with_its_approval(store):
    doubts = tuple(
        Doubt(id=f"d{place}", kind=DoubtKind.STEP, node="n1", procedure=place, question="A step?")
        for place in (0, 1)
    )
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), procedure("Disk", 9), doubts=doubts))
    assert store.summaries([TEXT])[TEXT].doubts == 2
    store.approve(TEXT, [store.served(TEXT).reading.procedures[0]], who="ann")
    (left,) = store.served(TEXT).reading.doubts
    assert (left.id, left.procedure) == ("d1", 1)


def test_a_person_who_changes_an_approved_procedure_withdraws_its_approval(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), procedure("Disk", 9)))
    store.approve(TEXT, store.served(TEXT).reading.procedures, who="ann")
    changed = reading(Reader.PERSON, procedure("Fan"), procedure("Disk", 9, "Swap it"))
    store.replace(TEXT, changed, who="bob", what=Happening.REPLACED)
    assert states(store) == [ReadingState.APPROVED, ReadingState.READ]
    assert store.served(TEXT).reading.procedures == changed.procedures


def test_what_people_did_is_undone_step_by_step(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan")))
    first = store.served(TEXT)
    store.replace(
        TEXT, reading(Reader.PERSON, procedure("Mine")), who="ann", what=Happening.REPLACED
    )
    store.approve(TEXT, store.served(TEXT).reading.procedures, who="ann")
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), version="2"))
    assert store.undo(TEXT, who="bob").what is Happening.APPROVED
    assert (titles(store), states(store)) == (["Mine"], [ReadingState.READ])
    assert store.undo(TEXT, who="bob").what is Happening.REPLACED
    assert store.served(TEXT).reading.procedures == first.reading.procedures
    with pytest.raises(NothingToUndoError):
        store.undo(TEXT, who="bob")
    events = [(event.what, event.who, event.is_undone) for event in store.history(TEXT)]
    assert events == [
        (Happening.UNDONE, "bob", False),
        (Happening.UNDONE, "bob", False),
        (Happening.READ, "composed 2", False),
        (Happening.APPROVED, "ann", True),
        (Happening.REPLACED, "ann", True),
        (Happening.READ, "composed 1", False),
    ]


def test_what_an_approval_is_for_is_kept_undone_carried_over_and_audited(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), procedure("Disk", 9)))
    fan, disk = store.served(TEXT).reading.procedures

    def kinds(text_hash=TEXT):
        served = store.served(text_hash)
        return [served.kind(place) for place in range(len(served.reading.procedures))]

    store.approve(TEXT, [fan, disk], who="ann", kind=ApprovalKind.CHECKLIST)
    store.approve(TEXT, [disk], who="ann", kind=ApprovalKind.WORKFLOW)
    assert kinds() == [ApprovalKind.CHECKLIST, ApprovalKind.WORKFLOW]
    summary = store.summaries([TEXT])[TEXT]
    assert (summary.approved, summary.checklists) == (2, 1)
    assert [event.detail for event in store.history(TEXT)][:2] == [
        "Disk",
        "Fan, Disk, as a checklist",
    ]
    store.carry_over(OTHER, store.approved(TEXT), lost=[])
    assert kinds(OTHER) == kinds()
    store.undo(TEXT, who="bob")
    assert kinds() == [ApprovalKind.CHECKLIST, ApprovalKind.CHECKLIST]
    with store._database.session() as session:
        lines = select(AuditRow.after).where(AuditRow.subject == f"text {TEXT}")
        audited = [after["checklists"] for after in session.scalars(lines.order_by(AuditRow.id))]
    assert audited[-3:] == [2, 1, 2]  # of others too, on a database that they share


def test_an_import_that_is_undone_leaves_nothing_but_its_history(store):
    store.put(TEXT, reading(Reader.IMPORTED, procedure("Fan")), who="ann")
    store.undo(TEXT, who="ann")
    assert store.served(TEXT) is None
    assert (store.summaries([TEXT])[TEXT].reader, store.list_texts(TextFilter())) == (None, [])
    assert [event.what for event in store.history(TEXT)] == [Happening.UNDONE, Happening.IMPORTED]
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan")))
    assert titles(store) == ["Fan"]


def test_putting_the_same_again_changes_nothing(store):
    for _ in range(2):
        store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan")))
    assert len(store.history(TEXT)) == 1
    assert store.made_by(Reader.COMPOSED, "1") == {TEXT}
    assert store.made_by(Reader.COMPOSED, "2") == set()
    assert store.made_by(Reader.MODEL, "1", "llama") == set()


def test_what_an_earlier_text_hands_on_is_noted_once(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), procedure("Disk", 9)))
    store.approve(TEXT, store.served(TEXT).reading.procedures, who="ann")
    fan, disk = store.approved(TEXT)
    assert store.carry_over(OTHER, [fan], lost=[disk.procedure.title])
    assert not store.carry_over(OTHER, [fan], lost=[disk.procedure.title])
    store.put(OTHER, reading(Reader.COMPOSED, procedure("Fan II"), procedure("Disk II", 9)))
    assert titles(store, OTHER) == ["Fan", "Disk II"]
    served = store.served(OTHER)
    assert (served.was_approved, served.approvals) == (True, (fan.approval, None))
    assert {event.what for event in store.history(OTHER)} == {
        Happening.CARRIED_OVER,
        Happening.FELL_BACK,
        Happening.READ,
    }
    store.approve(OTHER, [served.reading.procedures[1]], who="ann")
    assert not store.served(OTHER).was_approved


def test_texts_are_listed_by_state_reader_and_doubts(store):
    doubt = Doubt(id="d", kind=DoubtKind.STEP, node="n1", question="A step?")
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), procedure("Disk", 9)))
    store.put(OTHER, reading(Reader.MODEL, procedure("Fan"), doubts=(doubt,)))
    store.put("c" * 64, reading(Reader.COMPOSED))
    store.approve(TEXT, [procedure("Fan")], who="ann")

    def listed(**wanted):
        return [each.text_hash[0] for each in store.list_texts(TextFilter(**wanted))]

    assert listed() == ["a", "b", "c"]
    assert listed(state=ReadingState.APPROVED) == ["a"]
    assert listed(state=ReadingState.READ) == ["a", "b", "c"]
    assert listed(reader=Reader.MODEL) == ["b"]
    assert (listed(doubts=True), listed(doubts=False)) == (["b"], ["a", "c"])
    assert (store.summaries([TEXT])[TEXT].approved, store.summaries([TEXT])[TEXT].procedures) == (
        1,
        2,
    )


def test_what_rules_read_is_part_of_nothing_and_what_was_approved_of_it_stays(store):
    store.put(TEXT, reading(Reader.RULES, procedure("Fan"), procedure("Disk", 9)))
    assert store.served(TEXT) is None
    assert store.list_texts(TextFilter()) == []
    store.approve(TEXT, [procedure("Fan")], who="ann")
    served = store.served(TEXT)
    assert [each.title for each in served.reading.procedures] == ["Fan"]
    assert (served.state(0), served.reading.reader) == (ReadingState.APPROVED, Reader.PERSON)
    store.put(TEXT, reading(Reader.RULES, procedure("Fan", 2), version="next"))
    assert store.offers(TEXT) == []


def test_dropping_keeps_what_cannot_be_made_again(store):
    for text_hash in (TEXT, OTHER, "c" * 64):
        store.put(text_hash, reading(Reader.RULES, procedure("Fan")))
    store.approve(TEXT, [procedure("Fan")], who="ann")
    store.put(OTHER, reading(Reader.MODEL, procedure("Fan")))
    store.drop([TEXT, OTHER, "c" * 64, "d" * 64])
    assert set(store.served_many([TEXT, OTHER, "c" * 64])) == {TEXT, OTHER}


def test_a_reading_that_an_earlier_release_set_aside_outlives_dropping_and_comes_back(store):
    own = reading(Reader.PERSON, procedure("Fan"), version="")
    store.put(TEXT, reading(Reader.RULES))
    before = {"person": as_json(own), "imported": None, "approved": [], "was_approved": False}
    aside = {"what": Happening.SET_ASIDE.value, "detail": "", "before": before, "undone": False}
    with store._database.session() as session:
        session.add(HistoryRow(text_hash=TEXT, at=datetime.now(UTC), who="upgrade", **aside))
    store.drop([TEXT])
    assert store.served(TEXT) is None
    store.undo(TEXT, who="ann")
    assert store.served(TEXT).reading == own


def test_deleting_takes_everything_and_counts_what_was_approved(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan"), procedure("Disk", 9)))
    store.put(OTHER, reading(Reader.COMPOSED, procedure("Fan")))
    store.approve(TEXT, store.served(TEXT).reading.procedures, who="ann")
    assert store.delete([TEXT, OTHER, "d" * 64]) == 2
    assert store.delete([TEXT]) == 0
    assert (store.served_many([TEXT, OTHER]), store.history(TEXT)) == ({}, [])


def test_two_who_approve_at_once_lose_nothing(store):
    procedures = [procedure(f"P{number}", 10 * number + 1) for number in range(8)]
    store.put(TEXT, reading(Reader.COMPOSED, *procedures))
    threads = [
        threading.Thread(target=store.approve, args=(TEXT, [each]), kwargs={"who": each.title})
        for each in procedures
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states(store) == [ReadingState.APPROVED] * 8
    assert [each.by for each in store.served(TEXT).approvals] == [p.title for p in procedures]


@pytest.mark.parametrize("is_read", [True, False])
def test_of_changes_made_at_once_from_one_revision_one_is_stored(store, is_read):
    if is_read:
        store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan")))
    seen = (store.served(TEXT) or UNREAD).revision
    refused = []

    def change(number):
        own = reading(Reader.PERSON, procedure(f"P{number}"))
        try:
            if is_read and number % 2:
                store.approve(TEXT, own.procedures, who="ann", revision=seen)
            else:
                replaced = Happening.REPLACED
                store.replace(TEXT, own, who="ann", what=replaced, revision=seen)
        except ReadingChangedError:
            refused.append(number)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (stored,) = set(range(8)) - set(refused)
    assert titles(store) == [f"P{stored}"]
    assert len([event for event in store.history(TEXT) if event.is_undoable]) == 1


def test_a_change_by_somebody_else_is_not_undone_in_place_of_ones_own(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan")))
    own = reading(Reader.PERSON, procedure("Ann's"))
    store.replace(TEXT, own, who="ann", what=Happening.REPLACED)
    anns = store.history(TEXT)[0].id
    store.approve(TEXT, own.procedures, who="bob")
    with pytest.raises(ReadingChangedError, match="by bob"):
        store.undo(TEXT, who="ann", event=anns)
    assert states(store) == [ReadingState.APPROVED]
    store.undo(TEXT, who="bob", event=store.history(TEXT)[0].id)
    assert store.undo(TEXT, who="ann", event=anns).id == anns


def ticket_doubt(ticket="t-1", **changed):
    fields = {"step": "s1", "node": "n1", "text": "Seat the fan", "word": "it is riveted"}
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return TicketDoubt(ticket=ticket, by="jane", at=at, **{**fields, **changed})


def open_doubts(store):
    return store.served(TEXT).reading.doubts


def test_what_a_ticket_finds_wrong_is_a_doubt_of_the_reading_until_a_person_answers(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan")))
    for _ in range(2):
        store.doubt(TEXT, ticket_doubt())
    (doubt,) = open_doubts(store)
    assert (doubt.ticket, doubt.node, doubt.lines) == ("t-1", "n1", ((2, 2),))
    assert "riveted" in doubt.question
    assert store.summaries([TEXT])[TEXT].doubts == 1
    doubted = [each for each in store.history(TEXT) if each.what is Happening.DOUBTED]
    assert len(doubted) == 1
    assert "riveted" not in doubted[0].detail  # which goes with its ticket

    left = settle_doubt(store.served(TEXT).reading, doubt.id, 0)
    store.replace(TEXT, left, who="ann", what=Happening.ANSWERED)
    assert open_doubts(store) == ()
    store.doubt(TEXT, ticket_doubt())
    assert open_doubts(store) == ()
    store.undo(TEXT, who="ann")
    assert [each.id for each in open_doubts(store)] == [doubt.id]
    store.doubt(TEXT, ticket_doubt(word="and glued"))
    assert "glued" in open_doubts(store)[0].question


def test_approving_a_procedure_settles_what_tickets_found_wrong_of_it(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan")))
    store.approve(TEXT, [procedure("Fan")], who="ann")
    store.doubt(TEXT, ticket_doubt())
    assert len(open_doubts(store)) == 1
    store.approve(TEXT, [procedure("Fan")], who="ann")
    assert open_doubts(store) == ()


def test_a_step_that_was_found_wrong_can_be_taken_out(store):
    body = (Do(id="n1", text="Seat it", lines=((2, 2),)), Do(id="n2", text="Look", lines=((3, 3),)))
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan").model_copy(update={"body": body})))
    store.doubt(TEXT, ticket_doubt())
    left = settle_doubt(store.served(TEXT).reading, open_doubts(store)[0].id, 1)
    store.replace(TEXT, left, who="ann", what=Happening.ANSWERED)
    assert [node.text for node in store.served(TEXT).reading.procedures[0].body] == ["Look"]


def test_a_ticket_that_is_gone_takes_its_doubts_along_and_so_does_a_text(store):
    store.put(TEXT, reading(Reader.COMPOSED, procedure("Fan")))
    store.doubt(TEXT, ticket_doubt())
    store.doubt(TEXT, ticket_doubt("t-2", node="gone"))
    assert [each.node for each in open_doubts(store)] == ["n1", ""]
    store.withdraw(["t-1"])
    assert [each.ticket for each in open_doubts(store)] == ["t-2"]
    assert store.summaries([TEXT])[TEXT].doubts == 1
    store.delete([TEXT])
    store.withdraw(["t-2"])
    assert store.served(TEXT) is None
    with pytest.raises(ReadingNotFoundError):
        store.doubt(TEXT, ticket_doubt())


def test_an_answer_is_kept_handed_on_and_taken_back_with_the_doubt_that_it_settled(store):
    doubt = Doubt(id="d1", kind=DoubtKind.MISSING, node="n1", question="A step?")
    store.put(TEXT, reading(Reader.MODEL, procedure("Fan"), doubts=(doubt,)))
    store.answer_question(TEXT, "q1", "block", who="ann", detail="A step?", doubt="d1")
    assert store.answered_questions(TEXT) == {"q1": "block"}
    assert store.served(TEXT).reading.doubts == ()
    assert store.unedited(TEXT).doubts == (doubt,)
    store.carry_answers(OTHER, store.answered_questions(TEXT))
    assert store.answered_questions(OTHER) == {"q1": "block"}
    assert store.served(OTHER) is None
    assert store.undo(TEXT, who="bob").what is Happening.ANSWERED
    assert store.answered_questions(TEXT) == {}
    assert store.served(TEXT).reading.doubts == (doubt,)
    store.delete([OTHER])
    assert store.answered_questions(OTHER) == {}
