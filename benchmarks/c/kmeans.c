/* Σ_i min_j ‖p_i - c_j‖² over n points of d coordinates and k centres. Where m_j points are nearest to centre j and
 * s_j is their sum, the gradient by c_j is 2 (m_j c_j - s_j) and the Hessian is diagonal, 2 m_j.
 *
 * points [n][d], centres [k][d]; `counts` [k] is scratch. */

#include <float.h>

/* The centre that is nearest to a point; its squared distance is added to `cost`. */
static inline long nearest(long k, long d, const double *restrict point, const double *restrict centres,
                           double *cost) {
    double least = DBL_MAX;
    long at = 0;
    for (long j = 0; j < k; j++) {
        double distance = 0.0;
        for (long q = 0; q < d; q++) {
            double offset = point[q] - centres[j * d + q];
            distance += offset * offset;
        }
        at = distance < least ? j : at;
        least = distance < least ? distance : least;
    }
    *cost += least;
    return at;
}

double kmeans_objective(long n, long k, long d, const double *restrict points, const double *restrict centres) {
    double cost = 0.0;
    for (long i = 0; i < n; i++)
        nearest(k, d, points + i * d, centres, &cost);
    return cost;
}

double kmeans_gradient(long n, long k, long d, const double *restrict points, const double *restrict centres,
                       long *restrict counts, double *restrict centres_adj) {
    double cost = 0.0;
    for (long j = 0; j < k; j++)
        counts[j] = 0;
    for (long q = 0; q < k * d; q++)
        centres_adj[q] = 0.0;
    for (long i = 0; i < n; i++) {
        long j = nearest(k, d, points + i * d, centres, &cost);
        counts[j]++;
        for (long q = 0; q < d; q++)
            centres_adj[j * d + q] += points[i * d + q];
    }
    for (long j = 0; j < k; j++)
        for (long q = 0; q < d; q++)
            centres_adj[j * d + q] = 2.0 * ((double)counts[j] * centres[j * d + q] - centres_adj[j * d + q]);
    return cost;
}

double kmeans_curvature(long n, long k, long d, const double *restrict points, const double *restrict centres,
                        long *restrict counts, double *restrict centres_adj, double *restrict diagonal) {
    double cost = kmeans_gradient(n, k, d, points, centres, counts, centres_adj);
    for (long j = 0; j < k; j++)
        for (long q = 0; q < d; q++)
            diagonal[j * d + q] = 2.0 * (double)counts[j];
    return cost;
}
