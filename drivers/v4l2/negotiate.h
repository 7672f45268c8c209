/* SPDX-License-Identifier: Apache-2.0 */
/* Agreeing with a camera on format, size, cropping and rate. */
#ifndef PLX_V4L2_NEGOTIATE_H
#define PLX_V4L2_NEGOTIATE_H

#include "drivers/v4l2/format.h"

/* What negotiating REQUESTED would come to, without setting anything: the camera may be at work for another process. FORMAT is
 * NULL where that shows only when it is set. CONTROLS_SET: the controls have their values already; else they, as cropping, may
 * change what the camera gives, and only what it can never give is refused. UNSUPPORTED, errors of plx_v4l2_fail. */
int plx_v4l2_negotiate_try(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, bool controls_set,
                           struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *message);

/* Sets REQUESTED and reads back what came of it. Through libv4l2 where the camera has no format that can be read directly. NOTE
 * says what differs and is lived with; else it stays as it is. UNSUPPORTED, with what the camera offers instead; BUSY; errors
 * of plx_v4l2_fail. */
int plx_v4l2_negotiate(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                       struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *note,
                       struct plx_error_message *message);

#endif
