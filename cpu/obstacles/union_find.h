/* SPDX-License-Identifier: Apache-2.0 */
/* Disjoint sets by union-find: each set's root is its smallest element (Galler and Fischer 1964; path halving: Tarjan and van
 * Leeuwen 1984). PARENT[i] is i for a root. */
#ifndef PLX_CPU_OBSTACLES_UNION_FIND_H
#define PLX_CPU_OBSTACLES_UNION_FIND_H

#include <stdint.h>

/* The root of I's set; shortens the path to it. */
static inline uint32_t plx_union_find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Makes the sets of A and B one. */
static inline void plx_union_merge(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = plx_union_find(parent, a);
    b = plx_union_find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

#endif
