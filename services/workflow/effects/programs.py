# ruff: noqa: E501 -- a table: one program or change a line
"""Programs that only look: always, or with some of their words."""

import re
from dataclasses import dataclass

READERS = frozenset(
    [
        "[",
        "[[",
        ":",
        "aa-status",
        "ag",
        "apropos",
        "arch",
        "arping",
        "apt-cache",
        "ascii",
        "atop",
        "basename",
        "bmon",
        "break",
        "cal",
        "cat",
        "cd",
        "cksum",
        "cmp",
        "column",
        "comm",
        "continue",
        "crm_mon",
        "cut",
        "declare",
        "df",
        "diff",
        "dig",
        "dir",
        "dirname",
        "display",
        "dmidecode",
        "dpkg-query",
        "du",
        "echo",
        "egrep",
        "enable",
        "end",
        "exit",
        "export",
        "false",
        "fgrep",
        "findmnt",
        "fmt",
        "fold",
        "fping",
        "free",
        "getconf",
        "getenforce",
        "getent",
        "getfacl",
        "getfattr",
        "glances",
        "grep",
        "groups",
        "gpresult",
        "hash",
        "head",
        "help",
        "hexdump",
        "host",
        "htop",
        "ibhosts",
        "iblinkinfo",
        "ibnetdiscover",
        "ibstat",
        "ibstatus",
        "id",
        "info",
        "iostat",
        "iotop",
        "iptables-save",
        "ip6tables-save",
        "jobs",
        "join",
        "jq",
        "klist",
        "kubectx",
        "kubens",
        "last",
        "lastb",
        "ldapsearch",
        "less",
        "let",
        "lldpctl",
        "local",
        "locate",
        "login",
        "logout",
        "ls",
        "lsattr",
        "lsb_release",
        "lsblk",
        "lscpu",
        "lshw",
        "lsmod",
        "lsof",
        "lspci",
        "lsscsi",
        "lsusb",
        "lvdisplay",
        "lvs",
        "man",
        "md5sum",
        "modinfo",
        "more",
        "most",
        "mpstat",
        "mtr",
        "nbtstat",
        "netstat",
        "nfsstat",
        "nl",
        "nmap",
        "nproc",
        "nslookup",
        "ntpstat",
        "od",
        "paste",
        "pathping",
        "pgrep",
        "pidof",
        "pidstat",
        "ping",
        "ping4",
        "ping6",
        "pmap",
        "popd",
        "ports",
        "printenv",
        "printf",
        "ps",
        "pstree",
        "pushd",
        "pvdisplay",
        "pvs",
        "pwd",
        "q",
        "quit",
        "qstat",
        "read",
        "readlink",
        "readonly",
        "realpath",
        "return",
        "rg",
        "rpcinfo",
        "sacct",
        "seq",
        "sensors",
        "sestatus",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "shift",
        "sho",
        "show",
        "showmount",
        "sinfo",
        "sleep",
        "slabtop",
        "smbstatus",
        "squeue",
        "stat",
        "stern",
        "strings",
        "sum",
        "systeminfo",
        "tac",
        "tail",
        "tasklist",
        "telnet",
        "test",
        "top",
        "tr",
        "tracepath",
        "tracert",
        "traceroute",
        "traceroute6",
        "tree",
        "true",
        "type",
        "ulimit",
        "uname",
        "unset",
        "uptime",
        "users",
        "vgdisplay",
        "vgs",
        "vmstat",
        "w",
        "wait",
        "wc",
        "whereis",
        "which",
        "who",
        "whoami",
        "whois",
        "xfs_info",
        "zcat",
        "zegrep",
        "zfgrep",
        "zgrep",
        "zless",
        "zipinfo",
        "snmpwalk",
        "snmpget",
        "snmpbulkwalk",
        "snmpstatus",
        "zdiff",
        "zcmp",
        "bzcat",
        "xzcat",
        "lsns",
        "lslocks",
        "lsipc",
        "lsmem",
        "namei",
        "vdir",
        "dstat",
        "nload",
        "iftop",
        "nethogs",
        "blkid",
        "sar",
        "ausearch",
        "aureport",
        "include",
        "inc",
        "incl",
        "exclude",
        "begin",
        "section",
        "sec",
        "match",
        "except",
        "count",
        "no-more",
        "nomore",
    ]
)
"""They read whatever their words are; among them what filters the output of network devices."""

