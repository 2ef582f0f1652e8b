/* Residuals of bundle adjustment, as `examples/ba.py` defines them: for each of p observations, of a point by a
 * camera [r (3), C (3), f, u₀ (2), κ (2)], with v = r / θ and θ = ‖r‖,
 *
 *     s = X - C,    u = s cos θ + (v × s) sin θ + v (v·s) (1 - cos θ)        (u = s where r = 0)
 *     d = (u_0, u_1) / u_2,    e = w (f (1 + κ_0 ‖d‖² + κ_1 ‖d‖⁴) d + u₀ - feature),    1 - w²
 *
 * cameras [·][11], points [·][3], features and errors [p][2], observations [p][2] of camera and point. Cameras and
 * points of a strip are laid side by side first, so that the arithmetic goes through vectors. */

#include <math.h>

enum { CAMERA = 11, POINT = 3, STRIP = 64 };

/* sin θ is written as cos(θ - π/2): of sine and cosine of one number compilers make one call that has no form for
 * vectors. */
static void strip_errors(long count, double (*restrict c)[STRIP], double (*restrict x)[STRIP],
                         const double *restrict weights, const double *restrict features, double *restrict errors,
                         double *restrict weight_errors) {
    const double quarter_turn = 1.5707963267948966;
    for (long i = 0; i < count; i++) {
        double squared = c[0][i] * c[0][i] + c[1][i] * c[1][i] + c[2][i] * c[2][i];
        double angle = sqrt(squared), scale = 1.0 / (squared > 0.0 ? angle : 1.0);
        double cosine = cos(angle), sine = cos(angle - quarter_turn);
        double vx = c[0][i] * scale, vy = c[1][i] * scale, vz = c[2][i] * scale;
        double sx = x[0][i] - c[3][i], sy = x[1][i] - c[4][i], sz = x[2][i] - c[5][i];
        double along = (vx * sx + vy * sy + vz * sz) * (1.0 - cosine);
        double ux = sx * cosine + (vy * sz - vz * sy) * sine + vx * along;
        double uy = sy * cosine + (vz * sx - vx * sz) * sine + vy * along;
        double uz = sz * cosine + (vx * sy - vy * sx) * sine + vz * along;
        double dx = ux / uz, dy = uy / uz, radius = dx * dx + dy * dy;
        double distortion = c[6][i] * (1.0 + c[9][i] * radius + c[10][i] * radius * radius);
        errors[2 * i] = weights[i] * (distortion * dx + c[7][i] - features[2 * i]);
        errors[2 * i + 1] = weights[i] * (distortion * dy + c[8][i] - features[2 * i + 1]);
        weight_errors[i] = 1.0 - weights[i] * weights[i];
    }
}

void ba_objective(long p, const double *restrict cameras, const double *restrict points,
                  const double *restrict weights, const double *restrict features,
                  const long *restrict observations, double *restrict errors, double *restrict weight_errors) {
    double camera[CAMERA][STRIP], point[POINT][STRIP];
    for (long first = 0; first < p; first += STRIP) {
        long count = p - first < STRIP ? p - first : STRIP;
        for (long i = 0; i < count; i++) {
            const long *pair = observations + 2 * (first + i);
            for (int k = 0; k < CAMERA; k++)
                camera[k][i] = cameras[CAMERA * pair[0] + k];
            for (int k = 0; k < POINT; k++)
                point[k][i] = points[POINT * pair[1] + k];
        }
        strip_errors(count, camera, point, weights + first, features + 2 * first, errors + 2 * first,
                     weight_errors + first);
    }
}
