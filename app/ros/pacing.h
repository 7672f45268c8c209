/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pace of datagrams. DDS hands a large message to the kernel at once; that is more than a reader's socket holds with the
 * kernel's default buffer (212,992 bytes, with the kernel's own structures in it), so a reader that does not run at that very
 * moment loses it. Cyclone DDS has no pace to set. So this program has a sendmsg of its own, which libddsc calls in place of
 * the C library's, and which lets the datagrams of a message leave in portions.
 */
#ifndef PLX_APP_ROS_PACING_H
#define PLX_APP_ROS_PACING_H

#include <stddef.h>
#include <stdint.h>

#define PLX_PACING_PORTION 32768 /* bytes that leave at once: a default buffer holds a few such portions */

/* Until plx_pacing_end the datagrams of this thread leave in portions, so that BYTES take SPREAD_NS. */
void plx_pacing_begin(int64_t spread_ns, size_t bytes);

/* How many bytes this thread has sent since then. */
size_t plx_pacing_end(void);

#endif
