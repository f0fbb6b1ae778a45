"""What shows that text is a command: prompts, and the words before it."""

import re

PROMPT = re.compile(
    r"^(?:\S+@\S+[#$%>]\s+|[\w.-]+(?:\([\w./-]+\))?[#>]\s*(?!/)|<[\w.-]+>\s+"
    r"|\[[^\]]+\]\s*(?:\([^)]*\)\s*)?[#$>%]+\s+|\[(?:edit|root|\w+@)[^\]]*\]\s+"
    r"|PS(?: [^>]*)?>\s*|[A-Z]:\\[^>]*>\s*"
    r"|[\w-]+[=-][#>]\s+|[\w.-]+ \[[^\]]*\]\s?[#>]\s+"
    r"|[\w.-]+(?::[~/][\w/.-]*)?\$\s+|\([\w./-]+\)[#>]\s*"
    r"|[~/][\w/.-]*\s[#$]\s+|[$%>]>?\s+)"
    r"(?=[A-Za-z./])|^[\w.-]+\(conf[\w./-]*\)#\s+(?=\d)"
)
"""What a terminal shows before a command."""
TELLS = re.compile(
    r"\b(?:run|runs|running|execute|issue|use|using|with|via|type|enter|command|by|through"
    r"|again)[:,]?"
    r"\s*$",
    re.IGNORECASE,
)
"""What a sentence says before a command."""
