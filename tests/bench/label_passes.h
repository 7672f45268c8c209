/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the passes over an image until every component has one label, for three schemes of iterative label propagation from an
 * early study of labelling on GPUs. Every pixel starts with a number of its own. In each pass all pixels at once take the
 * smallest number among their neighbours. The last pass of each kind finds that nothing changes.
 */
#ifndef PLX_TESTS_BENCH_LABEL_PASSES_H
#define PLX_TESTS_BENCH_LABEL_PASSES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum label_scheme { LABEL_EIGHT, LABEL_ALTERNATING_FOUR, LABEL_SHIFTED_BLOCKS, LABEL_SCHEMES };

#define LABEL_NONE UINT32_MAX

/* SIDE x SIDE pixels, SIDE even, with a border of one background pixel. */
struct label_image {
    int side;
    const uint8_t *mask; /* [side][side] */
    uint32_t *label, *next;
};

/* The smallest label of the pixel AT and of those at offsets AROUND[0..COUNT). */
static inline uint32_t label_least(const uint32_t *at, const int *around, int count)
{
    uint32_t least = *at;
    for (int i = 0; i < count; i++)
        least = at[around[i]] < least ? at[around[i]] : least;
    return least;
}

static inline bool label_spread(struct label_image *b, const int *around, int count)
{
    const int pitch = b->side + 2;
    bool changed = false;
    for (int y = 1; y <= b->side; y++)
        for (int at = y * pitch + 1; at <= y * pitch + b->side; at++) {
            if (b->label[at] == LABEL_NONE)
                continue;
            b->next[at] = label_least(&b->label[at], around, count);
            changed |= b->next[at] != b->label[at];
        }
    uint32_t *const before = b->label;
    b->label = b->next;
    b->next = before;
    return changed;
}

/* Blocks of 2 x 2 from (FIRST_X, FIRST_Y) of the image on, border included, each get one label. */
static inline bool label_spread_blocks(struct label_image *b, int first_x, int first_y)
{
    const int pitch = b->side + 2, around[3] = {1, pitch, pitch + 1};
    bool changed = false;
    for (int y = first_y; y + 1 < pitch; y += 2)
        for (int x = first_x; x + 1 < pitch; x += 2) {
            uint32_t *const block = &b->label[y * pitch + x];
            const uint32_t least = label_least(block, around, 3);
            for (int i = 0; i < 4; i++) {
                uint32_t *const pixel = &block[i / 2 * pitch + i % 2];
                if (*pixel != LABEL_NONE && *pixel != least) {
                    *pixel = least;
                    changed = true;
                }
            }
        }
    return changed;
}

static inline bool label_pass(struct label_image *b, enum label_scheme scheme, int pass)
{
    const int pitch = b->side + 2;
    /* The four that come before a pixel in raster order, then the four that come after it. */
    const int around[8] = {-pitch - 1, -pitch, -pitch + 1, -1, pitch + 1, pitch, pitch - 1, 1};
    if (scheme == LABEL_EIGHT)
        return label_spread(b, around, 8);
    if (scheme == LABEL_ALTERNATING_FOUR)
        return label_spread(b, around + pass % 2 * 4, 4);
    return label_spread_blocks(b, pass % 2, pass / 2 % 2);
}

/* Passes over MASK, [side][side]; 0 if out of memory. */
static inline int label_count_passes(const uint8_t *mask, int side, enum label_scheme scheme)
{
    static const int kinds[LABEL_SCHEMES] = {1, 2, 4};
    const size_t pixels = (size_t)(side + 2) * (size_t)(side + 2);
    struct label_image b = {side, mask, malloc(pixels * sizeof *b.label), malloc(pixels * sizeof *b.next)};
    int passes = 0;

    if (b.label && b.next) {
        memset(b.label, 0xFF, pixels * sizeof *b.label);
        for (int i = 0; i < side * side; i++)
            if (mask[i])
                b.label[(i / side + 1) * (side + 2) + i % side + 1] = (uint32_t)i;
        memcpy(b.next, b.label, pixels * sizeof *b.next);
        for (int unchanged = 0; unchanged < kinds[scheme]; passes++)
            unchanged = label_pass(&b, scheme, passes) ? 0 : unchanged + 1;
    }
    free(b.label);
    free(b.next);
    return passes;
}

#endif
