from services.knowledge.document.markdown import parse
from services.planner.code import commands_of, expected_of


def read(text: str) -> tuple[tuple[str, ...], str]:
    blocks = parse(text).root.blocks
    return commands_of(blocks), expected_of(blocks)


def test_lines_of_a_shell_block_are_commands() -> None:
    assert read("```sh\n# look\nshow fans\nshow power\n```") == (("show fans", "show power"), "")


def test_a_session_is_told_into_commands_and_answers() -> None:
    text = "```\nleaf-1#show fans\nfan 1  ok\nleaf-1(config)# fan 2 off\n```"
    assert read(text) == (("show fans", "fan 2 off"), "fan 1  ok")


def test_what_follows_the_word_output_is_expected() -> None:
    text = "Run:\n\n```sh\nshow fans\n```\n\nExample output:\n\n```\nfan 1  ok\n```"
    assert read(text) == (("show fans",), "fan 1  ok")


def test_a_script_stays_in_one_piece() -> None:
    script = "for port in 1 2; do\n  show port $port\ndone"
    assert read(f"```bash\n{script}\n```") == ((script,), "")


def test_a_continued_line_stays_with_what_it_continues() -> None:
    told = "$ docker run \\\n  -v /a:/b \\\n  --rm image"
    assert read(f"```\n{told}\n```")[0] == (told.removeprefix("$ "),)
    assert read("```sh\niptables -A INPUT \\\n--dport 22 -j ACCEPT\n```")[0] == (
        "iptables -A INPUT \\\n--dport 22 -j ACCEPT",
    )


def test_a_here_document_is_one_command() -> None:
    told = "apply -f - <<EOF\n# kept\nkind: Fan\nEOF"
    assert read(f"```sh\n{told}\n```")[0] == (told,)


def test_a_redirection_is_no_prompt() -> None:
    assert read("```sh\ncat>/etc/motd\n```")[0] == ("cat>/etc/motd",)
