"""Targets of a command's output: a new file beside what is read, or something in use."""

import re
from collections.abc import Iterator, Sequence

_HARMLESS = re.compile(r"/dev/(?:null|stdout|stderr|tty)|\$null|nul|&?\d", re.IGNORECASE)
_OWN = re.compile(r"(?:/var)?/tmp/|\./|~/(?!\.)|\$\{?TMP\w*\}?/|(?!/|~|\$|\.)", re.IGNORECASE)
_IN_USE = re.compile(
    r"(?:^|/)\.\.(?:/|$)|(?:^|/)\.[a-z]|\.(?:conf|cfg|ini|ya?ml|env|service|rules|toml|rc|properties|sh|py)$"
    r"|(?:hosts|fstab|authorized_keys|crontab|passwd|config)$",
    re.IGNORECASE,
)
_VALUED = "AbcCdDeEFhHKmoPQrtTuUwxXyYz"
"""Short options of curl that take a value."""
FETCHING = frozenset({"curl", "grpcurl", "wget"})
"""Programs that `is_read_only_fetch` judges by their arguments alone."""
_SENDING = frozenset("dFTK")
_SENDS = re.compile(r"--(?:data|form|upload-file|json|config|quote|url-query-file)")
_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_safe_redirection(sign: str, target: str) -> bool:
    """Return True if a redirection saves output and touches nothing that is in use."""
    if _HARMLESS.fullmatch(target):
        return True
    if not _OWN.match(target) or re.search(r"(?:^|/)\.\.(?:/|$)", target):
        return False
    return ">>" not in sign or not _IN_USE.search(target)


def is_read_only_fetch(name: str, arguments: Sequence[str]) -> bool | None:
    """Tell whether a program that fetches or copies data only reads; None for other programs."""
    if name == "tee":
        sign = ">>" if {"-a", "--append"} & set(arguments) else ">"
        return all(
            is_safe_redirection(sign, word) for word in arguments if not word.startswith("-")
        )
    if name in {"curl", "grpcurl"}:
        return _is_read_only_curl(arguments)
    if name == "wget":
        line = " ".join(arguments)
        kept = re.findall(
            r"(?:^| )-(?:[a-zA-Z]*O|-output-document=?|P|-directory-prefix=?) ?(\S+)", line
        )
        sends = re.search(r"--(?:post|method|body|execute|use-askpass)|(?:^| )-e ", line)
        return not sends and all(word == "-" or is_safe_redirection(">", word) for word in kept)
    return None


def _is_read_only_curl(arguments: Sequence[str]) -> bool:
    method, sends = "", False
    for name, value in _options(arguments):
        if name in {"o", "--output", "--output-dir"} and value != "-":
            if not is_safe_redirection(">", value):
                return False
        elif name in {"X", "--request"}:
            method = value
        elif name in {"G", "--get"}:
            method = method or "GET"
        sends = sends or name in _SENDING or bool(_SENDS.match(name))
    return method.upper() in _READING_METHODS if method else not sends


def _options(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options of curl with their values; combined short options are split."""
    words = iter(arguments)
    for word in words:
        if word.startswith("--"):
            name, _, value = word.partition("=")
            is_read = name in {"--request", "--output", "--output-dir"} and not value
            yield name, next(words, "") if is_read else value
        elif word.startswith("-"):
            for place, letter in enumerate(word[1:], 2):
                if letter in _VALUED:
                    yield letter, word[place:] or next(words, "")
                    break
                yield letter, ""
