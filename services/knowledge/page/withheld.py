"""Lines of a page that screening left out."""


def withheld_lines(stored: str, usable: str) -> tuple[int, ...]:
    """Return the lines that stand in the stored text and not, or otherwise, in the usable one.

    Both texts have the same lines; where they do not, all lines from the first that differs in
    number are returned.
    """
    if not stored or stored == usable:
        return ()
    before, after = stored.split("\n"), usable.split("\n")
    after += [""] * (len(before) - len(after))
    return tuple(
        number
        for number, (line, left) in enumerate(zip(before, after, strict=False), start=1)
        if line.strip() and line != left
    )
