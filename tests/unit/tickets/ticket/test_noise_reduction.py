"""Noise reduction without a model."""

from services.tickets.ticket.noise_reduction import reduce_noise


def test_courtesy_quotes_and_what_changes_each_time_are_left_out():
    discussion = (
        "Hello all,\n"
        "> On Monday somebody wrote this\n"
        "2026-03-01T10:00:00Z 10.1.2.3 the turbine controller lost its lease.\n"
        "See https://wiki.example/x for more.\n"
        "Thanks!\n"
    )
    text = reduce_noise("Turbine stopped", discussion)
    assert text.startswith("Turbine stopped\n")
    assert "the turbine controller lost its lease." in text
    for noise in ("Hello", "Monday", "2026", "10.1.2.3", "https", "Thanks"):
        assert noise not in text


def test_a_long_discussion_keeps_what_it_keeps_coming_back_to():
    filler = " ".join(
        f"Somebody named person{n} wondered about topic{n} for a while." for n in range(60)
    )
    text = reduce_noise(
        "Pump alarm", f"{filler} The valve sensor reports E-4711. The valve sensor is stuck."
    )
    assert "valve sensor" in text
    assert len(text.split()) <= 120


def test_a_text_of_noise_alone_stays():
    assert reduce_noise("", "10.0.0.1") == "10.0.0.1"


def test_without_a_title_the_first_sentence_leads():
    assert reduce_noise("", "The pump stopped. It is cold.") == "The pump stopped.\nIt is cold."


def test_a_title_without_end_is_cut():
    assert len(reduce_noise("word " * 5000).split()) == 120
