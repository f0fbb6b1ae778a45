from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from services.workflow.effects.effect import EffectLevel, effect_of
from services.workflow.effects.shell import UnbalancedError, simple_commands

CASES = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text("utf-8"))
LOOKS = [
    "show interface", "leaf1# show ver", "$ df -h", "kubectl -n x get pod",
    "ip -s link show eth0", "ip a", "ip addr", "ip -br a", "show run | include ^ip|^router",
    "kubectl logs x > /tmp/x", "kubectl logs x --tail=5 2>&1 | grep -v foo",
    "kubectl exec -it p -n x -- ls /", "kubectl exec p -- bash -c 'ls | wc -l'", "ssh h uptime",
    "sudo -u x cat f", "env", "watch kubectl get po", "ls | xargs -n1 stat", "awk '{print $1}' f",
    "find . -name x -exec ls {} \\;", "hostname", "hostname -f", "date", "mount | grep x",
    "psql -c 'select * from x where a > 5'", "select * from pg_stat_activity where x = 'a'",
    "redis-cli -h x info", "Get-Service x | Where-Object { $_.Status -eq 'Running' }",
    "$x = Get-Service a",
    "Get-VM | ForEach-Object { Get-VMNetworkAdapter $_ } | Format-Table -AutoSize",
    "for i in $(ls); do cat $i; done", "if [ -f x ]; then cat x; fi",
    "cat <<EOF > x.yaml\nhi\nEOF", "X=$(kubectl get po -o name); echo $X", "export A=b",
    "curl -s http://x | jq .", "curl -sk -H \"A: b\" -XGET x", "journalctl -u x --since today",
    "systemctl status x", "systemctl is-active x", "ceph -s", "ceph osd tree",
    "ceph health detail", "etcdctl --endpoints=x endpoint health", "git branch", "git log -3",
    "docker ps -a", "docker exec x ls", "helm list -A", "aws ec2 describe-instances --x y",
    "az vm list", "gcloud compute instances list", "cray hsm state components list --format json",
    "openssl x509 -in x -text -noout", "openssl s_client -connect x:443 </dev/null",
    "promtool check config x", "rpm -qa | grep x", "dpkg -l", "sed -n 1,5p f",
    "ip route get 1.1.1.1", "oc debug node/x -- chroot /host crictl ps",
    "kubectl get pods -l app=<app-name>", "cat /proc/<pid>/status", "grep 'rm -rf' x",
    "kubectl get pod <pod name> -n <ns>", "ethtool eth0", "sysctl -a", "iptables -L -n",
    "kubectl config get-contexts", "oc adm top nodes", "tcpdump -i eth0 -w /tmp/x.pcap",
    "nc -zv h 1", "test -f x && echo y || echo n", "kubectl rollout status deploy/x",
    "kubectl auth can-i delete pods", "while true; do kubectl get po; sleep 1; done",
]  # fmt: skip
CHANGES = [
    "clear bgp neighbor", "ip link set eth0 down", "kubectl scale --replicas=0 deploy/x",
    "ls; systemctl stop sshd", "cat x | tee /etc/passwd", "echo 1 > /proc/sys/vm/drop_caches",
    "mount -o remount,rw /", "sed -i s/a/b/ f", "find / -exec rm {} \\;", "curl -XPOST x",
    "curl -d x y", "kubectl exec p -- rm x", "ssh h 'systemctl restart x'", "sudo reboot",
    "env A=1 touch x", "timeout 5 systemctl stop x", "xargs rm", "ls | xargs -n1 kill",
    "awk '{system(\"x\")}' f", "hostname new", "date -s x", "dmesg -c",
    "journalctl --vacuum-size=1G", "kubectl auth reconcile -f x", "ls $(rm x)", "ls `touch x`",
    "(ls; kill 1)", "for i in a; do kill $i; done", "if ls; then kill 1; fi",
    "echo x >> app.conf", "psql -c 'delete from x where a=1'", "redis-cli config set a b",
    "Get-Service x | Restart-Service", "$x = Stop-Service a",
    "Get-VM | ForEach-Object { Stop-VM $_ }", "python -c 'print(1)'",
    "select pg_terminate_backend(1)", "./ls", "ls > /etc/x", "bash x.sh", "pdsh -w x 'kill 1'",
    "leaf1(config)# router bgp 1", "show version | reboot", "ceph osd out 1", "etcdctl del x",
    "bash <<EOF\nkill 1\nEOF", "cat <<EOF > /etc/x\nhi\nEOF",
    "kubectl get x -o name | xargs kubectl delete", "watch 'kill 1'", "ls &\nkill 1",
    "ip route add 1.1.1.1/32 via 2.2.2.2", "git branch -D x", "ip address 10.0.0.1 255.0.0.0",
    "set interfaces x disable", "cat x | sudo bash", "ssh h bash -s", "rg --pre rm x",
    "redis-cli < x", "(Get-Service x).Stop()", "kubectl --dry-run delete get", "aws s3 rm s3://x",
    "gcloud compute instances delete list", "cat a <<EOF\n$(rm x)\nEOF", "mysql < x.sql",
    "show version; reload", "\\rm x", "r\"m\" x", "case x in a) rm x;; esac", "f() { rm x; }; f",
    "ls 2> /etc/x", "echo ${X:-$(rm y)}", "ip netns exec n ip link set x down",
    "frobnicate", "'unclosed", "$TOOL x",
]  # fmt: skip


