/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that is too slow for a source with a rate. It waits until the source has lost pairs, however fast the machine is. */
#ifndef PLX_TESTS_UNIT_SLOW_READER_H
#define PLX_TESTS_UNIT_SLOW_READER_H

#include <stdlib.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/source/source.h"
#include "tests/cmocka.h"
#include "tests/patience.h"

/* Takes all PAIRS pairs of buffers that SOURCE has, and gives them back once COUNT more pairs, PERIOD_NS apart, were due. The
 * next pair must be a later one, whose number and time tell of the loss. */
static inline void slow_reader_loses(struct plx_source *source, size_t pairs, uint32_t count, int64_t period_ns)
{
    struct plx_capture held[PLX_EYES * 8], capture;
    const size_t pictures = PLX_EYES * pairs;
    assert_in_range(pictures, 1, sizeof held / sizeof held[0]);
    for (size_t i = 0; i < pictures; i++)
        assert_int_equal(source->ops->next(source, patience_end_ns(), &held[i]), 0);
    const struct plx_capture last = held[pictures - 1];

    const int64_t end_ns = patience_end_ns();
    do {
        assert_int_equal(source->ops->next(source, plx_now_ns() + PLX_NS_PER_MS, &capture), PLX_ERR_TIMEOUT);
        assert_string_not_equal(source->message.text, "");
        assert_true(plx_now_ns() < end_ns); /* a source that waits for its reader is due no more */
    } while (source->due_ns <= last.capture_ns + count * period_ns);

    for (size_t i = 0; i < pictures; i++)
        source->ops->release(source, &held[i]);
    assert_int_equal(source->ops->next(source, patience_end_ns(), &capture), 0);
    assert_true(capture.sequence > last.sequence + count);
    assert_true(llabs(capture.capture_ns - last.capture_ns - (capture.sequence - last.sequence) * period_ns) < 10);
    source->ops->release(source, &capture);
}

#endif
