from services.runbook.choose import procedure_for, ranked_procedures
from tests.unit.runbook.programs import ask, do, procedure


def reading(*titles):
    procedures = [procedure(do("Look")).model_copy(update={"title": title}) for title in titles]
    return tuple(procedures)


def test_the_procedure_that_names_the_fault_of_the_ticket_is_chosen():
    page = reading("Receive power is low", "Module is too hot")
    assert procedure_for(page, "QSFP in port 3 too hot: 78 C").title == "Module is too hot"


def test_among_equals_the_order_of_the_page_stands():
    assert ranked_procedures(reading("A fault", "A fault"), "nothing of it")[0][0] == 0


def test_what_is_asked_first_tells_too():
    page = (
        procedure(ask("Is the fan red?", do("Replace"))),
        procedure(ask("Is the battery low?", do("Replace"))),
    )
    assert ranked_procedures(page, "battery low on shelf 2")[0][0] == 1


def test_a_page_that_tells_nothing_has_none():
    assert procedure_for((), "anything") is None
