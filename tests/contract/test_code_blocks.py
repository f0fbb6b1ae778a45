"""Every code block of README and documentation is used, or says why not.

Commands of FlowXpert are parsed by the command line itself; e2e tests send the requests and run the
Python; guides are followed in `test_guides.py`.
"""

import json
import re
import subprocess
from itertools import takewhile
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperGroup
from typer.main import get_command

from services.cli import app
from services.deployment.rooms import SETTINGS
from services.kit.settings import NOT_SETTINGS
from tests.blocks import EXECUTED, GUIDES, PAGES, ROOT, Block, blocks, words

NOT_RUN = {
    "export": "sets a variable of the shell",
    "docker": "needs a container engine, which tests have not got",
    "helm": "needs a cluster, which tests have not got",
    "kubectl": "needs a cluster, which tests have not got",
    "psql": "needs a database server of one's own",
    "openssl": "makes a secret, differently each time",
    "umask": "sets a mask of the shell",
    ".venv-vllm/bin/python": "needs vLLM, an environment of its own (.ci/vllm)",
}
FOR_EYES = {
    "js": "runs in the editor of another system",
    "text": "shows what is printed",
    "mermaid": "is drawn by whoever shows the page",
    "promql": "is asked of a Prometheus",
}

ALL = blocks(*PAGES)
NOW = [page for page in PAGES if "decisions" not in page.parts]
"""Pages on what is so; a decision speaks of its own time."""
COMMANDS = [(block, command) for block in ALL for command in block.commands()]


def parse(arguments: list[str]) -> None:
    """Have the command line read the arguments as it would, down to the last subcommand."""
    command = get_command(app)
    context = typer.Context(command, info_name="flowxpert")
    while isinstance(command, TyperGroup) and (arguments or not command.invoke_without_command):
        name, command, arguments = command.resolve_command(context, arguments)
        context = typer.Context(command, parent=context, info_name=name)
    if "--help" in arguments:
        return
    for param in command.params:
        param.callback = None  # it looks for files, which are the reader's own
    command.parse_args(context, arguments)


def check(page: Path, command: str) -> None:
    first, *rest = words(command) or ["export"]
    if first.rpartition("/")[2] == "flowxpert":
        parse(rest)
    elif first == "make":
        makefile = (ROOT / "Makefile").read_text("utf-8")
        targets = list(takewhile(lambda each: "=" not in each, rest))
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    elif first == "curl":
        files = re.findall(r"@(\S+)", command) if page in EXECUTED else []
        assert all((ROOT / name).exists() for name in files)
    elif first == "pytest":
        assert all((ROOT / each).exists() or is_of_a_guide(each) for each in rest if "/" in each)
    elif first in NOT_RUN:
        pytest.skip(NOT_RUN[first])
    elif page not in EXECUTED:
        pytest.skip("of a page for operators: no command of FlowXpert")
    else:
        pytest.fail(f"nothing here knows how to use {first!r}: say so in NOT_RUN, with a reason")


def is_of_a_guide(path: str) -> bool:
    return path in {block.file for block in blocks(*GUIDES)}


@pytest.mark.parametrize(("block", "command"), COMMANDS, ids=[f"{b} {c[:60]}" for b, c in COMMANDS])
def test_a_command_is_one_that_there_is(block: Block, command: str) -> None:
    check(block.page, command)


PRINTED = "commands.md"
"""A page of usages, printed from the code."""
OTHERS = [b for b in ALL if b.language not in {"sh", "console"} and b.page.name != PRINTED]


@pytest.mark.parametrize("block", OTHERS, ids=str)
def test_a_block_can_be_read_as_what_it_says_it_is(block: Block) -> None:
    match block.language:
        case "json":
            json.loads(block.text.replace("…", ""))
        case "yaml" | "yml":
            assert list(yaml.safe_load_all(block.text))
        case "python":
            compile(block.text, str(block), "exec")
        case "diff":
            assert all(line[0] in "+- " for line in block.text.splitlines())
        case language if language in FOR_EYES:
            pytest.skip(FOR_EYES[language])
        case "" if block.page not in EXECUTED:
            pytest.skip("says no language")
        case _:
            pytest.fail(f"{block} is in {block.language!r}, of which nothing is known here")


def test_the_blocks_of_readme_and_guides_say_what_language_they_are_in():
    for page in EXECUTED:
        fences = re.findall(r"^```.*$", page.read_text("utf-8"), re.MULTILINE)
        assert all(fence != "```" for fence in fences[::2]), page


def test_every_variable_that_is_named_is_one_that_there_is():
    existing = {name for cls in SETTINGS for name, _ in cls.variables()}
    existing |= {f"{name}_FILE" for name in existing}  # secrets may come from files
    made = "".join(block.text for block in blocks(*GUIDES) if block.file)
    for page in NOW:
        named = set(
            re.findall(r"\bFLOWXPERT_[A-Z0-9_]*[A-Z0-9]\b(?![*…])", page.read_text("utf-8"))
        )
        unknown = {name for name in named - existing if not NOT_SETTINGS.fullmatch(name)}
        prefixes = {
            name for name in unknown if any(each.startswith(f"{name}_") for each in existing)
        }
        assert {name for name in unknown - prefixes if name.rpartition("_")[0] not in made} == set()


def test_addresses_of_code_in_the_documentation_are_there():
    """Paths of files that a page names in code style exist, or are made by a guide."""
    made = {block.file for block in blocks(*GUIDES)}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    for page in NOW:
        named = set(
            re.findall(
                r"`((?:services|tests|proto|deploy|docs)/[\w./-]+\.\w+)`", page.read_text("utf-8")
            )
        )
        assert named <= {*tracked, *made}, page