LISTENERS = frozenset({"nc", "ncat", "netcat", "redis-cli", "telnet", "kubectl", "oc", "socat"})
"""They do what their input says."""

_GIT = (
    r"(?:status|log|diff|show|blame|describe|rev-parse|ls-files|ls-remote|shortlog|grep|cat-file"
    r"|reflog)(?: .*)?|reflog|branch|tag|remote(?: show.*)?|stash list|config"
)
_KUBECTL = (
    r"(?:get|describe|logs?|top|explain|version|events?|cluster-info|auth (?:can-i|whoami)"
    r"|api-(?:resources|versions)|rollout (?:status|history)|diff|wait|port-forward|proxy|options"
    r"|config (?:view|current-context|get-\w+)|plugin list"
    r"|whoami|status|projects?|login|adm (?:top|inspect|must-gather|node-logs|release info)"
    r"|image info|extract|rsh|attach|ns|ctx)(?: .*)?|"
)
_CONTAINERS = (
    r"(?:ps|logs|inspect|stats?|images|info|version|top|port|history|events|pods|inspecti|inspectp"
    r"|statsp|imagefsinfo|search|diff"
    r"|(?:container|image|network|volume|pod|node|service|stack|context|plugin|secret|c|i|t|tasks?"
    r"|containers|namespaces?|ns|snapshots?) (?:ls|list|inspect|ps|logs|info|stats|exists)"
    r"|system (?:df|info)|compose (?:ps|logs|config|top|ls))(?: .*)?"
)
_CEPH = (
    r"|status|s|health(?: detail)?|df(?: detail)?|versions|features|report|quorum_status|fsid"
    r"|osd (?:tree|df|stat|status|utilization|dump|ls|perf|find|metadata|blocked-by|pool (?:ls|stats|get)"
    r"|crush (?:tree|dump|rule (?:ls|dump))|map|getmap|erasure-code-profile (?:ls|get)"
    r"|safe-to-destroy|ok-to-stop)(?: .*)?"
    r"|pg (?:stat|dump|ls|ls-by-\w+|map|dump_stuck|dump_pools_json)(?: .*)?|pg \S+ query"
    r"|mon (?:stat|dump)|mds (?:stat|metadata)|mgr (?:dump|stat|services|module ls)"
    r"|fs (?:ls|status|dump|get)(?: .*)?|auth (?:ls|list|get)(?: .*)?"
    r"|config (?:dump|get|show|log|help)(?: .*)?|log last(?: .*)?|time-sync-status"
    r"|orch (?:ls|ps|status|host ls|device ls)(?: .*)?|crash (?:ls|info|ls-new|stat)(?: .*)?"
    r"|device (?:ls|info)(?: .*)?|balancer status|progress"
    r"|(?:daemon|tell) \S+ (?:version|status|perf dump|dump_\w+|config (?:show|get)|ops|session ls)"
    r"(?: .*)?"
)
_REDIS = (
    r"(?i:info|get|mget|ping|dbsize|keys|scan|ttl|pttl|type|exists|hget|hgetall|hlen|hkeys|llen"
    r"|lrange|lindex|scard|smembers|sismember|zcard|zrange|zscore|strlen|role|lastsave|monitor|time"
    r"|memory (?:usage|stats|doctor)|config get|cluster (?:info|nodes|slots|shards|myid)"
    r"|client (?:list|info)|slowlog (?:get|len)|latency (?:latest|history|doctor)|object \w+"
    r"|sentinel (?:masters?|slaves|replicas|sentinels|get-master-addr-by-name|ckquorum)"
    r"|command (?:count|info|docs)|acl (?:list|whoami|getuser))(?: .*)?|"
)
_VIRSH = (
    r"(?:list|dominfo|domstate|dumpxml|domblklist|domiflist|domifaddr|domblkinfo|domblkstat"
    r"|domifstat|dommemstat|domstats|vcpuinfo|nodeinfo|nodecpustats|version|capabilities"
    r"|net-(?:list|info|dumpxml|dhcp-leases)|pool-(?:list|info|dumpxml)|vol-(?:list|info|path)"
    r"|snapshot-list|console|sysinfo)(?: .*)?"
)
_CLOUD_VERBS = (
    r"(?:describe|list|get|head|lookup|filter|batch-get|search|scan|query|show|read|tail|view)"
)


