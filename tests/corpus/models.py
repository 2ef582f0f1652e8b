"""Models and likelihoods: k-means, mixtures, hidden Markov, Kalman, networks, attention, pricing."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np
import scipy.special

import anadrome as ad
from anadrome.errors.frontend import UnsupportedCall
from tests.corpus.draw import N, definite, flags, given, indices, normal, positive, whole
from tests.corpus.harness import Program, Refused


def kmeans_cost(points, centers):
    return sum(min(sum((p - c) ** 2) for c in centers) for p in points)


def kmeans_by_arrays(points, centers):
    distances = np.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
    return np.sum(np.min(distances, axis=1))


def soft_kmeans(points, centers, sharpness):
    total = 0.0
    for p in points:
        total += -math.log(sum(math.exp(-sharpness * np.sum((p - c) ** 2)) for c in centers))
    return total


def lloyd_step(points, centers):
    k = len(centers)
    sums, counts = np.zeros(centers.shape), np.zeros(k)
    for p in points:
        at = np.argmin(np.sum((centers - p) ** 2, axis=1))
        sums[at] += p
        counts[at] += 1.0
    return np.sum((sums / np.maximum(counts, 1.0)[:, None] - centers) ** 2)


def gaussian_mixture(points, weights, means, scales):
    def density(p):
        parts = [
            w - np.sum(np.log(s)) - 0.5 * np.sum(((p - m) / s) ** 2)
            for w, m, s in zip(weights, means, scales)
        ]
        top = max(parts)
        return top + math.log(sum(math.exp(part - top) for part in parts))

    return sum(density(p) for p in points) - len(points) * scipy.special.logsumexp(weights)


def hidden_markov_forward(start, transition, emission, seen):
    a = np.exp(start) * emission[:, seen[0]]
    log_likelihood = 0.0
    for t in range(1, len(seen)):
        a = (a @ np.exp(transition)) * emission[:, seen[t]]
        total = np.sum(a)
        a = a / total
        log_likelihood += math.log(total)
    return log_likelihood


def viterbi(transition, emission, seen):
    score = emission[:, seen[0]]
    for t in range(1, len(seen)):
        score = np.max(score[:, None] + transition, axis=0) + emission[:, seen[t]]
    return np.max(score)


def kalman_likelihood(x, process, noise):
    mean, variance, total = 0.0, 1.0, 0.0
    for v in x:
        variance = 0.9 * variance * 0.9 + process
        innovation = v - 0.9 * mean
        spread = variance + noise
        total += 0.5 * (math.log(spread) + innovation**2 / spread)
        gain = variance / spread
        mean = 0.9 * mean + gain * innovation
        variance = (1.0 - gain) * variance
    return total


def kalman_of_two(x, noise):
    step = np.array([[1.0, 0.1], [0.0, 1.0]])
    mean, variance = np.zeros(2), np.eye(2)
    total = 0.0
    for v in x:
        mean = step @ mean
        variance = step @ variance @ step.T + 0.05 * np.eye(2)
        spread = variance[0, 0] + noise
        gain = variance[:, 0] / spread
        error = v - mean[0]
        total += error**2 / spread + math.log(spread)
        mean = mean + gain * error
        variance = variance - np.outer(gain, variance[0])
    return total


def perceptron_of_layers(layers, x, y):
    for w, b in layers[:-1]:
        x = np.tanh(w @ x + b)
    w, b = layers[-1]
    return np.sum((w @ x + b - y) ** 2)


def recurrent_network(w, u, v, x):
    h = np.zeros(len(w))
    loss = 0.0
    for t in range(len(x) - 1):
        h = np.tanh(w @ h + u * x[t])
        loss += (v @ h - x[t + 1]) ** 2
    return loss


def gated_unit(w, x):
    h = 0.0
    for v in x:
        z = 1.0 / (1.0 + math.exp(-(w[0] * v + w[1] * h)))
        r = 1.0 / (1.0 + math.exp(-(w[2] * v + w[3] * h)))
        h = (1.0 - z) * h + z * math.tanh(w[4] * v + w[5] * r * h)
    return h * h


def attention(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[1])
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True) @ v) ** 2)


def causal_attention_by_loops(q, k, v):
    total = 0.0
    for i in range(len(q)):
        top = max(np.dot(q[i], k[j]) for j in range(i + 1))
        weights = sum(math.exp(np.dot(q[i], k[j]) - top) for j in range(i + 1))
        total += sum(math.exp(np.dot(q[i], k[j]) - top) * np.sum(v[j]) for j in range(i + 1)) / weights
    return total


def logistic_regression(x, labels, w, strength):
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - labels * z) + strength * np.sum(w**2)


def poisson_regression(x, counts, w):
    rate = x @ w
    return np.sum(np.exp(rate) - counts * rate)


def support_vectors(x, signs, w, b):
    margins = signs * (x @ w + b)
    return np.mean(np.maximum(0.0, 1.0 - margins) ** 2) + 0.5 * w @ w


def matrix_factorisation(rows, columns, ratings, u, v):
    return sum((ratings[e] - np.dot(u[rows[e]], v[columns[e]])) ** 2 for e in range(len(ratings)))


def word_vectors(centers, contexts, words, neighbours):
    total = 0.0
    for i in range(len(words)):
        score = centers[words[i]] @ contexts[neighbours[i]]
        total -= math.log(1.0 / (1.0 + math.exp(-score)))
    return total


def lighthouse(nu, gamma, omega, t):
    y = nu * np.tan(omega * t) / (gamma - np.tan(omega * t))
    return np.sum(y + gamma * y)


def binomial_option(spot, strike, up, rate, steps):
    down = 1.0 / up
    p = (math.exp(rate) - down) / (up - down)
    values = np.zeros(steps + 1)
    for i in range(steps + 1):
        values[i] = max(spot * up**i * down ** (steps - i) - strike, 0.0)
    for t in range(steps, 0, -1):
        for i in range(t):
            values[i] = math.exp(-rate) * (p * values[i + 1] + (1.0 - p) * values[i])
    return values[0]


def portfolio_variance(w, covariance, returns):
    w = np.exp(w) / np.sum(np.exp(w))
    return w @ covariance @ w - 0.3 * returns @ w


def newton_calibrated_yield(cash, price):
    y = 0.05
    for _ in range(6):
        value, slope = 0.0, 0.0
        for t in range(len(cash)):
            d = cash[t] * math.exp(-y * (t + 1))
            value += d
            slope -= (t + 1) * d
        y = y - (value - price) / slope
    return y


def monte_carlo_barrier(paths, spot, volatility, barrier):
    def payoff(path):
        s = spot
        for step in path:
            s = s * math.exp(volatility * step - 0.5 * volatility**2)
            if s > barrier:
                return 0.1 * s
        return max(s - 1.0, 0.0)

    return sum(payoff(path) for path in paths) / len(paths)


def ising_energy(spins, coupling, field):
    n = len(spins)
    pairs = sum(coupling[i] * spins[i] * spins[(i + 1) % n] for i in range(n))
    return math.tanh(pairs + np.dot(field, spins))


def page_rank(weights, damping, rounds):
    n = len(weights)
    p = weights**2 / np.sum(weights**2, axis=1, keepdims=True)
    rank = np.ones(n) / n
    for _ in range(rounds):
        rank = (1.0 - damping) / n + damping * rank @ p
    return np.sum(rank * np.arange(n))


def layer(random, size):
    shapes = [(size, 3), (size, size), (2, size)]
    return [(random.normal(size=shape) / 2.0, random.normal(size=shape[0])) for shape in shapes]


CUBIC = (4, 8, 16)
PROGRAMS = (
    Program(kmeans_cost, (normal(N, 3), normal(4, 3))),
    Program(kmeans_by_arrays, (normal(N, 3), normal(N, 3)), sizes=CUBIC),
    Program(soft_kmeans, (normal(N, 2), normal(4, 2), positive())),
    Program(lloyd_step, (normal(N, 2), normal(4, 2))),
    Program(gaussian_mixture, (normal(N, 2), normal(4), normal(4, 2), positive(4, 2))),
    Program(hidden_markov_forward, (normal(4), normal(4, 4), positive(4, 5), indices(N, below=5))),
    Program(viterbi, (normal(4, 4), normal(4, 5), indices(N, below=5))),
    Program(kalman_likelihood, (normal(N), positive(), positive())),
    Program(kalman_of_two, (normal(N), positive())),
    Program(perceptron_of_layers, (layer, normal(3), normal(2)), sizes=CUBIC),
    Program(recurrent_network, (normal(4, 4), normal(4), normal(4), normal(N))),
    Program(gated_unit, (normal(6), normal(N))),
    Program(attention, (normal(N, 3), normal(N, 3), normal(N, 3)), sizes=CUBIC),
    Program(causal_attention_by_loops, (normal(N, 3), normal(N, 3), normal(N, 3)), sizes=CUBIC),
    Program(logistic_regression, (normal(N, 4), flags(N), normal(4), given(0.1))),
    Program(poisson_regression, (normal(N, 4), indices(N, below=5), normal(4))),
    Program(
        support_vectors,
        (normal(N, 4), lambda random, size: np.sign(random.normal(size=size)), normal(4), normal()),
    ),
    Program(
        matrix_factorisation,
        (indices(2 * N, below=N), indices(2 * N, below=N), normal(2 * N), normal(N, 3), normal(N, 3)),
    ),
    Program(word_vectors, (normal(N, 3), normal(N, 3), indices(2 * N, below=N), indices(2 * N, below=N))),
    Program(
        lighthouse, (positive(), positive(low=2.5, high=3.0), positive(), positive(N, low=0.1, high=0.5))
    ),
    Program(binomial_option, (given(1.1), given(1.0), given(1.13), given(0.02), whole(N)), sizes=CUBIC),
    Program(portfolio_variance, (normal(N), definite(N), normal(N)), sizes=CUBIC),
    Program(newton_calibrated_yield, (positive(N), lambda random, size: 0.8 * size)),
    Program(monte_carlo_barrier, (normal(N, 4), given(1.05), given(0.3), given(1.6))),
    Program(ising_energy, (normal(N, scale=0.3), normal(N), normal(N))),
    Program(page_rank, (positive(N, N), given(0.85), given(3)), sizes=CUBIC),
)

REFUSED = (
    Refused(
        "seeding_random_numbers",
        lambda: ad.grad(lambda x: np.random.seed(0) or x * np.random.normal())(2.0),
        UnsupportedCall,
    ),
)
