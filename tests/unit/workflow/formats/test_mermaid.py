from itertools import pairwise

import pytest

from services.workflow.formats.mermaid import from_mermaid, to_mermaid
from services.workflow.formats.mermaid_parser import MermaidError
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow


def steps(text: str) -> dict[str, str]:
    return {step.id: step.text for step in from_mermaid(text).steps}


def kinds(text: str) -> dict[str, str]:
    return {step.id: step.kind.value for step in from_mermaid(text).steps}


def edges(text: str) -> list[tuple[str, str, str]]:
    return [(t.source, t.target, t.condition) for t in from_mermaid(text).transitions]


@pytest.mark.parametrize(
    "shape",
    [
        "[{}]", "({})", "([{}])", "[[{}]]", "[({})]", "(({}))", ">{}]", "{{{}}}", "{{{{{}}}}}",
        "[/{}/]", "[\\{}\\]", "[/{}\\]", "[\\{}/]", "((({})))", "(-{}-)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", ["Link is down", '"Link is down"', '"`Link is down`"'])
def test_every_shape_gives_its_label(shape: str, label: str) -> None:
    chart = f"flowchart TD\n  A{shape.format(label)} --> B\n"

    assert steps(chart)["A"] == "Link is down"


@pytest.mark.parametrize(
    "attributes",
    [
        '@{ shape: diam, label: "Link up?" }',
        "@{shape: decision, label: Link up?}",
        "@{\n    label: 'Link up?'\n    shape: diamond\n  }",
    ],
)
def test_a_shape_may_be_given_by_attributes(attributes: str) -> None:
    chart = f"flowchart TD\n  A{attributes}\n  A --> B\n"

    assert steps(chart)["A"] == "Link up?"
    assert kinds(chart)["A"] == "decision"


@pytest.mark.parametrize(
    "header",
    ["flowchart TD", "graph LR", "graph TD;", "flowchart", "  flowchart-elk RL", "graph >"],
)
def test_every_header_is_understood(header: str) -> None:
    assert edges(f"{header}\n  A --> B\n") == [("A", "B", "")]


def test_statements_may_follow_the_header_on_its_line() -> None:
    assert edges("graph LR; A-->B; B-->C;") == [("A", "B", ""), ("B", "C", "")]


@pytest.mark.parametrize(
    "arrow",
    [
        "-->", "---", "---->", "--x", "--o", "x--x", "o--o", "-.->", "-.-", "-...->", "==>", "===",
        "====>", "->", "e1@-->", "\u2192",
    ],
)  # fmt: skip
def test_every_arrow_is_a_transition(arrow: str) -> None:
    assert edges(f"flowchart TD\nA {arrow} B") == [("A", "B", "")]


@pytest.mark.parametrize("arrow", ["-->", "---", "-.->", "==>"])
def test_arrows_need_no_spaces(arrow: str) -> None:
    assert edges(f"flowchart TD\nA{arrow}B{arrow}C") == [("A", "B", ""), ("B", "C", "")]


@pytest.mark.parametrize(
    "arrow",
    [
        "-- no link -->", "--no link-->", '-- "no link" -->', "-- no link ---", "-->|no link|",
        '-->|"no link"|', "--> |no link|", "-->| no link |", "== no link ==>", "==>|no link|",
        "-. no link .->", "-.->|no link|", "-.no link.->", "---|no link|", "|no link| -->",
        "-->|no link|>", "--x|no link|", "-- |no link| -->", "-- no<br/>link -->",
    ],
)  # fmt: skip
def test_a_label_stands_in_or_beside_the_arrow(arrow: str) -> None:
    assert edges(f"flowchart TD\nA {arrow} B") == [("A", "B", "no link")]


def test_labels_may_hold_dashes_and_options() -> None:
    chart = "flowchart TD\nA -- re-run with --force --> B\nA -- on-call agrees --> C"

    assert [label for *_, label in edges(chart)] == ["re-run with --force", "on-call agrees"]


@pytest.mark.parametrize("label", ["ok", "other", "x1"])
def test_a_glued_label_is_no_circle_or_cross(label: str) -> None:
    assert edges(f"flowchart TD\nA --{label}--> B") == [("A", "B", label)]


def test_a_glued_circle_is_an_arrow() -> None:
    assert edges("flowchart TD\nA---oB") == [("A", "B", "")]
    assert edges("flowchart TD\nA--xB") == [("A", "B", "")]


def test_a_double_arrow_leads_both_ways() -> None:
    assert edges("flowchart TD\nA <--> B\nB <-- sync --> C") == [
        ("A", "B", ""),
        ("B", "A", ""),
        ("B", "C", "sync"),
        ("C", "B", "sync"),
    ]


def test_an_invisible_link_is_no_transition() -> None:
    chart = "flowchart TD\nA ~~~ B\nA --> B"

    assert edges(chart) == [("A", "B", "")]


def test_chains_and_lists_of_nodes_multiply() -> None:
    chart = "flowchart TD\nA & B --> C & D --> E"

    assert edges(chart) == [
        ("A", "C", ""),
        ("A", "D", ""),
        ("B", "C", ""),
        ("B", "D", ""),
        ("C", "E", ""),
        ("D", "E", ""),
    ]


def test_an_arrow_may_start_the_next_line() -> None:
    assert edges("flowchart TD\nA[One]\n  --> B[Two]\n  --> C") == [("A", "B", ""), ("B", "C", "")]


def test_nodes_may_be_used_before_they_are_defined() -> None:
    chart = 'flowchart TD\nA --> B\nB["Reseat the optic"]\nA["Read the light level"]'

    assert steps(chart) == {"A": "Read the light level", "B": "Reseat the optic"}


def test_a_node_without_label_is_called_by_its_id() -> None:
    assert steps("flowchart TD\nreseat --> done") == {"reseat": "reseat", "done": "done"}


@pytest.mark.parametrize(
    "node_id", ["leaf-1", "port.down", "1a", "étape", "步骤1", "A/B", "end-here", "x", "o1", "v_2"]
)
def test_ids_may_hold_what_people_put_into_them(node_id: str) -> None:
    assert edges(f"flowchart TD\n{node_id}[a] --> B") == [(node_id, "B", "")]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('"say #quot;up#quot;"', 'say "up"'),
        ('"5 &lt; 6 &amp; 7 #35; 8"', "5 < 6 & 7 # 8"),
        ('"Read<br/>the<br>log"', "Read the log"),
        ('"<b>Stop</b> <i>now</i>"', "Stop now"),
        ('"ping <host> first"', "ping <host> first"),
        ('"`**Stop** the _old_ pod`"', "Stop the old pod"),
        ('"fa:fa-ban Stop"', "Stop"),
        ("Check (again) the [old] port", "Check (again) the [old] port"),
        ("/var/log is full", "/var/log is full"),
        ('"quotes "inside" quotes"', 'quotes "inside" quotes'),
        ('"too many files" in the log', '"too many files" in the log'),
        ('"two\nlines"', "two lines"),
        ("two\n  lines", "two lines"),
        ("a; b %% c", "a; b %% c"),
        ("(optional) reload", "(optional) reload"),
        ("(see a) and (see b)", "(see a) and (see b)"),
        ("Überprüfe 光模块", "Überprüfe 光模块"),
    ],
)
def test_labels_are_read_as_words(written: str, read: str) -> None:
    assert steps(f"flowchart TD\nA[{written}] --> B")["A"] == read


