import pytest

from services.workflow.commands import assigned, only_looks, placeholder_name, placeholders
from services.workflow.dangers import danger_in_prose, danger_of


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
def test_a_destructive_command_is_known(command: str) -> None:
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


def test_prose_is_dangerous_only_where_no_english_reads_so() -> None:
    assert danger_in_prose("Reboot the switch and reload the page; no vlan 10 is set") is None
    assert danger_in_prose("Run rm -rf on the old folder") is not None


@pytest.mark.parametrize(
    "command",
    [
        "show interface",
        "leaf1# show ver",
        "$ df -h",
        "kubectl -n x get pod",
        "ip -s link show eth0",
    ],
)
def test_a_reading_command_only_looks(command: str) -> None:
    assert only_looks(command)


@pytest.mark.parametrize("command", ["kubectl apply -f x", "ip link set eth0 up", "find / -delete"])
def test_a_changing_command_does_not_only_look(command: str) -> None:
    assert not only_looks(command)


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


def test_variables_set_by_a_command_are_known() -> None:
    assert assigned("POD=$(kubectl get pod -o name); for n in a b; do read -r line; done") == {
        "pod",
        "n",
        "line",
    }
