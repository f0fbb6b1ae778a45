import threading
import time

from services.kit.errors import UnavailableError
from services.kit.http.health import (
    AWAY,
    DEGRADED,
    OK,
    SLOW,
    DegradedError,
    Health,
    Probe,
    run_probes,
)


def fine():
    """Answers."""


def away():
    raise UnavailableError("away")


def half():
    raise DegradedError("goes on without its graph")


def broken():
    raise KeyError("a defect")


def test_what_hangs_is_told_and_hangs_alone():
    go_on = threading.Event()
    probes = {"hung": Probe("hung", go_on.wait), "fine": Probe("fine", fine, holds_s=60)}
    probes["fine"].begin().result()
    assert run_probes(probes, within_s=0.1) == {"hung": SLOW, "fine": OK}
    go_on.set()


def test_a_check_that_hangs_is_not_begun_again():
    go_on, begun = threading.Event(), []

    def hang():
        begun.append(1)
        go_on.wait()

    probes = {"hung": Probe("hung", hang, holds_s=0)}
    for _ in range(3):
        run_probes(probes, within_s=0.01)
    go_on.set()
    assert begun == [1]


def test_it_is_asked_again_when_its_answer_is_old():
    answers = iter([True, False])
    probe = Probe("store", lambda: away() if next(answers) else None, holds_s=0)
    assert probe.begin().result() == AWAY
    assert probe.begin().result() == OK


def test_an_answer_holds_for_as_long_as_it_is_worth():
    calls = []
    probe = Probe("tickets", lambda: (calls.append(1), time.sleep(0.01)), holds_s=0, costs=1000)
    for _ in range(3):
        probe.begin().result()
    assert calls == [1]


def test_what_is_needed_decides_and_what_is_not_is_reported():
    states = Health({"database": fine}, {"model": away}).states()
    assert states == {"model": AWAY, "database": OK}
    assert Health({"database": fine}, {"model": away}).status(states) == DEGRADED
    assert Health({"database": away}, {"model": fine}).status({"database": AWAY}) == AWAY


def test_what_is_degraded_itself_is_not_away():
    health = Health({"retrieval": half})
    assert health.status(health.states()) == DEGRADED


def test_a_defect_in_a_check_counts_as_away():
    assert Health({"store": broken}).states() == {"store": AWAY}
