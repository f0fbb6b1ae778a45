import gc
import weakref

from services.room.stores import freeze_after_full_collections


class Ring:
    def __init__(self):
        self.me = self


def test_new_cycles_are_still_collected_and_survivors_not_looked_at_again():
    before = list(gc.callbacks)
    freeze_after_full_collections()
    try:
        kept = [Ring() for _ in range(1000)]
        gc.collect()
        assert not any(isinstance(item, Ring) for item in gc.get_objects(generation=2))
        ring = Ring()
        gone = weakref.ref(ring)
        del ring
        gc.collect()
        assert gone() is None
        assert len(kept) == 1000
    finally:
        gc.callbacks[:] = before
