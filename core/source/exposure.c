/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sensor is linear: twice the exposure times gain is twice the signal. So the brightness of a frame and the setting in force
 * in it give the right total exposure, however old that setting is. The controller moves from its last setting towards the
 * right one. It neither winds up nor oscillates while a change has not reached the pictures yet. All brightness errors are in
 * stops, powers of two.
 */
#include "core/source/exposure.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/text.h"
#include "core/source/source.h"

#define TILES (PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES)
#define WHITE 255.0
#define HIGHLIGHT 250            /* levels from here on count as blown out */
#define DARKEST_MEAN 0.5         /* levels; a darker mean says nothing */
#define BLOWN_STOPS 6.0          /* assumed excess of an all-white picture */
#define HIGHLIGHT_STRENGTH 0.25  /* stops per doubling of the blown out share above its limit */
#define SMALLEST_LIMIT 1e-4      /* smallest limit for that share */
#define AT_ONCE_STOPS 0.5        /* larger errors are not damped, which would only prolong a bad picture */
#define HISTORY 16               /* frames; longer than any actuation delay */
#define FIRST_EXPOSURE_US 10000u /* if the setting in force is unknown */

struct plx_exposure {
    struct plx_exposure_params params;
    struct plx_exposure_setting requested;        /* exposure_us 0: none yet */
    struct plx_exposure_setting history[HISTORY]; /* requested at the end of frame n, at n % HISTORY */
    uint64_t frames;
};

#define FIELD(field) #field, offsetof(struct plx_exposure_params, field)

static const struct plx_parameter list[] = {
    {FIELD(target), PLX_REAL(0.01, 0.99)},
    {FIELD(highlight_limit), PLX_REAL(0, 1)},
    {FIELD(dead_band), PLX_REAL(0, 4)},
    {FIELD(damping), PLX_REAL(0.01, 1)},
    {FIELD(max_exposure_us), PLX_WHOLE(1, 1000000)},
    {FIELD(max_gain), PLX_REAL(1, 1000)},
    {FIELD(flicker_hz), PLX_CHOICE(3, 0, 50, 60)},
};
const struct plx_parameters plx_exposure_parameters = {list, sizeof list / sizeof list[0]};

int plx_exposure_create(const struct plx_exposure_params *params, struct plx_exposure **ret_exposure,
                        struct plx_error_message *message)
{
    struct plx_parameter_error error;
    if (plx_parameters_check(&plx_exposure_parameters, params, &error) < 0)
        return plx_parameter_fail(message, &error);
    struct plx_exposure *exposure = calloc(1, sizeof *exposure);
    if (!exposure)
        return plx_fail(message, PLX_ERR_NOMEM, "exposure: out of memory");
    exposure->params = *params;
    *ret_exposure = exposure;
    return 0;
}

void plx_exposure_destroy(struct plx_exposure *exposure)
{
    free(exposure);
}

/* Adds the tiles of both eyes by their weights; returns the weighted number of pixels. */
static uint64_t merge(const struct plx_exposure_params *params, const struct plx_image *histogram,
                      uint64_t ret_merged[PLX_HISTOGRAM_BINS])
{
    uint64_t total = 0;
    bool weighted = false;
    for (int zone = 0; zone < TILES; zone++)
        weighted = weighted || params->tile_weight[zone] > 0;
    memset(ret_merged, 0, PLX_HISTOGRAM_BINS * sizeof ret_merged[0]);
    for (int i = 0; i < PLX_EYES * TILES; i++) {
        const uint64_t weight = weighted ? params->tile_weight[i % TILES] : 1;
        const uint32_t *bins = plx_row(histogram, i / TILES * PLX_HISTOGRAM_EYE_ROWS + 1 + i % TILES);
        for (int level = 0; level < PLX_HISTOGRAM_BINS; level++) {
            ret_merged[level] += weight * bins[level];
            total += weight * bins[level];
        }
    }
    return total;
}

/* Error of the mean against its target. Blown-out pixels were brighter than their level, by more stops the larger their share
 * is (the power is an estimate that fits scenes of a few stops of dynamic range). */
static double mean_error(const uint64_t merged[PLX_HISTOGRAM_BINS], uint64_t total, double blown, double target)
{
    double sum = 0.0, cube = blown * blown * blown, blown_level = WHITE * exp2(BLOWN_STOPS * cube * cube * cube * cube);
    for (int level = 0; level < PLX_HISTOGRAM_BINS; level++)
        sum += (double)merged[level] * (level < HIGHLIGHT ? level : blown_level);
    return log2(target * WHITE / fmax(sum / (double)total, DARKEST_MEAN));
}

/* How much brighter the picture may become until the blown-out share is at its limit; negative: it must become darker. */
static double highlight_room(const uint64_t merged[PLX_HISTOGRAM_BINS], uint64_t total, double blown, double limit)
{
    if (blown > limit)
        return -HIGHLIGHT_STRENGTH * log2(blown / limit);
    double above = 0.0;
    int level = PLX_HISTOGRAM_BINS - 1;
    while (level > 1 && above + (double)merged[level] <= limit * (double)total)
        above += (double)merged[level--];
    return fmax(log2((double)HIGHLIGHT / level), 0.0);
}

