from hypothesis import given
from hypothesis import strategies as st

from services.ingestion.structure.split import split
from services.knowledge.model import Chunk, Document


def count_words(text: str) -> int:
    return len(text.split())


def chunks_of(text: str, limit: int, title: str = "Link flaps") -> list[Chunk]:
    document = Document(id="net/flaps.md", title=title, text=text, content_hash="0")
    return split(document, count_words, limit)


def test_a_short_document_is_one_chunk() -> None:
    (chunk,) = chunks_of("# Link flaps\n\nThe port goes up and down.\n", 60)
    assert chunk.heading_path == ("Link flaps",)
    assert (chunk.span.start_line, chunk.span.end_line) == (1, 3)


def test_a_chunk_never_crosses_sections_that_do_not_fit_together() -> None:
    text = (
        "# Link flaps\n\n## Causes\n\n"
        + "dirty optic " * 12
        + "\n\n## Remedy\n\n"
        + "clean it " * 12
    )
    first, second = chunks_of(text, 36)
    assert first.heading_path == ("Link flaps", "Causes")
    assert second.heading_path == ("Link flaps", "Remedy")


def test_a_step_stays_with_its_code() -> None:
    steps = "\n".join(
        f"{n}. Read the counters of port {n}:\n\n   ```\n   show interface {n} counters\n   ```\n"
        for n in range(1, 7)
    )
    for chunk in chunks_of("# Link flaps\n\n" + steps, 40):
        for number in range(1, 7):
            has_step = f"counters of port {number}:" in chunk.text
            assert has_step == (f"show interface {number} counters" in chunk.text)


def test_small_neighbours_are_packed_under_the_path_they_share() -> None:
    sections = "\n".join(f"## Port {n}\n\nOne short note.\n" for n in range(8))
    chunks = chunks_of("# Link flaps\n\n" + sections, 30)
    assert len(chunks) < 8
    assert chunks[0].heading_path == ("Link flaps",)


def test_a_wide_table_grows_no_larger_than_it_is() -> None:
    header = "| " + " | ".join(f"column {n}" for n in range(60)) + " |\n" + "|---" * 60 + "|\n"
    row = "| " + " | ".join(f"cell {n}" for n in range(60)) + " |\n"
    page = f"# Link flaps\n\n{header}{row * 20}"
    assert sum(len(chunk.text) for chunk in chunks_of(page, 40)) < 2 * len(page)


def test_a_long_table_is_cut_between_rows_with_its_header_repeated() -> None:
    rows = "\n".join(f"| fault {n} | remedy {n} |" for n in range(20))
    chunks = chunks_of(f"# Link flaps\n\n| Fault | Remedy |\n|---|---|\n{rows}\n", 40)
    tables = [chunk for chunk in chunks if "remedy" in chunk.text]
    assert len(tables) > 1
    assert all(chunk.text.startswith("| Fault | Remedy |\n|---|---|") for chunk in tables)
    assert tables[1].span.start_line == tables[0].span.end_line + 1


def test_long_code_is_cut_between_lines_inside_fences() -> None:
    code = "\n".join(f"set port {n} down" for n in range(20))
    chunks = chunks_of(f"# Link flaps\n\n```sh\n{code}\n```\n", 30)
    cut = [chunk for chunk in chunks if "set port" in chunk.text]
    assert len(cut) > 1
    assert all(c.text.startswith("```sh\n") and c.text.endswith("\n```") for c in cut)


def test_a_long_item_repeats_its_first_line_in_every_part() -> None:
    parts = "\n\n".join("   " + f"note {n} " * 10 for n in range(4))
    chunks = chunks_of(f"# Link flaps\n\n1. Clean the optic\n\n{parts}\n", 40)
    assert len(chunks) > 1
    assert all("1. Clean the optic" in chunk.text for chunk in chunks if "note" in chunk.text)


def test_front_matter_of_a_long_document_is_kept() -> None:
    chunks = chunks_of("---\nalert: LinkFlap\n---\n\n# Link flaps\n\n" + "word " * 60, 30)
    assert "alert: LinkFlap" in chunks[0].text


def test_a_title_that_fits_any_page_is_replaced_by_the_path() -> None:
    (chunk,) = chunks_of("# Symptoms\n\nThe port goes up and down.\n", 60, title="Symptoms")
    assert chunk.heading_path == ("flaps",)


def test_the_same_document_gives_the_same_ids() -> None:
    text = "# Link flaps\n\nThe port goes up and down.\n"
    assert [c.id for c in chunks_of(text, 60)] == [c.id for c in chunks_of(text, 60)]


MARKDOWN_LINES = st.lists(
    st.sampled_from(
        [
            "# A heading",
            "### Deeper " + "and deeper " * 9,
            "- an item with some words",
            "  continued",
            "1. a step",
            "   ```sh",
            "   show version",
            "   ```",
            "```",
            "| a | b |",
            "|---|---|",
            "| one | two |",
            "",
            "prose " * 40,
            "Two sentences. " * 9,
            "> quoted",
            "<br>",
        ]
    ),
    max_size=40,
)


def is_repeated(line: str, chunks: list[Chunk]) -> bool:
    """The header of a cut table stands in its parts, which begin at their own rows."""
    return line.startswith("| ") and any(line in chunk.text for chunk in chunks)


@given(lines=MARKDOWN_LINES, limit=st.integers(min_value=8, max_value=60))
def test_every_chunk_fits_and_every_word_is_in_one(lines: list[str], limit: int) -> None:
    text = "\n".join(lines)
    chunks = chunks_of(text, limit)
    assert all(count_words(chunk.embedded_text) <= limit for chunk in chunks)
    covered = {n for c in chunks for n in range(c.span.start_line, c.span.end_line + 1)}
    shown = ("prose", "Two", "- an item", "| one", "# A", "> quoted")
    missing = [
        line
        for n, line in enumerate(lines, 1)
        if line.startswith(shown) and n not in covered and not is_repeated(line, chunks)
    ]
    assert missing == []
