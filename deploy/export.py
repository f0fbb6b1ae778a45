"""Writes whatever lists the deployables from their descriptors; `--check` names what differs.

Compose file, Prometheus, the chart and the tables of the documentation: a file, or what stands in
one between the lines that say `deployables NAME: begin` and `end`.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import yaml

from services.deployment.rooms import ROOMS
from services.room.descriptor import AnyRoom, ProcessResources, Store

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
WORDS = {
    Store.POSTGRESQL: ("database", "PostgreSQL"),
    Store.REDIS: ("queue", "Redis"),
    Store.QDRANT: ("vectors", "Qdrant"),
    Store.NEO4J: ("graph", "Neo4j"),
}
"""What each is for, and its name."""
SECRETS = "api_key, database_url, redis_url, qdrant_api_key, neo4j_password, model_api_key"
"""Of `x-flowxpert` in the compose file."""
BYTES = {"Mi": "m", "Gi": "g"}


def processes() -> Iterator[tuple[str, AnyRoom, ProcessResources, list[str]]]:
    """Every process by name, with its command."""
    for room in ROOMS:
        alone = ["--no-work"] if room.has_queue else []
        yield room.name, room, room.footprint.serves, ["serve", room.name, *alone]
        if room.has_queue:
            yield f"{room.name}-worker", room, room.footprint.works, ["work", room.name]


def called() -> list[str]:
    """The deployables that another one asks."""
    return list(dict.fromkeys(name for room in ROOMS for name in room.footprint.calls))


def compose_addresses() -> str:
    """Where each answers that is asked."""
    return "".join(f"    FLOWXPERT_{n.upper()}_URL: http://{n}:8080\n" for n in called())


def compose_services() -> str:
    """A service for each process."""
    written = []
    for name, room, _, command in processes():
        keys = _service(name, room, command)
        lines = [f"    {key}: {value}".replace(": \n", ":\n") for key, value in keys.items()]
        written.append("\n".join([f"  {name}:", *lines, ""]))
    return "\n".join(written)


def _service(name: str, room: AnyRoom, command: list[str]) -> dict[str, str]:
    """What differs from `x-flowxpert`. Processes of a room have its networks and limits alike."""
    own, both = room.footprint, _kinds(room)
    largest = max(both, key=lambda each: float(each.cpu_limit))
    networks = ["platform"] + ["stores"] * bool(own.stores)
    networks += ["outside"] * (own.is_published or any(each.goes_outside for each in both))
    files = {f"{name}_FILE": secret.replace("-", "_") for name, secret in own.secrets.items()}
    environment = {name: f"/run/secrets/{secret}" for name, secret in files.items()}
    if any(each.model == "scorer" for each in both):
        environment["FLOWXPERT_MODEL_URL"] = "${SCORER_MODEL_URL:-}"
        environment["FLOWXPERT_MODEL_NAME"] = "${SCORER_MODEL:-}"
    service = {
        "<<": "*flowxpert",
        "image": f"flowxpert/{room.name}:{VERSION}",
        "build": f"{{<<: *build, args: {{SERVICE: {room.name}}}}}",
        "command": json.dumps(command),
        "networks": f"[{', '.join(networks)}]",
    }
    if not own.stores:
        service |= {"depends_on": "[]", "secrets": "[api_key, model_api_key]"}
        service["environment"] = "*model-environment"
    elif name != room.name and own.calls:
        # What a deployable with a queue is asked can wait.
        first = [each.name for each in ROOMS if each.name in own.calls and not each.has_queue]
        service["depends_on"] = _merged(
            "*stores", dict.fromkeys(first, "{condition: service_healthy}")
        )
    if files:
        service["secrets"] = f"[{SECRETS}, {', '.join(files.values())}]"
    if environment:
        service["environment"] = _merged(service.get("environment", "*environment"), environment)
    if own.takes_uploads:
        service["volumes"] = '["/var/lib/flowxpert", "uploads:/var/lib/flowxpert-uploads"]'
    if (largest.cpu_limit, largest.memory_limit) != (
        ProcessResources.cpu_limit,
        ProcessResources.memory_limit,
    ):
        memory = re.sub("|".join(BYTES), lambda unit: BYTES[unit.group()], largest.memory_limit)
        limits = f'{{cpus: "{largest.cpu_limit}", memory: {memory}, pids: 512}}'
        service["deploy"] = f"{{resources: {{limits: {limits}}}}}"
    if own.is_published and name == room.name:
        service["ports"] = '["127.0.0.1:${PORT:-8080}:8080"]'
    return service


def _kinds(room: AnyRoom) -> list[ProcessResources]:
    return [process for _, each, process, _ in processes() if each is room]


def _merged(base: str, more: dict[str, str]) -> str:
    return "".join(f"\n      {key}: {value}" for key, value in {"<<": base, **more}.items())


def scraped() -> str:
    """The names of all processes."""
    return f"      - names: [{', '.join(name for name, *_ in processes())}]\n"


def chart_values() -> str:
    """What an operator may set for each process."""
    return "".join(
        f"""\
  {name}:
    replicas: {process.replicas}
    autoscaling: {{enabled: false, min: {process.replicas}, max: {process.up_to}, cpu: 70}}
    resources:
      requests: {{cpu: {_text(process.cpu)}, memory: {process.memory}}}
      limits: {{cpu: {_text(process.cpu_limit)}, memory: {process.memory_limit}}}
    scratch: {process.scratch}
    env: {{}}
    secretFiles: {{}}
    nodeSelector: {{}}
    tolerations: []