def test_comments_styles_and_directives_are_ignored() -> None:
    chart = """
    %%{init: {"theme": "dark",
              "flowchart": {"curve": "step"}}}%%
    flowchart TD
        %% A --> Z
        direction LR
        accTitle: Ports
        accDescr { A port
            goes down }
        A[One]:::hot --> B[Two] %% not C
        classDef hot fill:#f96,stroke:#333;
        class A,B hot
        class B
        style A fill:#bbf
        linkStyle 0 stroke:#ff3,stroke-width:4px;
        click A "https://example.org/;x" "tip"
        click B call back()
        e1@{ animate: true }
    """

    assert steps(chart) == {"A": "One", "B": "Two"}
    assert edges(chart) == [("A", "B", "")]


def test_front_matter_gives_the_title() -> None:
    chart = '---\ntitle: "Port \\"down\\""\nconfig:\n  theme: forest\n---\nflowchart TD\nA --> B'

    assert from_mermaid(chart).title == 'Port "down"'


@pytest.mark.parametrize("fence", ["```mermaid", "~~~ mermaid", "```"])
def test_a_fence_and_prose_around_it_are_left_out(fence: str) -> None:
    chart = f"Here is the graph:\n\n{fence}\ngraph TD\nA --> B\n{fence[:3]}\n\nIt ends --> there."

    assert edges(chart) == [("A", "B", "")]


