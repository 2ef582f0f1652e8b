/* The loss of the LSTM with diagonal weights of `examples/lstm.py`. Each unit of each layer, with input x, hidden
 * value h and cell c, has
 *
 *     f = σ(x w_f + b_f),  i = σ(h w_i + b_i),  o = σ(x w_o + b_o),  g = tanh(h w_g + b_g)
 *     c ← f c + i g,    h ← o tanh c
 *
 * and the last layer predicts the next character of the text.
 *
 * weights [layers][2][4][bits], extra [3][bits], state [layers][2][bits], sequence [characters][bits]; `hidden` and
 * `cell` [layers][bits] and `x` [bits] are scratch. */

#include <math.h>

static inline double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static inline double hyperbolic_tangent(double x) { return 2.0 / (1.0 + exp(-2.0 * x)) - 1.0; }

double lstm_objective(long layers, long bits, long characters, const double *restrict weights,
                      const double *restrict extra, const double *restrict state, const double *restrict sequence,
                      double *restrict hidden, double *restrict cell, double *restrict x) {
    double total = 0.0;
    for (long layer = 0; layer < layers; layer++)
        for (long k = 0; k < bits; k++) {
            hidden[layer * bits + k] = state[2 * layer * bits + k];
            cell[layer * bits + k] = state[(2 * layer + 1) * bits + k];
        }
    for (long t = 0; t < characters - 1; t++) {
        const double *now = sequence + t * bits, *next = now + bits;
        for (long k = 0; k < bits; k++)
            x[k] = now[k] * extra[k];
        for (long layer = 0; layer < layers; layer++) {
            const double *w = weights + 8 * layer * bits, *b = w + 4 * bits;
            double *h = hidden + layer * bits, *c = cell + layer * bits;
            for (long k = 0; k < bits; k++) {
                double forget = sigmoid(x[k] * w[k] + b[k]);
                double ingate = sigmoid(h[k] * w[bits + k] + b[bits + k]);
                double outgate = sigmoid(x[k] * w[2 * bits + k] + b[2 * bits + k]);
                double change = hyperbolic_tangent(h[k] * w[3 * bits + k] + b[3 * bits + k]);
                c[k] = forget * c[k] + ingate * change;
                h[k] = outgate * hyperbolic_tangent(c[k]);
                x[k] = h[k];
            }
        }
        double sum = 2.0, dot = 0.0, chosen = 0.0;
        for (long k = 0; k < bits; k++) {
            double prediction = x[k] * extra[bits + k] + extra[2 * bits + k];
            sum += exp(prediction);
            dot += next[k] * prediction;
            chosen += next[k];
        }
        total += dot - chosen * log(sum);
    }
    return -total / (double)(bits * (characters - 1));
}
