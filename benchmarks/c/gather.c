/* Σ_i w_i t_p³ at p = place_i, of n places in a table of m numbers, and its gradient by the table: each i adds
 * 3 w_i t_p² to table_adj_p. */

double gather_objective(long n, const int *restrict places, const double *restrict table,
                        const double *restrict weights) {
    double loss = 0.0;
    for (long i = 0; i < n; i++) {
        double value = table[places[i]];
        loss += weights[i] * value * value * value;
    }
    return loss;
}

double gather_gradient(long n, long m, const int *restrict places, const double *restrict table,
                       const double *restrict weights, double *restrict table_adj) {
    double loss = 0.0;
    for (long p = 0; p < m; p++)
        table_adj[p] = 0.0;
    for (long i = 0; i < n; i++) {
        double value = table[places[i]], scaled = weights[i] * value * value;
        loss += scaled * value;
        table_adj[places[i]] += 3.0 * scaled;
    }
    return loss;
}
