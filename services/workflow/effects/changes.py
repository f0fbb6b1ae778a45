# ruff: noqa: E501 -- a table: one program or change a line
"""What common commands change, and how that is taken back."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """`restarts a service`, and how it is undone; that is empty where nothing general is known."""

    what: str
    undo: str


_KUBE = r"\b(?:kubectl|oc|k)\b[^|;&\n]*?\s"
_CHANGES: tuple[tuple[re.Pattern[str], Change], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.MULTILINE), Change(what, undo))
    for pattern, what, undo in (
        (_KUBE + r"scale\b", "scales a workload", "scale back to the former count"),
        (_KUBE + r"rollout\s+restart\b", "restarts the pods of a workload", ""),
        (_KUBE + r"rollout\s+undo\b", "rolls a workload back", "roll out the later revision again"),
        (_KUBE + r"rollout\s+pause\b", "pauses a rollout", "resume it"),
        (_KUBE + r"(?:adm\s+)?cordon\b", "keeps new pods off a node", "uncordon it"),
        (_KUBE + r"(?:adm\s+)?uncordon\b", "lets pods onto a node again", "cordon it"),
        (_KUBE + r"(?:adm\s+)?drain\b", "evicts the pods of a node", "uncordon it"),
        (_KUBE + r"(?:adm\s+)?taint\b", "sets a taint of nodes", "set the former taints"),
        (_KUBE + r"(?:label|annotate)\b", "sets a label or annotation", "set the former value"),
        (_KUBE + r"(?:patch|edit|set)\b", "changes a cluster object", "set the former values"),
        (_KUBE + r"(?:apply|replace)\b", "writes cluster objects", "apply the former version"),
        (_KUBE + r"(?:create|run|expose)\b", "creates a cluster object", "delete it again"),
        (_KUBE + r"delete\b", "deletes cluster objects", ""),
        (_KUBE + r"cp\b", "copies files into or out of a container", ""),
        (_KUBE + r"debug\b", "starts a debugging pod", "delete that pod"),
        (r"\bhelm\b[^|;&\n]*\s(?:upgrade|install)\b", "installs or upgrades a release", "helm rollback to the former revision"),
        (r"\bhelm\b[^|;&\n]*\srollback\b", "rolls a release back", "roll back to the later revision"),
        (r"\b(?:systemctl|service)\b.*\b(?:restart|try-restart|force-reload)\b|\bRestart-Service\b", "restarts a service", ""),
        (r"\b(?:systemctl|service)\b.*\breload\b", "reloads a service's configuration", ""),
        (r"\b(?:systemctl|service)\b.*\bstop\b|\bStop-Service\b", "stops a service", "start it again"),
        (r"\b(?:systemctl|service)\b.*\bstart\b|\bStart-Service\b", "starts a service", "stop it"),
        (r"\bsystemctl\b.*\b(?:disable|mask)\b", "keeps a service from starting", "enable or unmask it"),
        (r"\bsystemctl\b.*\b(?:enable|unmask)\b", "lets a service start", "disable it"),
        (r"\bsystemctl\b.*\bdaemon-re(?:load|exec)\b", "reads the units of systemd anew", ""),
        (r"\bip\s+.*\blink\s+set\b.*\bdown\b|\bifdown\b|\bifconfig\s+\S+\s+down\b", "takes an interface down", "set it up"),
        (r"\bip\s+.*\blink\s+set\b.*\bup\b|\bifup\b|\bifconfig\s+\S+\s+up\b", "sets an interface up", "set it down"),
        (r"\bip\s+(?:-\S+\s+)*link\s+set\b", "changes an interface", "set the former value"),
        (r"\bip\s+(?:-\S+\s+)*(?:a|addr\w*|r|ro|route|rule|n|neigh)\s+(?:add|del\w*|replace|change|flush)\b|\broute\s+(?:add|del\w*)\b", "changes addresses or routes", "take the entry back"),
        (r"^\s*(?:\S+#\s*)?shut(?:down)?\s*$", "takes an interface down", "`no shutdown`"),
        (r"\bno\s+shut(?:down)?\b|\bundo\s+shutdown\b", "sets an interface up", "`shutdown`"),
        (r"\bclear\s+(?:ip\s+)?bgp\b|\breset\s+bgp\b", "resets BGP sessions", ""),
        (r"\bclear\s+(?:\S+\s+)*counters\b", "clears counters", ""),
        (r"^\s*(?:\S+[#>]\s*)?clear\s+\S+", "clears state of the device", ""),
        (r"\b(?:conf(?:igure)?\s+t(?:erminal)?|configure|system-view)\s*$", "opens the configuration", "leave without commit"),
        (r"\b(?:copy\s+run\w*\s+start\w*|write\s+mem\w*|wr\b|commit\b(?!\s+[-a-z]*m))", "saves the configuration", "restore the former one"),
        (r"\b(?:docker|podman|nerdctl)\b.*\brestart\b", "restarts a container", ""),
        (r"\b(?:docker|podman|nerdctl|crictl)\b.*\b(?:stop|kill|pause)\b", "stops a container", "start it again"),
        (r"\b(?:docker|podman|nerdctl|crictl)\b.*\brm[pi]?\b", "removes containers or images", ""),
        (r"\b(?:docker|podman|nerdctl)\b.*\b(?:run|start|up)\b", "starts a container", "stop it"),
        (r"\b(?:kill|pkill|killall)\b|\bStop-Process\b|\btaskkill\b", "stops processes", "start them again"),
        (r"\bmount\s+-\S*\s*\S*remount|\bmount\s", "mounts a file system", "mount it as before"),
        (r"\bumount\s", "takes a file system off", "mount it again"),
        (r"\bsysctl\b|>\s*/proc/sys/", "sets a kernel parameter", "set the former value"),
        (r"\b(?:iptables|ip6tables|nft|firewall-cmd|ufw)\b", "changes the firewall", "take the rule back"),
        (r"\b(?:apt|apt-get|yum|dnf|zypper|rpm|dpkg|pip3?|snap|npm)\b.*\b(?:install|upgrade|update|-[UiF]\w*|add)\b", "installs or upgrades packages", "install the former version"),
        (r"\b(?:apt|apt-get|yum|dnf|zypper|rpm|dpkg|pip3?|snap|npm)\b.*\b(?:remove|erase|purge|uninstall|-e)\b", "removes packages", "install them again"),
        (r"\bceph\s+osd\s+(?:set|unset)\b", "sets a flag of the cluster", "set or unset it again"),
        (r"\bceph\s+osd\s+(?:out|in|reweight\S*|crush)\b", "moves data between disks", "set the former weight or state"),
        (r"\bceph\s+config\s+(?:set|rm)\b", "changes the configuration of the cluster", "set the former value"),
        (r"\b(?:chmod|chown|chgrp|setfacl|chattr|chcon|restorecon|icacls)\s", "changes rights of files", "set the former rights"),
        (r"\bsed\s+(?:-\S+\s+)*-\w*i", "edits files in place", "restore the former file"),
        (r"\b(?:vi|vim|nano|emacs|visudo|crontab\s+-e)\b", "opens a file to edit", "restore the former file"),
        (r"^\s*(?:sudo\s+)?mv\s", "moves files", "move them back"),
        (r"^\s*(?:sudo\s+)?rm\s|\bRemove-Item\b", "removes files", ""),
        (r"^\s*(?:sudo\s+)?(?:cp|scp|rsync|install)\s|\bCopy-Item\b", "copies files, over those of the same name", ""),
        (r"^\s*(?:sudo\s+)?(?:mkdir|touch|ln)\s", "creates files", "remove them again"),
        (r"\bgit\s+(?:commit|push|merge|rebase|checkout|pull|revert|cherry-pick|stash)\b", "changes a repository", ""),
        (r"\bcurl\b.*(?:-X\s*|--request[ =])[\"']?DELETE", "deletes through an API", ""),
        (r"\bcurl\b.*(?:-X\s*|--request[ =])[\"']?(?:PUT|PATCH)", "changes something through an API", "send the former value"),
        (r"\bcurl\b.*(?:-X\s*|--request[ =])[\"']?POST|\bcurl\b.*\s(?:-d|--data\S*|-F|-T)", "sends data to an API", ""),
        (r"\b(?:insert\s+into|update\s+\S+\s+set|delete\s+from)\b", "changes rows of a database", "roll back before the commit"),
        (r"\b(?:alter|create)\s+(?:table|index|user|role|database|system)\b", "changes the schema or settings of a database", ""),
        (r"\bpg_(?:terminate|cancel)_backend\b|\bkill\s+query\b", "ends sessions of a database", ""),
        (r"\bipmitool\b.*\bpower\s+on\b", "switches a machine on", "switch it off"),
        (r"\bterraform\s+(?:apply|import|taint)\b", "changes infrastructure", "apply the former plan"),
        (r"\b(?:useradd|usermod|userdel|passwd|groupadd)\b", "changes accounts", ""),
        (r"\bdate\s+(?:-s|--set)|\bhwclock\b|\btimedatectl\s+set", "sets the clock", ""),
        (r"\b(?:swapoff|swapon)\b", "changes the swap space", "switch it back"),
        (r"\bdmesg\s+-\w*[cC]", "clears the kernel's messages", ""),
        (r"\bjournalctl\b.*--(?:vacuum|rotate)", "removes or rotates logs", ""),
        (r">>?\s*[\"']?/", "writes to a file", "restore the former file"),
        (r"\btee\s", "writes to a file", "restore the former file"),
        (r"\b(?:aws|az|gcloud|cray)\b.*\b(?:create|put|update|set|modify|start|stop|reboot)\b", "changes a resource of the platform", ""),
    )
)  # fmt: skip
"""The first that fits is taken."""


def change_of(command: str) -> Change | None:
    """What the command is known to change; nothing where it is not in the table."""
    return next((change for pattern, change in _CHANGES if pattern.search(command)), None)