@pytest.mark.parametrize("command", [*LOOKS, *CASES["looks"]])
def test_what_reads_only_looks(command: str) -> None:
    effect = effect_of(command)

    assert effect.only_looks
    assert effect.words == ""


@pytest.mark.parametrize("command", [*CHANGES, *CASES["changes"]])
def test_what_changes_or_is_not_known_does_not_only_look(command: str) -> None:
    assert not effect_of(command).only_looks


SHELL_LOOKS = ["ls -l", "kubectl get pods", "cat x.log", "ip a", "systemctl status sshd"]
SHELL_CHANGES = [
    "systemctl stop sshd", "rm x", "kubectl scale --replicas=0 deploy/x", "ip link set eth0 down",
    "echo 1 > /proc/sys/vm/drop_caches", "unheard-of x",
]  # fmt: skip
JOINS = [" | ", "; ", " && ", " || ", "\n", " & "]
WRAPS = [
    "{}", "sudo {}", "( {} )", "echo $({})", "echo `{}`", "if true; then {}; fi", "\"$({})\"",
    "for x in a b; do {}; done", "X=$({})", "cat <({})", "echo \"a $({}) b\"", "time {}",
]  # fmt: skip


@given(
    before=st.lists(st.sampled_from(SHELL_LOOKS), max_size=3),
    change=st.sampled_from(SHELL_CHANGES),
    after=st.lists(st.sampled_from(SHELL_LOOKS), max_size=3),
    join=st.sampled_from(JOINS),
    wrap=st.sampled_from(WRAPS),
)
def test_a_list_with_a_change_anywhere_in_it_is_never_a_look(
    before: list[str], change: str, after: list[str], join: str, wrap: str
) -> None:
    assert not effect_of(join.join([*before, wrap.format(change), *after])).only_looks


@given(st.text(alphabet="abc $()`'\"<>|&;{}#\\\n-/", max_size=40))
@example("<<a\\")
def test_any_text_has_an_effect(text: str) -> None:
    assert effect_of(text).level in EffectLevel


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("kubectl scale --replicas=0 deploy/x",
         "Changes something: scales a workload; undo: scale back to the former count"),
        ("ip link set eth0 down", "Changes something: takes an interface down; undo: set it up"),
        ("sudo systemctl restart chronyd", "Changes something: restarts a service"),
        ("frobnicate --now", "May change something"),
        ("kubectl delete pod x", "Destroys: deletes cluster objects"),
        ("ls; rm -rf /var/x", "Destroys: deletes files"),
    ],
)  # fmt: skip
def test_the_words_say_what_is_changed_and_how_it_is_undone(command: str, words: str) -> None:
    assert effect_of(command).words == words


def test_commands_of_a_substitution_come_before_the_one_they_are_in() -> None:
    commands = simple_commands("echo \"$(date)\" a'b c' <in >out # end\nls")

    assert [each.words for each in commands] == [["date"], ["echo", "$(date)", "ab c"], ["ls"]]
    assert commands[1].writes == [(">", "out")]
    assert commands[1].is_fed


def test_a_quote_that_stays_open_is_no_command() -> None:
    with pytest.raises(UnbalancedError):
        simple_commands("don't look at $(this")
