"""Lines of a page that screening left out of what is used."""


def withheld_lines(stored: str, usable: str) -> tuple[int, ...]:
    r"""Return the lines that hold something as stored and are blank or different in what is used.

    Lines are 1-based and those between `\n`.

    Raises:
        ValueError: The two texts have different numbers of lines.
    """
    pairs = zip(stored.split("\n"), usable.split("\n"), strict=True)
    return tuple(
        number
        for number, (line, left) in enumerate(pairs, start=1)
        if line.strip() and line.rstrip() != left.rstrip()
    )
