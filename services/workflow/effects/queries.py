"""Read-only checks for database statements and PowerShell commands."""

import re

_LOOKS = re.compile(
    r"(?:select|explain|describe|desc|show|with|use|values|table|\\(?:d|l|dt|c|x|conninfo|timing|q|z|du)\S*"
    r"|go|exit|quit|pragma \w+$|begin$|rollback$)\b|\\[dlcxqz]",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:insert|update|delete|drop|truncate|alter|create|grant|revoke|merge|replace\s+into|call"
    r"|do|copy|vacuum|reindex|kill|lock|into|setval|nextval|dblink\w*|lo_\w+"
    r"|pg_(?:terminate|cancel|reload|rotate|switch|promote|create|drop|start|stop|advisory"
    r"|replication_origin|wal_replay|logical\w*(?<!peek_changes)|stat_reset|stat_statements_reset)\w*"
    r"|sleep|set_config|xp_\w+)\b",
    re.IGNORECASE,
)
_METRICS = re.compile(
    r"\s*(?:(?:sum|avg|min|max|count|topk|bottomk|quantile|(?:ir|r)ate|increase|delta|deriv|absent"
    r"|predict_linear|histogram_quantile|label_replace|\w+_over_time)\s*(?:(?:by|without)\b|\()"
    r"|[a-z_:][\w:]*\s*\{\s*[a-z_]\w*\s*(?:=|!)[=~]?\s*\")"
)
"""Beginning of a Prometheus query: https://prometheus.io/docs/prometheus/latest/querying/."""
_STRING = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_CMDLET = re.compile(r"[A-Za-z]+-[A-Za-z]\w*")
_LOOKING_VERBS = (
    r"(?:get|test|measure|select|where|foreach|format|sort|resolve|find|compare|group|show|read"
    r"|search|trace|confirm|convertto|convertfrom|tee)"
)
_LOOKING_CMDLET = re.compile(
    rf"{_LOOKING_VERBS}-\w+|out-(?:string|host|null|gridview|default)"
    r"|write-(?:host|output|verbose|warning|error|information|debug)"
    r"|set-(?:location|variable|strictmode)|(?:import|get)-module|(?:new|enter|exit)-pssession"
    r"|join-path|split-path|start-sleep|connect-\w+|new-timespan|clear-host|push-location"
    r"|pop-location|convert-path|import-(?:csv|clixml)",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"(?:if|else|elseif|foreach|for|while|switch|try|catch|finally|return|param|in|break|continue"
    r"|where|select|sort|\?|%|ft|fl|fw|gc|gci|gm|gwmi|measure|group|echo|ls|dir|cat|type|pwd|cd"
    r"|ping|nslookup|ipconfig|hostname|whoami|netstat|tracert|out-string|findstr|tasklist"
    r"|systeminfo)",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"^\[?[\w.\[\]]*\]?\s*\$[\w:.{}]+\s*(?:\[[^\]]*\])?\s*[+\-]?=\s*")
_EXPRESSION = re.compile(r"^(?:[$\d\"'@\[\]},.+*/!<>=-]|$)")
_CALLS = re.compile(
    r"(?:\.|::)(?!(?:to\w+|get\w*|split|trim\w*|contains|startswith|endswith|replace|count|length"
    r"|substring|join|format|add|where|foreach|match|adddays|addhours|addminutes|subtract|exists"
    r"|isnullor\w+|parse|new|indexof|equals)\b)\w+\s*\(",
    re.IGNORECASE,
)


def is_statement(text: str) -> bool:
    """Return True if the text begins like a database query."""
    return bool(
        re.match(
            r"\s*(?:(?:explain(?:\s+analyze)?|select|with\s+\w+\s+as)\s|show\s+[\w. ]+;"
            r"|\\[a-z]+\+?(?:\s|$))",
            text,
            re.IGNORECASE,
        )
    )


def is_metric_query(text: str) -> bool:
    """Return True if the text begins like a Prometheus query, which is always read-only."""
    return _METRICS.match(text) is not None


def is_read_only_statement(text: str) -> bool:
    """Return True if every statement reads and calls nothing that is known to change data."""
    bare = _STRING.sub("''", text)
    if re.search(r"\$\(|`\w+ |\|(?!\|)(?<!\|\|)\s*\w+\s|\\(?:!|copy|i |o |g )", bare):
        return False
    statements = [each.strip() for each in bare.split(";") if each.strip()]
    return bool(statements) and all(
        _LOOKS.match(each) and not _CHANGES.search(each) for each in statements
    )


def is_cmdlet(text: str) -> bool:
    """Return True if the text is written for PowerShell."""
    return bool(
        re.match(
            r"\s*(?:\$[\w:]+\s*(?:=|\||\.)|\[[\w.]+\]\s*(?:::|[$@{(\"])|(?:foreach|if)\s*\(\s*\$)",
            text,
        )
        or re.match(rf"\s*(?i:{_LOOKING_VERBS}|[a-z]+)-[A-Z]\w*(?![\w.-])", text)
        or re.search(r"\|\s*(?:Where|ForEach|Select|Format|Sort|Out|Measure)-\w+", text)
    )


def are_read_only_cmdlets(text: str) -> bool:
    """Return True if every command of the text reads, those in blocks and brackets included."""
    joined = re.sub(
        r"`\s*\n|\|\s*\n|\n\s*(?=\|)|,\s*\n",
        lambda m: m[0].replace("\n", " ").replace("`", " "),
        text,
    )
    code = re.sub(r"<#.*?#>|(?:^|\s)#[^\n]*", " ", joined, flags=re.DOTALL)
    code = re.sub(r"<[A-Za-z][\w .:/-]*>", "x", code)  # what is to be filled in
    code = re.sub(r"'[^'\n]*'", "''", code)
    inner = " ; ".join(re.findall(r"\$\(([^()\"]*(?:\([^()]*\)[^()\"]*)*)\)", code))
    code = re.sub(r"\"[^\"\n]*\"", '""', code) + (f"\n{inner}" if inner else "")
    if _CALLS.search(code) or re.search(
        r"(?:^|[;|{(\n])\s*[&.]\s*[\w$('\"{]|\d?>>?\s*[^\s&$=\d]", code
    ):
        return False
    parts = re.split(r"\|\||&&|[;|{}()\n&]", code)
    return all(_is_read_only_part(part.strip()) for part in parts)


def _is_read_only_part(part: str) -> bool:
    while match := _ASSIGNED.match(part):
        part = part[match.end() :]
    if _EXPRESSION.match(part):
        return not _names_changing_cmdlet(part)
    first, _, rest = part.partition(" ")
    if re.match(r"^\w+\s*=", part):
        return True
    return (
        bool(_LOOKING_CMDLET.fullmatch(first) or _SHORT.fullmatch(first))
        and not _names_changing_cmdlet(rest)
        and not re.search(r"-(?:OutFile|FilePath|Method|Credential_)\b", rest, re.IGNORECASE)
    )


def _names_changing_cmdlet(text: str) -> bool:
    """Return True if a changing command is named inside: `-ScriptBlock Stop-Service`."""
    return any(
        not _LOOKING_CMDLET.fullmatch(word) and "-" in word and word[0].isupper()
        for word in _CMDLET.findall(
            re.sub(
                r"-\w+\s*",
                lambda m: m[0] if m.start() and not m.string[m.start() - 1].isspace() else " ",
                text,
            )
        )
        if re.match(
            r"(?:Stop|Start|Restart|Remove|Set|New|Clear|Disable|Enable|Add|Move|Copy|Invoke|Suspend|Repair|Update|Install|Uninstall|Reset)-",
            word,
        )
    )
