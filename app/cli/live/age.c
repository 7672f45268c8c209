/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/live/age.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/clock.h"

void plx_duration_text(int64_t age_ns, char *ret_text, size_t size)
{
    const int64_t seconds = age_ns / PLX_NS_PER_S, minutes = seconds / 60, hours = minutes / 60;

    if (age_ns == INT64_MAX)
        snprintf(ret_text, size, "unknown time");
    else if (seconds < 1)
        snprintf(ret_text, size, "%" PRId64 " ms", age_ns / PLX_NS_PER_MS);
    else if (minutes < 1)
        snprintf(ret_text, size, "%.1f s", (double)age_ns / PLX_NS_PER_S);
    else if (hours < 1)
        snprintf(ret_text, size, "%" PRId64 " min %" PRId64 " s", minutes, seconds % 60);
    else if (hours < 24)
        snprintf(ret_text, size, "%" PRId64 " h %" PRId64 " min", hours, minutes % 60);
    else
        snprintf(ret_text, size, "%" PRId64 " d %" PRId64 " h", hours / 24, hours % 24);
}
