"""A small convolutional network in the style of NumPy: two layers, pooling, two dense ones, soft-max."""

import numpy as np

import anadrome as ad


def layer(x, w, b):
    """3 × 3 convolution, bias and max(·, 0) of images (n, height, width, channels)."""
    n, height, width, _ = x.shape
    y = np.zeros((n, height - 2, width - 2, w.shape[3])) + b
    for i in range(3):
        for j in range(3):
            y = y + np.einsum("nhwc,cd->nhwd", x[:, i : height - 2 + i, j : width - 2 + j, :], w[i, j])
    return np.maximum(y, 0.0)


def pool(x):
    """The mean of each 2 × 2 pixels."""
    n, height, width, channels = x.shape
    return np.mean(x.reshape(n, height // 2, 2, width // 2, 2, channels), axis=(2, 4))


def loss(parameters, images, labels) -> float:
    """Mean cross entropy."""
    w1, b1, w2, b2, w3, b3, w4, b4 = parameters
    x = pool(layer(images, w1, b1))
    x = pool(layer(x, w2, b2))
    x = x.reshape(x.shape[0], -1)
    x = np.tanh(x @ w3 + b3)
    z = x @ w4 + b4
    z = z - np.max(z, axis=1, keepdims=True)
    log_probabilities = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(log_probabilities[np.arange(z.shape[0]), labels])


def arguments(count: int = 4):
    rng = np.random.default_rng(0)
    shapes = ((3, 3, 1, 4), (4,), (3, 3, 4, 8), (8,), (8 * 5 * 5, 32), (32,), (32, 10), (10,))
    parameters = tuple(rng.normal(scale=0.1, size=shape) for shape in shapes)
    return parameters, rng.normal(size=(count, 26, 26, 1)), rng.integers(0, 10, count)


gradient = ad.grad(loss)
