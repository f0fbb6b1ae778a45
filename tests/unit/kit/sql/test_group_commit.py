"""What several threads ask for at the same moment."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from services.kit.sql.group_commit import GroupCommit
from tests.waiting import eventually


def test_what_comes_while_a_batch_is_worked_on_is_the_next_batch():
    batches = []

    def double(items):
        batches.append(len(items))
        eventually(lambda: sum(batches) + len(group._waiting) == 16)
        return [2 * item for item in items]

    group = GroupCommit(double)
    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(group.submit, range(16))) == [2 * n for n in range(16)]
    assert len(batches) <= 2
    assert sum(batches) == 16


def test_a_batch_is_no_larger_than_it_may_be():
    batches = []

    def same(items):
        batches.append(len(items))
        eventually(lambda: sum(batches) + len(group._waiting) == 8)
        return items

    group = GroupCommit(same, most=3)
    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(group.submit, n) for n in range(8)]
        assert [each.result() for each in futures] == list(range(8))
    assert max(batches) == 3


def test_what_breaks_is_told_to_each_that_asked_and_to_nobody_later():
    def break_on_seven(items):
        return [1 // (item - 7) for item in items]

    group = GroupCommit(break_on_seven)
    with pytest.raises(ZeroDivisionError):
        group.submit(7)
    assert group.submit(8) == 1
