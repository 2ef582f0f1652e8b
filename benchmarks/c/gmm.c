/* The log posterior of `examples/gmm.py`, loop for loop, as one would write it in C.
 *
 * alpha [k], mu [k][d], q [k][d], lower [k][d(d-1)/2], x [n][d], all of them row by row. `factors` [k][d][d],
 * `heights` [k] and `offset` [d] are scratch. */

#include <math.h>

#define PI 3.14159265358979323846

static double logsumexp(long count, const double *values) {
    double largest = values[0], sum = 0.0;
    for (long i = 1; i < count; i++)
        largest = values[i] > largest ? values[i] : largest;
    for (long i = 0; i < count; i++)
        sum += exp(values[i] - largest);
    return largest + log(sum);
}

static double log_multigamma(double a, long d) {
    double sum = 0.25 * (double)(d * (d - 1)) * log(PI);
    for (long j = 1; j <= d; j++)
        sum += lgamma(a + 0.5 * (double)(1 - j));
    return sum;
}

double gmm_log_posterior(long d, long k, long n, const double *restrict alpha, const double *restrict mu,
                         const double *restrict q, const double *restrict lower, const double *restrict x,
                         double gamma, long m, double *restrict factors, double *restrict heights,
                         double *restrict beta, double *restrict offset) {
    long packed = d * (d - 1) / 2;
    double squares = 0.0, sum_q = 0.0;
    for (long c = 0; c < k; c++) {
        double sum = 0.0;
        for (long row = 0; row < d; row++) {
            for (long column = 0; column < d; column++) {
                double value = row == column  ? exp(q[c * d + row])
                               : row > column ? lower[c * packed + column * (2 * d - column - 3) / 2 + row - 1]
                                              : 0.0;
                factors[(c * d + row) * d + column] = value;
                squares += value * value;
            }
            sum += q[c * d + row];
        }
        heights[c] = alpha[c] + sum;
        sum_q += sum;
    }
    double likelihood = 0.0;
    for (long i = 0; i < n; i++) {
        for (long c = 0; c < k; c++) {
            for (long row = 0; row < d; row++)
                offset[row] = x[i * d + row] - mu[c * d + row];
            double distance = 0.0;
            for (long row = 0; row < d; row++) {
                double product = 0.0;
                for (long column = 0; column <= row; column++)
                    product += factors[(c * d + row) * d + column] * offset[column];
                distance += product * product;
            }
            beta[c] = heights[c] - 0.5 * distance;
        }
        likelihood += logsumexp(k, beta);
    }
    double constant = (double)n * (0.5 * (double)d * log(2.0 * PI) + logsumexp(k, alpha));
    double degrees = (double)(d + m + 1);
    double scale = degrees * (double)d * log(gamma / sqrt(2.0)) - log_multigamma(0.5 * degrees, d);
    double prior = (double)k * scale - 0.5 * gamma * gamma * squares + (double)m * sum_q;
    return likelihood - constant + prior;
}
