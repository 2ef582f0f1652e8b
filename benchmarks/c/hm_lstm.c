/* The cell of a hierarchical multiscale LSTM, over matrices of n × n numbers of the type REAL: with σ the sigmoid,
 *
 *     y = σ(i) tanh(g)              flush: z = 1
 *         c                         copy: z = 0, z_below = 0
 *         σ(f) c + σ(i) tanh(g)     update
 *
 * where z and z_below hold for a column, and the adjoints of c, f, i and g for the adjoint y_adj. */

#include <tgmath.h>

typedef REAL real;

static inline real sigmoid(real x) { return 1 / (1 + exp(-x)); }

static inline real hyperbolic_tangent(real x) { return 2 / (1 + exp(-2 * x)) - 1; }

void hm_lstm_objective(long n, const real *restrict c, const real *restrict f, const real *restrict i,
                       const real *restrict g, const real *restrict z, const real *restrict z_below,
                       real *restrict y) {
    for (long row = 0; row < n; row++)
        for (long column = 0; column < n; column++) {
            long at = row * n + column;
            real input = sigmoid(i[at]) * hyperbolic_tangent(g[at]), updated = sigmoid(f[at]) * c[at] + input;
            y[at] = z[column] == 1 ? input : z_below[column] == 0 ? c[at] : updated;
        }
}

void hm_lstm_gradient(long n, const real *restrict c, const real *restrict f, const real *restrict i,
                      const real *restrict g, const real *restrict z, const real *restrict z_below,
                      const real *restrict y_adj, real *restrict y, real *restrict c_adj, real *restrict f_adj,
                      real *restrict i_adj, real *restrict g_adj) {
    for (long row = 0; row < n; row++)
        for (long column = 0; column < n; column++) {
            long at = row * n + column;
            real is_flush = z[column] == 1, is_copy = (1 - is_flush) * (z_below[column] == 0);
            real is_update = 1 - is_flush - is_copy;
            real keep = sigmoid(f[at]), gate = sigmoid(i[at]), change = hyperbolic_tangent(g[at]);
            real input = gate * change, updated = keep * c[at] + input;
            y[at] = is_flush != 0 ? input : is_copy != 0 ? c[at] : updated;
            real kept_adj = y_adj[at] * is_update, input_adj = y_adj[at] * is_flush + kept_adj;
            c_adj[at] = kept_adj * keep + y_adj[at] * is_copy;
            f_adj[at] = kept_adj * c[at] * keep * (1 - keep);
            i_adj[at] = input_adj * change * gate * (1 - gate);
            g_adj[at] = input_adj * gate * (1 - change * change);
        }
}
