/* SPDX-License-Identifier: Apache-2.0 */
/* Images in pairs: one for the reference, one for the backend under test. They begin equal and must be equal in the end. */
#ifndef PLX_ORACLE_TWIN_H
#define PLX_ORACLE_TWIN_H

#include "core/pipeline/stages.h"

struct twin {
    struct plx_image want; /* expected: written by the reference, an oracle or the CPU backend beside the GPU's */
    struct plx_image got;  /* written by the backend under test, in its memory */
};

/* A twin of padded rows for the backend STAGES; all bytes of both are 0xA5. Exits when out of memory. Free with twin_free. */
struct twin twin_new(struct plx_stages *stages, int width, int height, enum plx_type type);
void twin_free(struct plx_stages *stages, struct twin *twin);

/* Copies `want` to `got`. */
void twin_share(struct twin *twin);

/* True if both are equal, padding included. Otherwise RET_TEXT says how many bytes differ, and where the first one is. The
 * backend must have finished. */
bool twin_equal(const struct twin *twin, char *ret_text, size_t size);

#endif