"""
        for name, _, process, _ in processes()
    )


def _text(amount: str) -> str:
    return json.dumps(amount) if amount.isdigit() else amount


def chart_components() -> str:
    """What an operator may not set: the image of each process, its command, what it speaks to."""
    components = {}
    for name, room, process, command in processes():
        own = room.footprint
        entry = {
            "service": room.name,
            "args": command,
            "stores": [str(store) for store in own.stores],
            "calls": list(own.calls),
            "model": process.model,
            "outside": process.goes_outside,
            "uploads": own.takes_uploads,
            "secrets": dict(own.secrets),
        }
        components[name] = {key: value for key, value in entry.items() if value}
    text = yaml.safe_dump(components, sort_keys=False, default_flow_style=None, width=100)
    return f"# Written by `make docs` from services/*/room.py.\n{text}"


def chart_schema() -> str:
    """The schema of the values, with the processes there are."""
    schema = json.loads((ROOT / "helm/flowxpert/values.schema.json").read_text("utf-8"))
    names = [name for name, *_ in processes()]
    schema["properties"]["services"] |= {
        "properties": {name: {"$ref": "#/$defs/service"} for name in names},
        "required": sorted(names),
    }
    return json.dumps(schema, indent=2) + "\n"


def services_in_short() -> str:
    """What each does."""
    return _table(("service", "does"), [(f"`{room.name}`", room.purpose) for room in ROOMS])


def services_and_uses() -> str:
    """What each does, and with what."""
    rows = []
    for room in ROOMS:
        uses = [WORDS[store][0] for store in room.footprint.stores]
        uses += ["language model"] * any(each.model for each in _kinds(room))
        rows.append((f"`{room.name}`", room.purpose, ", ".join(uses)))
    return _table(("service", "does", "uses"), rows)


def services_and_needs() -> str:
    """The processes of each, and what they speak to."""
    rows = []
    for room in ROOMS:
        names = [f"`{name}`" for name, each, *_ in processes() if each is room]
        stores = [WORDS[store][1] for store in room.footprint.stores]
        needs = [", ".join(stores)] * bool(stores)
        needs += ["a model server, if one is set"] * any(each.model for each in _kinds(room))
        rows.append(
            (room.name, ", ".join(names), "; ".join(needs), ", ".join(room.footprint.calls))
        )
    return _table(("service", "processes", "needs", "calls"), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


FILES: dict[str, Callable[[], str]] = {
    "helm/flowxpert/files/components.yaml": chart_components,
    "helm/flowxpert/values.schema.json": chart_schema,
}
PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "docker-compose.yml": {"addresses": compose_addresses, "services": compose_services},
    "deploy/observability/prometheus.yml": {"processes": scraped},
    "helm/flowxpert/values.yaml": {"processes": chart_values},
    "README.md": {"table": services_in_short},
    "docs/architecture.md": {"table": services_and_uses},
    "docs/deployment.md": {"table": services_and_needs},
}


def renewed(path: Path, parts: dict[str, Callable[[], str]]) -> str:
    """The file with its parts as they should be."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    for name, write in parts.items():
        (begin,) = (n for n, line in enumerate(lines) if f"deployables {name}: begin" in line)
        (end,) = (n for n, line in enumerate(lines) if f"deployables {name}: end" in line)
        lines[begin + 1 : end] = write().splitlines(keepends=True)
    return "".join(lines)


def main() -> None:
    """Write the files, or compare them."""
    wanted = {name: write() for name, write in FILES.items()}
    wanted |= {name: renewed(ROOT / name, parts) for name, parts in PARTS.items()}
    stale = []
    for name, text in wanted.items():
        path = ROOT / name
        if path.exists() and path.read_text("utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"the descriptors tell otherwise than {', '.join(stale)}: run `make docs`")


if __name__ == "__main__":
    main()
