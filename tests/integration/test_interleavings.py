"""Two people at one ticket at random: nothing they wrote is lost, or stands under another step."""

from pathlib import Path

from tests.harm.interleavings import measure


def test_nothing_that_two_people_wrote_is_lost_or_misplaced(tmp_path: Path) -> None:
    figures = measure(tmp_path, times=15, seed=1, actions=24)
    assert figures["words"] > 100
    assert figures["ticks"] > 30
    assert figures["interleavings that lost"] == 0, figures
