import random
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import pytest

from services.workflow.drawing.layering import Arrow, Size, assign_layers
from services.workflow.drawing.placement import place, spread
from services.workflow.drawing.routes import route_arrows
from services.workflow.drawing.svg import to_svg
from services.workflow.formats.mermaid import from_mermaid
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

SVG = "{http://www.w3.org/2000/svg}"


def random_chart(seed: int, size: int) -> Workflow:
    rng = random.Random(seed)
    lines = ["flowchart TD"]
    for i in range(size - 1):
        if rng.random() < 0.4:
            lines.append(f"S{i}{{{'Is it so? ' * rng.randint(1, 9)}}}")
            lines.append(f"S{i} -->|{'well, ' * rng.randint(1, 6)}yes| S{i + 1}")
            lines.append(f"S{i} -->|no| S{rng.randrange(size)}")
        else:
            lines.append(f"S{i}[{'Do it. ' * rng.randint(1, 20)}] --> S{i + 1}")
    return from_mermaid("\n".join(lines))


def boxes(drawing: ET.Element) -> dict[str, tuple[float, float, float, float]]:
    """Left, top, right, bottom by step id."""
    bounds = {}
    for link in drawing.iter(f"{SVG}a"):
        if (rect := link.find(f"{SVG}rect")) is not None:
            x, y, w, h = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
            bounds[link.attrib["data-step"]] = (x, y, x + w, y + h)
        else:
            polygon = link.find(f"{SVG}polygon")
            assert polygon is not None
            points = [p.split(",") for p in polygon.attrib["points"].split()]
            xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
            bounds[link.attrib["data-step"]] = (min(xs), min(ys), max(xs), max(ys))
    return bounds


