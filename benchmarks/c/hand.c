/* Residuals of points at vertices of a posed hand, as `examples/ht.py` defines them. For bone i of parent p(i)
 *
 *     T_i = T_p(i) base_i [R_z(spread_i) R_x(bend_i)],    S_i = T_i C_i
 *     v_j = R Σ_i w_ji S_i x_j + t,    e_q = y_q - v_{corr_q}
 *
 * for all vertices j, where R is the rotation about theta[0:3], t is theta[3:6], and each finger has four angles
 * more. base, inverses [bones][4][4], positions [vertices][4], weights [vertices][bones], targets and errors [·][3];
 * `absolutes` [bones][4][4], `transforms` [bones][12] and `posed` [vertices][3] are scratch. */

#include <math.h>
#include <string.h>

enum { FINGERS = 5, ENTRIES = 12 };

static void multiply(const double *a, const double *b, double *out) {
    double product[16];
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 4; column++) {
            double sum = 0.0;
            for (int k = 0; k < 4; k++)
                sum += a[4 * row + k] * b[4 * k + column];
            product[4 * row + column] = sum;
        }
    memcpy(out, product, sizeof product);
}

static void joint(double bend, double spread, double *out) {
    double cx = cos(bend), sx = sin(bend), cz = cos(spread), sz = sin(spread);
    const double turned[16] = {cz, -sz * cx, sz * sx, 0, sz, cz * cx, -cz * sx, 0, 0, sx, cx, 0, 0, 0, 0, 1};
    memcpy(out, turned, sizeof turned);
}

/* The first three rows of S_i for every bone: wrist, four of each finger, forearm. */
static void pose(long bones, const double *theta, const long *parents, const double *base, const double *inverses,
                 double *absolutes, double *transforms) {
    for (long i = 0; i < bones; i++) {
        long finger = (i - 1) / 4, part = (i - 1) % 4;
        const double *angles = theta + 6 + 4 * finger;
        int turns = i > 0 && finger < FINGERS && part > 0;
        double turn[16], *absolute = absolutes + 16 * i, complete[16];
        joint(!turns ? 0.0 : part == 1 ? angles[0] : angles[part], turns && part == 1 ? angles[1] : 0.0, turn);
        multiply(base + 16 * i, turn, absolute);
        if (parents[i] >= 0)
            multiply(absolutes + 16 * parents[i], absolute, absolute);
        multiply(absolute, inverses + 16 * i, complete);
        memcpy(transforms + ENTRIES * i, complete, ENTRIES * sizeof(double));
    }
}

static void rotation_about(const double *axis, double *out) {
    double angle = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    int turns = angle >= 1e-4;
    double scale = turns ? 1.0 / angle : 0.0, s = turns ? sin(angle) : 0.0, c = turns ? cos(angle) : 1.0;
    double x = axis[0] * scale, y = axis[1] * scale, z = axis[2] * scale, v = 1.0 - c;
    const double turned[9] = {x * x * v + c,     x * y * v - z * s, x * z * v + y * s,
                              x * y * v + z * s, y * y * v + c,     y * z * v - x * s,
                              x * z * v - y * s, y * z * v + x * s, z * z * v + c};
    memcpy(out, turned, sizeof turned);
}

void hand_objective(long bones, long vertices, long count, const double *restrict theta,
                    const long *restrict parents, const double *restrict base, const double *restrict inverses,
                    const double *restrict positions, const double *restrict weights, double mirror,
                    const long *restrict correspondences, const double *restrict targets,
                    double *restrict absolutes, double *restrict transforms, double *restrict posed,
                    double *restrict errors) {
    double rotation[9];
    pose(bones, theta, parents, base, inverses, absolutes, transforms);
    rotation_about(theta, rotation);
    for (long j = 0; j < vertices; j++) {
        double blended[ENTRIES] = {0.0}, placed[3];
        for (long i = 0; i < bones; i++)
            for (int e = 0; e < ENTRIES; e++)
                blended[e] += weights[bones * j + i] * transforms[ENTRIES * i + e];
        for (int row = 0; row < 3; row++) {
            placed[row] = 0.0;
            for (int k = 0; k < 4; k++)
                placed[row] += blended[4 * row + k] * positions[4 * j + k];
        }
        placed[0] *= mirror;
        for (int row = 0; row < 3; row++) {
            const double *turned = rotation + 3 * row;
            posed[3 * j + row] =
                turned[0] * placed[0] + turned[1] * placed[1] + turned[2] * placed[2] + theta[3 + row];
        }
    }
    for (long q = 0; q < count; q++)
        for (int row = 0; row < 3; row++)
            errors[3 * q + row] = targets[3 * q + row] - posed[3 * correspondences[q] + row];
}
