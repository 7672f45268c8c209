/* SPDX-License-Identifier: Apache-2.0 */
/* The configured cameras: their rate, their synchronization, and the effect of the exposure time. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/engine/setup.h"
#include "app/selftest/check.h"
#include "core/base/clock.h"
#include "core/source/pairing.h"

#define MAX_PAIRS 20000
#define WARM_UP_PAIRS 5
#define RATE_ERROR 0.05          /* allowed share of the expected rate */
#define LOST_SHARE 0.02          /* allowed share of the pictures, lost or without a partner */
#define MIN_BRIGHTNESS_RATIO 1.2 /* between pictures at four times the exposure time */
#define PAIR_TIMEOUT_NS (2 * PLX_NS_PER_S)

/* Whether SENTENCE, the reason for a lost camera, names another program. */
static bool is_in_use(const char *sentence)
{
    return strstr(sentence, "another program") || strstr(sentence, strerror(EBUSY));
}

/* The next pair, whose captures are the caller's. Without a pair sets the outcome to failed or skipped and returns false. */
static bool next_pair(struct plx_source *source, struct plx_pairing *pairing, struct plx_capture ret_pair[PLX_EYES],
                      struct check_outcome *outcome)
{
    const int64_t deadline = plx_now_ns() + PAIR_TIMEOUT_NS;
    struct plx_pairing_result paired = {.paired = false};
    struct plx_capture capture;

    while (!paired.paired) {
        const int result = source->ops->next(source, deadline, &capture);
        if (result < 0) {
            if (is_in_use(source->message.text))
                check_skip(outcome, "in use; stop it first: systemctl stop parallaxd. %s", source->message.text);
            else
                check_fail(outcome, "no pair in %d s: %s. %s", (int)(PAIR_TIMEOUT_NS / PLX_NS_PER_S), plx_strerror(result),
                           source->message.text);
            return false;
        }
        if (plx_pairing_push(pairing, &capture, &paired) < 0) {
            source->ops->release(source, &capture);
            continue;
        }
        for (int i = 0; i < paired.release_count; i++)
            source->ops->release(source, &paired.release[i]);
    }
    memcpy(ret_pair, paired.pair, sizeof paired.pair);
    return true;
}

static void release_pair(struct plx_source *source, struct plx_capture pair[PLX_EYES])
{
    for (int eye = 0; eye < PLX_EYES; eye++)
        if (pair[eye].buffer)
            source->ops->release(source, &pair[eye]);
}

/* Releases the captures that wait for a partner, and stops the source. */
static void stop(struct plx_source *source, struct plx_pairing *pairing)
{
    struct plx_pairing_result rest;
    plx_pairing_flush(pairing, &rest);
    for (int i = 0; i < rest.release_count; i++)
        source->ops->release(source, &rest.release[i]);
    source->ops->stop(source);
}

static bool start(struct plx_source *source, struct check_outcome *outcome)
{
    struct plx_error_message message = {""};
    const int result = source->ops->start(source, &message);
    if (result == PLX_ERR_BUSY)
        check_skip(outcome, "in use; stop it first: systemctl stop parallaxd. %s", message.text);
    else if (result < 0)
        check_fail(outcome, "cannot start: %s", message.text[0] ? message.text : plx_strerror(result));
    return result == 0;
}

