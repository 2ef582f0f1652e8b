"""A long short-term memory with diagonal weights, and the gradient of its loss on a text.

Each unit of each layer, with input x, hidden value h and cell c:

    f = σ(x·w_f + b_f),  i = σ(h·w_i + b_i),  o = σ(x·w_o + b_o),  g = tanh(h·w_g + b_g)
    c ← f·c + i·g,    h ← o·tanh(c)

The layers are stacked; the bits s_t of a character, times an input weight, enter the first, and
ŷ = h·w_out + b_out leaves the last. The loss is the mean over all bits of all characters but the first:

    loss = -1/(b (T-1)) Σ_t Σ_j s_{t+1,j} (ŷ_tj - log(2 + Σ_k exp ŷ_tk))

GradBench eval `lstm`, after ADBench.
"""

import numpy as np
from adbench_data import lstm_input

import anadrome as ad


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def cell_step(
    weight: np.ndarray, bias: np.ndarray, hidden: np.ndarray, cell: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The new hidden values and cells of a layer; gates in the order forget, in, out, change."""
    forget = sigmoid(x * weight[0] + bias[0])
    ingate = sigmoid(hidden * weight[1] + bias[1])
    outgate = sigmoid(x * weight[2] + bias[2])
    change = np.tanh(hidden * weight[3] + bias[3])
    cell = forget * cell + ingate * change
    return outgate * np.tanh(cell), cell


@ad.jit
def objective(weights: np.ndarray, extra: np.ndarray, state: np.ndarray, sequence: np.ndarray) -> float:
    """The loss.

    weights: [layer, weight or bias, gate, unit]; extra: [input weight, output weight or output bias, unit];
    state: [layer, hidden or cell, unit]; sequence: [character, bit].
    """
    layers, _, bits = state.shape
    hidden = state[:, 0].copy()
    cell = state[:, 1].copy()
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra[0]
        for layer in range(layers):
            x, cell[layer] = cell_step(weights[layer, 0], weights[layer, 1], hidden[layer], cell[layer], x)
            hidden[layer] = x
        prediction = x * extra[1] + extra[2]
        normaliser = np.log(2.0 + np.sum(np.exp(prediction)))
        total += np.sum(sequence[t + 1] * (prediction - normaliser))
    return -total / (bits * (len(sequence) - 1))


gradient = ad.grad(objective, argnums=(0, 1))


def main() -> None:
    data = lstm_input(layers=2, characters=1024)
    layers, bits = len(data["state"]) // 2, data["state"].shape[1]
    weights = data["main_params"].reshape(layers, 2, 4, bits)
    extra = data["extra_params"]
    rest = (data["state"].reshape(layers, 2, bits), data["sequence"])
    print(f"{layers} layers of {bits} units read {len(data['sequence'])} characters")
    for step in range(51):
        if step % 10 == 0:
            print(f"step {step:2d}    loss {objective(weights, extra, *rest):.6f}")
        weights_slope, extra_slope = gradient(weights, extra, *rest)
        weights, extra = weights - weights_slope, extra - extra_slope


if __name__ == "__main__":
    main()
