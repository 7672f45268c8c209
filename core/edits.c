/* SPDX-License-Identifier: Apache-2.0 */
#include "core/edits.h"

#include <string.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Three rows of the table of distances at a time. */
int plx_edit_distance(const char *a, const char *b, size_t b_length)
{
    int row[3][PLX_EDIT_DISTANCE_LETTERS + 1];
    int *before = row[0], *last = row[1], *now = row[2];
    size_t a_length = strnlen(a, PLX_EDIT_DISTANCE_LETTERS);
    for (size_t j = 0; j <= b_length; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int change = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(change, 1 + least(last[j], now[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[b_length];
}
