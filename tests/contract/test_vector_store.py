"""Every adapter of `VectorStore` passes this suite.

A Qdrant server is used when FLOWXPERT_TEST_QDRANT_URL names one; `http` is the same adapter on a
fake of its interface. `pgvector` runs on a PostgreSQL that the tests bring.
"""

import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.ports import Point, StoreUnavailableError, VectorStore
from services.knowledge.settings import QdrantSettings
from services.knowledge.stores.pgvector import PgVectorStore
from services.knowledge.stores.qdrant import QdrantVectorStore
from services.knowledge.stores.qdrant_edge import QdrantEdgeVectorStore
from tests.contract.qdrant_server import KEY, qdrant_server
from tests.postgres import pgvector_url

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")

EMBEDDER = HashingEmbedder(32)


def point(id_, text, *documents, payload=None):
    vector = tuple(float(x) for x in EMBEDDER.embed([text])[0])
    return Point(
        id=id_,
        document_ids=documents or ("a.md",),
        vector=vector,
        text=text,
        payload=payload or {"text": text},
    )


def search(store, text, limit=10, collection="chunks"):
    vector = EMBEDDER.embed([text])[0].tolist()
    return store.search(collection, vector=vector, text=text, limit=limit)


def best(store, text):
    return max(search(store, text), key=lambda h: (h.dense_score, h.sparse_score)).id


@pytest.fixture
def fake_server():
    with qdrant_server() as (url, fake):
        yield url, fake


@pytest.fixture
def over_http(fake_server):
    url, _ = fake_server
    store = QdrantVectorStore.connect(url, EMBEDDER.dimensions, api_key=KEY)
    yield store
    store.close()


BUILT: dict[str, Callable[[Path], VectorStore]] = {
    "edge": lambda folder: QdrantEdgeVectorStore(folder / "vectors", EMBEDDER.dimensions),
    "local": lambda _: QdrantVectorStore.in_memory(EMBEDDER.dimensions),
}
"""Adapters that need no server."""


@pytest.fixture
def in_postgres():
    database = Database(pgvector_url())
    yield PgVectorStore(database, EMBEDDER.dimensions, prefix=f"test_{uuid.uuid4().hex}")
    database.close()


@pytest.fixture(params=[*BUILT, "http", "pgvector", "server"])
def store(request, tmp_path):
    if request.param in BUILT:
        built = BUILT[request.param](tmp_path)
    elif request.param in ("http", "pgvector"):
        yield request.getfixturevalue("over_http" if request.param == "http" else "in_postgres")
        return
    else:
        url = os.environ.get("FLOWXPERT_TEST_QDRANT_URL")
        if not url:
            pytest.skip("set FLOWXPERT_TEST_QDRANT_URL to test against a Qdrant server")
        prefix = f"test_{uuid.uuid4().hex}"
        built = QdrantVectorStore.connect(url, EMBEDDER.dimensions, prefix=prefix)
    yield built
    built.close()


def test_an_empty_store_finds_nothing(store):
    assert search(store, "fan failed") == []
    assert store.count("chunks") == 0


def test_the_point_with_the_words_of_the_query_is_the_best(store):
    store.upsert("chunks", [point("1", "fan tray failed"), point("2", "bgp session down")])
    assert best(store, "bgp down") == "2"


def test_a_hit_carries_the_cosine_and_the_payload_unchanged(store):
    payload = {"ü": [1, 2.5, None, True], "nested": {"text": 'a "quoted" line\n'}}
    store.upsert("chunks", [point("1", "fan failed", payload=payload)])
    (hit,) = search(store, "fan failed")
    assert hit.payload == payload
    assert hit.dense_score == pytest.approx(1.0, abs=1e-4)
    assert hit.sparse_score > 0


def test_a_hit_that_shares_no_word_has_a_bm25_score_of_zero(store):
    store.upsert("chunks", [point("1", "fan failed"), point("2", "power supply")])
    hits = {hit.id: hit for hit in search(store, "fan")}
    assert hits["2"].sparse_score == 0
    assert hits["1"].sparse_score > 0


