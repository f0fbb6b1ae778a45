"""The toy's numbers."""

from training.recipes import DpoRecipe, PpoRecipe, Recipe

MOST_TOKENS = 24
TOY = Recipe(
    ppo=PpoRecipe(
        batch=4,
        answers=4,
        learning_rate=3e-4,
        value_learning_rate=5e-3,
        kl=0.02,
        most_tokens=MOST_TOKENS,
    ),
    dpo=DpoRecipe(batch=48, learning_rate=1e-3, most_tokens=64, save_every=100),
    patience=3,
)
"""The toy's numbers: a thousandth of the paper's models learns at a hundred times its rate."""