static double brightness_error(const struct plx_exposure_params *params, const uint64_t merged[PLX_HISTOGRAM_BINS],
                               uint64_t total)
{
    double blown = 0.0, limit = fmax(params->highlight_limit, SMALLEST_LIMIT);
    for (int level = HIGHLIGHT; level < PLX_HISTOGRAM_BINS; level++)
        blown += (double)merged[level];
    blown /= (double)total;
    return fmin(mean_error(merged, total, blown, params->target), highlight_room(merged, total, blown, limit));
}

static double stops_of(struct plx_exposure_setting setting)
{
    return log2((double)setting.exposure_us) + log2((double)setting.gain);
}

/* The setting requested DELAY frames before this one; the oldest known if there are fewer. */
static struct plx_exposure_setting requested_before(const struct plx_exposure *exposure, int delay)
{
    uint64_t back = delay < 0 ? 1 : delay < HISTORY - 1 ? (uint64_t)delay + 1 : HISTORY;
    return exposure->history[(exposure->frames >= back ? exposure->frames - back : 0) % HISTORY];
}

/* Mean total exposure of both eyes in the frame, in stops; false if it is unknown. */
static bool stops_in_force(const struct plx_exposure *exposure, const struct plx_capture_info *capture,
                           const struct plx_control_range *range, double *ret_stops)
{
    const uint32_t exposure_us = requested_before(exposure, range->exposure_delay).exposure_us;
    const float gain = requested_before(exposure, range->gain_delay).gain;
    double stops = 0.0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_exposure_setting setting = {capture[eye].exposure_us, capture[eye].gain};
        if (setting.exposure_us == 0)
            setting.exposure_us = exposure_us;
        if (!(setting.gain > 0.0f))
            setting.gain = gain > 0.0f ? gain : 1.0f;
        if (setting.exposure_us == 0)
            return false;
        stops += stops_of(setting) / PLX_EYES;
    }
    *ret_stops = stops;
    return true;
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Divides a total exposure into the longest allowed shutter time, and gain. */
static struct plx_exposure_setting split(const struct plx_exposure_params *params, const struct plx_control_range *range,
                                         double stops)
{
    const double total = exp2(stops), gain_min = range->gain_min > 0.0f ? (double)range->gain_min : 1.0;
    const double gain_max = fmax(gain_min, range->gain_max > 0.0f ? fmin(params->max_gain, (double)range->gain_max) : 1.0);
    const double longest = fmin(params->max_exposure_us, range->exposure_max_us);
    double shutter = clamp(total / gain_min, fmax(range->exposure_min_us, 1.0), fmax(longest, 1.0));
    if (params->flicker_hz > 0) { /* light flickers at twice the mains frequency */
        double period = 1e6 / (2.0 * params->flicker_hz);
        double periods = floor(shutter / period + 1e-6);
        if (periods >= 1.0 && floor(periods * period) >= range->exposure_min_us)
            shutter = periods * period;
    }
    shutter = floor(shutter);
    return (struct plx_exposure_setting){(uint32_t)shutter, (float)clamp(total / shutter, gain_min, gain_max)};
}

/* The next setting; the last one if the error is small. */
static struct plx_exposure_setting decide(const struct plx_exposure *exposure, const struct plx_image *histogram,
                                          const struct plx_capture_info *capture, const struct plx_control_range *range)
{
    const struct plx_exposure_params *params = &exposure->params;
    uint64_t merged[PLX_HISTOGRAM_BINS];
    uint64_t total = merge(params, histogram, merged);
    double in_force;
    if (!stops_in_force(exposure, capture, range, &in_force))
        return split(params, range, log2(FIRST_EXPOSURE_US));
    if (total == 0)
        return exposure->requested;
    const bool first = exposure->requested.exposure_us == 0;
    double before = first ? in_force : stops_of(exposure->requested);
    double error = in_force + brightness_error(params, merged, total) - before;
    if (fabs(error) < params->dead_band)
        return first ? split(params, range, in_force) : exposure->requested; /* first: gives both eyes the same setting */
    return split(params, range, before + (fabs(error) > AT_ONCE_STOPS ? 1.0 : params->damping) * error);
}

int plx_exposure_update(struct plx_exposure *exposure, const struct plx_image *histogram,
                        const struct plx_capture_info *capture, const struct plx_control_range *range,
                        struct plx_exposure_setting *ret_setting)
{
    if (!plx_image_ok(histogram, PLX_U32) || histogram->width != PLX_HISTOGRAM_BINS ||
        histogram->height != PLX_EYES * PLX_HISTOGRAM_EYE_ROWS)
        return PLX_ERR_ARG;
    if (!exposure->params.enabled)
        return 0;
    if (range->exposure_max_us == 0)
        return PLX_ERR_UNSUPPORTED;
    struct plx_exposure_setting next = decide(exposure, histogram, capture, range);
    const bool change = next.exposure_us != exposure->requested.exposure_us || next.gain != exposure->requested.gain;
    exposure->requested = next;
    exposure->history[exposure->frames++ % HISTORY] = next;
    if (!change || next.exposure_us == 0)
        return 0;
    *ret_setting = next;
    return 1;
}
