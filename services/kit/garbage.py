"""Python's cycle collector, kept from holding up every thread of a serving process."""

import gc


def keep_collections_short() -> None:
    """From now on a full collection looks only at what is new since the one before.

    It otherwise walks through all that is loaded and cached, 50 to 200 ms during which nothing else
    runs. What survived a full collection is still freed when its last reference goes; only a cycle
    among such survivors that is dropped later stays, and caches hold no cycles.
    """
    gc.collect()
    gc.freeze()
    if _freeze_survivors not in gc.callbacks:
        gc.callbacks.append(_freeze_survivors)


def _freeze_survivors(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()