def test_a_rare_word_outweighs_a_frequent_one(store):
    points = [point(f"s{i}", f"switch number{i}") for i in range(20)]
    store.upsert("chunks", [*points, point("rare", "optics degraded")])
    hits = {hit.id: hit.sparse_score for hit in search(store, "switch optics", limit=30)}
    assert hits["rare"] > max(score for id_, score in hits.items() if id_ != "rare")


def test_at_most_twice_the_limit_comes_back_and_no_point_twice(store):
    store.upsert("chunks", [point(str(i), f"fan {i} failed") for i in range(30)])
    ids = [hit.id for hit in search(store, "fan failed", limit=5)]
    assert 5 <= len(ids) <= 10
    assert len(set(ids)) == len(ids)


def test_a_query_without_words_is_answered_by_meaning(store):
    store.upsert("chunks", [point("1", "fan failed")])
    assert [hit.id for hit in search(store, "…")] == ["1"]


def test_writing_a_known_id_replaces_the_point(store):
    store.upsert("chunks", [point("1", "fan failed")])
    store.upsert("chunks", [point("1", "power lost")])
    assert store.count("chunks") == 1
    assert search(store, "power")[0].payload == {"text": "power lost"}


def test_the_collections_are_apart(store):
    store.upsert("nodes", [point("1", "fan failed")])
    assert store.count("chunks") == 0
    assert search(store, "fan") == []
    assert len(search(store, "fan", collection="nodes")) == 1


def test_delete_removes_known_ids_and_ignores_others(store):
    store.upsert("chunks", [point("1", "fan"), point("2", "power")])
    store.delete("chunks", ["1", "nobody"])
    store.delete("chunks", [])
    assert store.count("chunks") == 1


def test_delete_document_spares_points_that_name_another_document_too(store):
    store.upsert(
        "chunks",
        [point("1", "fan", "a.md"), point("2", "power", "b.md"), point("3", "x", "a.md", "b.md")],
    )
    store.delete_document("chunks", "a.md")
    assert {hit.id for hit in search(store, "fan power x")} == {"2", "3"}


def test_eight_threads_writing_and_reading_lose_nothing(store):
    def work(thread):
        for i in range(15):
            store.upsert("chunks", [point(f"{thread}-{i}", f"fan {thread} number {i}")])
            search(store, "fan number")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert store.count("chunks") == 8 * 15


def test_more_points_than_one_request_holds_are_all_written(store):
    store.upsert("chunks", [point(str(i), f"fan {i}") for i in range(600)])
    assert store.count("chunks") == 600


def test_a_rebuilt_store_takes_the_place_of_the_old_one_when_it_is_whole(store):
    store.upsert("chunks", [point("old", "fan failed")])
    with store.rebuild() as fresh:
        assert fresh.count("chunks") == 0
        fresh.upsert("chunks", [point("new", "power lost"), point("more", "fan tray")])
        fresh.upsert("nodes", [point("node", "fan")])
        assert best(store, "fan failed") == "old", "searches go on while it is filled"
    assert store.count("chunks") == 2
    assert best(store, "power") == "new"
    assert store.count("nodes") == 1
    store.upsert("chunks", [point("later", "optics")])
    assert best(store, "optics") == "later"


