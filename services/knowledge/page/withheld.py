"""Lines of a page that screening left out of what is used."""

from services.knowledge.screening.screening import lines_of_code
from services.knowledge.screening.unseen import without_ordinary


def withheld_lines(stored: str, usable: str) -> tuple[int, ...]:
    r"""Return the lines that hold something as stored and are blank or different in what is used.

    Lines are 1-based and those between `\n`. What is used has no invisible characters: a line that
    differs only by those of ordinary writing is not withheld.

    Raises:
        ValueError: The two texts have different numbers of lines.
    """
    pairs = zip(stored.split("\n"), usable.split("\n"), strict=True)
    different = [
        (number, line.rstrip(), left.rstrip())
        for number, (line, left) in enumerate(pairs, start=1)
        if line.strip() and line.rstrip() != left.rstrip()
    ]
    code = lines_of_code(stored) if different else frozenset()
    return tuple(
        number
        for number, line, left in different
        if without_ordinary(line, is_code=number - 1 in code).rstrip() != left
    )