@pytest.mark.parametrize("seed", range(12))
def test_no_box_lies_on_another_and_all_are_in_view(seed: int) -> None:
    drawing = ET.fromstring(to_svg(random_chart(seed, 5 + 4 * seed)))
    left, top, width, height = (float(n) for n in drawing.attrib["viewBox"].split())
    bounds = boxes(drawing)

    for a, b in combinations(bounds.values(), 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for box in bounds.values():
        assert left <= box[0]
        assert top <= box[1]
        assert box[2] <= left + width
        assert box[3] <= top + height


@pytest.mark.parametrize("seed", range(12))
def test_arrows_and_labels_keep_off_boxes_and_labels_off_each_other(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"S{i}" for i in range(5 + 3 * seed)]
    sizes = {name: Size(rng.uniform(60, 280), rng.uniform(30, 110)) for name in names}
    arrows = [Arrow(a, b) for a, b in pairwise(names)]
    arrows += [
        Arrow(rng.choice(names), rng.choice(names), Size(rng.uniform(20, 150), 17))
        for _ in range(seed + 3)
    ]
    layering = assign_layers(sizes, arrows)
    bands = place(layering)
    routes = route_arrows(layering, bands, [(a.source, a.target) for a in arrows], inset=26)

    spots = []
    for name, size in sizes.items():
        cell = layering.steps[name]
        top = bands[cell.layer].top
        spots.append((cell.x - size.width / 2, top, cell.x + size.width / 2, top + size.height))
    for arrow, route in zip(arrows, routes, strict=True):
        if arrow.label is not None:
            assert route.label_at is not None
            (x, y), w, h = route.label_at, arrow.label.width, arrow.label.height
            spots.append((x - w / 2, y - h / 2, x + w / 2, y + h / 2))
    for a, b in combinations(spots, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for route in routes:
        for stroke in route.strokes:
            for (x0, y0), (x1, y1) in pairwise(stroke):
                for left, top, right, bottom in spots:
                    is_beside = max(x0, x1) < left or min(x0, x1) > right
                    is_apart = max(y0, y1) <= top + 0.01 or min(y0, y1) >= bottom - 0.01
                    assert is_beside or is_apart


def test_every_step_is_a_named_link_and_shows_its_whole_text() -> None:
    text = "Look at the light level of both ends. " * 12
    step = Step(id="a b/c", kind=StepKind.DECISION, text=text, commands=("show optics", "x"))
    drawing = ET.fromstring(to_svg(Workflow(title="Optics", steps=(step,))))

    (link,) = drawing.iter(f"{SVG}a")
    lines = [node.text or "" for node in link.iter(f"{SVG}text")]
    assert link.attrib["href"] == "#step-a%20b%2Fc"
    assert link.attrib["aria-label"] == f"Step 1, decision, no source: {text}"
    assert link.findtext(f"{SVG}title") == f"{text}\nshow optics\nx"
    assert drawing.attrib["aria-label"] == "Workflow with 1 steps: Optics"
    assert len(lines) == 7
    assert all(len(line) <= 34 for line in lines)
    assert lines[5].endswith("…")
    assert lines[6] == "show optics +1"


def test_a_link_may_be_chosen() -> None:
    step = Step(id="a", kind=StepKind.TERMINAL, text="x")

    assert 'href="/w/1?s=a&amp;x"' in to_svg(
        Workflow(title="", steps=(step,)), link=lambda s: f"/w/1?s={s}&x"
    )


def test_only_unsourced_steps_have_a_dashed_outline() -> None:
    cited = (Citation(document_id="d", start_line=1, end_line=1),)
    steps = (
        Step(id="a", kind=StepKind.PROCESS, text="x", citations=cited),
        Step(id="b", kind=StepKind.TERMINAL, text="y"),
    )
    drawing = ET.fromstring(to_svg(Workflow(title="", steps=steps)))

    dashed = {
        link.attrib["data-step"]: any("stroke-dasharray" in e.attrib for e in link)
        for link in drawing.iter(f"{SVG}a")
    }
    assert dashed == {"a": False, "b": True}


@pytest.mark.parametrize(
    "attack",
    ["<script>alert(1)</script>", '" onload="alert(1)', "]]>", "\x00\x1b\ufffe&amp;<", "光" * 200],
)
def test_nothing_of_a_document_becomes_markup(attack: str) -> None:
    workflow = Workflow(
        title=attack,
        steps=(
            Step(id=attack, kind=StepKind.DECISION, text=attack, commands=(attack,)),
            Step(id="b", kind=StepKind.TERMINAL, text=attack),
        ),
        transitions=(
            Transition(source=attack, target="b", condition=attack),
            Transition(source=attack, target=attack, condition="again"),
        ),
    )

    drawing = to_svg(workflow)

    names = {node.tag.removeprefix(SVG) for node in ET.fromstring(drawing).iter()}
    assert names <= {"svg", "g", "a", "title", "path", "rect", "polygon", "text"}
    attributes = {name for node in ET.fromstring(drawing).iter() for name in node.attrib}
    assert not {name for name in attributes if name.startswith("on")}


def test_colours_follow_the_page() -> None:
    drawing = to_svg(random_chart(3, 8))

    assert "<style" not in drawing
    assert not any("style" in node.attrib for node in ET.fromstring(drawing).iter())
    assert "currentColor" in drawing
    assert "var(--flow-decision" in drawing


def test_a_drawing_is_stable() -> None:
    workflow = random_chart(5, 30)

    assert to_svg(workflow) == to_svg(workflow)


def test_an_empty_workflow_says_so() -> None:
    assert "No steps" in to_svg(Workflow(title="", steps=()))


def test_a_workflow_too_large_for_arrows_stands_step_under_step_with_its_ways_as_words() -> None:
    steps = tuple(Step(id=str(i), kind=StepKind.PROCESS, text="<x>") for i in range(400))
    edges = tuple(
        Transition(source=str(i), target="7", condition="<no>" if i % 2 else "") for i in range(400)
    )

    drawing = ET.fromstring(to_svg(Workflow(title="", steps=steps, transitions=edges)))
    links = [node for node in drawing.iter() if node.tag.endswith("}a")]
    assert len([node for node in links if "data-step" in node.attrib]) == 400
    ways = [node for node in links if "data-step" not in node.attrib]
    assert [way.attrib["href"] for way in ways] == ["#step-7"] * 400
    assert ["".join(way.itertext()) for way in ways[:2]] == ["then \u2192 8", "<no> \u2192 8"]
    tops = [float(node.attrib["y"]) for node in drawing.iter() if node.tag.endswith("}rect")]
    assert tops == sorted(set(tops))


def test_positions_are_spread_as_little_as_needed() -> None:
    assert spread([0, 0], [1, 1], [10]) == [-5, 5]
    assert spread([0, 0], [3, 1], [8]) == [-2, 6]
    assert spread([0, 50, 51], [1, 1, 1], [10, 10]) == [0, 45.5, 55.5]
