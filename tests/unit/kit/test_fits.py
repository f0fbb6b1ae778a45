"""The numbers that serve: the folder's, else what was learned, else what is shipped."""

import pytest

from services.kit.fits import in_use as module
from services.kit.fits.fitted import FOLDER
from services.kit.fits.in_use import FitInUse, Fits
from services.kit.sql.database import Database
from services.kit.tables import AuditRow, FitRow
from services.scorer.chance import Chance

SHIPPED = Chance.shipped()
LEARNED = SHIPPED.model_copy(update={"bias": 1.0})


@pytest.fixture
def database(monkeypatch):
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0.0)
    database = Database.memory()
    database.migrate("kit")
    yield database
    database.close()


@pytest.fixture
def fits(database):
    return Fits(database)


def serve(fits, numbers=LEARNED):
    fits.put(Chance.NAME, numbers, {"learned": 7, "tickets": ["T-1"]})


def test_what_was_learned_serves_without_a_restart_and_goes_back(database, fits):
    in_use = FitInUse(SHIPPED, database)
    assert in_use.now == SHIPPED
    serve(fits)
    assert in_use.now == LEARNED
    fits.rollback(Chance.NAME)
    assert in_use.now == SHIPPED


def test_going_back_finds_what_served_before(database, fits):
    serve(fits)
    fits.start_shadow(Chance.NAME, SHIPPED.model_copy(update={"bias": 2.0}), {"learned": 9})
    fits.promote(Chance.NAME)
    in_use = FitInUse(SHIPPED, database)
    assert in_use.now.bias == 2.0
    fits.rollback(Chance.NAME)
    assert in_use.now == LEARNED


def test_numbers_that_somebody_put_into_the_folder_stand_before_what_was_learned(
    database, fits, tmp_path
):
    own = tmp_path / FOLDER / Chance.SHIPPED.name
    own.parent.mkdir()
    own.write_text(SHIPPED.model_copy(update={"bias": -3.0}).model_dump_json(), encoding="utf-8")
    serve(fits)
    assert FitInUse(Chance.of_folder(tmp_path), database).now.bias == -3.0


def test_a_fit_of_another_version_is_passed_over(database, fits):
    serve(fits)
    with database.session() as session:
        session.query(FitRow).update({"body": '{"weights": {"charm": 1}}'})
    assert FitInUse(SHIPPED, database).now == SHIPPED


def test_without_a_database_what_is_shipped_serves():
    assert FitInUse(SHIPPED, None).now is SHIPPED


def test_each_change_is_in_the_audit_log_without_the_tickets(database, fits):
    serve(fits)
    fits.rollback(Chance.NAME)
    with database.session() as session:
        lines = [(line.action, line.subject, line.after) for line in session.query(AuditRow)]
    assert lines == [
        ("fit.remade", "acceptance", {"learned": 7}),
        ("fit.taken_back", "acceptance", None),
    ]
