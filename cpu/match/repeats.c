/* SPDX-License-Identifier: Apache-2.0 */
/* Texture that repeats along the rows. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define CELL PLX_REPEAT_CELL
#define WINDOW PLX_REPEAT_WINDOW
#define MAX_SHIFT PLX_REPEAT_MAX_SHIFT
#define BLOCK 64 /* windows at a time, so that all sums stay in the first cache */
#define CELLS (BLOCK + WINDOW - 1)

struct repeats_job {
    const struct plx_image *src, *dst;
};

/* A part of a strip of rows: CELLS cells of it from FIRST on. */
struct part {
    const struct plx_image *src;
    int y, rows, first, cells;
    uint16_t sum[MAX_SHIFT + 1][CELLS]; /* differences between a pixel and the one so many columns to its left */
};

static void sum_cells(struct part *part, int shift)
{
    uint16_t column[CELLS * CELL] = {0};
    const int from = part->first * CELL, whole = (shift + CELL - 1) / CELL - part->first, begin = whole > 0 ? whole : 0;

    for (int r = 0; r < part->rows; r++) {
        const uint8_t *row = (const uint8_t *)plx_row(part->src, part->y + r) + from;
        for (int x = begin * CELL; x < part->cells * CELL; x++)
            column[x] = (uint16_t)(column[x] + abs(row[x] - row[x - shift]));
    }
    for (int c = 0; c < part->cells; c++) {
        uint16_t sum = 0;
        for (int x = 0; x < CELL; x++)
            sum = (uint16_t)(sum + column[c * CELL + x]);
        part->sum[shift][c] = sum;
    }
}

/* Marks the cells of window I and of what it equals. */
static void mark(const struct part *part, int i, uint8_t *ret_repeats)
{
    const int x = (part->first + i) * CELL, last = x < MAX_SHIFT ? x : MAX_SHIFT;
    const uint32_t contrast = (uint32_t)(PLX_REPEAT_CONTRAST * WINDOW * CELL * part->rows);
    uint32_t most = 0;

    for (int shift = 1; shift <= last; shift++) {
        uint32_t sum = 0;
        for (int c = 0; c < WINDOW; c++)
            sum += part->sum[shift][i + c];
        if (shift >= PLX_REPEAT_MIN_SHIFT && most > contrast && PLX_REPEAT_RATIO * sum < most) {
            const int from = (x - shift) / CELL;
            memset(ret_repeats + from, 1, (size_t)(part->first + i + WINDOW - from));
        }
        most = sum > most ? sum : most;
    }
}

static void find_repeats(const struct plx_image *src, int y, int rows, int cells, uint8_t *ret_repeats)
{
    struct part part = {.src = src, .y = y, .rows = rows};

    memset(ret_repeats, 0, (size_t)cells);
    for (part.first = 0; part.first + WINDOW <= cells; part.first += BLOCK) {
        part.cells = cells - part.first < CELLS ? cells - part.first : CELLS;
        for (int shift = 1; shift <= MAX_SHIFT; shift++)
            sum_cells(&part, shift);
        for (int i = 0; i + WINDOW <= part.cells; i++)
            mark(&part, i, ret_repeats);
    }
}

static void repeats_strip(void *argument, int strip)
{
    const struct repeats_job *job = argument;
    const struct plx_image *src = job->src;
    const int width = src->width, y = strip * CELL, left = src->height - y, rows = left < CELL ? left : CELL;
    uint8_t repeats[PLX_MAX_SIDE / CELL];

    find_repeats(src, y, rows, width / CELL, repeats);
    for (int r = 0; r < rows; r++) {
        const uint8_t *from = plx_row(src, y + r);
        uint8_t *to = plx_row(job->dst, y + r);
        memcpy(to, from, (size_t)width);
        for (int c = 0; c < width / CELL; c++)
            if (repeats[c])
                memset(to + (size_t)c * CELL, 0, CELL);
    }
}

int plx_cpu_repeats(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U8}, {dst, PLX_U8});
    if (result < 0)
        return result;

    struct repeats_job job = {src, dst};
    plx_pool_run_rows(cpu->pool, (src->height + CELL - 1) / CELL, repeats_strip, &job);
    return 0;
}
