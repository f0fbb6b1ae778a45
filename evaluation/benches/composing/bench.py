"""Composing measured: each arm on the same instructions, kinds apart."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from evaluation.benches.composing.arms import MODEL_ARMS, Arm, Posed, Posing, answered, recall
from evaluation.benches.composing.prompt_files import read_answers
from evaluation.material.composing.instructions import Instruction, read_flows, read_keep, read_seal
from evaluation.material.composing.recorded_compositions import (
    RecordedComposition,
    as_places,
    digest_of,
    of_places,
    read_compositions,
    write_compositions,
)
from evaluation.measures.composed import Composed, Score, pooled, score
from services.planner.composing.component import Components
from services.planner.composing.team import FILLER, ORCHESTRATOR, SUPERVISOR

SEAL, KEEP = "seal-tools", "keep-workflows"
ALONE_LABEL = "alone@1"


def read_sets(
    tools: Path, flows: Path, seal: int, keep: int, seed: int
) -> list[tuple[list[Instruction], Components]]:
    """Return the instructions of each set with its catalogue."""
    return [
        read_seal(tools / SEAL, seal, seed),
        read_keep(tools / KEEP, keep, seed),
        read_flows(flows),
    ]


def pose(
    posing: Posing,
    sets: Iterable[tuple[list[Instruction], Components]],
    advance: Callable[[], None],
) -> list[Posed]:
    """What is shown for each instruction."""
    posed = []
    for instructions, components in sets:
        for each in instructions:
            posed.append(posing.posed(each, components))
            advance()
    return posed


def label(arm: Arm) -> str:
    """Names the prompts of an arm."""
    prompts = {
        Arm.TEAM: (SUPERVISOR, ORCHESTRATOR, FILLER),
        Arm.NO_SUPERVISOR: (ORCHESTRATOR, FILLER),
    }
    return "+".join(each.label for each in prompts.get(arm, ())) or ALONE_LABEL


def record(arm: Arm, folder: Path, posed: Sequence[Posed], path: Path) -> int:
    """Keep the answers of a folder; how many there are. Those of other instructions are left."""
    by_key = {each.instruction.key: each for each in posed}
    rows = dict(read_compositions(path))
    taken = 0
    for key, answer in read_answers(folder):
        if key not in by_key:
            continue
        rows[arm.value, key] = _recorded(arm, by_key[key], answered(arm, answer, by_key[key]))
        taken += 1
    write_compositions(path, rows.values())
    return taken


def measure(
    posed: Sequence[Posed], posing: Posing, path: Path
) -> dict[Arm, list[tuple[Posed, Score]]]:
    """Scores of each arm; of one that a model answers, of the instructions that are recorded."""
    rows = read_compositions(path)
    scores: dict[Arm, list[tuple[Posed, Score]]] = {
        Arm.RETRIEVAL: [
            (each, score(posing.retrieved(each), each.instruction.accepted)) for each in posed
        ]
    }
    for arm in MODEL_ARMS:
        scored = []
        for each in posed:
            row = rows.get((arm.value, each.instruction.key))
            if row is not None and row.shown == digest_of([one.name for one in each.shown]):
                scored.append((each, score(_composed(row, each), each.instruction.accepted)))
        if scored:
            scores[arm] = scored
    return scores


def figures(
    scores: Mapping[Arm, Sequence[tuple[Posed, Score]]], posed: Sequence[Posed]
) -> dict[str, dict[str, float]]:
    """By arm and kind; what the filter shows of the right components stands by itself."""
    rows: dict[str, dict[str, float]] = {}
    for arm, scored in scores.items():
        for kind in dict.fromkeys(each.instruction.kind for each, _ in scored):
            of_kind = [one for each, one in scored if each.instruction.kind == kind]
            means = pooled(of_kind)
            if kind.startswith("flow"):
                means = {name: means[name] for name in ("sequence", "structure")}
            else:
                means.pop("structure")
            rows[f"{kind}: {arm.value}"] = {"n": float(len(of_kind))} | means
    for kind in dict.fromkeys(each.instruction.kind for each in posed):
        shares = [
            share
            for each in posed
            if each.instruction.kind == kind and (share := recall(each)) is not None
        ]
        rows[f"{kind}: shown"] = {"recall": 100 * sum(shares) / max(1, len(shares))}
    return dict(sorted(rows.items()))


def _recorded(arm: Arm, posed: Posed, composition: Composed | None) -> RecordedComposition:
    names = [each.name for each in posed.shown]
    return RecordedComposition(
        key=posed.instruction.key,
        arm=arm.value,
        prompt=label(arm),
        shown=digest_of(names),
        tree=None if composition is None else as_places(composition.tree, names),
        values=[dict(each) for each in composition.values] if composition else [],
        asked=composition.open_questions if composition else 0,
    )


def _composed(row: RecordedComposition, posed: Posed) -> Composed | None:
    if row.tree is None:
        return None
    names = [each.name for each in posed.shown]
    return Composed(of_places(row.tree, names), tuple(row.values), row.asked)
