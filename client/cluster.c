/* SPDX-License-Identifier: Apache-2.0 */
#include "client/cluster.h"

#include <string.h>

/* Bins are equal steps of the float's bits, 32 for a factor of two: a logarithm in straight pieces, at no cost. */
#define BIN_SHIFT 18
#define MIN_PX 1.0F /* samples lie above */
#define OCTAVES 12
#define BINS (OCTAVES << (23 - BIN_SHIFT))
#define HALF_BINS 3     /* a cluster reaches so many bins to each side: 7 to 11 % of the disparity, */
#define HALF_PX 0.75F   /* and at least so many pixels */
#define MIN_SHARE 0.25F /* of the weight, for the nearest cluster */
#define FINE_BINS 256   /* of one cluster, for its median */

static uint32_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static float number_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static int bin_of(float disparity)
{
    const uint32_t first = bits_of(MIN_PX) >> BIN_SHIFT, bin = bits_of(disparity > MIN_PX ? disparity : MIN_PX) >> BIN_SHIFT;
    return bin - first < BINS ? (int)(bin - first) : BINS - 1;
}

/* Smallest disparity of BIN. */
static float edge_of(int bin)
{
    return number_of(((bits_of(MIN_PX) >> BIN_SHIFT) + (uint32_t)bin) << BIN_SHIFT);
}

static int half_width_at(int bin)
{
    const float middle = edge_of(bin);
    const int wide = bin_of(middle + HALF_PX) - bin;
    return wide > HALF_BINS ? wide : HALF_BINS;
}

struct window {
    int first, last; /* bins */
    uint64_t weight;
};

/* sum[i]: weight of all bins before bin i. */
static struct window window_at(const uint64_t sum[BINS + 1], int bin)
{
    const int half = half_width_at(bin);
    const int first = bin > half ? bin - half : 0, last = bin + half < BINS ? bin + half : BINS - 1;
    return (struct window){first, last, sum[last + 1] - sum[first]};
}

/* The heaviest window whose middle lies in FIRST .. LAST; its middle. */
static int heaviest(const uint64_t sum[BINS + 1], int first, int last, struct window *ret)
{
    int best = first;
    *ret = window_at(sum, first);
    for (int bin = first + 1; bin <= last; bin++) {
        const struct window window = window_at(sum, bin);
        if (window.weight > ret->weight) {
            *ret = window;
            best = bin;
        }
    }
    return best;
}

/* The nearest window with MIN_SHARE of the weight, moved to where it is heaviest; else the heaviest one. */
static struct window nearest_window(const uint64_t sum[BINS + 1])
{
    struct window window;
    for (int bin = BINS - 1; bin >= 0; bin--) {
        if ((float)window_at(sum, bin).weight < MIN_SHARE * (float)sum[BINS])
            continue;
        for (int middle = bin;;) {
            const int half = half_width_at(middle);
            const int next = heaviest(sum, middle > half ? middle - half : 0, middle, &window);
            if (next == middle)
                return window;
            middle = next;
        }
    }
    heaviest(sum, 0, BINS - 1, &window);
    return window;
}

/* Disparity below which PART of the weight in FINE lies. */
static float quantile(const struct plx_cluster *cluster, const uint32_t fine[FINE_BINS], double total, double part)
{
    const float step = (cluster->high - cluster->low) / FINE_BINS;
    double below = 0;
    for (int i = 0; i < FINE_BINS; i++) {
        if (fine[i] > 0 && below + fine[i] >= part * total)
            return cluster->low + step * ((float)i + (float)((part * total - below) / fine[i]));
        below += fine[i];
    }
    return cluster->high;
}

/* Standard deviation of COUNT numbers, whose sum and sum of squares are given. */
static float deviation(double count, double sum, double squares)
{
    const double variance = squares / count - sum / count * (sum / count);
    return variance > 0 ? (float)__builtin_sqrt(variance) : 0; /* an instruction: the library links no libm */
}

/* Everything of CLUSTER that its samples tell, from its bounds. */
static void measure(const struct plx_samples *samples, struct plx_cluster *cluster)
{
    uint32_t fine[FINE_BINS] = {0};
    double total = 0, x = 0, y = 0, xx = 0, yy = 0;
    int filled = 0;
    const float scale = FINE_BINS / (cluster->high - cluster->low);
    cluster->count = 0;
    for (int i = 0; i < samples->count; i++) {
        const struct plx_sample *s = &samples->sample[i];
        if (!(s->disparity_px >= cluster->low && s->disparity_px < cluster->high))
            continue;
        const int bin = (int)((s->disparity_px - cluster->low) * scale);
        const double at_x = samples->x[s->column], at_y = samples->y[s->row];
        fine[bin < FINE_BINS ? bin : FINE_BINS - 1] += s->weight;
        total += s->weight;
        filled += s->is_filled;
        x += at_x;
        y += at_y;
        xx += at_x * at_x;
        yy += at_y * at_y;
        cluster->count++;
    }
    const double count = cluster->count > 0 ? cluster->count : 1;
    cluster->x = (float)(x / count);
    cluster->y = (float)(y / count);
    cluster->deviation_x = deviation(count, x, xx);
    cluster->deviation_y = deviation(count, y, yy);
    cluster->filled = (float)(filled / count);
    cluster->median = quantile(cluster, fine, total, 0.5);
    cluster->spread = (quantile(cluster, fine, total, 0.84) - quantile(cluster, fine, total, 0.16)) / 2;
}

bool plx_cluster_find(const struct plx_samples *samples, struct plx_cluster *ret_cluster)
{
    uint32_t weight[BINS] = {0};
    uint64_t sum[BINS + 1] = {0};
    if (samples->count == 0 || samples->weight == 0)
        return false;
    for (int i = 0; i < samples->count; i++)
        weight[bin_of(samples->sample[i].disparity_px)] += samples->sample[i].weight;
    for (int i = 0; i < BINS; i++)
        sum[i + 1] = sum[i] + weight[i];
    const struct window window = nearest_window(sum);
    struct plx_cluster cluster = {.low = edge_of(window.first), .high = edge_of(window.last + 1)};
    cluster.share = (float)((double)window.weight / (double)samples->weight);
    measure(samples, &cluster);
    *ret_cluster = cluster;
    return true;
}
