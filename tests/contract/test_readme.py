"""What README and documentation promise exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.md"])
LINK = re.compile(r"!?\[[^\]]*\]\((?!https?:)([^)#]+)[^)]*\)")


def test_every_link_leads_somewhere():
    links = [(page, each) for page in PAGES for each in LINK.findall(page.read_text("utf-8"))]
    assert [(page, each) for page, each in links if not (page.parent / each).exists()] == []


def test_every_make_target_exists():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    assert set(re.findall(r"(?:`|\$ |^)make ([a-z-]+)", text, re.MULTILINE)) <= targets


def test_every_make_target_explains_itself():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"^([a-z-]+):(?! =)(.*)", makefile, re.MULTILINE)
    assert [name for name, rest in targets if "## " not in rest] == []


def test_every_command_exists():
    from typer.main import get_command

    from services.cli import app

    existing = set(get_command(app).commands)
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = set(re.findall(r"(?:`|\$ |bin/)flowxpert ([a-z][a-z-]*)", text))
    assert named <= existing


def test_the_readme_names_every_service():
    rooms = {path.parent.name for path in ROOT.glob("services/*/room.py")}
    named = re.findall(r"^\| `(\w+)` \|", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert set(named) == rooms


def test_files_named_in_commands_exist():
    text = (ROOT / "README.md").read_text("utf-8")
    files = re.findall(r"@(examples/\S+)", text)
    assert files
    assert all((ROOT / name).exists() for name in files)


def test_the_picture_is_small():
    assert (ROOT / "docs" / "images" / "ticket.png").stat().st_size < 300_000


def test_every_page_can_be_reached_from_the_readme():
    waiting = [ROOT / "README.md"]
    for page in waiting:
        links = {(page.parent / each).resolve() for each in LINK.findall(page.read_text("utf-8"))}
        waiting += sorted(each for each in links - {*waiting} if each.suffix == ".md")
    printed_elsewhere = ROOT / "docs" / "results-notes.md"  # a part of results.md
    assert {*PAGES} - {*waiting} == {printed_elsewhere}
