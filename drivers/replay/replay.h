/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded sequence of pictures, in files or in one MCAP file, as a frame source. docs/sources.md describes the layouts. */
#ifndef PLX_DRIVERS_REPLAY_REPLAY_H
#define PLX_DRIVERS_REPLAY_REPLAY_H

#include "core/source/source.h"

struct plx_stages;

enum plx_replay_timing { PLX_TIMING_RECORDED, PLX_TIMING_FIXED, PLX_TIMING_MAXIMUM };

struct plx_replay_options {
    const char *path; /* KITTI-style (image_0, image_1, times.txt), or left/ and right/; PNG, JPEG, PGM; or an MCAP file */
    const char *topic[PLX_EYES]; /* topics of the pictures in an MCAP file; "" = those of `parallax record` */
    enum plx_replay_timing timing;
    double rate_hz; /* for FIXED */
    bool loop;
    bool colour; /* left pictures in colour too: 8 bits, and UNSUPPORTED where the recording is grey */
    int bits;    /* low ones that the samples of 16-bit pictures use, 9 to 16; 0 = 16 */
};

/* Buffers come from STAGES' alloc; STAGES must outlive the source. Destroy it with its ops->destroy. NOMEM, RANGE, NOT_FOUND,
 * FORMAT, IO, PERMISSION, UNSUPPORTED. */
int plx_replay_create(struct plx_stages *stages, const struct plx_replay_options *options, struct plx_source **ret_source,
                      struct plx_error_message *message);

#endif