@dataclass(frozen=True)
class Program:
    """What of a program's words looks: `looks` fits those before options, `unless` none of all.

    `valued` names options that take the next word, `*` all.
    """

    looks: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    valued: frozenset[str] = frozenset()

    def allows(self, arguments: list[str]) -> bool:
        """Whether the program only looks when it is given these."""
        line = " ".join(arguments)
        if self.unless and self.unless.search(line):
            return False
        return bool(self.looks.fullmatch(" ".join(self.operands(arguments))))

    def operands(self, arguments: list[str]) -> list[str]:
        """The words that are no option and no option's value; behind a `*` none after one."""
        found: list[str] = []
        skips = False
        for word in arguments:
            if skips:
                skips = False
            elif word.startswith("-") and len(word) > 1:
                if "*" in self.valued and found:
                    break
                skips = "=" not in word and bool(self.valued & {word, "*"})
            else:
                found.append(word)
        return found


def _program(looks: str, unless: str = "", valued: str = "") -> Program:
    return Program(
        re.compile(looks, re.DOTALL),
        re.compile(unless, re.DOTALL) if unless else None,
        frozenset(valued.split()),
    )


_ANY = r".*"
_SHOWS = r"(?:.* )?(?:show|list|ls|status|info|get|view|print)(?: .*)?"
_CHANGING = (
    r"\b(?:create|delete|update|set|add|remove|start|stop|restart|reset|put|modify|patch|replace"
    r"|apply|deploy|run-command|invoke|attach|detach|enable|disable|terminate|reboot|send|rm|edit)"
    r"(?:\b|-)"
)
_KUBE_VALUED = (
    "-n --namespace --context --kubeconfig --cluster --user --as --as-group --token --server -s"
    " --request-timeout --kube-context --config -v"
)
_SERVICES = r"\S+ (?:status|configtest|test)|--status-all"