def test_a_rebuild_that_fails_leaves_the_store_as_it_was(store):
    store.upsert("chunks", [point("old", "fan failed")])

    def fill_half():
        with store.rebuild() as fresh:
            fresh.upsert("chunks", [point("new", "power lost")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fill_half()
    assert [hit.id for hit in search(store, "fan")] == ["old"]


def test_a_store_is_searched_while_it_is_rebuilt_again_and_again(store):
    store.upsert("chunks", [point("0", "fan failed")])
    is_over = threading.Event()

    def read():
        answers = 0
        while not is_over.is_set():
            answers += [hit.payload["text"] for hit in search(store, "fan")] == ["fan failed"]
        return answers

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        for number in range(1, 5):
            with store.rebuild() as fresh:
                fresh.upsert("chunks", [point(str(number), "fan failed")])
        is_over.set()
        assert reading.result() > 0


def test_an_edge_store_finds_after_reopening_what_was_written(tmp_path):
    first = QdrantEdgeVectorStore(tmp_path, EMBEDDER.dimensions)
    first.upsert("chunks", [point("1", "fan failed")])
    first.close()
    second = QdrantEdgeVectorStore(tmp_path, EMBEDDER.dimensions)
    assert best(second, "fan") == "1"
    second.close()


def test_a_second_holder_of_an_edge_store_is_refused(tmp_path):
    first = QdrantEdgeVectorStore(tmp_path, EMBEDDER.dimensions)
    with pytest.raises(StoreUnavailableError):
        QdrantEdgeVectorStore(tmp_path, EMBEDDER.dimensions)
    first.close()


def test_an_edge_store_of_other_dimensions_is_refused(tmp_path):
    QdrantEdgeVectorStore(tmp_path, 32).close()
    with pytest.raises(StoreUnavailableError):
        QdrantEdgeVectorStore(tmp_path, 64)


def test_a_closed_edge_store_says_so(tmp_path):
    store = QdrantEdgeVectorStore(tmp_path, EMBEDDER.dimensions)
    store.close()
    with pytest.raises(StoreUnavailableError):
        store.count("chunks")


WRITER = """
import sys
from pathlib import Path
from services.knowledge.ports import Point
from services.knowledge.stores.qdrant_edge import QdrantEdgeVectorStore
store = QdrantEdgeVectorStore(Path(sys.argv[1]), 32)
for i in range(10**6):
    points = [
        Point(id=f"{i}-{k}", document_ids=("a",), vector=(1.0,) * 32, text="fan", payload={})
        for k in range(7)
    ]
    store.upsert("chunks", points)
    print(i, flush=True)
"""


def test_a_killed_edge_store_keeps_every_batch_it_confirmed(tmp_path):
    root = Path(__file__).parents[2]
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    for _ in range(20):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    confirmed = 20 + len(writer.stdout.read().splitlines())
    writer.wait()
    store = QdrantEdgeVectorStore(tmp_path, 32)
    assert store.count("chunks") >= 7 * confirmed
    assert store.count("chunks") % 7 == 0
    store.close()


def test_a_server_that_does_not_answer_is_unavailable():
    with pytest.raises(StoreUnavailableError):
        QdrantVectorStore.connect("http://127.0.0.1:1", 32)


def test_a_server_that_wants_another_key_is_unavailable(fake_server):
    url, _ = fake_server
    with pytest.raises(StoreUnavailableError):
        QdrantVectorStore.connect(url, EMBEDDER.dimensions, api_key="wrong")


def test_a_write_is_repeated_while_the_server_is_busy(over_http, fake_server):
    _, fake = fake_server
    fake.refusals = 2
    over_http.upsert("chunks", [point("1", "fan failed")])
    assert over_http.count("chunks") == 1


def test_a_server_that_stays_busy_is_unavailable(over_http, fake_server):
    _, fake = fake_server
    fake.refusals = 100
    with pytest.raises(StoreUnavailableError):
        over_http.upsert("chunks", [point("1", "fan failed")])


def test_vectors_of_another_length_are_refused(over_http, fake_server):
    url, _ = fake_server
    with pytest.raises(StoreUnavailableError, match="vectors of 32 numbers"):
        QdrantVectorStore.connect(url, 64, api_key=KEY)


def test_a_collection_is_made_and_searched_as_the_settings_say(fake_server):
    url, fake = fake_server
    settings = QdrantSettings(_env_file=None, hnsw_m=24, hnsw_ef=200, quantised=True)
    store = QdrantVectorStore.connect(url, EMBEDDER.dimensions, api_key=KEY, settings=settings)
    search(store, "fan")
    store.close()
    requests = {(method, path): body for method, path, body in fake.requests}
    made = requests["PUT", "/collections/flowxpert_chunks_1"]
    assert made["hnsw_config"]["m"] == 24
    assert made["quantization_config"]["scalar"]["type"] == "int8"
    assert made["vectors"]["dense"]["on_disk"] is True
    assert requests["PUT", "/collections/flowxpert_chunks_1/index"]["field_name"] == "document_ids"
    queries = requests["POST", "/collections/flowxpert_chunks/points/query/batch"]["searches"]
    assert queries[0]["params"]["hnsw_ef"] == 200
    assert queries[0]["params"]["quantization"]["rescore"] is True


def test_settings_that_changed_are_applied_to_a_collection_that_exists(over_http, fake_server):
    url, fake = fake_server
    settings = QdrantSettings(_env_file=None, quantised=True)
    QdrantVectorStore.connect(url, EMBEDDER.dimensions, api_key=KEY, settings=settings).close()
    patches = [body for method, _, body in fake.requests if method == "PATCH"][-2:]
    assert [body["quantization_config"]["scalar"]["type"] for body in patches] == ["int8", "int8"]


def test_a_killed_rebuild_is_begun_anew(over_http, fake_server):
    _, fake = fake_server
    left = over_http.rebuild()
    left.__enter__().upsert("chunks", [point("left", "half of it")])
    with over_http.rebuild() as fresh:
        assert fresh.count("chunks") == 0
        fresh.upsert("chunks", [point("1", "fan failed")])
    assert best(over_http, "fan") == "1"
    names = {each.name for each in fake.local.get_collections().collections}
    assert names == {"flowxpert_chunks_2", "flowxpert_nodes_2"}


def test_an_edge_store_killed_between_two_folders_goes_back_to_the_old_one(tmp_path):
    path = tmp_path / "vectors"
    store = QdrantEdgeVectorStore(path, EMBEDDER.dimensions)
    store.upsert("chunks", [point("1", "fan failed")])
    store.close()
    path.rename(tmp_path / "vectors.old")
    again = QdrantEdgeVectorStore(path, EMBEDDER.dimensions)
    assert best(again, "fan") == "1"
    again.close()
    assert [each.name for each in tmp_path.iterdir()] == ["vectors"]


def test_postgres_finds_with_the_scores_that_the_embedded_engine_gives(in_postgres, tmp_path):
    edge = QdrantEdgeVectorStore(tmp_path, EMBEDDER.dimensions)
    points = [point(str(i), f"fan {i % 3} of leaf{i} failed, optics {i % 7}") for i in range(40)]
    scores = []
    for store in (edge, in_postgres):
        store.upsert("chunks", points)
        hits = search(store, "fan 2 failed on leaf8", limit=7)
        scores.append({hit.id: (hit.dense_score, hit.sparse_score) for hit in hits})
    edge.close()
    embedded, postgres = ({each: hit[1] for each, hit in by_id.items()} for by_id in scores)
    shared = embedded.keys() & postgres.keys()
    assert max(embedded, key=embedded.__getitem__) in shared
    assert {id_: postgres[id_] for id_ in shared} == pytest.approx(
        {id_: embedded[id_] for id_ in shared}
    )
    for id_ in shared:
        assert scores[1][id_][0] == pytest.approx(scores[0][id_][0], abs=1e-5)


def test_processes_share_a_store_in_postgres_while_one_rebuilds_it(in_postgres):
    prefix = in_postgres._schemas["chunks"].removesuffix("_chunks")
    other = PgVectorStore(in_postgres._database, EMBEDDER.dimensions, prefix=prefix)
    in_postgres.upsert("chunks", [point("1", "fan failed")])
    assert best(other, "fan") == "1"
    with in_postgres.rebuild() as fresh:
        fresh.upsert("chunks", [point("2", "power lost")])
    assert best(other, "fan") == "2"


def test_a_killed_rebuild_in_postgres_is_begun_anew(in_postgres):
    left = in_postgres.rebuild()
    left.__enter__().upsert("chunks", [point("left", "half of it")])
    with in_postgres.rebuild() as fresh:
        assert fresh.count("chunks") == 0
        fresh.upsert("chunks", [point("1", "fan failed")])
    assert best(in_postgres, "fan") == "1"


def test_vectors_of_another_length_are_refused_by_postgres(in_postgres):
    prefix = in_postgres._schemas["chunks"].removesuffix("_chunks")
    with pytest.raises(StoreUnavailableError, match="vectors of 32 numbers"):
        PgVectorStore(in_postgres._database, 64, prefix=prefix)


def test_a_postgres_that_does_not_answer_is_unavailable():
    database = Database("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(StoreUnavailableError):
        PgVectorStore(database, EMBEDDER.dimensions)
    database.close()
