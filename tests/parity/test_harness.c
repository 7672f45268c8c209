/* SPDX-License-Identifier: Apache-2.0 */
/* The test of the tests: the harness fails where backends differ, where one of them fails, and where nothing was compared. Two
 * CPU backends take part, so that no GPU is needed. */
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "tests/parity/parity.h"

static struct plx_frame one, other;

static void same(struct parity *parity)
{
    parity_frames(parity, &one, &one, sizeof one, "equal frames");
}

static void nothing(struct parity *parity)
{
    (void)parity;
}

static void another_byte(struct parity *parity)
{
    parity_frames(parity, &one, &other, sizeof one, "frames that differ in one byte");
}

static void another_pixel(struct parity *parity)
{
    struct twin twin = twin_new(parity->gpu, 7, 5, PLX_U8);
    ((uint8_t *)twin.got.data)[6]++;
    parity_compare(parity, &twin, "images that differ in one pixel");
    twin_free(parity->gpu, &twin);
}

static void one_fails(struct parity *parity)
{
    same(parity);
    parity_done(parity, 0, PLX_ERR_LOST, "a stage that fails");
}

static void only_one_refuses(struct parity *parity)
{
    parity_refused(parity, PLX_ERR_RANGE, 0, "what only the CPU refuses");
}

static const struct row {
    const char *name;
    void (*compare)(struct parity *parity);
    int code;
} table[] = {
    {"equal", same, 0},
    {"nothing", nothing, 1},
    {"another byte", another_byte, 1},
    {"another pixel", another_pixel, 1},
    {"one fails", one_fails, 1},
    {"only one refuses", only_one_refuses, 1},
};

static int check(int index)
{
    const struct plx_limits limits = {.width = 16, .height = 16, .disparities = 16, .threads = 1};
    struct parity parity = {0};

    if (plx_cpu_create(&limits, &parity.cpu) < 0 || plx_cpu_create(&limits, &parity.gpu) < 0)
        return 1;
    table[index].compare(&parity);
    const int code = parity_close(&parity);
    if (code != table[index].code)
        printf("WRONG: %s: exit code %d, expected %d\n", table[index].name, code, table[index].code);
    return code != table[index].code;
}

int main(void)
{
    other = one;
    ((uint8_t *)&other)[sizeof other - 1] ^= 1;
    if (parity_rows(0, check) == 0) {
        printf("WRONG: a table without rows passes\n");
        return 1;
    }
    return parity_rows(PARITY_COUNT(table), check);
}
