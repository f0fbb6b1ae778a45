"""Verbs that instructions of operation documents begin with."""

import re

_IMPERATIVE = re.compile(
    r"^(?:re-?|un)?(?:add|adjust|align|allow|analy[sz]e|apply|ask|attach|back up|balance|boot|bring"
    r"|call|capture|change|check|clean|clear|close|collect|compare|configure|confirm|connect|contact"
    r"|copy|correct|create|cordon|decide|delete|deploy|describe|determine|disable|disconnect|download"
    r"|drain|drop|edit|enable|ensure|escalate|establish|evict|examine|execute|expand|export|extend"
    r"|file|find|fix|flush|follow|force|free|gather|generate|get|give|grant|grow|identify|ignore"
    r"|import|increase|inform|insert|inspect|install|investigate|isolate|issue|kill|launch|limit|list"
    r"|locate|log|login|look|lower|make|mark|measure|migrate|monitor|mount|move|narrow|notify|observe"
    r"|obtain|open|page|patch|pause|ping|plug|point|power|prepare|press|proceed|pull|purge|put|query"
    r"|raise|read|reboot|rebuild|reclaim|reconcile|record|recover|reduce|refer|reinstall|reissue"
    r"|reload|remove|rename|renew|reopen|repair|repeat|replace|report|request|reset|resize|resolve"
    r"|restart|restore|resume|retrieve|retry|return|revert|review|roll|rotate|run|save|scale|schedule"
    r"|search|seat|select|send|set|share|shift|show|shut|silence|ssh|start|stop|submit|swap|switch"
    r"|take|tell|terminate|test|throttle|trace|trigger|troubleshoot|try|tune|turn|uninstall|unplug"
    r"|update|upgrade|upload|use|validate|verify|view|visit|wait|watch|wipe|withdraw|work|write)\b",
    re.IGNORECASE,
)


def begins_with_verb(sentence: str) -> bool:
    """Whether the first word is one of these verbs, so that the sentence tells to do something."""
    return _IMPERATIVE.match(sentence) is not None