def test_subgraphs_hold_steps_of_the_same_workflow() -> None:
    chart = """flowchart TD
        subgraph one [Look]
            direction LR
            A --> B
            subgraph "deep inside"
                C
            end
        end
        subgraph Repair it
            D
        end
        B --> C --> D
    """

    assert list(steps(chart)) == ["A", "B", "C", "D"]
    assert edges(chart) == [("A", "B", ""), ("B", "C", ""), ("C", "D", "")]


def test_an_arrow_to_a_subgraph_leads_to_its_first_step_and_leaves_from_its_ends() -> None:
    chart = """flowchart TD
        S --> look
        look -->|then| T
        subgraph look
            A --> B
            A --> C
        end
    """

    assert edges(chart) == [
        ("S", "A", ""),
        ("B", "T", "then"),
        ("C", "T", "then"),
        ("A", "B", ""),
        ("A", "C", ""),
    ]
    assert list(steps(chart)) == ["S", "T", "A", "B", "C"]


def test_an_empty_subgraph_that_is_linked_is_a_step() -> None:
    chart = "flowchart TD\nA --> hand\nsubgraph hand [Hand over]\nend"

    assert steps(chart) == {"A": "A", "hand": "Hand over"}


def test_kinds_follow_shape_and_exits() -> None:
    chart = """flowchart TD
        start([Alert]) --> B[Light low?]
        B -->|yes| C{Own optic}
        B -->|no| D([Close])
        C --> D
    """

    assert kinds(chart) == {
        "start": "process",
        "B": "decision",
        "C": "decision",
        "D": "terminal",
    }


def test_the_step_that_leads_to_the_first_named_one_comes_first() -> None:
    chart = "flowchart TD\nsubgraph s\nB --> C\nend\nA --> B\nC -->|again| B"

    assert list(steps(chart)) == ["A", "B", "C"]


@pytest.mark.parametrize(
    ("chart", "line"),
    [
        ("", 1),
        ("sequenceDiagram\nA->>B: hi", 1),
        ("flowchart TD", 1),
        ("flowchart TD\nA --> B\nB -->\n", 4),
        ("flowchart TD\nA[unclosed --> B\nC", 2),
        ('flowchart TD\nA["unclosed] --> B\nC', 2),
        ("flowchart TD\nA --> B\n\nA B --> C", 4),
        ("flowchart TD\nA -- text B", 2),
        ("flowchart TD\nsubgraph x\nA --> B", 2),
        ("flowchart TD\nA --> B\n--> C\n|x", 4),
        ("Some words\n\n```mermaid\ngraph TD\nA --> B\nB ?> C\n```", 6),
    ],
)
def test_an_error_names_its_line(chart: str, line: int) -> None:
    with pytest.raises(MermaidError, match=rf"^line {line}: expected") as raised:
        from_mermaid(chart)

    assert raised.value.line == line


