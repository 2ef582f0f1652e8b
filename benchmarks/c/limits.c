/* What a core can do at most, by functions that the caller times: fused operations on registers, a stream through
 * memory or a cache, and exponentials. */

#include <math.h>

#ifdef __AVX512F__
enum { BYTES = 64 };
#else
enum { BYTES = 32 };
#endif

typedef double vector __attribute__((vector_size(BYTES)));

enum { CHAINS = 10, LANES = BYTES / sizeof(double) };

/* Runs v ← v x + y in ten chains of vectors, and gives how many operations that was, two for each number. */
double multiply_add(long rounds, double x, double y) {
    vector factor = x - (vector){}, term = y - (vector){};
    vector a = term, b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a;
    for (long round = 0; round < rounds; round++) {
        a = a * factor + term, b = b * factor + term, c = c * factor + term, d = d * factor + term;
        e = e * factor + term, f = f * factor + term, g = g * factor + term, h = h * factor + term;
        i = i * factor + term, j = j * factor + term;
        __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h), "+x"(i), "+x"(j));
    }
    volatile double kept = (a + b + c + d + e + f + g + h + i + j)[0];
    (void)kept;
    return 2.0 * CHAINS * LANES * (double)rounds;
}

/* a ← b + s c, over and over. */
void triad(long n, long rounds, double s, const double *restrict b, const double *restrict c, double *restrict a) {
    for (long round = 0; round < rounds; round++) {
        for (long i = 0; i < n; i++)
            a[i] = b[i] + s * c[i];
        __asm__ volatile("" ::: "memory");
    }
}

/* y ← eˣ, over and over. */
void exponentials(long n, long rounds, const double *restrict x, double *restrict y) {
    for (long round = 0; round < rounds; round++) {
        for (long i = 0; i < n; i++)
            y[i] = exp(x[i]);
        __asm__ volatile("" ::: "memory");
    }
}
