"""The left margin of what is nested: a marker before its first line, room before the others."""


class Margin:
    """What stands before the lines of a block, those of the blocks around it included."""

    def __init__(self, first: str = "", rest: str = "") -> None:
        """`first` stands before the first line, `rest` before each line after it."""
        self._first = first
        self.rest = rest
        self.is_fresh = True
        """Whether no line has been written yet."""

    def take(self) -> str:
        """Return what stands before the next line."""
        taken = self._first if self.is_fresh else self.rest
        self.is_fresh = False
        return taken

    def gap(self) -> list[str]:
        """Return the empty line below the lines above; none where there are none."""
        return [] if self.is_fresh else [self.rest.rstrip()]

    def again(self) -> "Margin":
        """Return the same margin for what stands directly below its last line."""
        return Margin(self.rest, self.rest)

    def nested(self, marker: str, room: str | None = None) -> "Margin":
        """Return the margin of what is nested behind a marker, which begins on the next line."""
        hang = " " * len(marker) if room is None else room
        return Margin(self.take() + marker, self.rest + hang)
