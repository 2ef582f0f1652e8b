/* Losses Σ_i c_i s_i² of two scans over n numbers, and their gradients, carried backwards from the last number:
 *
 *     s_i = s_{i-1} + x_i             s_adj_i = s_adj_{i+1} + 2 c_i s_i,            x_adj_i = s_adj_i
 *     s_i = a_i s_{i-1} + b_i         s_adj_i = a_{i+1} s_adj_{i+1} + 2 c_i s_i,    b_adj_i = s_adj_i,
 *                                                                                   a_adj_i = s_adj_i s_{i-1}
 *
 * with s_{-1} = 0. `states` [n] is scratch. */

double prefix_sum_objective(long n, const double *restrict x, const double *restrict weights) {
    double sum = 0.0, loss = 0.0;
    for (long i = 0; i < n; i++) {
        sum += x[i];
        loss += weights[i] * sum * sum;
    }
    return loss;
}

double prefix_sum_gradient(long n, const double *restrict x, const double *restrict weights,
                           double *restrict x_adj) {
    double sum = 0.0, loss = 0.0, sum_adj = 0.0;
    for (long i = 0; i < n; i++) {
        sum += x[i];
        double scaled = weights[i] * sum;
        loss += scaled * sum;
        x_adj[i] = 2.0 * scaled;
    }
    for (long i = n - 1; i >= 0; i--) {
        sum_adj += x_adj[i];
        x_adj[i] = sum_adj;
    }
    return loss;
}

double recurrence_objective(long n, const double *restrict slopes, const double *restrict starts,
                            const double *restrict weights) {
    double state = 0.0, loss = 0.0;
    for (long i = 0; i < n; i++) {
        state = slopes[i] * state + starts[i];
        loss += weights[i] * state * state;
    }
    return loss;
}

double recurrence_gradient(long n, const double *restrict slopes, const double *restrict starts,
                           const double *restrict weights, double *restrict states, double *restrict slopes_adj,
                           double *restrict starts_adj) {
    double state = 0.0, loss = 0.0, carried = 0.0;
    for (long i = 0; i < n; i++) {
        state = slopes[i] * state + starts[i];
        loss += weights[i] * state * state;
        states[i] = state;
    }
    for (long i = n - 1; i > 0; i--) {
        double state_adj = carried + 2.0 * weights[i] * states[i];
        starts_adj[i] = state_adj;
        slopes_adj[i] = state_adj * states[i - 1];
        carried = slopes[i] * state_adj;
    }
    starts_adj[0] = carried + 2.0 * weights[0] * states[0];
    slopes_adj[0] = 0.0;
    return loss;
}