static void judge_pairs(const struct plx_source *source, const struct plx_pairing *pairing, int pairs, int64_t span_ns,
                        struct check_outcome *ret)
{
    uint64_t lost = 0, unmatched = 0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        lost += pairing->eye[eye].dropped;
        unmatched += pairing->eye[eye].unmatched;
    }
    const double rate = span_ns > 0 ? (pairs - 1) * 1e9 / (double)span_ns : 0;
    check_note(ret, "%d pairs, %.2f Hz (expected: %.2f), %llu pictures lost, %llu without a partner", pairs, rate,
               source->rate_hz, (unsigned long long)lost, (unsigned long long)unmatched);
    if (source->rate_hz > 0 && fabs(rate / source->rate_hz - 1) > RATE_ERROR)
        check_fail(ret, "%.2f pairs a second instead of %.2f", rate, source->rate_hz);
    if ((double)unmatched > LOST_SHARE * PLX_EYES * pairs)
        check_fail(ret, "%llu pictures of one eye have no partner within the tolerance: the cameras are not synchronized",
                   (unsigned long long)unmatched);
    if ((double)lost > LOST_SHARE * PLX_EYES * pairs)
        check_fail(ret, "%llu pictures were lost", (unsigned long long)lost);
}

void check_source_pairs(struct plx_source *source, int64_t tolerance_ns, int seconds, struct check_outcome *ret)
{
    static int64_t skew[MAX_PAIRS];
    struct plx_capture pair[PLX_EYES];
    struct plx_pairing pairing;
    int64_t first = 0, last = 0;
    int pairs = 0;

    plx_pairing_init(&pairing, tolerance_ns);
    if (!start(source, ret))
        return;
    for (int i = 0; i < WARM_UP_PAIRS && next_pair(source, &pairing, pair, ret); i++)
        release_pair(source, pair);
    memset(pairing.eye, 0, sizeof pairing.eye); /* losses while the cameras start do not count */
    for (const int64_t end = plx_now_ns() + seconds * PLX_NS_PER_S; pairs < MAX_PAIRS && plx_now_ns() < end; pairs++) {
        if (!next_pair(source, &pairing, pair, ret))
            break;
        last = pair[PLX_LEFT].capture_ns;
        first = pairs == 0 ? last : first;
        skew[pairs] = llabs(pair[PLX_RIGHT].capture_ns - last);
        release_pair(source, pair);
    }
    stop(source, &pairing);
    if (ret->verdict == CHECK_SKIPPED) /* in use */
        return;
    judge_pairs(source, &pairing, pairs, last - first, ret);
    check_sort(skew, pairs);
    check_note(ret, "left to right: p50 %.1f us, p99 %.1f us, largest %.1f us; tolerance %.1f us",
               (double)check_quantile(skew, pairs, 0.5) / 1e3, (double)check_quantile(skew, pairs, 0.99) / 1e3,
               (double)check_quantile(skew, pairs, 1) / 1e3, (double)tolerance_ns / 1e3);
}

/* Mean grey of the left picture, once EXPOSURE_US is in force. After an error sets the outcome and returns a negative value. */
static double brightness(struct plx_source *source, struct plx_pairing *pairing, struct plx_stages *stages,
                         const struct plx_image *grey, uint32_t exposure_us, const struct plx_control_range *range,
                         struct check_outcome *outcome)
{
    struct plx_capture pair[PLX_EYES];
    uint64_t sum = 0;

    int result = source->ops->control(source, exposure_us, range->gain_min);
    for (int i = 0; i < range->exposure_delay + range->gain_delay + WARM_UP_PAIRS && result == 0; i++) {
        if (!next_pair(source, pairing, pair, outcome))
            return -1;
        release_pair(source, pair);
    }
    if (result == 0 && !next_pair(source, pairing, pair, outcome))
        return -1;
    if (result == 0) {
        result = stages->ops->convert(stages, &pair[PLX_LEFT].raw[PLX_LEFT], grey);
        if (result == 0)
            result = stages->ops->finish(stages);
        release_pair(source, pair);
    }
    if (result < 0) {
        check_fail(outcome, "an exposure of %u us: %s", exposure_us, plx_strerror(result));
        return -1;
    }
    for (int y = 0; y < grey->height; y++)
        for (int x = 0; x < grey->width; x++)
            sum += ((const uint8_t *)plx_row(grey, y))[x];
    return (double)sum / grey->width / grey->height;
}

