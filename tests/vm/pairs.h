/* SPDX-License-Identifier: Apache-2.0 */
/* For cases of the v4l2 source: opens it as the service does and takes pairs from it. */
#ifndef PLX_TESTS_VM_PAIRS_H
#define PLX_TESTS_VM_PAIRS_H

#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/pipeline/stages.h"
#include "core/source/pairing.h"
#include "cpu/cpu.h"
#include "drivers/v4l2/v4l2.h"
#include "tests/cmocka.h"

#define PAIRS_PATIENCE_MS 20000 /* the guest is slow, and its host may be busy */

/* Sets a text of struct plx_v4l2_options. */
#define SET_TEXT(field, text) snprintf(field, sizeof(field), "%s", text)

#define PAIRS_NO_CONTROLS                                                                                                      \
    {                                                                                                                          \
        .exposure_delay = 2, .gain_delay = 1                                                                                   \
    }

struct pairs {
    struct plx_stages *stages;
    struct plx_source *source;
    struct plx_pairing pairing;
    struct plx_capture pair[PLX_EYES];
    uint32_t health; /* all that was seen, until it is cleared */
};

static inline struct plx_stages *pairs_stages(void)
{
    const struct plx_limits limits = {.width = 16, .height = 16, .disparities = 64, .threads = 1};
    struct plx_stages *stages;
    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    return stages;
}

/* With buffers of STAGES, which is the pairs' from then on. */
static inline void pairs_open_in(struct pairs *pairs, struct plx_stages *stages, const struct plx_v4l2_options *options)
{
    struct plx_error_message message = {""};

    memset(pairs, 0, sizeof *pairs);
    pairs->stages = stages;
    int result = plx_v4l2_create(pairs->stages, options, &pairs->source, &message);
    if (result < 0)
        fail_msg("%s", message.text);
    result = pairs->source->ops->start(pairs->source, &message);
    if (result < 0)
        fail_msg("%s", message.text);
    if (pairs->source->note.text[0])
        print_message("note: %s\n", pairs->source->note.text);
    plx_pairing_init(&pairs->pairing, plx_pairing_default_tolerance_ns(pairs->source->rate_hz));
}

static inline void pairs_open(struct pairs *pairs, const struct plx_v4l2_options *options)
{
    pairs_open_in(pairs, pairs_stages(), options);
}

static inline void pairs_release(struct pairs *pairs)
{
    for (int eye = 0; eye < PLX_EYES; eye++)
        pairs->source->ops->release(pairs->source, &pairs->pair[eye]);
    memset(pairs->pair, 0, sizeof pairs->pair);
}

static inline void pairs_close(struct pairs *pairs)
{
    pairs_release(pairs);
    pairs->source->ops->destroy(pairs->source);
    pairs->stages->ops->destroy(pairs->stages);
}

/* Takes the next pair within MS; false if there is none. */
static inline bool pairs_next(struct pairs *pairs, int ms)
{
    const int64_t deadline = plx_now_ns() + ms * PLX_NS_PER_MS;
    struct plx_source *source = pairs->source;
    struct plx_pairing_result result;
    struct plx_capture capture;

    pairs_release(pairs);
    while (plx_now_ns() < deadline && source->ops->next(source, deadline, &capture) == 0) { /* one eye alone never ends */
        pairs->health |= capture.health;
        if (!capture.raw[PLX_LEFT].data && !capture.raw[PLX_RIGHT].data)
            continue;
        assert_int_equal(plx_pairing_push(&pairs->pairing, &capture, &result), 0);
        pairs->health |= result.health;
        for (int i = 0; i < result.release_count; i++)
            source->ops->release(source, &result.release[i]);
        if (result.paired) {
            memcpy(pairs->pair, result.pair, sizeof pairs->pair);
            return true;
        }
    }
    return false;
}

/* Takes COUNT pairs, one after the other; the last one stays. */
static inline void pairs_take(struct pairs *pairs, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(pairs_next(pairs, PAIRS_PATIENCE_MS));
}

/* The time until FLAG is reported. Captures that arrive meanwhile are not paired. */
static inline int64_t pairs_wait_for_flag(struct pairs *pairs, uint32_t flag)
{
    const int64_t since = plx_now_ns();
    struct plx_source *source = pairs->source;
    struct plx_capture capture;
    uint32_t seen = 0;

    while (!(seen & flag)) {
        assert_int_equal(source->ops->next(source, plx_now_ns() + PAIRS_PATIENCE_MS * PLX_NS_PER_MS, &capture), 0);
        seen |= capture.health;
        source->ops->release(source, &capture);
    }
    return plx_now_ns() - since;
}

/* How long until there is a pair of pictures that were taken from now on. */
static inline int64_t pairs_wait_for_new(struct pairs *pairs)
{
    const int64_t since = plx_now_ns();
    do {
        pairs_take(pairs, 1);
    } while (pairs->pair[PLX_LEFT].capture_ns < since || pairs->pair[PLX_RIGHT].capture_ns < since);
    return plx_now_ns() - since;
}

/* Setup of a test: opens PAIRS, which its state then is, and takes COUNT pairs, so that all is in order. */
static inline int pairs_setup(void **state, struct pairs *pairs, const struct plx_v4l2_options *options, int count)
{
    *state = pairs;
    pairs_open(pairs, options);
    pairs_take(pairs, count);
    pairs->health = 0;
    return 0;
}

static inline int pairs_teardown(void **state)
{
    pairs_close(*state);
    return 0;
}

/* No source is made of OPTIONS: ERROR, with the sentence in *RET_WHY. */
static inline void pairs_refused(const struct plx_v4l2_options *options, int error, struct plx_error_message *ret_message)
{
    struct plx_stages *stages = pairs_stages();
    struct plx_source *source;

    assert_int_equal(plx_v4l2_create(stages, options, &source, ret_message), error);
    print_message("%s\n", ret_message->text);
    stages->ops->destroy(stages);
}

/* An error of OPTIONS that shows only when they are set: the source is created, and its message names the error of the left
 * camera. */
static inline void pairs_refused_at_start(const struct plx_v4l2_options *options, const char *sentence)
{
    struct pairs pairs;

    pairs_open(&pairs, options);
    pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT);
    print_message("%s\n", pairs.source->message.text);
    assert_non_null(strstr(pairs.source->message.text, sentence));
    pairs_close(&pairs);
}

#endif
