"""The paper's numbers, and what else a run is made of."""

from pydantic import Field

from services.kit.value import Value


class LoraRecipe(Value):
    """What is trained of a model: low-rank updates of its linear layers."""

    rank: int = Field(default=8, ge=1)
    alpha: int = Field(default=16, ge=1)
    dropout: float = Field(default=0.05, ge=0, lt=1)


class PpoRecipe(Value):
    """Proximal policy optimisation of the Planner."""

    batch: int = Field(default=4, ge=1)
    """Queries of one step."""
    answers: int = Field(default=1, ge=1)
    """To each query; more make steps steadier where the models are small."""
    learning_rate: float = Field(default=8e-6, gt=0)
    value_learning_rate: float = Field(default=1e-4, gt=0)
    """Of the value head, which starts from nothing."""
    passes: int = Field(default=4, ge=1)
    """Over a step's answers."""
    clip: float = Field(default=0.2, gt=0)
    value_weight: float = Field(default=0.1, ge=0)
    kl: float = Field(default=0.05, ge=0)
    """Weight of the penalty of a token for leaving the old policy, in units of the reward."""
    discount: float = Field(default=1.0, gt=0, le=1)
    smoothing: float = Field(default=0.95, ge=0, le=1)
    """GAE's lambda."""
    temperature: float = Field(default=1.0, gt=0)
    most_tokens: int = Field(default=4096, ge=1)
    """Of an answer."""
    largest_gradient: float = Field(default=1.0, gt=0)
    save_every: int = Field(default=10, ge=1)
    """Steps between checkpoints."""


class DpoRecipe(Value):
    """Direct preference optimisation of the Scorer, with a term that keeps the better likely."""

    batch: int = Field(default=4, ge=1)
    """Pairs of one step."""
    learning_rate: float = Field(default=5e-5, gt=0)
    beta: float = Field(default=0.1, gt=0)
    sft_weight: float = Field(default=0.2, ge=0)
    """Of the likelihood of the better one: on few pairs DPO alone lowers that of both."""
    rounds: int = Field(default=3, ge=1)
    """For each query; each gives one pair of every two levels."""
    most_tokens: int = Field(default=8192, ge=1)
    """Of prompt and workflow."""
    save_every: int = Field(default=50, ge=1)


class RlooRecipe(Value):
    """REINFORCE with the other answers of a query as the baseline, in the place of PPO."""

    answers: int = Field(default=4, ge=2)
    """To each query."""
    batch: int = Field(default=4, ge=1)
    """Queries of one step."""
    learning_rate: float = Field(default=8e-6, gt=0)
    kl: float = Field(default=0.05, ge=0)
    most_tokens: int = Field(default=4096, ge=1)


class Recipe(Value):
    """All of coevolution."""

    lora: LoraRecipe = LoraRecipe()
    ppo: PpoRecipe = PpoRecipe()
    dpo: DpoRecipe = DpoRecipe()
    rloo: RlooRecipe | None = None
    """Instead of PPO."""
    iterations: int = Field(default=3, ge=1)
    seed: int = 0
    trains_planner: bool = True
    trains_scorer: bool = True
    validates: bool = True
    """Whether pairs that the Scorer itself sees otherwise are dropped."""
    samples: int = Field(default=3, ge=1)
    """Workflows for a query, of which the Scorer chooses one."""
    patience: int = Field(default=1, ge=1)
    """Iterations without a better measure on the held-out queries after which it ends."""
