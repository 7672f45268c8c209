/* SPDX-License-Identifier: Apache-2.0 */
/* A pair as the flight recorder keeps it: a frame's header, its two pictures and the left one in colour, if it has that,
 * without the other planes. */
#ifndef PLX_APP_FLIGHT_RECORDER_PAIR_H
#define PLX_APP_FLIGHT_RECORDER_PAIR_H

#include <parallax/client.h>

/* Bytes of the pair of VIEW; 0: the view has no left picture. */
size_t plx_pair_bytes(const struct plx_view *view);

/* Copies the pair of VIEW into MEMORY, plx_pair_bytes, aligned to 8: a whole struct plx_frame with a plane table of its own. It
 * counts when plx_release returns 0. */
void plx_pair_copy(const struct plx_view *view, void *memory);

#endif