PROGRAMS: dict[str, Program] = {
    name: program
    for names, program in (
        ("sed gsed", _program(
            _ANY,
            r"(?:^| )(?:-[A-Za-z]*i|--in-place)|(?:^|[\s;/\d$}])[wWe]\s+\S|[/|#,][gpiI0-9]*[we]\b",
        )),
        ("awk gawk mawk nawk", _program(
            _ANY, r"system\s*\(|(?<!\|)\|(?!\|)|>\s*[\"(/$]|inplace|@load|(?:^| )-f"
        )),
        ("sort", _program(_ANY, r"(?:^| )(?:-[A-Za-z]*o|--output|--compress-program)")),
        ("uniq", _program(r"\S*")),
        ("hostname", _program("", r"-[A-Za-z]*[Fb]|--file|--boot")),
        ("date", _program(r"(?:\+.*)?", r"(?:^| )(?:-[A-Za-z]*s|--set)", "-d --date -r -f")),
        ("mount", _program("", r"-[A-Za-z]*[aorwBMR]|--(?:all|bind|move|make)", "-t")),
        ("swapon", _program("", r"-[A-Za-z]*a|--all")),
        ("dmesg", _program(
            _ANY,
            r"(?:^| )-[A-Za-z]*[cCDEn]|--(?:clear|read-clear|console)",
        )),
        ("journalctl", _program(
            _ANY, r"--(?:vacuum|rotate|flush|sync|relinquish|update|setup|smart)"
        )),
        ("systemctl", _program(
            r"|(?:status|is-\w+|is-system-running|list-[\w-]+|show|cat|show-environment|help)"
            r"(?: .*)?",
            valued="-H -M -t -p -n -o",
        )),
        ("service rc-service", _program(_SERVICES)),
        ("chkconfig", _program(r"|\S+", r"--(?:add|del|level)")),
        ("loginctl timedatectl hostnamectl localectl networkctl coredumpctl resolvectl bootctl",
         _program(
             r"|(?:status|show|list|query|info|statistics|list-\S+|show-\S+|session-status|timesync-status"
             r"|user-status)(?: .*)?"
         )),
        ("nmcli", _program(r"|(?:-\S+ )?\w+(?: (?:show|status|list)(?: .*)?)?",
                           r"\b(?:up|down|reload|networking (?:on|off))\b", "-f -m -c -g")),
        ("brctl", _program(r"(?:show|showmacs|showstp)(?: .*)?")),
        ("bridge tc rdma devlink", _program(
            r"\S+(?: (?:show|list|ls)(?: .*)?)?", r"\b(?:add|del|set|replace|change|flush)\b"
        )),
        ("ovs-vsctl", _program(r"(?:show|list|list-\S+|get|find|br-exists|iface-to-br)(?: .*)?")),
        ("ovs-ofctl ovs-dpctl ovn-nbctl ovn-sbctl", _program(
            r"(?:show|dump-\S+|list|ls-\S+|lflow-list|lr-\S+-list|find|get)(?: .*)?"
        )),
        ("ovs-appctl", _program(r"(?:\S+/(?:show|list|dump|stats-show|dump-\S+)|version)(?: .*)?",
                                valued="-t --target")),
        ("ethtool", _program(
            _ANY, r"(?:^| )-(?:[sACGKLEfprXNUWPQ]|-(?!json|stat|show|driver|module|include))"
        )),
        ("smartctl", _program(_ANY, r"(?:^| )(?:-[tsXoS]|--(?:test|set|smart|abort|offline|save))")),
        ("hdparm", _program(_ANY, r"(?:^| )-(?![iIgtT]+(?: |$))")),
        ("fdisk sfdisk cfdisk gdisk", _program(_ANY, r"^(?!.*(?:^| )(?:-[A-Za-z]*[ld]|--list|--dump)(?: |$))"
                                         r"|--delete|--(?:wipe|append|force)")),
        ("sgdisk", _program(_ANY, r"(?:^| )-(?![pi]|-print|-info)")),
        ("parted", _program(r"(?:/\S+)?(?: ?(?:print|unit \S+ print)(?: .*)?)?", r"^(?!.*(?:print|-l))")),
        ("mdadm", _program(
            _ANY, r"^(?!(?:-\S+ )*(?:--detail|--examine|--query|-[DEQ]))"
            r"|--(?:add|remove|fail|stop|create|assemble|grow|manage|zero-superblock|run)|(?:^| )-[arfSCAGR]"
        )),
        ("dmsetup", _program(r"(?:ls|info|status|table|deps)(?: .*)?")),
        ("multipath", _program(_ANY, r"^(?!-l)|-[A-Za-z]*[fFrw]")),
        ("multipathd", _program(r"(?:-k ?)?(?:show|list) .*")),
        ("cryptsetup", _program(r"(?:status|luksDump|isLuks)(?: .*)?")),
        ("pvscan vgscan lvscan", _program("", "--cache|--mknodes")),
        ("zpool", _program(r"(?:status|list|iostat|history|get|events)(?: .*)?", r"-c\b")),
        ("zfs", _program(r"(?:list|get|holds|diff)(?: .*)?")),
        ("btrfs", _program(_SHOWS + r"|filesystem (?:df|usage|du|show) .*", _CHANGING)),
        ("tune2fs", _program(_ANY, r"^(?!-l )")),
        ("dumpe2fs debugfs", _program(_ANY, r"(?:^| )-[wf]\b")),
        ("xfs_repair e2fsck fsck", _program(_ANY, r"^(?!.*(?:^| )-[nN])|-[a-z]*[ypaf]")),
        ("nvme", _program(r"(?:list|list-\S+|smart-log|id-\S+|show-regs|error-log|get-\S+|fw-log)(?: .*)?")),
        ("ipmitool", _program(
            r"|(?:chassis |power )*status|sel(?: (?:list|elist|info|get|time get).*)?|sdr.*"
            r"|sensor(?: (?:list|get).*)?|fru(?: print.*)?|lan print.*|(?:mc|bmc) info|user list.*"
            r"|session info.*|sol info.*|chassis bootparam get.*|mc guid|channel (?:info|getaccess).*",
            valued="-I -H -U -P -f -L -p -t -C -o",
        )),
        ("sysctl", _program(r"[^=]*", r"(?:^| )(?:-[A-Za-z]*[wp]|--(?:write|load|system))|=")),
        ("iptables ip6tables", _program(
            _ANY, r"^(?!.*(?:^| )(?:-\w*[LS]|--list))|(?:^| )-[A-Za-z]*[ADIRFZNXPE]"
            r"|--(?:append|delete|insert|flush|zero|new|policy|replace|rename)"
        )),
        ("nft", _program(r"list .*|list")),
        ("ipset", _program(r"(?:list|test)(?: .*)?")),
        ("ufw", _program(r"status(?: .*)?")),
        ("firewall-cmd", _program(
            "", r"--(?!list|get|state|query|zone|version|permanent|info)"
        )),
        ("ipvsadm", _program(_ANY, r"^(?!-\w*[lL]|--list)|-[A-Za-z]*[AEDCadeRZ]")),
        ("conntrack", _program(_ANY, r"^(?!-[LSCE]|--(?:dump|stats|count))|-[DFUI]\b")),
        ("arp", _program(_ANY, r"(?:^| )-[A-Za-z]*[dsf]\b")),
        ("route", _program(r"|print.*", r"\b(?:add|del|delete|change|flush)\b|-f")),
        ("ifconfig", _program(r"\S*")),
        ("ipconfig", _program(r"(?:/all|/displaydns)?")),
        ("netsh", _program(r".* show(?: .*)?", _CHANGING)),
        ("nc ncat netcat", _program(_ANY, r"(?:^| )-[A-Za-z]*[eclkU]|--(?:exec|listen|sh-exec)")),
        ("ss", _program(_ANY, r"(?:^| )(?:-[A-Za-z]*K|--kill|-D)")),
        ("fuser", _program(_ANY, r"(?:^| )(?:-[A-Za-z]*k|--kill)")),
        ("tcpdump tshark", _program(_ANY, r"(?:^| )-[A-Za-z]*z|(?:^| )-w ?(?:/(?!tmp/)|~)")),
        ("xxd", _program(r"\S*", r"(?:^| )-\w*r", "-l -s -c -g")),
        ("yq", _program(_ANY, r"(?:^| )(?:-\w*i|--inplace|-w|w(?:rite)?|d(?:elete)?)(?: |$)")),
        ("base64", _program(_ANY)),
        ("tar", _program(_ANY, r"^(?!-?[A-Za-z]*t[A-Za-z]*(?: |$)|--list)|-[A-Za-z]*[xcruA]\b|--(?:to-command"
                         r"|checkpoint-action|extract|create|use-compress|delete)")),
        ("unzip", _program(_ANY, r"^(?!-\w*[lvtZ])")),
        ("history", _program(r"\d*", r"-[cdwanr]")),
        ("set", _program(r"", r"-o\b.*=")),
        ("clear cls", _program("")),
        ("command", _program(_ANY, r"^(?!-[vV] )")),
        ("crontab", _program("", r"^(?!.*-l)|-[re]\b")),
        ("at atq", _program("", r"^(?!-l|$)")),
        ("file", _program(_ANY, r"^(?:delete|copy|archive|rename|checksum-set|move)\b|-C\b")),
        ("rpm", _program(_ANY, r"^(?!-(?:q|V|K)|--(?:query|verify|checksig|version|eval))|--(?:import|erase|initdb|rebuilddb|setperms|restore)")),
        ("dpkg", _program(_ANY, r"^(?!-(?:l|L|s|S|p|C|c|I|V)|--(?:list|status|search|audit|print|verify|get))")),
        ("apt apt-get", _program(r"(?:list|show|policy|search|changelog)(?: .*)?")),
        ("apt-mark", _program(r"show\w+(?: .*)?")),
        ("yum dnf microdnf tdnf", _program(
            r"(?:list|info|repolist|search|provides|whatprovides|check-update|deplist|repoquery"
            r"|history(?: (?:list|info))?|module list|updateinfo(?: list)?|check)(?: .*)?",
            r"\bhistory (?:undo|redo|rollback)",
        )),
        ("zypper", _program(
            r"(?:search|se|info|if|lr|repos|lu|list-updates|packages|pa|patches|what-provides|lp|ll|locks)(?: .*)?")),
        ("snap pip pip3 npm gem conda brew", _program(
            r"(?:list|info|show|freeze|check|ls|view|outdated|search)(?: .*)?")),
        ("git", _program(
            _GIT, r"(?:^| )(?:-[dDmMf]\b|--delete|--output|--ext-diff|-O|--open|--upload-pack|--exec|-c\b|--move)|^config(?!.*(?:-l\b|--list|--get))",
            "-C",
        )),
        ("kubectl oc k kubectl.exe", _program(_KUBECTL, valued=_KUBE_VALUED)),
        ("helm", _program(
            r"(?:list|ls|status|get|history|show|search|template|version|env|lint|repo list|diff"
            r"|plugin list|inspect|verify|dependency list)(?: .*)?",
            r"--post-renderer|--output-dir",
            _KUBE_VALUED,
        )),
        ("terraform tofu terragrunt", _program(
            r"(?:plan|show|output|validate|version|providers|graph|state (?:list|show|pull)"
            r"|workspace (?:list|show))(?: .*)?")),
        ("docker podman nerdctl crictl ctr", _program(
            _CONTAINERS, r"\b(?:rm|prune|kill)\b", "-n --namespace -H --host -r --runtime-endpoint -c --context -a --address")),
        ("docker-compose podman-compose", _program(r"(?:ps|logs|config|top|images|ls)(?: .*)?", valued="-f -p")),
        ("etcdctl", _program(
            r"(?:get|endpoint (?:status|health|hashkv)|member list|alarm list|watch|user (?:list|get)"
            r"|role (?:list|get)|auth status|version|lease list|cluster-health|ls)(?: .*)?",
            valued="--endpoints --cacert --cert --key --user -w --write-out --command-timeout",
        )),
        ("ceph", _program(_CEPH, valued="-n --name -c --conf -k --keyring --id -f --format --cluster -m")),
        ("rbd", _program(
            r"(?:ls|list|info|status|showmapped|du|diff|(?:snap|lock|device|trash|mirror pool|image-meta) "
            r"(?:ls|list|info|status))(?: .*)?", valued="-p --pool -n --id -c -k")),
        ("rados", _program(r"(?:df|ls|lspools|stat|listxattr|listomapkeys|listwatchers|list-inconsistent-\w+)(?: .*)?",
                           valued="-p --pool -n --id -c -k")),
        ("radosgw-admin", _program(r".*?(?:list|ls|stats|info|status|show|get|check)(?: .*)?",
                                   _CHANGING + r"|\b(?:purge|fix|link|unlink|suspend|init|trim|process|gc process)\b")),
        ("ceph-volume", _program(r"(?:\w+ )?(?:list|inventory)(?: .*)?")),
        ("cephadm", _program(r"(?:ls|version|logs|inspect-image|check-host)(?: .*)?")),
        ("redis-cli", _program(
            _REDIS, r"--(?:eval|pipe|cluster (?!info|check|call)|rdb|ldb)",
            "-h -p -a -n -u --user --pass -i -r --askpass",
        )),
        ("mysqladmin", _program(
            r"(?:(?:status|processlist|ping|variables|extended-status|version) ?)+", valued="-h -u -P -p")),
        ("rabbitmqctl", _program(
            r"(?:list_\w+|status|cluster_status|environment|report|node_health_check|ping|version)(?: .*)?",
            valued="-n -p -t")),
        ("rabbitmq-diagnostics", _program(_ANY, r"\b(?:eval|erlang_shell|delete|force|purge|reset|remote_shell)", "-n")),
        ("nodetool", _program(
            r"(?:status|info|ring|tpstats|compactionstats|cfstats|tablestats|netstats|describecluster"
            r"|gossipinfo|getendpoints|proxyhistograms|version|describering|statusgossip"
            r"|listsnapshots|tablehistograms|statusbinary)(?: .*)?", valued="-h -p -u -pw")),
        (("kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-configs"
         " kafka-configs.sh kafka-acls kafka-acls.sh"),
         _program(_ANY, r"^(?!.*--(?:list|describe))|--(?:alter|delete|create|add|remove|reset|execute)")),
        ("kafka-console-consumer kafka-console-consumer.sh", _program(_ANY)),
        ("consul", _program(
            r"(?:members|info|version|kv get|catalog \S+|operator raft list-peers|monitor|validate"
            r"|acl \S+ (?:list|read)|intention (?:list|get|check))(?: .*)?", r"kv (?:put|delete)")),
        ("vault", _program(r"(?:status|read|list|login|kv (?:get|list)|token lookup|secrets list|auth list|policy (?:read|list)"
                           r"|operator raft list-peers|version)(?: .*)?")),
        ("nomad", _program(r"(?:\w+ )?(?:status|inspect|list|logs|history|info|members|list-peers)(?: .*)?",
                           _CHANGING)),
        ("patronictl gitlab-patronictl", _program(r"(?:list|history|show-config|topology|version|query)(?: .*)?", r"\bquery\b", "-c -d")),
        ("gitlab-ctl", _program(r"(?:status|tail|patroni members|show-config|service-list|get-\S+|consul members)(?: .*)?")),
        ("knife", _program(r".*\b(?:show|list|search|status)\b.*|status.*|search .*", _CHANGING + r"|\bssh\b|\bexec\b")),
        ("nginx", _program("", r"^(?!-[tTvV]+$)", "-c")),
        ("apachectl apache2ctl httpd", _program(r"(?:status|fullstatus|configtest)?", r"^$|-k")),
        ("haproxy", _program("", r"^(?!.*(?:^| )-(?:c|v+)(?: |$))", "-f")),
        ("named-checkconf named-checkzone", _program(_ANY)),
        ("visudo", _program("", r"^(?!-c)")),
        ("sshd", _program("", r"^(?!-[tT])")),
        ("promtool", _program(r"(?:check|query|test|debug)(?: .*)?")),
        ("amtool", _program(
            r"alert(?: query.*)?|silence(?: query.*)?|config(?: (?:show|routes).*)?"
            r"|cluster(?: show)?|check-config.*|template render.*",
            valued="--alertmanager.url -o --output",
        )),
        ("openssl", _program(
            r"(?:x509|s_client|verify|version|ciphers|asn1parse|dgst|crl|req|rsa|pkcs12|ocsp)(?: .*)?",
            r"-(?:out|keyout|CAcreateserial|newkey|new|export|signkey|sign) ?/?(?!tmp)")),
        ("keytool", _program(_ANY, r"^(?!-(?:list|printcert))")),
        ("gpg", _program(_ANY, r"^(?!--(?:list|verify|fingerprint))")),
        ("ntpq", _program(_ANY, r"(?:^| )(?:-c ?:?config|:config|-c \"?(?:write|add|unconfig))")),
        ("ntpdate", _program(_ANY, r"^(?!-\w*q)")),
        ("chronyc", _program(r"(?:tracking|sources|sourcestats|activity|ntpdata|clients|serverstats)(?: .*)?", valued="-h -p")),
        ("virsh", _program(_VIRSH, valued="-c --connect")),
        ("esxcli", _program(r".* (?:list|get|info|stats)(?: .*)?", _CHANGING)),
        ("vim-cmd", _program(r"\S+/(?:get\S*|list\S*|power\.getstate)(?: .*)?")),
        ("racadm", _program(r"(?:get|get\w+|hwinventory|lclog view|swinventory|serveraction powerstatus)(?: .*)?", r"\bset\b", "-r -u -p")),
        ("storcli storcli64 perccli perccli64", _program(
            r"\S+ show(?: .*)?", r"\b(?:set|start|stop|delete|add|del|import|clear)\b|=")),
        ("scontrol", _program(r"(?:show|ping)(?: .*)?")),
        ("nvidia-smi", _program(
            r"(?:topo|nvlink|dmon|pmon)?(?: .*)?", r"(?:^| )-(?:r|pm|pl|e|c|p|ac|rac|lgc|rgc|mig|am|caa|acp)(?: |=|$)|--(?:gpu-reset|reset|persistence-mode|power-limit|compute-mode|ecc)")),
        ("perfquery", _program(_ANY, r"(?:^| )-[rR]")),
        ("lctl", _program(r"(?:get_param|dl|list_nids|ping|device_list|list_param)(?: .*)?", r"\b-w\b")),
        ("lfs", _program(r"(?:df|getstripe|check|quota|osts|mdts|getname|find)(?: .*)?")),
        ("pcs crm", _program(r"|status(?: .*)?|mon|(?:resource|cluster|node|stonith|constraint|property) (?:show|status|config|list)(?: .*)?|config|configure show.*")),
        ("corosync-cfgtool", _program(_ANY, r"^(?!-s|-n)")),
        ("drbdadm", _program(r"(?:status|cstate|dstate|role|dump)(?: .*)?")),
        ("gluster", _program(r"(?:volume|peer|pool|snapshot) (?:status|info|list)(?: .*)?|volume heal \S+ info.*")),
        ("exportfs", _program("", r"-[A-Za-z]*[arufo]")),
        ("iscsiadm", _program("", r"(?:^| )(?:-[luoRD]\b|--(?:login|logout|op|rescan|discover))", "-m --mode -P -T -p")),
        ("lldpcli lldpctl", _program(r"|show .*")),
        ("birdc birdcl", _program(r"show .*")),
        ("nv net", _program(r"show(?: .*)?|config (?:show|diff|history)")),
        ("calicoctl", _program(r"(?:get|node (?:status|diags)|version|ipam show)(?: .*)?")),
        ("istioctl", _program(r"(?:proxy-status|ps|analyze|pc|proxy-config|version|x describe|dashboard)(?: .*)?", valued="-n -i --context")),
        ("cilium hubble", _program(r"(?:status|observe|endpoint (?:list|get)|monitor|version|list|bpf \S+ list|service list|node list)(?: .*)?")),
        ("argocd flux velero kubeadm minikube cmctl kind kustomize", _program(
            r"(?:status|version|build|logs)(?: .*)?|get .*|(?:\S+ ){1,2}(?:get|list|diff|describe|logs|view|history|check-expiration|images list)(?: .*)?",
            _CHANGING)),
        ("aws", _program(
            rf"\S+ {_CLOUD_VERBS}(?:-[\w-]+)?(?: .*)?|s3 ls(?: .*)?|sso login|sts \S+|configure list|logs tail .*",
            valued="--region --profile --output --endpoint-url --query")),
        ("az", _program(
            rf"(?:[\w-]+ )+{_CLOUD_VERBS}(?:-[\w-]+)?|login|account set", _CHANGING.replace("|set", ""), "*")),
        ("gcpdiag", _program(r"(?:lint|runbook|search|help|version)\b.*")),
        ("bq", _program(r"(?:show|ls|head|version)\b.*")),
        ("gcloud", _program(
            rf"(?:[\w-]+ ){{1,4}}?{_CLOUD_VERBS}(?:-[\w-]+)?(?: .*)?|auth login|info|version", _CHANGING.replace("|get", ""), "--project --zone --region")),
        ("cray", _program(rf"(?:[\w-]+ )+{_CLOUD_VERBS}(?: .*)?|auth login|init|config list", _CHANGING)),
        ("sat", _program(r"(?:status|showrev|hwinv|sensors|hwmatch|jobstat|auth)(?: .*)?", _CHANGING)),
        ("sc sc.exe", _program(r"(?:query|queryex|qc|qfailure|getdisplayname)(?: .*)?")),
        ("wevtutil", _program(r"(?:qe|el|gl|gli)(?: .*)?")),
        ("w32tm", _program(r"/(?:query|monitor|stripchart).*")),
        ("nltest", _program(r"/(?:dsgetdc|dclist|domain_trusts|sc_query|server).*", r"/(?:sc_reset|sc_change)")),
        ("dcdiag", _program(_ANY, r"(?i)/fix")),
        ("repadmin", _program(r"/(?:showrepl|replsummary|queue|showutdvec|showconn).*")),
        ("chkdsk", _program(r"(?:\w:)?")),
        ("fsutil", _program(r".* query\w*(?: .*)?|fsinfo .*")),
        ("reg", _program(r"query .*")),
        ("certutil", _program(_ANY, r"^(?!-(?:L|verify|dump|store)\b)")),
        ("python python3", _program("json.tool", r"^(?!-m json\.tool)", "")),
        ("get", _program(_ANY, r"/(?:etc|dev)/")),
        ("describe desc", _program(_ANY)),
        ("do", _program(r"(?:show|ping|traceroute)(?: .*)?")),
        ("run", _program(r"(?:show|ping|traceroute)(?: .*)?")),
        ("terminal screen-length", _program(r"(?:length|width|pager|monitor|no monitor|len|disable|0).*")),
    )
    for name in names.split()
}  # fmt: skip
"""Programs that look with some words and change something with others."""
