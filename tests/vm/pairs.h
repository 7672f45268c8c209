/* SPDX-License-Identifier: Apache-2.0 */
/* For cases of the v4l2 source: opens it as the service does and takes pairs from it. */
#ifndef PLX_TESTS_VM_PAIRS_H
#define PLX_TESTS_VM_PAIRS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "core/pairing.h"
#include "core/stages.h"
#include "cpu/cpu.h"
#include "drivers/sources.h"

#define PAIRS_NO_CONTROLS                                                                                                      \
    {                                                                                                                          \
        .controls = "", .exposure_control = "", .gain_control = "", .exposure_delay = 2, .gain_delay = 1                       \
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
    struct plx_why why = {""};

    memset(pairs, 0, sizeof *pairs);
    pairs->stages = stages;
    int result = plx_v4l2_create(pairs->stages, options, &pairs->source, &why);
    if (result < 0)
        fail_msg("%s", why.text);
    if (pairs->source->note.text[0])
        print_message("note: %s\n", pairs->source->note.text);
    plx_pairing_init(&pairs->pairing, plx_pairing_default_tolerance_ns(pairs->source->rate_hz));
    result = pairs->source->ops->start(pairs->source, &why);
    if (result < 0)
        fail_msg("%s", why.text);
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
    while (source->ops->next(source, deadline, &capture) == 0) {
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

#endif
