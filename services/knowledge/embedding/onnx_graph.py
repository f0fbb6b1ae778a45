"""The embedding model as an ONNX graph, written from its weights: no tracing, no torch.

The graph is BERT's encoder (Devlin et al., 2019) for texts without padding, in onnxruntime's own
fused operators. A traced one masks padding that is never there: a quarter of its time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

LAYERS = 6
HEADS = 12
_EPSILON = 1e-12
_FUSED = "com.microsoft"
_OPSET = 17
_LARGEST_WEIGHT = 64
"""Bound of int8 weights: sums of products of 8 and 7 bits then overflow on no processor."""

Array = NDArray[np.float32]


@dataclass
class EncoderGraph:
    """Builder of the graph, with operators in the order in which they run."""

    weights: Mapping[str, Array]
    """Weights under their names in the model's file."""
    is_int8: bool
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def model(self) -> ModelProto:
        """Build the model from `input_ids` to `last_hidden_state`.

        Shapes: (texts, pieces) to (texts, pieces, 384).
        """
        states = self._embeddings()
        for number in range(LAYERS):
            states = self._layer(f"encoder.layer.{number}", states)
        self._add("Identity", [states], "last_hidden_state")
        axes = ["texts", "pieces"]
        width = len(self.weights["embeddings.LayerNorm.bias"])
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, axes)],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*axes, width])],
            self.constants,
        )
        versions = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8)

    def _embeddings(self) -> str:
        """Add the word, position and segment embeddings, and normalise them."""
        of = "embeddings"
        places = self.weights[f"{of}.position_embeddings.weight"]
        kind = self.weights[f"{of}.token_type_embeddings.weight"][0]
        words = self._constant("words", self.weights[f"{of}.word_embeddings.weight"])
        table = self._constant("places", places + kind)
        starts = self._constant("starts", np.array([0], dtype=np.int64))
        length = self._add("Shape", ["input_ids"], "length", start=1, end=2)
        used = self._add("Slice", [table, starts, length], "used_places")
        gathered = self._add("Gather", [words, "input_ids"], "gathered")
        added = self._add("Add", [gathered, used], "added")
        norm = self._weights_of(f"{of}.LayerNorm")
        return self._add("LayerNormalization", [added, *norm], "embedded", epsilon=_EPSILON)

    def _layer(self, name: str, states: str) -> str:
        kinds = ("query", "key", "value")
        kernels, biases = zip(
            *(self._kernel(f"{name}.attention.self.{kind}") for kind in kinds), strict=True
        )
        kernel, bias = np.concatenate(kernels, axis=1), np.concatenate(biases)
        projected = self._linear(f"{name}.qkv", kernel, bias, states)
        parts = [f"{name}.{kind}" for kind in kinds]
        self.nodes.append(helper.make_node("Split", [projected], parts, axis=-1))
        seen = self._add(
            "MultiHeadAttention", parts, f"{name}.seen", domain=_FUSED, num_heads=HEADS
        )
        attended = self._dense(f"{name}.attention.output", seen, beside=states)
        wide = f"{name}.intermediate.dense"
        inner = self._linear(wide, *self._kernel(wide), attended)
        bent = self._add("Gelu", [inner], f"{wide}.bent", domain=_FUSED)
        return self._dense(f"{name}.output", bent, beside=attended)

    def _dense(self, name: str, states: str, *, beside: str) -> str:
        """Add a dense layer, plus the residual `beside`, and normalise."""
        out = self._linear(name, *self._kernel(f"{name}.dense"), states)
        added = self._add("Add", [out, beside], f"{name}.added")
        norm = self._weights_of(f"{name}.LayerNorm")
        return self._add("LayerNormalization", [added, *norm], f"{name}.normed", epsilon=_EPSILON)

    def _kernel(self, name: str) -> tuple[Array, Array]:
        return self.weights[f"{name}.weight"].T, self.weights[f"{name}.bias"]

    def _linear(self, name: str, kernel: Array, bias: Array, states: str) -> str:
        """Multiply states by the kernel and add the bias."""
        added = self._constant(f"{name}.bias", bias)
        if not self.is_int8:
            multiplied = self._add(
                "MatMul", [states, self._constant(f"{name}.kernel", kernel)], f"{name}.multiplied"
            )
            return self._add("Add", [multiplied, added], f"{name}.out")
        scale = np.abs(kernel).max(axis=0) / _LARGEST_WEIGHT
        rounded = np.clip(np.rint(kernel / scale), -_LARGEST_WEIGHT, _LARGEST_WEIGHT - 1)
        inputs = [
            states,
            self._constant(f"{name}.kernel", rounded.astype(np.int8)),
            self._constant(f"{name}.scale", scale.astype(np.float32)),
            self._constant(f"{name}.zero", np.zeros(len(scale), dtype=np.int8)),
            added,
        ]
        return self._add("DynamicQuantizeMatMul", inputs, f"{name}.out", domain=_FUSED)

    def _weights_of(self, norm: str) -> list[str]:
        return [
            self._constant(f"{norm}.{part}", self.weights[f"{norm}.{part}"])
            for part in ("weight", "bias")
        ]

    def _constant(self, name: str, values: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _add(
        self,
        operator: str,
        inputs: list[str],
        output: str,
        **attributes: Any,  # noqa: ANN401  (as onnx takes them)
    ) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output
