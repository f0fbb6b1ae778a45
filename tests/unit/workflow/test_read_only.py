"""Whether a step only looks."""

import pytest

from services.workflow.model import Step, StepKind
from services.workflow.read_only import is_read_only_step, sentences_of


def step(text, *commands, block=""):
    return Step(id="s", kind=StepKind.PROCESS, text=text, commands=commands, block=block)


@pytest.mark.parametrize(
    ("block", "commands", "looks"),
    [
        ("- Check the fans.", (), True),
        ("2. **Check** the `fan` state:", ("show environment fan",), True),
        ("- [ ] Verify that the restart helped.", (), True),
        ("Check the logs. The pod is listed there.", (), True),
        ("Check the fans and the power supplies, then compare them.", (), True),
        ("Look at the pods.\nFind the one that crashes.", ("kubectl get pods",), True),
        ("- Check the fans. Restart the tray.", (), False),
        ("- Check the node and restart the kubelet.", (), False),
        ("- Check the node, then reboot it if it hangs.", (), False),
        ("- Check the pod:", ("kubectl delete pod x",), False),
        ("- Check the pod:", ("kubectl get pod x", "kubectl delete pod x"), False),
        ("- Check the tool:", ("made-up-tool --go",), False),
        ("- Check the disk. If it is full, call the site.", (), False),
        ("- Check the disk. `rm -rf /var/tmp/x` frees it.", (), False),
        ("- The service can be restarted. Check it.", (), False),
        ("- Restart the tray.", (), False),
        ("- The fans are listed there.", (), False),
        ("- Starten Sie den Dienst neu.", (), False),
        ("- Den Zustand ansehen:", ("df -h",), False),
    ],
)
def test_one_doing_makes_a_box_a_doing(block, commands, looks):
    assert is_read_only_step(step("Check it", *commands, block=block)) is looks


@pytest.mark.parametrize(
    ("text", "commands", "looks"),
    [
        ("Check the fans", (), True),
        ("Then check the fans. Restart it.", (), True),
        ("Check the pod", ("kubectl delete pod x",), False),
        ("Check the disk", ("df -h", "rm -rf /var/lib/x"), False),
        ("Check the tool", ("made-up-tool --go",), True),
        ("Replace the tray", (), False),
    ],
)
def test_the_first_words_and_known_commands_say_it_of_another_step(text, commands, looks):
    assert is_read_only_step(step(text, *commands)) is looks


def test_a_block_is_read_without_its_marker_and_markup():
    assert sentences_of("3. > - [x] **See** [the page](a.md). Mend it.") == [
        "See the page.",
        "Mend it.",
    ]
