"""Fitted numbers: those shipped, unless the data folder holds a file of that name."""

import json

import pytest

from services.kit.fits.fitted import FOLDER, UnusableFitError
from services.retrieval.calibration import Calibration
from services.runbook.evidence.fact import Forests
from services.scorer.chance import Chance
from services.scorer.scoring_fit import ScoringFit, ScoringWeights
from services.tickets.walk.fit import Thresholds

ALL = pytest.mark.parametrize("kind", [Thresholds, Forests, Calibration, Chance, ScoringWeights])


def put(folder, kind, content):
    own = folder / FOLDER / kind.SHIPPED.name
    own.parent.mkdir(exist_ok=True)
    own.write_text(content, encoding="utf-8")
    return own


def shipped(kind):
    return json.loads(kind.SHIPPED.read_text(encoding="utf-8"))


@ALL
def test_without_a_file_in_the_data_folder_those_shipped_are_used(kind, tmp_path):
    assert kind.of_folder(tmp_path) == kind.shipped()
    assert kind.of_folder(tmp_path).hash == kind.shipped().hash


@ALL
def test_what_is_written_is_what_was_read(kind, tmp_path, monkeypatch):
    value = kind.shipped()
    monkeypatch.setattr(kind, "SHIPPED", tmp_path / "copy.json")
    value.write()
    assert json.loads((tmp_path / "copy.json").read_text(encoding="utf-8")) == value.model_dump(
        mode="json"
    )
    assert kind.shipped() == value


@ALL
def test_the_file_of_the_data_folder_wins_and_has_a_hash_of_its_own(kind, tmp_path):
    put(tmp_path, kind, json.dumps(shipped(kind) | {"provenance": "fitted here"}))
    assert kind.of_folder(tmp_path).provenance == "fitted here"
    assert kind.of_folder(tmp_path).hash != kind.shipped().hash


@ALL
@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"foreign": 1}', '{"provenance": 3}'])
def test_a_damaged_or_foreign_file_is_refused_and_named(kind, content, tmp_path):
    own = put(tmp_path, kind, content)
    with pytest.raises(UnusableFitError, match=rf"expected {kind.__name__} in {own}, got"):
        kind.of_folder(tmp_path)


@ALL
def test_a_file_of_another_kind_is_refused(kind, tmp_path):
    others = {Thresholds, Forests, Calibration, Chance, ScoringWeights} - {kind}
    for other in others:
        put(tmp_path, kind, other.SHIPPED.read_text(encoding="utf-8"))
        with pytest.raises(UnusableFitError):
            kind.of_folder(tmp_path)


def test_bytes_and_folders_in_place_of_a_file_are_refused(tmp_path):
    own = put(tmp_path, Chance, "")
    own.write_bytes(b"\xff\xfe")
    with pytest.raises(UnusableFitError):
        Chance.of_folder(tmp_path)
    own.unlink()
    own.mkdir()
    with pytest.raises(UnusableFitError, match="directory"):
        Chance.of_folder(tmp_path)


def changed(kind, change):
    value = shipped(kind)
    change(value)
    return json.dumps(value)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (Chance, lambda v: v["weights"].update(charm=1.0)),
        (Chance, lambda v: v.update(bias=float("nan"))),
        (ScoringWeights, lambda v: v["dimensions"].update(charm={})),
        (Calibration, lambda v: v["text"]["curve"]["weights"].update(charm=1.0)),
        (Calibration, lambda v: v["text"]["order"]["weights"].update(charm=1.0)),
        (Calibration, lambda v: v["text"]["order"].update(weights={"runs": 0.0})),
        (Calibration, lambda v: v["text"]["curve"]["spread"]["covariance"].pop()),
        (Thresholds, lambda v: v.update(sure_from=1.5)),
        (Forests, lambda v: v["forests"].update(charm={"signs": [], "start": 0, "trees": []})),
        (Forests, lambda v: first_tree(v)["left"].pop()),
        (Forests, lambda v: first_tree(v)["left"].__setitem__(0, 0)),
        (Forests, lambda v: first_tree(v)["sign"].__setitem__(0, 999)),
    ],
)
def test_numbers_that_this_version_cannot_use_are_refused(kind, change, tmp_path):
    put(tmp_path, kind, changed(kind, change))
    with pytest.raises(UnusableFitError):
        kind.of_folder(tmp_path)


def first_tree(value):
    return next(iter(value["forests"].values()))["trees"][0]


def test_what_scores_of_a_page_rest_on_changes_its_hash_with_any_of_its_files(tmp_path):
    hashes = {ScoringFit.shipped().hash}
    for kind in (Forests, ScoringWeights):
        put(tmp_path, kind, json.dumps(shipped(kind) | {"provenance": "fitted here"}))
        hashes.add(ScoringFit.of_folder(tmp_path).hash)
    assert len(hashes) == 3


def test_another_chance_leaves_what_is_prepared_as_it_is(tmp_path):
    put(tmp_path, Chance, json.dumps(shipped(Chance) | {"bias": 1.0}))
    assert ScoringFit.of_folder(tmp_path).hash == ScoringFit.shipped().hash
