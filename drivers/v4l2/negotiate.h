/* SPDX-License-Identifier: Apache-2.0 */
/* Negotiating format, size, cropping and rate with a camera. */
#ifndef PLX_V4L2_NEGOTIATE_H
#define PLX_V4L2_NEGOTIATE_H

#include "drivers/v4l2/format.h"

/* What plx_v4l2_negotiate would give, without setting anything: another process may be using the camera. The format is NULL if
 * that shows only when it is set. CONTROLS_SET: the controls have their values already. If they or the cropping are not set
 * yet, they may change what the camera gives, and only what it can never give is refused. UNSUPPORTED, errors of
 * plx_v4l2_fail. */
int plx_v4l2_negotiate_try(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, bool controls_set,
                           struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *message);

/* Sets REQUESTED and reads back what is in force. Uses libv4l2 if the camera has no readable format. NOTE gets differences
 * that are accepted; without any it is unchanged. UNSUPPORTED, with what the camera offers; BUSY; errors of plx_v4l2_fail. */
int plx_v4l2_negotiate(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                       struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *note,
                       struct plx_error_message *message);

#endif