ATTACKS = [
    "<script>alert(1)</script>",
    '"]; click A "javascript:alert(1)"',
    "]:::x\n    B --> C",
    "%%{init: {'securityLevel': 'loose'}}%%",
    "<img src=x onerror=alert(1)>",
    "#quot;] --> X[#quot;",
    "&lt;script&gt;",
    "change direction TB now",
    "style: #fff;",
    "end\nsubgraph x",
    "$$\\alpha$$",
    "`code`",
    "fa:fa-ban",
    "1. first",
    "a\\nb",
    "**bold** and _it_",
    "\x00\x1b[31m\u2028\ufeff",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_text_leaves_its_quotes(attack: str) -> None:
    workflow = Workflow(
        title=attack,
        steps=(
            Step(id="A", kind=StepKind.DECISION, text=attack),
            Step(id="B", kind=StepKind.TERMINAL, text=attack),
        ),
        transitions=(
            Transition(source="A", target="B", condition=attack),
            Transition(source="A", target="B", condition="no"),
        ),
    )

    chart = to_mermaid(workflow)

    body = chart.split("flowchart TD\n", 1)[1]
    assert len(body.splitlines()) == 6
    assert body.count('"') == 8
    assert not set("<\x00\x1b\u2028") & set(body)
    assert "%%{" not in body
    assert from_mermaid(chart) == workflow


def test_the_drawing_is_exact_and_stable() -> None:
    workflow = Workflow(
        title="Optic",
        steps=(
            Step(
                id="read-light",
                kind=StepKind.PROCESS,
                text="Read the light level",
                citations=(Citation(document_id="optics.md", start_line=3, end_line=4),),
            ),
            Step(id="low", kind=StepKind.DECISION, text='Is it "low"?'),
            Step(id="end", kind=StepKind.TERMINAL, text="Done"),
        ),
        transitions=(
            Transition(source="read-light", target="low"),
            Transition(source="low", target="end", condition="no"),
            Transition(source="low", target="read-light", condition="yes"),
        ),
    )

    assert to_mermaid(workflow) == (
        "---\n"
        'title: "Optic"\n'
        "---\n"
        "flowchart TD\n"
        '    read-light["Read the light level"]\n'
        '    low{"Is it #quot;low#quot;?"}\n'
        '    id_end(["Done"])\n'
        "    read-light --> low\n"
        '    low -->|"no"| id_end\n'
        '    low -->|"yes"| read-light\n'
        "    classDef unsourced stroke-dasharray: 5 4\n"
        "    class low,id_end unsourced\n"
    )


def test_arrows_that_multiply_without_end_are_refused() -> None:
    many = " & ".join(f"n{i}" for i in range(300))

    with pytest.raises(MermaidError, match="at most"):
        from_mermaid(f"flowchart TD\n{many} --> {many}")
    with pytest.raises(MermaidError, match="at most"):
        from_mermaid(f"flowchart TD\nsubgraph s\n{many}\nend\n" + "\n".join(["s --> t"] * 100))


def test_steps_below_one_heading_are_a_group_of_its_name() -> None:
    ids = ("a", "b", "section-1", "c")
    workflow = Workflow(
        title="",
        steps=tuple(Step(id=i, kind=StepKind.PROCESS, text=f"Do {i}", implied=True) for i in ids),
        transitions=tuple(Transition(source=a, target=b) for a, b in pairwise(ids)),
    )
    chart = to_mermaid(workflow, {"a": 'Look "twice"', "b": 'Look "twice"', "c": "Mend]\nend"})
    assert chart.startswith(
        "flowchart TD\n"
        '    subgraph section-2["Look #quot;twice#quot;"]\n'
        '        a["Do a"]\n'
        '        b["Do b"]\n'
        "    end\n"
        '    section-1["Do section-1"]\n'
        '    subgraph section-3["'
    )
    assert list(steps(chart)) == list(ids)
    assert edges(chart) == [(t.source, t.target, "") for t in workflow.transitions]
