/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLX_ORACLE_ALLOCATE_H
#define PLX_ORACLE_ALLOCATE_H

#include <stdio.h>
#include <stdlib.h>

/* COUNT elements of SIZE bytes, all 0, for the caller to free. Exits when out of memory. */
static inline void *oracle_allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "no memory for an oracle\n");
        exit(1);
    }
    return memory;
}

#endif
