"""How a workflow begins and ends."""

import re

from services.knowledge.model import SectionRole
from services.planner.article import Article
from services.planner.draft import Do, End
from services.planner.sentences import tidy

_ALERT_NAME = re.compile(r"(?:[A-Z][a-z0-9]*){2,}[A-Za-z0-9]*")


def is_alert_name(name: str) -> bool:
    """Whether the name is one word in capitals and small letters, as alerts are named."""
    return _ALERT_NAME.fullmatch(name) is not None and not name.isupper()


def opening(article: Article) -> Do:
    """The step that names the fault."""
    name = tidy(article.name)
    text = f"Alert {name} fires" if is_alert_name(name) else name
    return Do(text, article.description)


def closing(article: Article) -> End:
    """The end of a path on which all steps were taken; it names the fault that must be gone."""
    verified = article.of_role(SectionRole.VERIFICATION, SectionRole.ESCALATION)
    cites = (*(part.span for part in verified), *article.description)
    name = tidy(article.name)
    if is_alert_name(article.name):
        return End(f"Alert clears ({name}); otherwise escalate", cites)
    return End(f"Verify the problem is cleared ({name}); escalate if it is not", cites)