static void judge_control(uint32_t shorter, uint32_t longer, double dark, double bright, struct check_outcome *ret)
{
    check_note(ret, "mean grey %.1f at %u us, %.1f at %u us", dark, shorter, bright, longer);
    if (dark > 250 || bright < 2)
        check_skip(ret, "the scene is too %s to judge", dark > 250 ? "bright" : "dark");
    else if (bright < MIN_BRIGHTNESS_RATIO * dark)
        check_fail(ret, "pictures become %.2f times as bright at %.1f times the exposure", bright / (dark > 0 ? dark : 1),
                   (double)longer / shorter);
}

void check_source_control(struct plx_source *source, struct plx_stages *stages, struct check_outcome *ret)
{
    struct plx_image grey = {.width = source->width, .height = source->height, .pitch = (size_t)source->width, .type = PLX_U8};
    struct plx_control_range range;
    struct plx_pairing pairing;

    source->ops->range(source, &range);
    if (range.exposure_max_us == 0) {
        check_skip(ret, "the source has no exposure control");
        return;
    }
    const double rate = source->rate_hz > 0 ? source->rate_hz : 30;
    const uint32_t half = (uint32_t)(5e5 / rate), longer = half < range.exposure_max_us ? half : range.exposure_max_us,
                   shorter = longer / 4 > range.exposure_min_us ? longer / 4 : range.exposure_min_us;
    if (stages->ops->alloc(stages, grey.pitch * (size_t)grey.height, &grey.data) < 0) {
        check_fail(ret, "no memory for a picture");
        return;
    }
    plx_pairing_init(&pairing, plx_pairing_default_tolerance_ns(plx_source_capture_hz(source)));
    if (start(source, ret)) {
        const double dark = brightness(source, &pairing, stages, &grey, shorter, &range, ret);
        const double bright = dark < 0 ? -1 : brightness(source, &pairing, stages, &grey, longer, &range, ret);
        if (bright >= 0)
            judge_control(shorter, longer, dark, bright, ret);
        stop(source, &pairing);
    }
    stages->ops->free(stages, grey.data);
}

/* Opens the cameras of the configuration. Without cameras sets the outcome to failed or skipped and returns false. */
static bool open_cameras(const struct check_options *options, struct plx_config *config, struct plx_setup *setup,
                         struct check_outcome *ret)
{
    struct plx_report report = {0};
    struct plx_error_message message = {""};

    if (access(options->config_path, F_OK) != 0) {
        check_skip(ret, "no configuration %s, so no cameras", options->config_path);
        return false;
    }
    int result = plx_config_load(options->config_path, config, &message);
    if (result < 0) {
        check_fail(ret, "%s", message.text);
        return false;
    }
    if (config->source.type != PLX_SOURCE_V4L2) {
        check_skip(ret, "no cameras are configured: source.type in %s is not v4l2", options->config_path);
        return false;
    }
    result = plx_setup_open(setup, config, NULL, &report);
    if (result < 0)
        check_fail(ret, "%s", report.message.text[0] ? report.message.text : plx_strerror(result));
    return result == 0;
}

void check_camera_pairs(const struct check_options *options, struct check_outcome *ret)
{
    static struct plx_config config; /* large */
    struct plx_setup setup;

    if (!open_cameras(options, &config, &setup, ret))
        return;
    const double tolerance_ms = config.source.pair_tolerance_ms;
    check_source_pairs(setup.source,
                       tolerance_ms > 0 ? (int64_t)(tolerance_ms * PLX_NS_PER_MS)
                                        : plx_pairing_default_tolerance_ns(plx_source_capture_hz(setup.source)),
                       options->full ? 20 : 2, ret);
    plx_setup_close(&setup);
}

void check_camera_control(const struct check_options *options, struct check_outcome *ret)
{
    static struct plx_config config;
    struct plx_setup setup;

    if (!open_cameras(options, &config, &setup, ret))
        return;
    check_source_control(setup.source, setup.stages, ret);
    plx_setup_close(&setup);
}
