/* SPDX-License-Identifier: Apache-2.0 */
/* How long tests wait for what has no promise of time: until it happens, or until it is clear that it never will. */
#ifndef PLX_TESTS_PATIENCE_H
#define PLX_TESTS_PATIENCE_H

#include <stdint.h>
#include <stdlib.h>

#include "core/base/clock.h"

/* PLX_TEST_PATIENCE_S is for the test of the tests (system/runners.sh), which sees them fail. */
static inline int patience_ms(void)
{
    const char *seconds = getenv("PLX_TEST_PATIENCE_S");
    return 1000 * (seconds ? atoi(seconds) : 120);
}

static inline int64_t patience_end_ns(void)
{
    return plx_now_ns() + patience_ms() * PLX_NS_PER_MS;
}

#endif
