from collections import Counter

from evaluation.benches.sampling import first_form_only, stratified
from tests.unit.evaluation.walks import pair


def pairs(**sizes):
    return [
        pair("fan.md", id=f"{group}{n}", group=group)
        for group, size in sizes.items()
        for n in range(size)
    ]


def shares(chosen):
    return Counter(one.group for one in chosen)


def test_every_set_gets_the_same_share_and_what_a_set_lacks_goes_to_the_others():
    assert shares(stratified(pairs(a=100, b=20, c=6), 30, 0)) == {"a": 12, "b": 12, "c": 6}


def test_the_size_is_kept_to_the_pair():
    assert len(stratified(pairs(a=100, b=20, c=6), 31, 0)) == 31


def test_a_set_too_small_to_count_gets_no_share():
    assert shares(stratified(pairs(a=10, b=2), 8, 0)) == {"a": 8}


def test_where_all_sets_are_small_all_get_a_share():
    assert shares(stratified(pairs(a=3, b=2), 4, 0)) == {"a": 2, "b": 2}


def test_a_larger_sample_holds_the_smaller_one():
    of = pairs(a=100, b=20)
    small = {one.id for one in stratified(of, 10, 7)}
    assert small < {one.id for one in stratified(of, 24, 7)}


def test_another_seed_draws_others_and_the_order_of_the_file_stays():
    of = pairs(a=100)
    first, second = stratified(of, 10, 1), stratified(of, 10, 2)
    assert first != second
    assert first == sorted(first, key=of.index)


def test_nothing_is_drawn_where_all_are_wanted():
    of = pairs(a=3)
    assert stratified(of, 0, 1) == stratified(of, 3, 1) == of


def test_one_form_is_the_first_that_does_not_hold_the_title():
    one = pair("fan.md", forms={"titled": "Fan", "symptom_prose": "loud", "error_only": "E4"})
    assert first_form_only(one).forms == {"symptom_prose": "loud"}


def test_the_titled_form_is_asked_where_there_is_no_other():
    one = pair("fan.md", forms={"titled": "Fan"})
    assert first_form_only(one).headline_forms == ("titled",)
