/* y_i = f(x_i) for a function of three branches, and x_adj_i = f'(x_i) y_adj_i, over n numbers of the type REAL:
 *
 *     f(v) = e⁻ᵛ sin v       f'(v) = e⁻ᵛ (cos v - sin v)       v > ½
 *            v³                      3 v²                      -½ < v ≤ ½
 *            log1p v²                2 v / (1 + v²)            v ≤ -½ */

#include <tgmath.h>

typedef REAL real;

void map_objective(long n, const real *restrict x, real *restrict y) {
    const real half = 0.5;
    for (long i = 0; i < n; i++) {
        real v = x[i], wave = exp(-v) * sin(v), growth = log1p(v * v);
        y[i] = v > half ? wave : v > -half ? v * v * v : growth;
    }
}

/* cos v - sin v is written as √2 cos(v + π/4): of sine and cosine of one number compilers make one call that has
 * no form for vectors. */
void map_gradient(long n, const real *restrict x, const real *restrict y_adj, real *restrict y,
                  real *restrict x_adj) {
    const real half = 0.5, quarter_turn = 0.78539816339744831, root = 1.4142135623730951;
    for (long i = 0; i < n; i++) {
        real v = x[i], square = v * v, fall = exp(-v);
        real wave = fall * sin(v), growth = log1p(square);
        real wave_slope = root * fall * cos(v + quarter_turn), growth_slope = 2 * v / (1 + square);
        y[i] = v > half ? wave : v > -half ? v * square : growth;
        x_adj[i] = y_adj[i] * (v > half ? wave_slope : v > -half ? 3 * square : growth_slope);
    }
}
