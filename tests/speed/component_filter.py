"""How long choosing components takes, with a catalogue of many that was embedded before.

    python tests/speed/component_filter.py --components 10000 --times 20

Prints milliseconds: of embedding the catalogue once, then of one choice, the embedding of the
instruction and its clauses included. The embedder is the product's, on one thread.
"""

import argparse
import random
import time
from statistics import median, quantiles

from rich.console import Console

from services.kit.settings import PlatformSettings
from services.planner.composing.component import Component, Components
from services.planner.composing.filtering import ComponentFilter, clauses
from services.room.open_stores import open_embedder

VERBS = ("Show", "Clear", "Restart", "Delete", "Create", "List", "Export", "Check", "Set", "Drain")
THINGS = ("interface", "session", "route", "volume", "user", "queue", "node", "alert", "ticket")
OF = ("of a switch", "in a cluster", "of a tenant", "on a host", "in the cloud", "of a customer")
INSTRUCTION = (
    "Check the node of the customer, drain it, then restart the session in the cluster and create"
    " a ticket."
)


def catalogue(count: int) -> Components:
    draw = random.Random(7)
    return Components(
        Component(
            name=f"component_{number}",
            description=" ".join(
                (draw.choice(VERBS), "the", draw.choice(THINGS), draw.choice(OF), str(number))
            ),
        )
        for number in range(count)
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--components", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=20)
    arguments, say = parser.parse_args(), Console().print
    embedder = open_embedder(PlatformSettings())
    embedder.limit_threads(1)
    filter_, components = ComponentFilter(embedder), catalogue(arguments.components)
    begun = time.perf_counter()
    filter_.rank(INSTRUCTION, components)
    say(f"first, with {arguments.components} embedded: {time.perf_counter() - begun:.1f} s")
    taken, embedding = [], []
    for number in range(arguments.times):
        instruction = f"{INSTRUCTION} {number}"
        begun = time.perf_counter()
        embedder.embed([instruction, *clauses(instruction)])
        embedding.append(1000 * (time.perf_counter() - begun))
        begun = time.perf_counter()
        filter_.rank(instruction, components)
        taken.append(1000 * (time.perf_counter() - begun))
    say(f"of that embedding the instruction and its clauses: median {median(embedding):.1f} ms")
    say(f"a choice: median {median(taken):.1f} ms, 95 % {quantiles(taken, n=20)[-1]:.1f} ms")


if __name__ == "__main__":
    main()
