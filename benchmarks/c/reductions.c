/* The greatest of n numbers, and log Σ e^x_i, with their gradients: a one where the first greatest stands, and
 * e^x_i / Σ_j e^x_j. */

#include <math.h>

double max_objective(long n, const double *restrict x) {
    double greatest = x[0];
    for (long i = 1; i < n; i++)
        greatest = x[i] > greatest ? x[i] : greatest;
    return greatest;
}

double max_gradient(long n, const double *restrict x, double *restrict x_adj) {
    double greatest = max_objective(n, x);
    long first = n;
    for (long i = 0; i < n; i++) {
        long candidate = x[i] == greatest ? i : n;
        first = candidate < first ? candidate : first;
        x_adj[i] = 0.0;
    }
    x_adj[first] = 1.0;
    return greatest;
}

double logsumexp_objective(long n, const double *restrict x) {
    double greatest = max_objective(n, x), sum = 0.0;
    for (long i = 0; i < n; i++)
        sum += exp(x[i] - greatest);
    return greatest + log(sum);
}

double logsumexp_gradient(long n, const double *restrict x, double *restrict x_adj) {
    double greatest = max_objective(n, x), sum = 0.0;
    for (long i = 0; i < n; i++) {
        double power = exp(x[i] - greatest);
        sum += power;
        x_adj[i] = power;
    }
    double scale = 1.0 / sum;
    for (long i = 0; i < n; i++)
        x_adj[i] *= scale;
    return greatest + log(sum);
}
