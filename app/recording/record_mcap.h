/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of the service as an MCAP file of ROS 2 messages, one topic for each kind of message. */
#ifndef PLX_APP_RECORDING_RECORD_MCAP_H
#define PLX_APP_RECORDING_RECORD_MCAP_H

#include <parallax/frame.h>

#include "bridge/diagnostics_message.h"
#include "core/base/text.h"
#include "formats/mcap/write.h"

struct plx_mcap_recording;

#define PLX_MCAP_DEFAULT_TOPICS "left,right,obstacles,odom,frame_info,tf,diagnostics"

/* What a recording holds: bit 1 << enum plx_topic_id. NAMES are words of plx_topics, separated by commas; NULL: the default.
 * ARG: there is no such name; the message lists them. */
int plx_mcap_topics(const char *names, uint32_t *ret_topics, struct plx_error_message *message);

/* How a recording is written. Compressing costs more time than a fault leaves. */
enum plx_mcap_packing { PLX_MCAP_COMPRESSED, PLX_MCAP_PLAIN_PICTURES };

/* Creates the file PATH, which must not exist, for TOPICS of frames like FRAME. IO, NOMEM. */
int plx_mcap_recording_create(const char *path, uint32_t topics, enum plx_mcap_packing packing, const struct plx_frame *frame,
                              struct plx_mcap_recording **ret_recording, struct plx_error_message *message);

/* Adds the messages of FRAME, a whole copy, and DIAGNOSTICS, unless that is NULL. IO (the disk is full), NOMEM, RANGE (the
 * frame is larger than the first one). */
int plx_mcap_recording_add(struct plx_mcap_recording *recording, const struct plx_frame *frame,
                           struct plx_diagnostics *diagnostics, struct plx_error_message *message);

/* Adds a metadata record. IO, NOMEM, ARG. */
int plx_mcap_recording_note(struct plx_mcap_recording *recording, const char *name, const struct plx_mcap_pair *pair,
                            size_t count, struct plx_error_message *message);

/* Writes the end of the file, also after an error, and closes it. IO: the file lacks its end; its whole chunks can be read. */
int plx_mcap_recording_finish(struct plx_mcap_recording *recording, struct plx_error_message *message);

#endif
