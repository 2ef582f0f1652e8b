/* Σ_b c_b h_b² of the histogram h_b = Σ {v_i : bin_i = b} of n values in m bins, and its gradient by the values:
 * v_adj_i = 2 c_b h_b at b = bin_i. `counts` [m] is scratch. */

static double filled(long n, long m, const int *restrict bins, const double *restrict values,
                     const double *restrict weights, double *restrict counts) {
    double loss = 0.0;
    for (long b = 0; b < m; b++)
        counts[b] = 0.0;
    for (long i = 0; i < n; i++)
        counts[bins[i]] += values[i];
    for (long b = 0; b < m; b++)
        loss += weights[b] * counts[b] * counts[b];
    return loss;
}

double histogram_objective(long n, long m, const int *restrict bins, const double *restrict values,
                           const double *restrict weights, double *restrict counts) {
    return filled(n, m, bins, values, weights, counts);
}

double histogram_gradient(long n, long m, const int *restrict bins, const double *restrict values,
                          const double *restrict weights, double *restrict counts, double *restrict values_adj) {
    double loss = filled(n, m, bins, values, weights, counts);
    for (long b = 0; b < m; b++)
        counts[b] *= 2.0 * weights[b];
    for (long i = 0; i < n; i++)
        values_adj[i] = counts[bins[i]];
    return loss;
}
