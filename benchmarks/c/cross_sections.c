/* Σ over look-ups and channels of w_c M_c², where M_c = Σ_j q_j ((1 - s_j) high_jc + s_j low_jc) are the cross
 * sections of a material of nuclides j with concentrations q_j. Rows `low` and `high` of a nuclide's table enclose
 * the energy, and s_j is the share of the lower one. With M_adj_c = 2 w_c M_c, each look-up adds to the gradient
 *
 *     q_adj_j += Σ_c M_adj_c ((1 - s_j) high_jc + s_j low_jc)
 *     low_adj_jc += q_j s_j M_adj_c,   high_adj_jc += q_j (1 - s_j) M_adj_c
 *
 * grids [nuclides][points], tables [nuclides][points][5], members and concentrations [materials][MOST]. */

enum { CHANNELS = 5, MOST = 34 };

typedef struct {
    long row;
    double share;
} Place;

static inline Place found(long points, long nuclide, const double *restrict grids, double energy) {
    const double *grid = grids + nuclide * points;
    long low = 0, high = points - 1;
    while (high - low > 1) {
        long middle = (low + high) >> 1;
        if (grid[middle] > energy)
            high = middle;
        else
            low = middle;
    }
    Place place = {nuclide * points + low, (grid[low + 1] - energy) / (grid[low + 1] - grid[low])};
    return place;
}

double cross_sections_objective(long lookups, long points, const double *restrict concentrations,
                                const double *restrict tables, const double *restrict grids,
                                const int *restrict members, const int *restrict counts,
                                const double *restrict energies, const int *restrict materials,
                                const double *restrict weights) {
    double loss = 0.0;
    for (long i = 0; i < lookups; i++) {
        long first = (long)materials[i] * MOST;
        double sums[CHANNELS] = {0.0};
        for (long j = 0; j < counts[materials[i]]; j++) {
            Place place = found(points, members[first + j], grids, energies[i]);
            const double *low = tables + place.row * CHANNELS, *high = low + CHANNELS;
            for (int c = 0; c < CHANNELS; c++)
                sums[c] += concentrations[first + j] * (high[c] - place.share * (high[c] - low[c]));
        }
        for (int c = 0; c < CHANNELS; c++)
            loss += weights[c] * sums[c] * sums[c];
    }
    return loss;
}

double cross_sections_gradient(long lookups, long nuclides, long points, long material_count,
                               const double *restrict concentrations, const double *restrict tables,
                               const double *restrict grids, const int *restrict members,
                               const int *restrict counts, const double *restrict energies,
                               const int *restrict materials, const double *restrict weights,
                               double *restrict concentrations_adj, double *restrict tables_adj) {
    double loss = 0.0;
    for (long i = 0; i < material_count * MOST; i++)
        concentrations_adj[i] = 0.0;
    for (long i = 0; i < nuclides * points * CHANNELS; i++)
        tables_adj[i] = 0.0;
    for (long i = 0; i < lookups; i++) {
        long first = (long)materials[i] * MOST, count = counts[materials[i]];
        double sums[CHANNELS] = {0.0}, sums_adj[CHANNELS], values[MOST][CHANNELS];
        Place places[MOST];
        for (long j = 0; j < count; j++) {
            places[j] = found(points, members[first + j], grids, energies[i]);
            const double *low = tables + places[j].row * CHANNELS, *high = low + CHANNELS;
            for (int c = 0; c < CHANNELS; c++) {
                values[j][c] = high[c] - places[j].share * (high[c] - low[c]);
                sums[c] += concentrations[first + j] * values[j][c];
            }
        }
        for (int c = 0; c < CHANNELS; c++) {
            sums_adj[c] = 2.0 * weights[c] * sums[c];
            loss += weights[c] * sums[c] * sums[c];
        }
        for (long j = 0; j < count; j++) {
            double *low_adj = tables_adj + places[j].row * CHANNELS, *high_adj = low_adj + CHANNELS, product = 0.0;
            for (int c = 0; c < CHANNELS; c++) {
                double value_adj = concentrations[first + j] * sums_adj[c], low_part = places[j].share * value_adj;
                product += sums_adj[c] * values[j][c];
                low_adj[c] += low_part;
                high_adj[c] += value_adj - low_part;
            }
            concentrations_adj[first + j] += product;
        }
    }
    return loss;
}
