/* SPDX-License-Identifier: Apache-2.0 */
#include "app/selftest/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "gpu/gpu.h"

void check_conclude(struct check_outcome *outcome, enum check_verdict verdict, const char *format, ...)
{
    va_list args;

    if (outcome->verdict == CHECK_FAILED)
        return;
    outcome->verdict = verdict;
    va_start(args, format);
    vsnprintf(outcome->message, sizeof outcome->message, format, args);
    va_end(args);
}

void check_note(struct check_outcome *outcome, const char *format, ...)
{
    const size_t used = strlen(outcome->note), room = sizeof outcome->note - used;
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(outcome->note + used, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length + 2 > room)
        outcome->note[used] = '\0'; /* a line that does not fit is left out whole */
    else
        memcpy(outcome->note + used + length, "\n", 2);
}

bool check_backend(enum plx_backend_kind kind, const struct plx_limits *limits, struct plx_stages **ret_stages,
                   struct check_outcome *outcome)
{
    struct plx_error_message message = {""};
    const int result =
        kind == PLX_BACKEND_GPU ? plx_gpu_create(limits, ret_stages, &message) : plx_cpu_create(limits, ret_stages);

    if ((result == PLX_ERR_NOT_FOUND || result == PLX_ERR_UNSUPPORTED) && kind == PLX_BACKEND_GPU)
        check_skip(outcome, "no GPU: %s", message.text);
    else if (result < 0)
        check_fail(outcome, "no backend: %s. %s", plx_strerror(result), message.text);
    return result == 0;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void check_sort(int64_t *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
}

int64_t check_quantile(const int64_t *sorted, int count, double q)
{
    return count > 0 ? sorted[(int)(q * (count - 1))] : 0;
}
